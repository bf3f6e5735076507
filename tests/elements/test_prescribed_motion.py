"""prescribed_motion: the motion is the formula, velocities are its derivatives, the work is that of the force."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu, literal, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, build
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from fmu_builder import run
from fmu_builder.cosim.trace import read_trace
from fmu_builder.paths import shipped

Vector = NDArray[np.float64]
NAMES = ("offset", "speed", "amplitude", "frequency", "phase")
FREQUENCY = 20.0
BOUNDS = (2.0, 3.0, 0.5, FREQUENCY, 4.0)  # of the five, SI
times = st.floats(0.0, 10.0)
EXPLICIT, IMPLICIT = 2, 3  # literals of solver.method


@dataclass(frozen=True)
class Course:
    """s(t) and its derivatives for arrays of the five parameters, shape (n,)."""

    offset: Vector
    speed: Vector
    amplitude: Vector
    frequency: Vector
    phase: Vector

    def derivative(self, t: float, order: int) -> Vector:
        """s, s' or s''.  The n-th derivative of sin(x) is sin(x + n pi/2)."""
        omega = 2.0 * np.pi * self.frequency
        steady = (self.offset + self.speed * t, self.speed, 0.0 * self.speed)[order]
        return steady + self.amplitude * omega**order * np.sin(omega * t + self.phase + order * np.pi / 2.0)

    def values(self, prefix: str = "") -> dict[str, Vector | float]:
        parts = {f"{prefix}{name}": getattr(self, name) for name in NAMES}
        return {name: part if part.size > 1 else float(part[0]) for name, part in parts.items()}

    def rounding(self, t: float) -> float:
        """What 20 roundings of the largest term leave in s, s' or s''; a phase of x rad is rounded by 1e-16 x."""
        omega = 2.0 * np.pi * self.frequency
        size = np.abs(self.offset) + np.abs(self.speed) * (1.0 + t) + np.abs(self.amplitude) * (1.0 + omega) ** 2
        return float(20.0 * 2.0**-53 * (size * (1.0 + omega * t)).max())


def courses(n: int) -> st.SearchStrategy[Course]:
    def vector(bound: float, low: float) -> st.SearchStrategy[Vector]:
        return st.lists(st.floats(low, bound), min_size=n, max_size=n).map(np.array)

    return st.builds(Course, *(vector(high, 0.0 if high == FREQUENCY else -high) for high in BOUNDS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prescribed")


@pytest.fixture(scope="module")
def frame(folder: Path) -> Fmu:
    return load_shipped("PrescribedMotion", folder)


@pytest.fixture(scope="module")
def shaft(folder: Path) -> Fmu:
    return load_shipped("PrescribedRotation", folder)


@pytest.fixture(scope="module")
def slide(folder: Path) -> Fmu:
    return load_shipped("PrescribedTranslation", folder)


@pytest.fixture(scope="module")
def plane(folder: Path) -> Fmu:
    return load_shipped("PrescribedPlanarMotion", folder)


def quaternion(rotation: Rotation) -> Vector:
    return rotation.as_quat()[[3, 0, 1, 2]]


def names(base: str, n: int = 3) -> list[str]:
    return [f"{base}[{k}]" for k in range(1, n + 1)]


# ---- the motion ------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(line=courses(3), angle=courses(1), axis=st.sampled_from([(0, 0, 1), (1, 2, -2), (-3e-9, 0, 4e-9)]), t=times)
def test_a_frame_moves_and_turns_by_its_formula(frame: Fmu, line: Course, angle: Course, axis, t: float) -> None:
    running = Running(frame, {**line.values(), **angle.values("angle."), "axis": axis}, time=t)
    n = np.array(axis) / np.linalg.norm(axis)
    for name, order in (("port.r", 0), ("port.v", 1), ("acceleration", 2)):
        assert running.vector(name) == pytest.approx(line.derivative(t, order), abs=line.rounding(t)), name
    for name, order in (("port.w", 1), ("angular_acceleration", 2)):
        assert running.vector(name) == pytest.approx(angle.derivative(t, order)[0] * n, abs=angle.rounding(t)), name
    a = angle.derivative(t, 0)[0]
    assert running["rotation"] == pytest.approx(a, abs=angle.rounding(t))
    expected = quaternion(Rotation.from_rotvec(n * a))
    q = running.vector("port.q", 4)
    assert np.copysign(1.0, q @ expected) * q == pytest.approx(expected, abs=angle.rounding(t) + 1e-15)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)


@settings(max_examples=30, deadline=None)
@given(parts=courses(3), t=times)
def test_a_body_in_the_plane_moves_and_turns_by_its_formula(plane: Fmu, parts: Course, t: float) -> None:
    running = Running(plane, parts.values(), time=t)
    for name, order in (("position", 0), ("port.v", 1), ("acceleration", 2)):
        assert running.vector(name) == pytest.approx(parts.derivative(t, order), abs=parts.rounding(t)), name


@settings(max_examples=30, deadline=None)
@given(one=courses(1), t=times)
def test_a_shaft_and_a_slide_move_by_the_same_formula(shaft: Fmu, slide: Fmu, one: Course, t: float) -> None:
    turning, sliding = Running(shaft, one.values("angle."), time=t), Running(slide, one.values(), time=t)
    motion = one.derivative(t, 0)[0], one.derivative(t, 1)[0], one.derivative(t, 2)[0]
    for running, of in (
        (turning, ("port.phi", "port.w", "angular_acceleration")),
        (sliding, ("port.s", "port.v", "acceleration")),
    ):
        assert running.values(of) == pytest.approx(motion, abs=one.rounding(t))


SHAKER = {
    "offset": (0.1, -0.2, 0.3), "speed": (0.5, 0.0, -0.1), "amplitude": (0.01, 0.02, 0.0),
    "frequency": (3.0, 7.0, 0.0), "phase": (0.3, 0.0, 0.0), "axis": (1.0, 2.0, -2.0),
    "angle.offset": 0.4, "angle.speed": 30.0, "angle.amplitude": 0.2, "angle.frequency": 5.0, "angle.phase": 1.0,
}  # fmt: skip
MOTION = [*names("port.r"), *names("port.q", 4), *names("port.v"), *names("port.w")]


def test_without_parameters_the_frame_is_at_rest_in_the_origin(frame: Fmu) -> None:
    running = Running(frame)
    running.step(0.7)
    assert list(running.values(MOTION)) == [0.0] * 3 + [1.0, 0.0, 0.0, 0.0] + [0.0] * 6


def test_steps_of_any_length_lead_to_the_motion_of_the_clock(frame: Fmu) -> None:
    stepped = Running(frame, SHAKER)
    for h in (1e-3, 0.37, 1e-6, 0.628999):
        stepped.step(h)
    begun = Running(frame, SHAKER, time=stepped.time)
    assert list(stepped.values(MOTION)) == list(begun.values(MOTION))


def test_no_force_moves_the_frame(frame: Fmu) -> None:
    free, pushed = Running(frame, SHAKER), Running(frame, {**SHAKER, "port.f": (1e6, 0, -3e6), "port.t": (0, 1e5, 0)})
    for running in (free, pushed):
        running.step(0.123)
    assert list(free.values(MOTION)) == list(pushed.values(MOTION))
    assert free["energy.work"] == 0.0 != pushed["energy.work"]


# ---- derivatives -----------------------------------------------------------------------------------------------------


def test_output_derivatives_are_velocity_and_acceleration(frame: Fmu) -> None:
    """r' = v, v' = a, q' = (0, w) q / 2, w' = angular acceleration: time has the direction 1."""
    running = Running(frame, SHAKER)
    for _ in range(20):
        running.step(0.0173)
        assert running.output_rates(names("port.r")) == pytest.approx(running.vector("port.v"), abs=1e-13)
        assert running.output_rates(names("port.v")) == pytest.approx(running.vector("acceleration"), abs=1e-12)
        assert running.output_rates(names("port.w")) == pytest.approx(running.vector("angular_acceleration"), abs=1e-10)
        s, *v = running.vector("port.q", 4)
        w = running.vector("port.w")
        turned = 0.5 * np.array([-w @ v, *(s * w + np.cross(w, v))])
        assert running.output_rates(names("port.q", 4)) == pytest.approx(turned, abs=1e-13)


@pytest.mark.parametrize("kind", ["shaft", "slide", "plane"])
def test_output_derivatives_of_the_other_kinds(kind: str, request: pytest.FixtureRequest) -> None:
    one = Course(*(np.array([x]) for x in (0.1, 0.2, 0.05, 6.0, 0.7)))
    three = Course(*(np.array([x, -x, 2.0 * x]) for x in (0.1, 0.2, 0.05)), np.array([6.0, 1.0, 0.0]), np.zeros(3))
    course = three if kind == "plane" else one
    running = Running(request.getfixturevalue(kind), course.values("angle." if kind == "shaft" else ""))
    running.step(0.0173)
    n = 3 if kind == "plane" else 1
    given_by = {"shaft": ("port.phi", "port.w"), "slide": ("port.s", "port.v"), "plane": ("position", "port.v")}[kind]
    for order, name in enumerate(given_by, start=1):
        rates = running.output_rates(names(name) if n == 3 else [name])
        assert rates == pytest.approx(course.derivative(running.time, order), abs=1e-12)


def test_velocity_is_the_difference_quotient_of_the_position(frame: Fmu) -> None:
    """No formula of ours: fourth order differences, 1e-4 s apart."""
    h, at = 1e-4, 0.4321
    r, w = {}, Running(frame, SHAKER, time=at).vector("port.w")
    for k in (-2, -1, 1, 2):
        running = Running(frame, SHAKER, time=at + k * h)
        r[k] = np.array([*running.vector("port.r"), *running.vector("port.q", 4)])
    slope = (8.0 * (r[1] - r[-1]) - (r[2] - r[-2])) / (12.0 * h)
    exact = Running(frame, SHAKER, time=at)
    assert slope[:3] == pytest.approx(exact.vector("port.v"), abs=1e-9)
    s, *v = exact.vector("port.q", 4)
    assert slope[3:] == pytest.approx(0.5 * np.array([-w @ v, *(s * w + np.cross(w, v))]), abs=1e-7)


def test_power_follows_forces_and_nothing_else_does(frame: Fmu) -> None:
    running = Running(frame, SHAKER)
    running.step(0.1)
    for port, motion in (("f", "v"), ("t", "w")):
        seed = {f"port.{port}[2]": 1.0}
        assert running.directional(["power.work"], seed) == pytest.approx([-running[f"port.{motion}[2]"]], rel=1e-15)
        assert not running.directional(MOTION, seed).any()


# ---- the work of the drive -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0.9, 0.1, 0.013])
def test_work_of_a_held_force_is_force_times_way(frame: Fmu, h: float) -> None:
    """-f (r(t) - r(0)) - t n (a(t) - a(0)), many periods inside one step, whose ends are all that is evaluated."""
    f, t = np.array([3.0, -20.0, 7.0]), np.array([0.5, 0.2, -0.1])
    running = Running(frame, {**SHAKER, "port.f": f, "port.t": t})
    start, angle, largest = running.vector("port.r"), running["rotation"], 0.0
    n = np.array([1.0, 2.0, -2.0]) / 3.0
    for _ in range(round(0.9 / h)):
        running.step(h)
        work = -f @ (running.vector("port.r") - start) - t @ n * (running["rotation"] - angle)
        largest = max(largest, abs(work))
        assert running["energy.work"] == pytest.approx(work, abs=1e-13)  # terms of up to 10 J, 70 steps
    assert largest > 1.0
    assert running["solver.evaluations"] == running["solver.steps"] == round(0.9 / h)


def test_work_of_a_force_with_a_slope(slide: Fmu) -> None:
    """F(t) = F_0 + F' t inside one step: -int F v dt by quadrature of the closed form."""
    course = Course(*(np.array([x]) for x in (0.0, 0.2, 0.05, 6.0, 0.7)))
    running = Running(slide, {**course.values(), "port.F": 4.0}, tolerance=1e-9)
    running.rates({"port.F": -30.0})
    running.step(0.5)
    work, _ = quad(lambda t: -(4.0 - 30.0 * t) * course.derivative(t, 1)[0], 0.0, 0.5, epsabs=1e-13, limit=200)
    assert running["energy.work"] == pytest.approx(work, rel=1e-7)


def test_work_of_a_torque_on_a_shaft_and_of_the_forces_on_a_body_in_the_plane(shaft: Fmu, plane: Fmu) -> None:
    turning = Running(shaft, {"angle.speed": 10.0, "port.t": -2.0})  # a brake of 2 N.m
    turning.step(3.0)
    assert turning["energy.work"] == pytest.approx(60.0, rel=1e-12)
    moving = Running(plane, {"speed": (1.0, 2.0, 3.0), "port.F": (-1.0, 10.0, -100.0)})
    moving.step(0.5)
    assert moving["energy.work"] == pytest.approx(0.5 * (1.0 - 20.0 + 300.0), rel=1e-12)
    assert moving["power.work"] == pytest.approx(281.0, rel=1e-15)


# ---- rules -----------------------------------------------------------------------------------------------------------


def test_the_length_of_the_axis_does_not_matter(frame: Fmu) -> None:
    motions = [
        Running(frame, {**SHAKER, "axis": s * np.array([1.0, 2.0, -2.0])}, time=0.3) for s in (1.0, 1e-200, 1e200)
    ]
    for other in motions[1:]:
        assert other.values(MOTION) == pytest.approx(motions[0].values(MOTION), abs=1e-14)


def test_an_axis_of_zeros_is_refused(frame: Fmu) -> None:
    slave = frame.slave()
    assert slave.set(dict.fromkeys(names("axis"), 0.0)) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert np.isfinite(slave.get(*MOTION)).all()
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert any("axis = (0, 0, 0)" in text and "must not be zero" in text for text in slave.importer.texts)


def test_the_motion_cannot_be_changed_once_it_has_begun(frame: Fmu) -> None:
    running = Running(frame)
    for name in ("offset[1]", "speed[2]", "amplitude[3]", "frequency[1]", "phase[1]", "axis[1]", "angle.speed"):
        assert running.slave.set({name: 1.0}) == ERROR
        assert f"{name} cannot be set after the initialization" in running.told[-1]


def test_a_motion_that_overflows_is_an_error_that_names_it(frame: Fmu) -> None:
    slave = frame.slave()
    assert slave.set({"amplitude[1]": 1e300, "frequency[1]": 1e10}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "is not finite" in slave.importer.texts[-1]


# ---- in a system -----------------------------------------------------------------------------------------------------

ORBIT = """
connections = [["table.port", "floor.surface"], ["body.p", "floor.point"]]
[experiment]
stop = "0.2 s"
step = "10 us"
output_step = "1 ms"
[slaves.table]
recipe = "PrescribedMotion"
start = {{ speed = [{speed}, 0, 0] }}
[slaves.body]
recipe = "PointMass"
start = {{ r0 = [0, 0, "-0.0981 mm"], v0 = [{v0}, 0, 0] }}
[slaves.floor]
recipe = "PointSurface"
start = {{ C_F = "1e5 N/m", C_r = 0.5, K_fr = 0.3 }}
"""


def test_a_conveyor_takes_a_mass_along_and_pays_twice_its_kinetic_energy(tmp_path: Path) -> None:
    """A mass laid on a belt of speed u slips until it has it: the drive gives m u^2, half of it becomes heat."""
    literal("PointSurface", tmp_path)
    path = tmp_path / "belt.toml"
    path.write_text(ORBIT.format(speed=0.3, v0=0.0), encoding="utf-8")
    trace = run(path).trace
    u, mu, g, ramp = 0.3, 0.3, 9.81, 0.01  # full friction above the slip speed `ramp`
    slip = ramp * math.exp(-mu * g / ramp * (0.2 - (u - ramp) / (mu * g)))
    assert trace["body.p.v[1]"][-1] == pytest.approx(u - slip, abs=3e-5)  # friction late by half a step: mu g h
    work = u * (u - slip)
    assert trace["table.energy.work"][-1] == pytest.approx(work, rel=1e-3)
    assert trace["floor.energy.friction"][-1] == pytest.approx(work - (u - slip) ** 2 / 2.0, rel=1e-3)


def test_a_floor_and_a_mass_of_one_speed_feel_no_friction(tmp_path: Path) -> None:
    """The control of the belt: without slip there is neither friction nor work."""
    literal("PointSurface", tmp_path)
    path = tmp_path / "belt.toml"
    path.write_text(ORBIT.format(speed=0.3, v0=0.3), encoding="utf-8")
    trace = run(path).trace
    assert np.abs(trace["table.energy.work"]).max() < 1e-12
    assert np.abs(trace["body.p.v[1]"] - 0.3).max() < 1e-12


SHAKEN = """
connections = [["table.port", "floor.surface"], ["body.p", "floor.point"]]
[parts.table]
recipe = "PrescribedMotion"
start = { "offset[3]" = "1 mm", "amplitude[3]" = "1 mm", "frequency[3]" = "5 Hz", "phase[3]" = "-90 deg" }
[parts.body]
recipe = "PointMass"
start = { r0 = [0, 0, "-0.981 mm"] }
[parts.floor]
recipe = "PointSurface"
start = { C_F = "1e4 N/m", C_r = 1, K_fr = 0 }
"""


@pytest.fixture(scope="module")
def shaken(folder: Path) -> Fmu:
    return build(folder, "Shaken", SHAKEN)


@pytest.mark.parametrize("method", [EXPLICIT, IMPLICIT])
def test_a_shaken_floor_in_one_fmu_errs_by_the_tolerance_and_not_by_the_step(shaken: Fmu, method: int) -> None:
    """The closed form of the case shaken_rest, whose coupling errs by 1.3 um at 10 us: here with steps of 50 ms."""
    w, omega, amplitude, rest = 100.0, 2.0 * math.pi * 5.0, 1e-3, 9.81e-4
    factor = amplitude * omega**2 / (w**2 - omega**2)
    running = Running(shaken, {"solver.method": method}, tolerance=1e-9)
    for k in range(1, 11):
        running.step(0.05)
        t = 0.05 * k
        u = factor * (math.cos(w * t) - math.cos(omega * t))
        z = amplitude * (1.0 - math.cos(omega * t)) - rest + u
        v = amplitude * omega * math.sin(omega * t) + factor * (omega * math.sin(omega * t) - w * math.sin(w * t))
        work = v**2 / 2.0 + 9.81 * (z + rest) + 5e3 * ((rest - u) ** 2 - rest**2)
        # 1e-9 of sizes of 1 mm, 50 mm/s and 20 mJ in each substep, a hundred of them a second or more
        assert running["body.p.r[3]"] == pytest.approx(z, abs=1e-9)
        assert running["body.p.v[3]"] == pytest.approx(v, abs=1e-7)
        assert running["table.energy.work"] == pytest.approx(work, abs=1e-8)


BOUNCING = """
connections = [["table.port", "floor.surface"], ["body.p", "floor.point"]]
[parts.table]
recipe = "PrescribedMotion"
start = { "amplitude[3]" = "2 mm", "frequency[3]" = "10 Hz" }
[parts.body]
recipe = "PointMass"
start = { r0 = [0, 0, "20 mm"] }
[parts.floor]
recipe = "PointSurface"
start = { C_F = "1e5 N/m", C_r = 0.5, K_fr = 0 }
"""


@pytest.fixture(scope="module")
def bouncing(folder: Path) -> Fmu:
    return build(folder, "Bouncing", BOUNCING)


@pytest.mark.parametrize("method", [EXPLICIT, IMPLICIT])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_a_mass_bounces_on_a_shaking_floor_in_one_fmu(bouncing: Fmu, tolerance: float, method: int) -> None:
    """The scipy reference of the case shaken_bounce (its own error: 1e-12): four contacts on a floor that follows the
    clock, located inside steps of 1 ms.  Some hundred substeps err by the tolerance each, relative to 20 mm of drop."""
    path = shipped("elements") / "prescribed_motion" / "cases" / "shaken_bounce_ref.csv"
    reference = read_trace(path)
    running = Running(bouncing, {"solver.method": method}, tolerance=tolerance)
    error = 0.0
    for z in reference["body.p.r[3]"][10::10]:
        running.step(1e-3)
        error = max(error, abs(running["body.p.r[3]"] - z))
    assert error < 100.0 * tolerance * 0.02
    assert error > 1e-14  # of two independent integrations
    fallen = 9.81 * 0.02 - running["body.energy.kinetic"] - running["body.energy.potential"]
    kept = running["floor.energy.elastic"] + running["floor.energy.damping"]
    assert running["table.energy.work"] == pytest.approx(kept - fallen, abs=100.0 * tolerance * 9.81 * 0.02)
    assert abs(running["floor.energy.residual"]) < 100.0 * tolerance * 9.81 * 0.02


TORSION = """
description = "A torsion spring and damper to the ground"
[parameters]
k = { unit = "N.m/rad", start = 20.0, description = "Stiffness" }
d = { unit = "N.m.s/rad", start = 0.5, description = "Damping" }
[ports.shaft]
kind = "rotational"
optional = ["phi"]
side = "force"
description = "The shaft"
depends = ["shaft.*", "k", "d"]
"""
TORSION_C = "static void outputs(Element *e) { e->shaft.t = -e->k * e->shaft.phi - e->d * e->shaft.w; }\n"


@pytest.fixture(scope="module")
def torsion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an element whose port has the optional angle, and its recipe Torsion."""
    folder = tmp_path_factory.mktemp("torsion")
    element = folder / "elements" / "torsion"
    element.mkdir(parents=True)
    (element / "element.toml").write_text(TORSION, encoding="utf-8")
    (element / "element.c").write_text(TORSION_C, encoding="utf-8")
    (folder / "Torsion.toml").write_text('element = "torsion"\n', encoding="utf-8")
    return folder


def test_a_shaft_winds_a_spring_and_heats_a_damper(torsion: Path) -> None:
    """phi = B sin(W t) in one FMU: the drive puts in k phi^2/2 + d B^2 W^2 (t/2 + sin(2 W t)/(4 W))."""
    b, omega = 0.3, 2.0 * math.pi * 2.0
    drive = '{ recipe = "PrescribedRotation", start = { "angle.amplitude" = 0.3, "angle.frequency" = "2 Hz" } }'
    wires = 'connections = [["drive.port", "spring.shaft"]]\n'
    wound = build(torsion, "Wound", f'{wires}[parts]\ndrive = {drive}\nspring = "Torsion"\n')
    running = Running(wound, tolerance=1e-9)
    for k in range(1, 11):
        running.step(0.037)
        t = 0.037 * k
        phi, w = b * math.sin(omega * t), b * omega * math.cos(omega * t)
        heat = 0.5 * b**2 * omega**2 * (t / 2.0 + math.sin(2.0 * omega * t) / (4.0 * omega))
        assert running["spring.shaft.phi"] == pytest.approx(phi, abs=1e-15)
        assert running["spring.shaft.t"] == pytest.approx(-20.0 * phi - 0.5 * w, abs=1e-13)
        assert running["drive.energy.work"] == pytest.approx(20.0 * phi**2 / 2.0 + heat, abs=1e-8)


def test_a_driven_angle_drives_its_angular_velocity(torsion: Path) -> None:
    path = torsion / "driven.toml"
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nspring = "Torsion"\n'
    path.write_text(text + '[drive]\n"spring.shaft.phi" = { time = [0.2, 0.4], value = [0, 0.1] }\n', encoding="utf-8")
    torque = run(path)["spring.shaft.t"][1:]
    phi = np.interp(0.1 * np.arange(10), [0.2, 0.4], [0.0, 0.1])
    w = np.array([0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert torque == pytest.approx(-20.0 * phi - 0.5 * w, abs=1e-14)
