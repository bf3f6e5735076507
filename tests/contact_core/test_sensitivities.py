"""Sensitivities along a run: derivatives of what an FMU computes by start values that it follows through its steps.

References in closed form are differentiated by complex steps of 1e-30, exactly to rounding (Squire & Trapp 1998)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import c_size_t, c_void_p
from pathlib import Path

import numpy as np
import pytest
from fmi2 import DISCARD, ERROR, MODEL_EXCHANGE, OK, Fmu, Importer, Slave, load_shipped, reals, references
from numpy.typing import NDArray
from running import build
from scipy.integrate import solve_ivp

Values = NDArray[np.float64]
Motion = Callable[..., tuple[complex, complex]]  # height and velocity by the time and named values
BALL = {"mass": 1.0, "stiffness": 1e5, "restitution": 0.5, "initial_height": 1.0, "gravity[3]": -9.81}
EXACT = 1e-8  # of the largest derivative of a signal; the tolerance of the solver is 1e-12


def follow(slave: Slave, names: Sequence[str]) -> int:
    vr = references(*(slave.fmu.references[name] for name in names))
    function = slave.fmu.library.fmuBuilderFollowStarts
    function.argtypes = (c_void_p, c_void_p, c_size_t)
    return int(function(slave.handle, vr, len(names)))


def sensitivities(slave: Slave, names: Sequence[str], count: int) -> tuple[int, Values]:
    """The status, and the derivatives by `count` start values, shape (names, count)."""
    vr = references(*(slave.fmu.references[name] for name in names))
    found = reals(*[np.nan] * (len(names) * count))
    function = slave.fmu.library.fmuBuilderGetSensitivities
    function.argtypes = (c_void_p, c_void_p, c_size_t, c_void_p)
    status = int(function(slave.handle, vr, len(names), found))
    return status, np.array(found).reshape(len(names), count)


def begun(fmu: Fmu, values: Mapping[str, float], followed: Sequence[str] = (), tolerance: float = 1e-12) -> Slave:
    slave = fmu.slave(Importer())
    assert slave.set(dict(values)) == OK
    if followed:
        assert follow(slave, followed) == OK, slave.importer.texts
    assert slave.call("fmi2SetupExperiment", 1, tolerance, 0.0, 0, 0.0) == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == OK, slave.importer.texts
    return slave


def run_to(slave: Slave, end: float, steps: int = 1) -> None:
    for k in range(steps):
        assert slave.call("fmi2DoStep", k * end / steps, end / steps, 1) == OK, slave.importer.texts


def by_complex_steps(motion: Motion, time: float, values: Mapping[str, float]) -> Values:
    """Derivatives of height and velocity by each value, shape (2, number of values)."""
    columns = []
    for name in values:
        found = motion(time, {**values, name: values[name] + 1e-30j})
        columns.append([part.imag / 1e-30 for part in found])
    return np.array(columns).T


def elastic_bounces(time: float, given: Mapping[str, complex]) -> tuple[complex, complex]:
    """A ball that bounces on a linear spring, in the air at this time."""
    m, k, h = (given[name] for name in ("mass", "stiffness", "initial_height"))
    g = -given["gravity[3]"]
    v, w = np.sqrt(2.0 * g * h), np.sqrt(k / m)
    contact, flight = 2.0 * (np.pi - np.arctan(v * w / g)) / w, 2.0 * v / g
    bounces = np.ceil(((time + flight / 2.0) / (contact + flight)).real) - 1.0
    since = time - (bounces - 0.5) * flight - bounces * contact
    return v * since - 0.5 * g * since**2, v - g * since


def damped_bounces(time: float, given: Mapping[str, float]) -> Values:
    """Derivatives of height x and velocity v by the values of BALL, shape (2, 5), of the differential equations

        x' = v,  m v' = m g - k x (1 + d),  d = min(max(-k_D v, -limit), limit),  x < 0;  x' = v,  v' = g,  x > 0

    and of those of their derivatives, by DOP853 between the times at which the formula changes.  The right-hand side
    is continuous there."""
    m, k, c_r, height, g = (given[name] for name in BALL)
    k_d, delta = 100.0, 0.5 + 0.5 * c_r**2
    limit, by_c_r = 0.5 * (1.0 - c_r**2) / delta, -c_r / delta - 0.5 * (1.0 - c_r**2) * c_r / delta**2
    # with side s: d = s limit, or on the ramp where s = 0; the phase ends where what is named falls to 0
    phases = [
        (False, 0.0, lambda x, v: x),
        (True, 1.0, lambda x, v: -v - limit / k_d),
        (True, 0.0, lambda x, v: -v + limit / k_d),
        (True, -1.0, lambda x, v: -x),
    ]
    state, now, number = np.zeros(12), 0.0, 0
    state[0], state[2 + 3] = height, 1.0
    while now < time:
        touches, side, ending = phases[number % 4]

        def slopes(_: float, y: Values, on: bool = touches, side: float = side) -> Values:
            x, v, moved, faster = y[0], y[1], y[2:7], y[7:]
            d = side * limit if side else -k_d * v
            force, by_x, by_v = -k * x * (1.0 + d) * on, -k * (1.0 + d) * on, k * x * k_d * (side == 0.0) * on
            partial = np.array([-force / m, force / k, -k * x * side * by_c_r * on, 0.0, m])
            return np.concatenate([[v, g + force / m], faster, (by_x * moved + by_v * faster + partial) / m])

        def end(_: float, y: Values, ending: Callable[[float, float], float] = ending) -> float:
            return ending(y[0], y[1])

        end.terminal, end.direction = True, -1.0  # type: ignore[attr-defined]
        done = solve_ivp(slopes, (now, time), state, "DOP853", rtol=1e-13, atol=1e-16, events=end)
        state, now, number = done.y[:, -1], float(done.t[-1]), number + 1
    return state[2:].reshape(2, 5)


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BouncingBall", tmp_path_factory.mktemp("BouncingBall"))


def sensitivities_of_the_ball(ball: Fmu, values: Mapping[str, float], time: float, steps: int) -> Values:
    slave = begun(ball, values, list(values))
    run_to(slave, time, steps)
    status, found = sensitivities(slave, ["height", "velocity"], len(values))
    assert status == OK, slave.importer.texts
    slave.free()
    return found


def errors(found: Values, known: Values) -> Values:
    """The largest of each signal, over its largest derivative."""
    error: Values = np.abs(found - known).max(axis=1) / np.abs(known).max(axis=1)
    return error


@pytest.mark.parametrize(("time", "steps"), [(1.2, 1), (4.0, 3), (4.0, 1000)])
def test_sensitivities_of_elastic_bounces_are_those_of_the_closed_form(ball: Fmu, time: float, steps: int) -> None:
    values = {**BALL, "restitution": 1.0}
    del values["restitution"]  # the formula has none
    slave = begun(ball, {**values, "restitution": 1.0}, list(values))
    run_to(slave, time, steps)
    status, found = sensitivities(slave, ["height", "velocity"], len(values))
    assert status == OK
    assert errors(found, by_complex_steps(elastic_bounces, time, values)).max() < EXACT


@pytest.mark.parametrize(("restitution", "time", "steps"), [(0.5, 1.1, 1), (0.8, 2.0, 500)])
def test_sensitivities_of_damped_bounces_are_those_of_the_variational_equations(
    ball: Fmu, restitution: float, time: float, steps: int
) -> None:
    values = {**BALL, "restitution": restitution}
    found = sensitivities_of_the_ball(ball, values, time, steps)
    assert errors(found, damped_bounces(time, values)).max() < EXACT


THIN = """connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, "0.2 m"] } }
floor = { recipe = "PointSurface", start = { C_F = "1e3 N/m", C_r = 1, K_fr = 0, D_max = "4 mm" } }
"""
LAYER = {"ball.m": 1.0, "floor.C_F": 1e3, "floor.D_max": 4e-3, "ball.r0[3]": 0.2}


def through_a_layer(time: float, given: Mapping[str, complex]) -> tuple[complex, complex]:
    """A ball falls through an elastic layer, whose force ends at its limit depth: there the force jumps."""
    m, k, depth, h = (given[name] for name in LAYER)
    g = 9.81
    at, v = np.sqrt(2.0 * h / g), np.sqrt(2.0 * g * h)
    w, sag = np.sqrt(k / m), m * g / k
    inside = depth / v
    for _ in range(60):  # Newton, on the depth over the time inside
        way = sag * (1.0 - np.cos(w * inside)) + v / w * np.sin(w * inside)
        speed = sag * w * np.sin(w * inside) + v * np.cos(w * inside)
        inside = inside - (way - depth) / speed
    since = time - at - inside
    return -depth - speed * since - 0.5 * g * since**2, -speed - g * since


def test_a_jump_of_the_force_at_an_event_passes_on_how_the_time_of_the_event_varies(tmp_path: Path) -> None:
    fmu = build(tmp_path, "Thin", THIN)
    slave = begun(fmu, LAYER, list(LAYER))
    run_to(slave, 0.3, 3)
    status, found = sensitivities(slave, ["ball.p.r[3]", "ball.p.v[3]"], len(LAYER))
    assert status == OK, slave.importer.texts
    known = by_complex_steps(through_a_layer, 0.3, LAYER)
    assert np.abs(known[1, 2]) > 1.0, "the speed behind the layer follows from its depth"
    assert errors(found, known).max() < EXACT


def test_what_is_kept_at_events_is_unknown_and_all_else_is_not(ball: Fmu) -> None:
    slave = begun(ball, {}, ["restitution"])
    run_to(slave, 0.9)
    answers = {"height": OK, "floor.impulse": OK, "floor.energy.damping": OK, "floor.peak_force": DISCARD}
    for name, status in answers.items():
        assert sensitivities(slave, [name], 1)[0] == status, name
    assert "floor.peak_force depends on what was kept at an event" in slave.importer.texts[-1]


def test_a_run_that_is_followed_is_the_same_within_the_tolerance(ball: Fmu) -> None:
    alone, followed = begun(ball, {}), begun(ball, {}, ["mass", "stiffness"])
    names = ["height", "velocity", "floor.impulse", "floor.energy.damping"]
    for slave in (alone, followed):
        run_to(slave, 2.0, 400)
    assert followed.get(*names) == pytest.approx(alone.get(*names), rel=1e-9, abs=1e-10)


def test_sensitivities_cost_no_memory_behind_a_reset_and_the_end(ball: Fmu) -> None:
    slave = begun(ball, {}, ["mass"])
    importer = slave.importer
    assert (importer.allocated, importer.freed) == (2, 0)
    assert slave.call("fmi2Reset") == OK
    assert (importer.allocated, importer.freed) == (2, 1)
    assert sensitivities(slave, ["height"], 1)[0] == ERROR
    assert follow(slave, ["mass", "stiffness"]) == OK and follow(slave, ["mass"]) == OK
    slave.free()
    assert importer.allocated == importer.freed == 4


def test_calls_that_cannot_be_answered_are_refused_with_the_reason(
    ball: Fmu, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def last(slave: Slave) -> str:
        return slave.importer.texts[-1]

    slave = ball.slave(Importer())
    assert follow(slave, ["height"]) == ERROR and "height is neither a parameter nor an input" in last(slave)
    assert follow(ball.slave(Importer(), kind=MODEL_EXCHANGE), ["mass"]) == ERROR
    assert follow(ball.slave(one := Importer(places=1)), ["mass"]) == ERROR and "no memory" in one.texts[-1]
    coupled = load_shipped("PointSurface", tmp_path_factory.mktemp("PointSurface")).slave(Importer())
    assert follow(coupled, ["C_F"]) == ERROR and "identified of its partner" in last(coupled)

    slave = begun(ball, {})
    assert sensitivities(slave, ["height"], 1)[0] == ERROR and "no start values are followed" in last(slave)
    assert follow(slave, ["mass"]) == ERROR and "not allowed in the mode" in last(slave)

    slave = begun(ball, {}, ["mass"])
    assert sensitivities(slave, ["floor.contact_count"], 1)[0] == ERROR
    assert slave.set({"mass": 2.0}) == OK
    assert sensitivities(slave, ["height"], 1)[0] == ERROR and "mass was set after the initialization" in last(slave)

    slave = begun(ball, {}, ["mass"])
    place = slave.get_state()
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert sensitivities(slave, ["height"], 1)[0] == ERROR and "the state was restored" in last(slave)
    slave.free_state(place)


BESIDE = {  # of a motion: outputs, and start values that move it, in directions in which it rests as well
    "BeadLeavesRail": (
        ["position[1]", "position[2]", "position[3]"],
        {"initial_velocity[2]": 1e-6, "gravity[2]": 1e-5},
    ),
    "SlidingBlock": (["position", "velocity"], {"friction_slope": 1e-3, "friction": 1e-6}),
    "EccentricCam": (["q[2]", "qd[2]"], {"laws.eccentricity": 1e-7, "laws.radius": 1e-7}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BESIDE)
def test_sensitivities_are_those_of_differences(name: str, tmp_path: Path) -> None:
    fmu = load_shipped(name, tmp_path)
    outputs, moved = BESIDE[name]
    slave = begun(fmu, {}, list(moved), 1e-11)
    starts = dict(zip(moved, slave.get(*moved), strict=True))
    run_to(slave, 0.35, 7)
    status, found = sensitivities(slave, outputs, len(moved))
    assert status == OK, slave.importer.texts
    for k, (start, step) in enumerate(moved.items()):
        ends = []
        for sign in (-1.0, 1.0):
            other = begun(fmu, {start: starts[start] + sign * step})
            run_to(other, 0.35, 7)
            ends.append(np.array(other.get(*outputs)))
        slopes = (ends[1] - ends[0]) / (2.0 * step)
        assert found[:, k] == pytest.approx(slopes, rel=1e-4, abs=1e-6 * (1.0 + np.abs(slopes).max()))


@pytest.mark.slow
def test_behind_a_jump_of_states_all_derivatives_are_unknown(tmp_path: Path) -> None:
    slave = begun(load_shipped("BarOnFloor", tmp_path), {}, ["mass"])
    run_to(slave, 0.02)
    assert sensitivities(slave, ["position[3]"], 1)[0] == OK
    for k in range(1, 20):
        assert slave.call("fmi2DoStep", 0.02 * k, 0.02, 1) == OK
    assert sensitivities(slave, ["position[3]"], 1)[0] == DISCARD
    assert "a state jumped at an event" in slave.importer.texts[-1]


ROUND = """
description = "A ledger of a power that is 1 W whatever the angle, by an addition theorem"
[parameters]
angle = { unit = "rad", start = 0.3, description = "Angle at the start" }
[states]
work = { unit = "J", rate = "power", output = true, description = "t, in J" }
[locals]
power = { unit = "W", depends = ["angle", "time"], description = "sin^2 + cos^2 of two angles that differ by 0.7 rad" }
"""
ROUND_C = """
#include "base/elementary.h"
static void outputs(Element *e)
{
    Real a = e->angle + e->time, b = a + 0.7;
    e->power = 1.0 + 1e3 * (cc_sin(b) * cc_cos(a) - cc_cos(b) * cc_sin(a) - 0.64421768723769102);
}
"""


@pytest.mark.parametrize("angle", [0.3, 300.0])
def test_a_derivative_that_is_rounding_alone_takes_no_more_substeps(tmp_path: Path, angle: float) -> None:
    place = tmp_path / "elements" / "round"
    place.mkdir(parents=True)
    (place / "element.toml").write_text(ROUND, encoding="utf-8")
    (place / "element.c").write_text(ROUND_C, encoding="utf-8")
    slave = begun(build(tmp_path, "Round", 'element = "round"\n'), {"angle": angle}, ["angle"], 1e-9)
    run_to(slave, 10.0, 10)
    status, found = sensitivities(slave, ["work"], 1)
    assert status == OK and abs(found[0, 0]) < 1e-11
    assert slave.get("work")[0] == pytest.approx(10.0, rel=1e-11)
    assert slave.get_integer("solver.steps") < 50


@pytest.mark.slow
def test_a_shortcut_for_an_inertia_of_zero_has_its_derivative(tmp_path: Path) -> None:
    fmu, spun = load_shipped("RigidBody", tmp_path), {"w0[1]": 1.0, "w0[2]": 2.0, "w0[3]": 0.5}
    slave = begun(fmu, spun, ["J_xy"])
    run_to(slave, 0.3)
    ends = []
    for inertia in (-1e-5, 1e-5):
        other = begun(fmu, {**spun, "J_xy": inertia})
        run_to(other, 0.3)
        ends.append(other.get("frame.w[3]")[0])
    status, found = sensitivities(slave, ["frame.w[3]"], 1)
    assert status == OK and found[0, 0] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-6)
