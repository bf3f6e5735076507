"""Mechanisms as FMUs: the canonical chain, closed loops against closed forms, energy, constraints, faults."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmi2 import OK, Fmu
from numpy.typing import NDArray
from running import Running, build
from scipy.special import ellipk

from fmu_builder.cosim.trace import read_trace
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

pytestmark = pytest.mark.slow  # most build a mechanism of their own; every day some cases run

Vector = NDArray[np.float64]
G = 9.81
Q = [f"q[{i}]" for i in (1, 2, 3, 4)]

# Two formulations, neither of them that of the element: t, q1 .. q4, lambda (in the sign of the table), energy.
CANONICAL = {
    "CamChainConcave": [
        (0.10, 0.6993894986, -0.6809197292, -0.1124576995, -0.3496478539, 2.170060314, 16.44825601),
        (0.25, -0.2311095255, 0.3814585158, -0.1627150478, 0.2971225301, 16.727739867, 5.86246678),
        (0.50, -0.6507874251, 0.5648701312, -0.3710116362, 0.3997748508, 24.106328375, 3.88725855),
        (1.00, -0.3270914976, 0.4036019598, -0.2484707615, 0.2645354191, 16.395533967, 2.75323614),
        (1.50, -0.0732030133, 0.1996297283, -0.2020053532, 0.1424502369, 11.479397658, 2.34402085),
    ],
    "CamChainConvex": [
        (0.25, -0.4913362041, 0.3673264352, -0.0703929739, 0.3044174854, 18.874525870, None),
        (0.50, -0.6499725948, 0.1740099787, 0.4767165287, 0.0937971028, 5.586584811, None),
    ],
}
CHAINS = list(CANONICAL)


def shipped_fmu(name: str, folder: Path) -> Fmu:
    return Fmu(host_fmu(shipped("fmus") / f"{name}.toml"), folder)


@pytest.fixture(scope="module", params=CHAINS)
def chain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return shipped_fmu(request.param, tmp_path_factory.mktemp("chain"))


# ---- Lipinski's chain ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.05, 0.01])
def test_the_chain_moves_as_two_other_formulations_say(chain: Fmu, step: float) -> None:
    """At the default tolerance: 1e-8 in q, 1e-6 N in lambda, whatever the communication step."""
    running = Running(chain)
    for t, *expected in CANONICAL[chain.description.modelName]:
        while running.time < t - 1e-9:
            running.step(step)
        assert running.values(Q) == pytest.approx(expected[:4], abs=1e-8)
        assert -running["lambda[1]"] == pytest.approx(expected[4], abs=1e-6)
        if expected[5] is not None:
            assert running["energy.total"] == pytest.approx(expected[5], abs=1e-7)


def test_a_run_in_one_step_is_as_good(chain: Fmu) -> None:
    running = Running(chain)
    t, *expected = CANONICAL[chain.description.modelName][-1]
    running.step(t)
    assert running.values(Q) == pytest.approx(expected[:4], abs=1e-8)
    assert running["solver.steps"] < 400


def test_the_cam_is_met_at_every_communication_point(chain: Fmu) -> None:
    running = Running(chain)
    for _ in range(150):
        running.step(0.01)
        assert abs(running["constraint[1].h"]) <= 1e-10 and abs(running["constraint[1].hd"]) <= 1e-10
        tip = running.values(["contact[1].x", "contact[1].y"])
        assert running.vector("point[1].r")[:2] == pytest.approx(tip, abs=1e-15)


def test_the_cam_is_met_while_an_importer_integrates(chain: Fmu) -> None:
    """Its own states of the dependent coordinates drift; what it reads of the mechanism does not."""
    names = [*Q, "constraint[1].h", "constraint[1].hd"]
    found = fmpy.simulate_fmu(
        str(chain.file), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-7, output=names,
        output_interval=0.05, stop_time=0.5, record_events=False,
    )  # fmt: skip
    assert np.abs(found["constraint[1].h"]).max() <= 1e-10 and np.abs(found["constraint[1].hd"]).max() <= 1e-10
    expected = next(row for row in CANONICAL[chain.description.modelName] if row[0] == 0.5)
    assert [found[name][-1] for name in Q] == pytest.approx(expected[1:5], abs=1e-4)


def test_without_dampers_nothing_is_lost(chain: Fmu) -> None:
    running = Running(chain, {f"joint[{i}].damping": 0.0 for i in (2, 3, 4)})
    before = running["energy.total"]
    running.step(1.0)
    assert running["energy.total"] == pytest.approx(before, abs=2e-7)
    assert running["energy.kinetic"] > 0.1


def test_the_account_of_energy_closes_under_forces_from_outside(chain: Fmu) -> None:
    running = Running(chain, {"joint[1].force": 2.0, "point[1].f": (3.0, -1.0, 5.0)})
    running.step(0.3)
    assert abs(running["energy.work"]) > 0.1 and running["energy.damping"] > 0.1
    assert abs(running["energy.residual"]) < 1e-7


def test_a_force_along_the_cam_s_normal_goes_into_the_cam(chain: Fmu) -> None:
    """J^T f more on the joints: lambda takes it all, and nothing moves otherwise."""
    running = Running(chain)
    running.step(0.2)
    before, qdd = running["contact[1].N"], running.values([f"qdd[{i}]" for i in (1, 2, 3, 4)])
    x = running["contact[1].x"]
    f = {"CamChainConcave": (0, -0.595, 0.5, 0.5), "CamChainConvex": (0, 0.357, -0.3, -0.3)}[
        chain.description.modelName
    ]
    slope = f[1] + 2 * f[2] * x + 3 * f[3] * x * x
    normal = np.array([-slope, 1.0, 0.0]) / np.hypot(1.0, slope)
    running.set({"point[1].f": -7.0 * normal})
    assert running["contact[1].N"] - before == pytest.approx(7.0, rel=1e-9)
    assert running.values([f"qdd[{i}]" for i in (1, 2, 3, 4)]) == pytest.approx(qdd, abs=1e-10)


def test_from_the_start_of_the_search_the_paper_s_axes_and_its_conclusion_hold() -> None:
    """In the independent references, which the cases hold the FMU to: every curve on the axis of its figure, joints and
    tip in the window of all snapshots, and q4 moves at least three times as much on the convex cam."""
    axes = {
        "concave": ((0.0, 0.5335, 1.5335), (-0.03, 0.06), (-0.1, 0.8)),
        "convex": ((0.0, 0.5127, 0.9827, 1.2127, 1.3427, 1.47), (-0.4, 0.2), (0.0, 0.6)),
    }
    moved, lengths = {}, np.array([0.3, 0.1, 0.3, 0.3])
    for cam, (times, q4, x) in axes.items():
        stop = times[-1]
        trace = read_trace(shipped("elements") / "planar_mechanism" / "cases" / f"paper_{cam}_ref.csv")
        for t in times:
            q = np.array([np.interp(t, trace.time, trace[f"chain.q[{i}]"]) for i in (1, 2, 3, 4)])
            turned = np.array([q[0], q[0] + q[1], q[0] + q[1], q[0] + q[1] + q[3]])
            reach = lengths + np.array([0.0, 0.0, q[2], 0.0])
            links = reach[:, None] * np.stack([np.cos(turned), np.sin(turned)], axis=1)
            tip = [np.interp(t, trace.time, trace[f"chain.contact[1].{axis}"]) for axis in "xy"]
            joints = tip - np.cumsum(links[::-1], axis=0)
            assert joints.min() > -0.2 and joints[:, 0].max() < 0.8 and joints[:, 1].max() < 0.6
            assert joints[-1] == pytest.approx([0.096, 0.298], abs=1e-3)  # the base
        until = trace.time <= stop
        for name, (low, high) in {"q[4]": q4, "q[3]": (-0.2, 0.4)}.items():
            way = trace[f"chain.{name}"][until] - trace[f"chain.{name}"][0]
            assert low <= way.min() and way.max() <= high
            moved[cam, name] = np.ptp(way)
        tip = trace["chain.contact[1].x"][until]
        assert x[0] <= tip.min() and tip.max() <= x[1]
    assert moved["convex", "q[4]"] >= 3.0 * moved["concave", "q[4]"]


# ---- cam and follower ------------------------------------------------------------------------------------------------


def test_a_follower_has_no_force_left_at_the_jump_speed(tmp_path: Path) -> None:
    """sqrt((2 k e + F0)/(m e)) = 109.544512 rad/s: N is zero at the top of the cam, phi = pi."""
    jump = np.sqrt((2.0 * 2000.0 * 0.01 + 20.0) / (0.5 * 0.01))
    assert jump == pytest.approx(109.544512, abs=1e-6)
    running = Running(shipped_fmu("CamFollower", tmp_path), {"joint[1].qd0": jump})
    running.step(np.pi / jump)
    assert running["contact[1].N"] == pytest.approx(0.0, abs=1e-4)
    assert running["contact[1].y"] == pytest.approx(0.01, abs=1e-9)


# ---- profiles that may be left ---------------------------------------------------------------------------------------

BALL = """
element = "planar_mechanism"
[[body]]
joint = "prismatic"
mass = 1
inertia = 1
[[body]]
name = "ball"
joint = "prismatic"
angle = "90 deg"
mass = 1
inertia = 1
start = "1 m"
[[constraint]]
kind = "profile"
body = "ball"
profile = [0]
unilateral = true
"""


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("ball"), "Ball", BALL)


def test_a_ball_bounces_to_rest(ball: Fmu) -> None:
    """Restitution 1/2: each rebound with half the speed, until that is below rest_speed; then it lies."""
    running = Running(ball, {"contact[1].restitution": 0.5, "contact[1].rest_speed": 1e-4})
    assert not running["contact[1].closed"] and running["lambda[1]"] == 0.0
    speed = np.sqrt(2.0 * G)
    touch, speeds = speed / G, [speed]
    running.step(touch + 0.5 * speed / G)  # the first apex
    assert running.values(["q[2]", "qd[2]"]) == pytest.approx([0.25, 0.0], abs=1e-9)
    assert running["contact[1].impulse"] == pytest.approx(1.5 * speed, rel=1e-9)
    record = [
        running[f"last_contact[1].{n}"] for n in ("start", "end", "impact_speed", "rebound_speed", "impact_impulse")
    ]
    assert record == pytest.approx([touch, touch, speed, 0.5 * speed, 1.5 * speed], rel=1e-9)
    while 0.5 * speeds[-1] >= 1e-4:
        speeds.append(0.5 * speeds[-1])
        touch += 2.0 * speeds[-1] / G
    running.step(touch - 1e-7 - running.time)
    assert not running["contact[1].closed"]
    running.step(2e-7)
    assert running["contact[1].closed"] and running["contact[1].impacts"] == len(speeds)
    assert running["contact[1].N"] == pytest.approx(G, rel=1e-12)
    running.step(1.0)
    assert running["contact[1].impacts"] == len(speeds) and running["contact[1].departures"] == 0
    assert (running["contact_count[1]"], running["release_count[1]"]) == (len(speeds), len(speeds) - 1)
    assert running["present_contact[1].start"] == pytest.approx(touch, abs=1e-7)
    assert abs(running["q[2]"]) < 1e-10 and abs(running["energy.residual"]) < 1e-8
    assert running["energy.impact"] == pytest.approx(G, rel=1e-9)


def test_an_elastic_ball_comes_back_to_its_height(ball: Fmu) -> None:
    running = Running(ball, {"contact[1].restitution": 1.0})
    running.step(6.0 * np.sqrt(2.0 / G))
    assert running.values(["q[2]", "qd[2]"]) == pytest.approx([1.0, 0.0], abs=1e-7)
    assert running["contact[1].impacts"] == 3 and abs(running["energy.impact"]) < 1e-12


def test_a_ball_bounces_for_an_importer_that_integrates(ball: Fmu) -> None:
    """Its states jump in the impacts, and it is told so."""
    names = ["q[2]", "contact[1].impacts", "energy.impact"]
    found = fmpy.simulate_fmu(
        str(ball.file), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-9, output=names,
        start_values={"contact[1].restitution": 0.5}, output_interval=0.01, stop_time=1.0, record_events=False,
    )  # fmt: skip
    running = Running(ball, {"contact[1].restitution": 0.5})
    running.step(1.0)
    assert [found[name][-1] for name in names] == pytest.approx([running[name] for name in names], abs=1e-6)
    assert running["contact[1].impacts"] == 2


@pytest.mark.slow
def test_an_impact_halts_what_the_constraints_connect(tmp_path: Path) -> None:
    """A rod falls level onto a stop at its end, without rebound: the other end goes on. By angular momentum about the
    stop w = (3/2) v / L, impulse m v / 4."""
    text = """
element = "planar_mechanism"
[[body]]
joint = "prismatic"
mass = 1e-9
inertia = 1
[[body]]
joint = "prismatic"
angle = "90 deg"
mass = 1e-9
inertia = 1
start = 1
[[body]]
name = "rod"
joint = "revolute"
angle = "-90 deg"
mass = 3
inertia = 1
[[constraint]]
kind = "profile"
body = "rod"
point = [1, 0]
profile = [0]
unilateral = true
"""
    running = Running(build(tmp_path, "Rod", text))
    speed = np.sqrt(2.0 * G)
    running.step(speed / G + 1e-6)
    assert running["contact[1].impacts"] == 1 and running["contact[1].closed"]
    assert running["contact[1].impulse"] == pytest.approx(3.0 * speed / 4.0, rel=1e-7)
    assert running["qd[3]"] == pytest.approx(0.75 * speed, rel=1e-4)  # L = 2 m; 1e-6 s of gravity follow
    assert running["energy.impact"] == pytest.approx(0.5 * speed * 3.0 * speed / 4.0, rel=1e-6)


@pytest.mark.slow
def test_a_follower_jumps_where_the_force_of_the_closed_form_ends(tmp_path: Path) -> None:
    """Above the jump speed: N = 0 at cos phi = -(k e + F0)/(m e w^2 - k e)."""
    text = (shipped("fmus") / "CamFollower.toml").read_text(encoding="utf-8")
    fmu = build(tmp_path, "Jump", text.replace("[[constraint]]", "[[constraint]]\nunilateral = true"))
    w = 120.0
    running = Running(fmu, {"joint[1].qd0": w})
    leaves = np.arccos(-(20.0 + 20.0) / (0.5 * 0.01 * w**2 - 20.0)) / w
    running.step(leaves - 1e-6)
    assert running["contact[1].closed"] and running["contact[1].departures"] == 0
    assert 0.0 < running["contact[1].N"] < 1e-2
    running.step(2e-6)
    assert not running["contact[1].closed"] and running["contact[1].departures"] == 1
    assert running["contact[1].N"] == 0.0
    assert (running["contact_count[1]"], running["release_count[1]"]) == (1, 1)
    assert running["last_contact[1].end"] == pytest.approx(leaves, abs=2e-6)
    assert (running["last_contact[1].start"], running["last_contact[1].impact_speed"]) == (0.0, 0.0)
    running.step(2e-3)
    assert running["contact[1].gap"] > 1e-6


# ---- trees -----------------------------------------------------------------------------------------------------------


def test_a_double_pendulum_keeps_its_energy(tmp_path: Path) -> None:
    """1e-8 of the energy that goes to and fro, m g L twice, over 100 s at the tolerance 1e-10."""
    running = Running(shipped_fmu("DoublePendulum", tmp_path), {"solver.tolerance": 1e-10})
    before, largest = running["energy.total"], 0.0
    for _ in range(100):
        running.step(1.0)
        largest = max(largest, abs(running["energy.total"] - before))
    assert largest <= 1e-8 * 2 * G


@pytest.mark.slow
def test_a_level_rod_that_is_let_go_hangs_on_a_quarter_of_its_weight(tmp_path: Path) -> None:
    """Uniform rod: q'' = -3 g / (2 L), reaction m g / 4; on a slider that is held by its spring."""
    fmu = build(
        tmp_path,
        "Rod",
        """
element = "planar_mechanism"
[[body]]
joint = "prismatic"
angle = "90 deg"
mass = "1e6 kg"
inertia = "1 kg.m2"
[[body]]
joint = "revolute"
angle = "-90 deg"
mass = "2 kg"
inertia = "0.1666666666666666667 kg.m2"
centre = ["0.5 m", 0]
""",
    )
    running = Running(fmu, {"joint[1].force": (1e6 + 2.0 / 4.0) * G})
    assert running["qdd[1]"] == pytest.approx(0.0, abs=1e-9)
    assert running["qdd[2]"] == pytest.approx(-1.5 * G, rel=1e-12)
    assert running.vector("joint[2].reaction", 2) == pytest.approx([0.0, 2.0 * G / 4.0], abs=1e-9)
    assert running["joint[2].moment"] == pytest.approx(0.0, abs=1e-12)
    assert running.vector("joint[1].reaction", 2) == pytest.approx([0.0, (1e6 + 0.5) * G], rel=1e-12)


def test_a_rod_of_constant_length_is_a_pendulum(tmp_path: Path) -> None:
    """A body on two sliders, at a distance from a fixed point: amplitude 1 rad, T = 4 sqrt(L/g) K(sin^2 1/2)."""
    fmu = build(
        tmp_path,
        "Bob",
        f"""
element = "planar_mechanism"
[[body]]
joint = "prismatic"
mass = "1e-3 kg"
inertia = "1e-3 kg.m2"
start = {0.5 * np.sin(1.0)}
[[body]]
joint = "prismatic"
angle = "90 deg"
mass = "1 kg"
inertia = "1e-3 kg.m2"
start = {-0.5 * np.cos(1.0)}
[[constraint]]
kind = "distance"
body = "body 2"
length = "0.5 m"
""",
    )
    running = Running(fmu, {"body[1].m": 1e-12})
    period = 4.0 * np.sqrt(0.5 / G) * ellipk(np.sin(0.5) ** 2)
    running.step(period)
    assert running.values(["q[1]", "q[2]"]) == pytest.approx([0.5 * np.sin(1.0), -0.5 * np.cos(1.0)], abs=1e-8)
    assert running.values(["qd[1]", "qd[2]"]) == pytest.approx([0.0, 0.0], abs=1e-7)
    running.step(0.25 * period)  # at the bottom: m g + 2 m g (1 - cos 1) in the rod
    assert running["lambda[1]"] == pytest.approx(G * (3.0 - 2.0 * np.cos(1.0)), rel=1e-7)
    assert running["changes"] >= 1  # the slider that is dependent at the start has no say at the bottom


# ---- what depends on what --------------------------------------------------------------------------------------------


def test_nothing_depends_on_what_is_not_declared(tmp_path: Path) -> None:
    """Every parameter and input alone one per cent further, in initialization: what changes is declared to.  That what
    is declared changes cannot be asked of every mechanism."""
    name = "FourBar"
    model, fmu = load_model(shipped("fmus") / f"{name}.toml"), shipped_fmu(name, tmp_path)
    declared = {u.variable.name: {d.name for d in u.dependencies} for u in fmu.description.initialUnknowns}
    unknowns = list(declared)
    running = Running.in_initialization(fmu)
    before, found = running.mixed(unknowns), 0
    for v in model.by_kind("fixed", "tunable", "input"):
        if v.type != "real" or v.name.startswith("solver."):
            continue
        running.set({v.name: v.start * 1.01 + 1e-3})
        after = running.mixed(unknowns)
        changed = {u for u, a, b in zip(unknowns, before, after, strict=True) if a != b}
        assert [u for u in changed if v.name not in declared[u]] == [], v.name
        found += len(changed)
        running.set({v.name: v.start})
    assert running.mixed(unknowns) == before
    assert found > 0.4 * sum(map(len, declared.values()))


# ---- starts and faults -----------------------------------------------------------------------------------------------

CRANK = (shipped("fmus") / "SliderCrank.toml").read_text(encoding="utf-8")


def begun(folder: Path, text: str) -> list[str]:
    """What is told when initialization ends well."""
    running = Running.in_initialization(build(folder, "Begun", text))
    running.slave.call("fmi2SetDebugLogging", 1, 0, None)
    assert running.slave.call("fmi2ExitInitializationMode") == OK
    return running.told


def test_a_start_beside_the_profile_is_put_onto_it_and_told(tmp_path: Path) -> None:
    told = begun(tmp_path, CRANK.replace('speed = "20 rad/s"', 'start = "30 deg"'))
    psi = -np.arcsin(0.1 / 0.3 * 0.5) - np.pi / 6
    assert any(f"rod starts at {psi:.6g}"[:20] in text and "instead of 0" in text for text in told), told


def test_a_start_speed_that_breaks_a_constraint_is_told(tmp_path: Path) -> None:
    """Crank at 0 with 20 rad/s: the rod turns with -20 / 3 rad/s, against the crank with -80 / 3 rad/s."""
    told = begun(tmp_path, CRANK.replace("closes = true", 'closes = true\nspeed = "3 rad/s"'))
    assert any("rod starts with the speed -26.6666667 instead of 3" in text for text in told), told


def test_a_start_far_from_its_profile_is_refused_with_the_distance(tmp_path: Path) -> None:
    """Unless a coordinate is marked that may go there."""
    text = CRANK.replace("closes = true\n", "").replace("profile = [0]", "profile = [0.1]")
    with pytest.raises(
        InputError, match=r"\(profile, of rod\) is -0.1 m off at the start, more than a quarter.* 0.3 m"
    ):
        build(tmp_path, "Off", text)


def test_changed_parameters_are_booked(ball: Fmu) -> None:
    """Twice the weight and half the mass at a height: 2 m g y / 2 - m g y, and what the speed makes of the mass."""
    running = Running(ball)
    running.step(0.2)
    y, v = running["q[2]"], running["qd[2]"]
    running.set({"body[2].m": 3.0, "g[2]": -4.0 * G})
    running.step(0.1)
    expected = 3.0 * 4.0 * G * y - G * y + 0.5 * 2.0 * v * v
    assert running["energy.changed"] == pytest.approx(expected, rel=1e-9)
    assert abs(running["energy.residual"]) < 1e-9


def test_a_start_that_cannot_be_closed_is_refused_by_name(tmp_path: Path) -> None:
    """The build itself runs the FMU."""
    said = r"constraint 1 \(profile, of rod\) is -0.5 m off at the start, .* coordinates, rod, .*: start nearer to it"
    with pytest.raises(InputError, match=said):
        build(tmp_path, "Far", CRANK.replace("profile = [0]", "profile = [0.5]"))


@pytest.mark.slow
def test_a_redundant_constraint_is_refused_by_name(tmp_path: Path) -> None:
    again = CRANK[CRANK.index("[[constraint]]") : CRANK.index("[[point]]")]
    with pytest.raises(InputError, match=r"\(profile, of rod\) does not move any joint.*over-constrained"):
        build(tmp_path, "Twice", CRANK.replace("closes = true\n", "") + again)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('joint = "revolute"\nplace', "place", "[[body]] 2 joint: this key is missing"),
        ('mass = "1 kg"', 'mass = "0 kg"', "[[body]] 1 mass: '0 kg' is refused: it must be greater than 0 kg"),
        ('inertia = "0.004 kg.m2"', "inertia = -1", "[[body]] 2 inertia: -1 is refused: it must be greater than 0 kg"),
        ('name = "rod"', 'name = "crank"', "[[body]] 2 name: 'crank' is taken: give each body a name of its own"),
        ('name = "crank"', 'name = "crank"\non = "rod"', "[[body]] 1 on: 'rod' is not listed before 'crank'"),
        ('name = "rod"', 'name = "rod"\non = "frame"', "[[body]] 2 on: there is no body 'frame'; known: ground, crank"),
        ('kind = "profile"', 'kind = "cam"', "[[constraint]] 1 kind: 'cam' is none of profile, pin, distance"),
        ("profile = [0]", "", "one of profile, profile_points, curve_points, or curve_x with curve_y"),
        ("profile = [0]", "profile = [0]\nlength = 1", "[[constraint]] 1 length: this key does not belong to kind"),
        ("profile = [0]", "profile = [0]\npint = [0, 0]", "[[constraint]] 1 pint: this key is unknown; did you mean"),
        ("profile = [0]", 'profile = [0]\non = "rod"', "[[constraint]] 1 on: 'rod' is held against itself"),
        ("closes = true", 'closes = "yes"', "[[body]] 2 closes: 'yes' must be true or false"),
        (
            "[[point]]",
            '[[constraint]]\nkind = "pin"\nbody = "rod"\n[[point]]',
            "[[constraint]]: 3 equations hold 2 joints: the mechanism is over-constrained, remove a constraint",
        ),
    ],
)  # fmt: skip
def test_a_faulty_recipe_is_told_with_its_repair(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "Crank.toml"
    assert old in CRANK
    path.write_text(CRANK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    told = [str(problem) for problem in caught.value.problems]
    assert any(said in one for one in told), told
    assert len({problem.where for problem in caught.value.problems}) == len(told)  # no key is told of twice
    assert not any("crank, crank" in one for one in told)  # nor a name that is known


@pytest.mark.parametrize("bodies", ['[[body]]\nname = "arm"\n', '[body]\nname = "cam"\n', ""])
def test_a_constraint_between_bodies_that_are_not_there_is_told_of_both(tmp_path: Path, bodies: str) -> None:
    hold = '[[constraint]]\nkind = "pin"\nbody = "follower"\non = "cam"\n'
    path = tmp_path / "Lost.toml"
    path.write_text(f'element = "planar_mechanism"\n{bodies}{hold}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    named = [str(problem) for problem in caught.value.problems if "[[constraint]] 1" in str(problem)]
    assert [one.partition("1 ")[2].partition(";")[0] for one in named] == [
        "body: there is no body 'follower'",
        "on: there is no body 'cam'",
    ]


def test_a_mechanism_without_a_body_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "None.toml"
    path.write_text('element = "planar_mechanism"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"\[\[body\]\].*there is none"):
        load_model(path)
