"""Profiles by laws, splines and curves: beads against closed forms, an eccentric against its follower, faults."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, Fmu, load_shipped, reals, references
from running import Running, build
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

G = 9.81
BEAD = """
element = "planar_mechanism"
[[body]]
name = "carriage"
joint = "prismatic"
mass = "1e-12 kg"
inertia = 1
start = {x}
[[body]]
name = "bead"
joint = "prismatic"
angle = "90 deg"
mass = "1 kg"
inertia = 1
start = {y}
closes = true
[[constraint]]
kind = "profile"
body = "bead"
"""
TURN = 2.0 * np.pi
CIRCLE = f'curve_x = "0.5[m]*cos(#s)"\ncurve_y = "0.5[m]*sin(#s)"\nrange = [0, {TURN}]\nclosed = true\nside = "above"\n'


def bead(x: float, y: float, profile: str) -> str:
    return BEAD.format(x=x, y=y) + profile


def points(x: np.ndarray, y: np.ndarray) -> str:
    return json.dumps(np.stack([x, y], axis=1).tolist())


PARABOLAS = {
    "polynomial": "profile = [0, 0, 1]",
    "law": 'profile = "#x^2/1[m]"\nrange = ["-1 m", "1 m"]',
    "chain of laws": 'profile = "#x < 0.2[m] -> #x^2/1[m], #x*#x/1[m]"\nrange = ["-1 m", "1 m"]',
    "spline": "profile_points = " + points(x := np.linspace(-0.6, 0.6, 13), x**2),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARABOLAS)
def test_a_bead_on_a_parabola_has_the_period_of_the_closed_form(tmp_path: Path, kind: str) -> None:
    """y = x^2 from x = 0.5 m at rest: T = 1.724909615 s by the complete elliptic integral E(-1).  A spline through
    points of a parabola is that parabola."""
    running = Running(build(tmp_path, "Bead", bead(0.5, 0.25, PARABOLAS[kind])))
    period = 4.0 / np.sqrt(2.0 * G) * 1.910098894513856
    running.step(period)
    assert running.values(["q[1]", "q[2]"]) == pytest.approx([0.5, 0.25], abs=1e-8)
    assert running.values(["qd[1]", "qd[2]"]) == pytest.approx([0.0, 0.0], abs=1e-6)
    assert abs(running["energy.residual"]) < 1e-8 and abs(running["power.residual"]) < 1e-12
    running.step(0.25 * period)  # at the bottom: m g + m v^2 / (1/2)
    assert running["contact[1].N"] == pytest.approx(G * (1.0 + 2.0 * 0.5), rel=1e-7)


CIRCLES = {"laws": (CIRCLE, 1e-7), "points": (None, 1e-5)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CIRCLES)
def test_friction_brakes_a_bead_on_a_ring(tmp_path: Path, kind: str) -> None:
    """v = v0 / (1 + mu v0 t / R) without weight, exp(-2 pi mu) of it after a turn; past the points where y = f(x) has
    vertical tangents.  40 points make a ring to 6e-7 m."""
    profile, error = CIRCLES[kind]
    if profile is None:
        angles = np.linspace(0.0, TURN, 40, endpoint=False)
        ring = points(0.5 * np.cos(angles), 0.5 * np.sin(angles))
        profile = f'curve_points = {ring}\nclosed = true\nside = "above"\n'
    text = bead(0.5, 0.0, profile + "friction = 0.1").replace("[[body]]", "[start]\ng = [0, 0]\n[[body]]", 1)
    text = text.replace("closes = true", 'speed = "1 m/s"')
    running = Running(build(tmp_path, "Ring", text), {"contact[1].k_T": 1e6})
    assert running["contact[1].N"] == pytest.approx(-2.0, rel=3e-3)  # the ring holds it from outside
    after = 0.5 / 0.1 * (np.exp(TURN * 0.1) - 1.0)
    running.step(after)
    assert running["contact[1].slip"] == pytest.approx(np.exp(-0.1 * TURN), abs=error)
    assert running.values(["q[1]", "q[2]"]) == pytest.approx([0.5, 0.0], abs=error)
    assert running["energy.friction"] == pytest.approx(0.5 * (1.0 - np.exp(-0.2 * TURN)), abs=error)
    assert abs(running["energy.residual"]) < 3e-8


ECCENTRIC = f"""
element = "planar_mechanism"
[start]
g = [0, 0]
[[body]]
name = "cam"
joint = "revolute"
mass = "1 kg"
inertia = "1e9 kg.m2"
start = "-90 deg"
speed = "80 rad/s"
[[body]]
name = "follower"
on = "ground"
joint = "prismatic"
angle = "90 deg"
mass = "0.5 kg"
inertia = 1
stiffness = "2000 N/m"
free = "10 mm"
start = "20 mm"
closes = true
[[constraint]]
kind = "profile"
body = "follower"
on = "cam"
curve_x = "10[mm] + 30[mm]*cos(#s)"
curve_y = "30[mm]*sin(#s)"
range = [0, {TURN}]
closed = true
side = "above"
unilateral = true
"""


@pytest.mark.slow
def test_a_pointed_follower_rides_on_a_turning_eccentric(tmp_path: Path) -> None:
    """y = e sin a + sqrt(R^2 - e^2 cos^2 a); N along the normal of the circle, m y'' + k (y - free) = N cos of its
    angle to the guide: sin = e cos a / R."""
    running = Running(build(tmp_path, "Eccentric", ECCENTRIC))
    e, R, w, m, k = 0.01, 0.03, 80.0, 0.5, 2000.0

    def lift(t: float) -> float:
        a = w * t - 0.5 * np.pi
        return float(e * np.sin(a) + np.sqrt(R**2 - (e * np.cos(a)) ** 2))

    for _ in range(40):
        running.step(1.5e-3)
        t, h = running.time, 1e-4
        y = [lift(t + i * h) for i in (-2, -1, 0, 1, 2)]
        acceleration = (-y[0] + 16 * y[1] - 30 * y[2] + 16 * y[3] - y[4]) / (12 * h * h)
        cosine = np.sqrt(1.0 - (e * np.cos(w * t - 0.5 * np.pi) / R) ** 2)
        assert running["q[2]"] == pytest.approx(y[2], abs=1e-9)
        N = (m * acceleration + k * (y[2] - 0.01)) / cosine
        assert running["contact[1].N"] == pytest.approx(N, abs=2e-3)
    assert running["contact[1].departures"] == 0


@pytest.fixture(scope="module")
def cam(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("EccentricCam", tmp_path_factory.mktemp("cam"))


@pytest.mark.parametrize(
    ("e", "R"),
    [(0.02, 0.03), (-0.02, 0.03), (0.05, 0.03), (0.0, 0.03), (0.01, 0.006), (0.01, 0.5), (0.3, 2.0), (0.01, 1e6)],
)
def test_a_profile_that_is_moved_carries_its_follower_along(cam: Fmu, e: float, R: float) -> None:
    """Parameters of the disc are set while it turns, also so far that the tip is deep inside: the follower stands on it
    above the pivot, and the next step succeeds."""
    running = Running(cam)
    running.step(0.01)
    running.set({"laws.eccentricity": e, "laws.radius": R})
    x, y = e * np.sin(0.6), -e * np.cos(0.6)  # of the disc's centre
    assert abs(x) < R
    assert running["q[2]"] == pytest.approx(y + np.sqrt(R * R - x * x), rel=1e-12, abs=1e-12)
    assert abs(running["constraint[1].h"]) <= 1e-10 * max(R, 1.0)
    running.step(1e-4)


FAR_OFF = r"constraint 1 \(profile\) is {} m off, and moving .* follower, does not close it: .* set it nearer"
SINGULAR = r"the mechanism is in a singular position: constraint 1 \(profile\) depends"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"laws.eccentricity": 0.1}, FAR_OFF.format(r"0\.088\d+")),
        ({"laws.radius": 5e-3}, FAR_OFF.format(r"0\.025")),
        ({"laws.radius": 0.0}, SINGULAR),
    ],
    ids=["aside", "small", "point"],
)
def test_a_profile_that_is_moved_out_of_reach_is_named(cam: Fmu, values: dict[str, float], reason: str) -> None:
    """Where no value is finite the log has the reason, and with the parameters before everything is as it was."""
    running = Running(cam)
    running.step(0.01)
    names = ["q[2]", "contact[1].N", "joint[1].reaction[1]", "lambda[1]"]
    before = running.values(names).tolist()
    expected = r"at 0\.01 s, with q\[2\] = 0\.0212\d+ m of follower, " + reason
    running.set(values)
    for name in names:
        heard = len(running.told)
        assert running.slave.call("fmi2GetReal", references(running.fmu.references[name]), 1, reals(0.0)) == ERROR
        first, *others = running.told[heard:]
        assert re.match(expected, first) and others == [f"fmi2GetReal: {name} is not finite"]
    running.set({"laws.eccentricity": 0.01, "laws.radius": 0.03})
    assert running.values(names).tolist() == before
    running.set(values)
    heard = len(running.told)
    assert running.slave.call("fmi2DoStep", running.time, 1e-3, 1) == ERROR
    assert any(re.match(expected, text) for text in running.told[heard:])


RING = CIRCLE.replace("above", "below") + "unilateral = true\n"


@pytest.mark.parametrize("way", [0.0, 1e-3, 0.02])
def test_a_bead_flies_past_the_centre_of_a_ring(tmp_path: Path, way: float) -> None:
    """From x = -0.3 m at 3 m/s, past the centre at the distance `way`; the foot of the bead turns by half the ring."""
    u, v = 3.0, way / 0.1 + 0.5 * G * 0.1
    running = Running(build(tmp_path, "Ring", bead(-0.3, 0.0, RING)), {"joint[1].qd0": u, "joint[2].qd0": v})

    def place(t: float) -> np.ndarray:
        return np.array([-0.3 + u * t, v * t - 0.5 * G * t * t])

    touch = brentq(lambda t: np.linalg.norm(place(t)) - 0.5, 0.1, 0.5)
    for t in np.linspace(0.0, 0.2, 41)[1:]:
        running.step(0.005)
        x, y = place(running.time)
        r = np.hypot(x, y)
        if r < 1e-9:
            continue  # every point of the ring is as near
        speed = np.array([u, v - G * t])
        assert running["contact[1].gap"] == pytest.approx(0.5 - r, abs=1e-10)
        assert running["contact[1].s"] == pytest.approx(np.arctan2(y, x) % TURN, abs=1e-9 / r)
        turn, out = (x * speed[1] - y * speed[0]) / r**2, (x * speed[0] + y * speed[1]) / r
        rates = running.output_rates(["contact[1].s", "contact[1].gap", "contact[1].gap_rate"])
        assert rates == pytest.approx([turn, -out, -r * turn**2 + G * y / r], rel=1e-6, abs=1e-9)
    running.step(touch - running.time + 1e-3)
    assert running["contact[1].touch_down"] == pytest.approx(touch, abs=1e-9)


@pytest.mark.slow
def test_rates_of_outputs_go_through_curve_friction_and_drive(tmp_path: Path) -> None:
    """The exact derivatives over the course of time, against differences of the closed forms; what a force does to the
    normal force, against the difference of two evaluations."""
    disc = runpy.run_path(str(shipped("elements") / "planar_mechanism" / "cases" / "references.py"))["disc"]
    running = Running(Fmu(host_fmu(shipped("fmus") / "EccentricCam.toml"), tmp_path))
    for _ in range(7):
        running.step(0.013)
        t, h = running.time, 1e-4
        names = ["q[2]", "contact[1].N", "contact[1].friction", "joint[1].drive"]
        near = [disc(t + i * h)[:4] for i in (-2, -1, 1, 2)]
        expected = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * h)
        rates = running.output_rates(names)
        assert rates == pytest.approx(expected, rel=1e-6, abs=1e-5)
        assert rates[0] == pytest.approx(running["qd[2]"], rel=1e-10)
        slope = running.directional(names[1:], {"joint[2].force": 1.0})
        before = np.array(running.values(names[1:]))
        running.set({"joint[2].force": 1.0})
        assert slope == pytest.approx(np.array(running.values(names[1:])) - before, rel=1e-9, abs=1e-12)
        running.set({"joint[2].force": 0.0})


@pytest.mark.slow
def test_a_follower_leaves_a_fast_eccentric_and_comes_back(tmp_path: Path) -> None:
    """Lift-off where N of the ride passes zero; then an oscillator of its own until the way of the cam meets it."""
    running = Running(build(tmp_path, "Eccentric", ECCENTRIC), {"joint[1].qd0": 150.0})
    e, R, w, m, k = 0.01, 0.03, 150.0, 0.5, 2000.0

    def lift(t: float, h: float = 1e-5) -> tuple[float, float, float]:
        a, s = w * t - 0.5 * np.pi, np.sqrt
        y = [e * np.sin(a + i * h) + s(R**2 - (e * np.cos(a + i * h)) ** 2) for i in (-2, -1, 0, 1, 2)]
        first = (y[0] - 8 * y[1] + 8 * y[3] - y[4]) / (12 * h) * w
        second = (-y[0] + 16 * y[1] - 30 * y[2] + 16 * y[3] - y[4]) / (12 * h * h) * w * w
        return y[2], first, second

    times = np.linspace(0.0, 0.03, 30001)
    pushed = np.array([m * lift(t, 1e-3)[2] + k * (lift(t)[0] - 0.01) for t in times])
    leaves = float(times[np.argmax(pushed < 0.0)])
    y0, v0, _ = lift(leaves)
    done = solve_ivp(
        lambda _, y: [y[1], -k / m * (y[0] - 0.01)], (leaves, 0.08), [y0, v0], "DOP853", rtol=1e-11, atol=1e-13,
        max_step=1e-4, dense_output=True,
    )  # fmt: skip
    free = np.linspace(leaves + 1e-3, 0.08, 80001)
    back = float(free[np.argmax(done.sol(free)[0] < np.array([lift(t)[0] for t in free]))])
    running.step(back - 1e-4)
    assert running["contact[1].departures"] == 1 and not running["contact[1].closed"]
    assert running["contact[1].lift_off"] == pytest.approx(leaves, abs=2e-6)
    assert running["q[2]"] == pytest.approx(float(done.sol(running.time)[0]), abs=1e-6)
    assert running["contact[1].touch_down"] == 0.0
    running.step(2e-4)
    assert running["contact[1].impacts"] >= 1
    assert running["contact[1].touch_down"] == pytest.approx(back, abs=1e-5)


@pytest.mark.slow
def test_a_point_that_comes_to_the_end_of_its_profile_ends_the_run(tmp_path: Path) -> None:
    """A parabola by points as far as x = -0.3 m: the time of the way there by quadrature."""
    x = np.linspace(-0.3, 0.6, 10)
    running = Running(build(tmp_path, "End", bead(0.5, 0.25, f"profile_points = {points(x, x**2)}")))
    done = solve_ivp(
        lambda _, y: [y[1], -(2 * G * y[0] + 4 * y[0] * y[1] ** 2) / (1 + 4 * y[0] ** 2)], (0.0, 1.0), [0.5, 0.0],
        events=lambda _, y: y[0] + 0.3, rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    (end,) = done.t_events[0]
    running.step(end - 1e-3)
    assert running.slave.call("fmi2DoStep", running.time, 0.1, 1) == ERROR
    (text,) = [text for text in running.told if "comes to the end of its profile" in text]
    assert "bead" in text and float(text.split("at ")[1].split(" s")[0]) == pytest.approx(end, abs=1e-6)


@pytest.mark.slow
def test_a_profile_without_a_value_ends_the_run_with_time_and_body(tmp_path: Path) -> None:
    """A slope y = 0.2 m - x that ends where its law has no value, at a tuned x: x = g t^2 / 4 from rest at 45 degrees;
    and one whose tangent becomes vertical first."""
    text = '[functions]\ntext = "scalar top = 4[m];"\n[[body]]'
    slope = 'profile = "#x > top -> 1[m]*sqrt(-1), 0.2[m] - #x"\nrange = ["-1 m", "1 m"]'
    ends = build(tmp_path, "Ends", bead(0.0, 0.2, slope).replace("[[body]]", text, 1))
    running = Running(ends, {"laws.top": 0.4})
    end = np.sqrt(4.0 * 0.4 / G)
    running.step(0.9 * end)
    assert running.slave.call("fmi2DoStep", running.time, 0.3, 1) == ERROR
    (said,) = [one for one in running.told if "no finite value" in one]
    assert "the profile of constraint 1" in said and "where bead is, at 0.4 m" in said
    assert float(said.split("at ")[1].split(" s")[0]) == pytest.approx(end, abs=1e-6)
    dome = 'profile = "0.2[m]*sqrt(1 - (#x/top)^2)"\nrange = ["-1 m", "1 m"]'
    running = Running(build(tmp_path, "Dome", bead(0.1, 0.2, dome).replace("[[body]]", text, 1)), {"laws.top": 0.4})
    assert running.slave.call("fmi2DoStep", 0.0, 2.0, 1) == ERROR
    (said,) = [one for one in running.told if "vertical" in one]
    assert "where bead is, at x = 0.4 m: give it as a curve" in said


FAULTS = [
    ("", "give one of profile, profile_points, curve_points, or curve_x with curve_y"),
    ('profile = [0]\ncurve_x = "1[m]*#s"', "given: profile, curve_x"),
    ('profile = "#x"', "[[constraint]] 1 range: is missing"),
    ('profile = "#x + 1[s]"\nrange = [0, 1]', "[[constraint]] 1 profile"),
    ('profile = "sqrt(0.1[m^2] - #x*#x)"\nrange = [0, 1]', "the law has no finite value at x = "),
    ('profile = "sqrt(0.25[m^2] - #x*#x)"\nrange = ["-0.5 m", "0.5 m"]', "vertical tangent at x = -0.5 m; give the"),
    ('profile = "abs(#x)"\nrange = [-1, 1]', "a corner of the slope at x = "),
    ('profile = "#x > 0.3[m] -> 0.1[m], 0[m]"\nrange = [-1, 1]', "a jump of the value at x = 0.3 m, from 0 to 0.1"),
    ("profile = [0]\nrange = [0, 1]", "[[constraint]] 1 range: belongs to a law"),
    ("profile = [0]\nclosed = true", "[[constraint]] 1 closed: belongs to a curve"),
    ('curve_x = "1[m]*#s"\nrange = [0, 1]', "[[constraint]] 1 curve_y: this key is missing"),
    ("profile_points = [[0, 0], [1, 0], [1, 2], [2, 2]]", "x = 1 m follows x = 1 m: y = f(x) needs points with"),
    ("profile_points = [[0, 0], [1, 0]]", "has 2 points; 4 to 10000 are allowed"),
    ('profile_points = "missing.csv"', "cannot be read"),
    ("curve_points = [[0, 0], [1, 0], [1, 0], [2, 2]]", "points 2 and 3 are the same"),
    ('profile = [0]\nk_T = "10 s/m"', "belongs to friction, which is missing"),
    ("profile = [0]\nfriction = -0.1", "[[constraint]] 1 friction: -0.1 is refused: it must be at least 0"),
]


@pytest.mark.parametrize(("profile", "said"), FAULTS)
def test_a_faulty_profile_is_told_with_its_repair(tmp_path: Path, profile: str, said: str) -> None:
    path = tmp_path / "Bead.toml"
    path.write_text(bead(0.5, 0.25, profile), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert any(said in str(problem) for problem in caught.value.problems), [str(p) for p in caught.value.problems]


def test_a_profile_may_be_written_with_functions_and_scalars(tmp_path: Path) -> None:
    path = tmp_path / "Bead.toml"
    text = '[functions]\ntext = "scalar rise = 2[1/m]; function bowl(x[m]) = rise*#x^2;"\n[[body]]'
    profile = 'profile = "bowl"\nrange = ["-1 m", "1 m"]'
    path.write_text(bead(0.5, 0.5, profile).replace("[[body]]", text, 1), encoding="utf-8")
    model = load_model(path)
    assert "laws.rise" in [v.name for v in model.variables if v.kind == "tunable"]


def test_points_may_stand_in_a_file_in_any_unit(tmp_path: Path) -> None:
    """The same constants of the C code as from the same points in the recipe."""
    (tmp_path / "cam.csv").write_text("x [mm], y [mm]\n0, 0\n500, 250\n1000, 1000\n1500, 2250\n", encoding="utf-8")
    found = []
    for name, points in (("File", '"cam.csv"'), ("Here", "[[0, 0], [0.5, 0.25], [1, 1], [1.5, 2.25]]")):
        path = tmp_path / f"{name}.toml"
        path.write_text(bead(0.5, 0.25, f"profile_points = {points}"), encoding="utf-8")
        found.append({one.name: one.values for one in load_model(path).constants if one.name.startswith("spline")})
    assert found[0] == found[1] and found[0]["spline_knots"] == (0.0, 0.5, 1.0, 1.5)
    assert found[0]["spline_x"][:4] == pytest.approx((0.0, 0.0, 1.0, 0.0), abs=1e-12)  # y = x^2
