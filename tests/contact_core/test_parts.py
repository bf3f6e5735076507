"""An FMU of several parts does what its parts do, connected without delay."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, Importer, literal
from running import Running, build

from fmu_builder.cosim.master import run
from fmu_builder.export.fmu import content_guid, host_fmu
from fmu_builder.model.loader import load_model

BALL = """
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }
floor = "PointSurface"
"""
SLIDER = BALL + '[start]\n"ball.v0" = [1.0, 0.5, 0.0]\n"floor.K_fr" = 0.4\n'


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("ball"), "Ball", BALL)


def course(running: Running, prefix: str, names: list[str]) -> list[bytes]:
    """A mass pushed about by forces that change at every step; the bits of the named variables after each."""
    rng = random.Random(7)
    bits = []
    for k in range(50):
        running.set({f"{prefix}p.f": [rng.uniform(-5.0, 5.0) for _ in range(3)]})
        if k % 7 == 0:
            running.set({f"{prefix}m": rng.uniform(0.5, 2.0)})
        running.step(rng.choice((1e-3, 2e-2)))
        bits.append(running.values([prefix + name for name in names]).tobytes())
    return bits


def test_an_assembly_of_one_part_gives_the_bits_of_the_part(tmp_path: Path) -> None:
    alone = build(tmp_path, "Alone", 'element = "point_mass"\n')
    inside = build(tmp_path, "Inside", '[parts]\nmass = "Alone"\n')
    names = [name for name in alone.names("Real") if name != "time" and not name.startswith(("solver.", "der("))]
    starts = {"r0": (0.1, 0.2, 0.3), "v0": (-1.0, 0.5, 2.0)}
    first = course(Running(alone, starts), "", names)
    assert first == course(Running(inside, {f"mass.{n}": v for n, v in starts.items()}), "mass.", names)
    assert len(set(first)) == len(first)


def test_two_builds_give_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "Ball.toml").write_text(BALL, encoding="utf-8")
    first, second = load_model(tmp_path / "Ball.toml"), load_model(tmp_path / "Ball.toml")
    assert content_guid(first) == content_guid(second)
    assert host_fmu(tmp_path / "Ball.toml").read_bytes() == host_fmu(tmp_path / "Ball.toml").read_bytes()


def test_forces_arrive_without_delay(ball: Fmu) -> None:
    """Newton's second law at every point, with the force of the same point: r'' = f/m + g."""
    running = Running(ball, {"ball.v0": (0.3, 0.0, -2.0), "ball.m": 2.0})
    touched = False
    for _ in range(200):
        running.step(1e-3)
        f = running.vector("floor.point.f")
        assert (running.vector("ball.p.f") == f).all()
        assert (running.vector("floor.point.r") == running.vector("ball.p.r")).all()
        acceleration = running.values([f"der(ball.p.v[{k}])" for k in (1, 2, 3)])
        np.testing.assert_array_equal(acceleration, f / 2.0 + np.array([0.0, 0.0, -9.81]))
        touched |= running["floor.in_contact"] == 1
    assert touched


def test_messages_name_the_part(ball: Fmu) -> None:
    running = Running(ball, {"ball.r0": (0.0, 0.0, -1e-3)})
    assert any(text.startswith("floor: point 1 is in contact at the start, 0.001 m deep") for text in running.told)


# ---- the order of evaluation, at run time ----------------------------------------------------------------------------

GAIN = """
description = "Two gains"
[parameters]
k = { start = 2.0, description = "Gain of y" }
[inputs]
u = { description = "Input of y" }
w = { description = "Input of z" }
[outputs]
y = { depends = ["u", "k"], description = "k u" }
z = { depends = ["w"], description = "w + 1" }
[states]
x = { start = 1.0, output = true, depends = ["u", "w"], description = "Integral of u - w" }
"""
GAIN_C = """
static void outputs(Element *e) { e->y = e->k * e->u; e->z = e->w + 1.0; }
static void derivatives(Element *e) { e->der.x = e->u - e->w; }
"""


@pytest.fixture(scope="module")
def gains(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recipe Gain: y = k u, z = w + 1, x' = u - w."""
    folder = tmp_path_factory.mktemp("gains")
    element = folder / "elements" / "gain"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(GAIN.replace('"k u"', '"k times u"'), encoding="utf-8")
    (element / "element.c").write_text(GAIN_C, encoding="utf-8")
    (folder / "Gain.toml").write_text('element = "gain"\n', encoding="utf-8")
    return folder


def test_a_signal_passes_a_part_twice_within_one_point(gains: Path) -> None:
    """a.u -> a.y -> b.u -> b.y -> a.w -> a.z, without a delay anywhere, also after a parameter has changed."""
    fmu = build(gains, "Twice", 'connections = [["a.y", "b.u"], ["b.y", "a.w"]]\n[parts]\na = "Gain"\nb = "Gain"\n')
    running = Running(fmu, {"a.u": 3.0, "b.k": 5.0})
    assert [running[name] for name in ("a.y", "b.u", "b.y", "a.w", "a.z")] == [6.0, 6.0, 30.0, 30.0, 31.0]
    assert running["der(a.x)"] == 3.0 - 30.0
    running.set({"a.k": -1.0})
    assert [running[name] for name in ("b.y", "a.z")] == [-15.0, -14.0]
    assert list(running.directional(["a.z", "der(a.x)"], {"a.u": 1.0})) == [-5.0, 1.0 + 5.0]


def test_states_in_a_ring_swing(gains: Path) -> None:
    """a.x' = b.x, b.x' = -2 a.x through the gain of c: a.x = cos(w t) + sin(w t)/w with w = sqrt 2."""
    connections = '["b.x", "a.u"], ["a.x", "c.u"], ["c.y", "b.u"]'
    fmu = build(
        gains,
        "Ring",
        f'connections = [{connections}]\n[parts]\na = "Gain"\nb = "Gain"\nc = "Gain"\n'
        '[start]\n"c.k" = -2.0\n"solver.tolerance" = 1e-12\n',
    )
    running = Running(fmu)
    for _ in range(40):
        running.step(0.25)
    w, t = np.sqrt(2.0), 10.0
    assert running["a.x"] == pytest.approx(np.cos(w * t) + np.sin(w * t) / w, abs=1e-9)
    assert running["b.x"] == pytest.approx(np.cos(w * t) - w * np.sin(w * t), abs=1e-9)


def test_forces_on_one_port_add_up(tmp_path: Path) -> None:
    """A mass between two floors that lie on each other is pushed by both."""
    text = """
connections = [["ball.p", "low.point"], ["ball.p", "high.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, -1e-3] } }
low = { recipe = "PointSurface", start = { C_F = 1e5 } }
high = { recipe = "PointSurface", start = { C_F = 3e5 } }
"""
    running = Running(build(tmp_path, "Between", text))
    low, high = running.vector("low.point.f"), running.vector("high.point.f")
    assert list(low) == [0.0, 0.0, pytest.approx(100.0)]
    assert list(high) == [0.0, 0.0, pytest.approx(300.0)]
    assert (running.vector("ball.p.f") == low + high).all()
    assert running["der(ball.p.v[3])"] == pytest.approx(400.0 - 9.81)


# ---- physics ---------------------------------------------------------------------------------------------------------


def test_an_elastic_ball_comes_back_to_its_height(tmp_path: Path) -> None:
    """m g h is conserved over ten bounces: the error is that of the integration, not of a communication step."""
    fmu = build(tmp_path, "Elastic", BALL + '[start]\n"floor.C_r" = 1.0\n"floor.K_fr" = 0.0\n')
    running = Running(fmu)
    energies = []
    while running["floor.contact_count"] < 10:
        running.step(1e-2)
        names = ("ball.energy.kinetic", "ball.energy.potential", "floor.energy.elastic")
        energies.append(sum(running[name] for name in names))
    assert np.ptp(energies) <= 1e-7 * 9.81 * 0.1


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_the_ledger_closes_at_the_tolerance_of_the_integration(tmp_path: Path, tolerance: float) -> None:
    """Sliding, bouncing, damping: work - stored - dissipated is the error of the integration of its parts."""
    running = Running(build(tmp_path, "Slider", SLIDER), tolerance=tolerance)
    turned_over = 0.0
    for _ in range(100):
        running.step(1e-2)
        turned_over = max(turned_over, running["floor.energy.damping"] + running["floor.energy.friction"])
        assert abs(running["floor.energy.residual"]) <= 100.0 * tolerance
    assert running["floor.contact_count"] > 3
    assert turned_over > 0.5  # J


def test_co_simulation_converges_to_the_assembly(tmp_path: Path) -> None:
    """The restitution of two coupled FMUs tends to that of one solver, with first order in the communication step."""
    scenario = """
connections = [["ball.p", "floor.point"]]
[experiment]
stop = 0.16
step = {step}
output_step = 0.16
[slaves]
ball = {{ recipe = "PointMass", start = {{ r0 = [0, 0, 0.1] }} }}
floor = "PointSurface"
"""
    running = Running(build(tmp_path, "Ball", BALL))
    running.step(0.16)
    exact = running["ball.p.v[3]"]
    assert running["floor.contact_count"] == 1 and exact > 0.0
    literal("PointSurface", tmp_path)
    errors = []
    for step in (4e-5, 2e-5, 1e-5, 5e-6):
        path = tmp_path / "coupled.toml"
        path.write_text(scenario.format(step=step), encoding="utf-8")
        errors.append(abs(run(path).trace["ball.p.v[3]"][-1] - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(1.0, abs=0.2), errors
    assert errors[-1] < 5e-3 * exact


# ---- the state -------------------------------------------------------------------------------------------------------


def test_a_restored_state_goes_on_with_the_same_bits(ball: Fmu) -> None:
    first, second = Running(ball, {"ball.v0": (0.5, 0.2, -1.0)}), Running(ball)
    for _ in range(10):
        first.step(1e-2)
    saved = first.slave.state()
    handle = second.slave.get_state()
    assert second.slave.deserialize(saved, handle) == 0
    assert second.slave.call("fmi2SetFMUstate", handle) == 0
    second.slave.free_state(handle)
    second.time = first.time
    assert first.slave.all_values() == second.slave.all_values()
    seen = set()
    for _ in range(30):
        first.step(7e-3)
        second.step(7e-3)
        seen.add(first.slave.all_values())
        assert first.slave.all_values() == second.slave.all_values()
    assert first.slave.state() == second.slave.state()
    assert len(seen) == 30


@pytest.mark.slow
def test_a_large_instance_lives_in_the_importers_memory_alone(tmp_path: Path) -> None:
    """The pool for importers without memory holds four instances up to 1 MB; a larger one would make it a burden."""
    parts = "\n".join(f'm{i} = "PointMass"' for i in range(800))
    fmu = build(tmp_path, "Masses", f"[parts]\n{parts}\n")
    importer = Importer(memory=False)
    assert fmu.instantiate(importer) is None
    assert importer.texts == ["fmi2Instantiate: no memory for one more instance"]
    assert Running(fmu)["m799.m"] == 1.0
    small = build(tmp_path, "Few", '[parts]\nm = "PointMass"\n')
    assert small.instantiate(Importer(memory=False)) is not None


# ---- forces from outside on a body that touches something inside -----------------------------------------------------

EXPOSED = BALL + '[expose]\nports = { tip = "ball.p" }\n'


def test_a_force_from_outside_joins_the_sum_at_a_connected_port(ball: Fmu, tmp_path: Path) -> None:
    """A constant force is a change of gravity, in flight and through the bounces: the same motion to the tolerance."""
    pushed = Running(build(tmp_path, "Exposed", EXPOSED), {"tip.f": (1.0, 0.0, -5.0)}, tolerance=1e-11)
    heavier = Running(ball, {"ball.g": (1.0, 0.0, -14.81)}, tolerance=1e-11)
    for _ in range(50):
        pushed.step(1e-2)
        heavier.step(1e-2)
        np.testing.assert_allclose(pushed.vector("tip.r"), heavier.vector("ball.p.r"), rtol=0, atol=1e-9)
        contact = pushed.vector("floor.point.f")
        np.testing.assert_array_equal(pushed.vector("ball.p.f"), contact + np.array([1.0, 0.0, -5.0]))
    assert pushed["floor.contact_count"] >= 2


def test_derivatives_reach_through_a_force_from_outside(tmp_path: Path) -> None:
    running = Running(build(tmp_path, "Exposed", EXPOSED), {"ball.m": 4.0})
    for k in (1, 2, 3):
        assert running.directional([f"der(tip.v[{k}])"], {f"tip.f[{k}]": 1.0}) == [0.25]


@pytest.mark.slow
def test_an_assembly_inside_another_takes_forces_from_outside_too(tmp_path: Path) -> None:
    build(tmp_path, "Exposed", EXPOSED)
    outer = '[parts]\ninner = "Exposed"\n[expose]\nports = { end = "inner.tip" }\n'
    running = Running(build(tmp_path, "Outer", outer), {"end.f": (0.0, 0.0, 9.81)})
    running.step(0.5)  # as heavy as its lift: it stays where it is
    np.testing.assert_allclose(running.vector("end.r"), (0.0, 0.0, 0.1), rtol=0, atol=1e-12)
    around = EXPOSED.replace("tip", "hold") + '[start]\n"ball.g" = [0, 0, 0]\n'
    alone = Running(build(tmp_path, "Alone", around), {"hold.f": (0.0, 0.0, -1.0)})
    alone.step(0.1)
    assert alone.vector("hold.v")[2] == pytest.approx(-0.1, rel=1e-9)


ARC = [[math.sin(a), 1.0 - math.cos(a), 0.0] for a in np.radians(np.arange(0.0, 91.0, 10.0))]  # from x to y
CORNER = f"""
element = "point_line_2"
[line]
points = {ARC}
[start]
k_r1 = 1e5
VectorFr2 = [0, 0, 1]
"""


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("angle", "status"), [(5.0, 0), (85.0, 3)])
def test_a_part_is_checked_where_the_connections_put_it(
    tmp_path_factory: pytest.TempPathFactory, angle: float, status: int, read: bool
) -> None:
    """VectorFr1 must not lie along the line at the bead, at the end of the line, whatever it is at the start
    value of point.r, along the first chord, and whether a value is read before."""
    folder = tmp_path_factory.mktemp("corner")
    (folder / "Corner.toml").write_text(CORNER, encoding="utf-8")
    bead = 'bead = { recipe = "PointMass", start = { r0 = [1, 0.999, 0] } }'
    guide = 'guide = { recipe = "Corner", start = { VectorFr1 = [1, 0, 0] } }'
    fmu = build(folder, "Bead", f'connections = [["bead.p", "guide.point"]]\n[parts]\n{bead}\n{guide}\n')
    slave = fmu.slave()
    slave.setup()
    slave.set(
        {"guide.VectorFr1[1]": math.cos(math.radians(angle)), "guide.VectorFr1[2]": math.sin(math.radians(angle))}
    )
    assert slave.call("fmi2EnterInitializationMode") == 0
    if read:
        slave.get("guide.delta1")
    assert slave.call("fmi2ExitInitializationMode") == status
