"""Model exchange: the importer integrates.  Its solvers here are fmpy's CVode and Euler, and scipy's with an event
search of our own, against closed forms and against co-simulation of the same FMU."""

from __future__ import annotations

import math
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_void_p
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmi2 import (
    CO_SIMULATION,
    DISCARD,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    Fmu,
    Slave,
    integers,
    load_shipped,
    only,
    reals,
    recipes,
)
from fmi2 import references as vr
from numpy.typing import NDArray
from running import build, scalars
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fmu_builder.export import fmu as fmu_module
from fmu_builder.paths import shipped

Values = Mapping[str, float]
Vector = NDArray[np.float64]

TOLERANCE = 1e-9  # of the catalogue's elements, where the importer gives none

# A pendulum on a soft stop: x'' = -a sin x - [x < 0] b x + u, with a kink where a state is zero, a declared nominal
# value, and a count of the evaluations that no element would keep.
PENDULUM = {
    "element.toml": """
description = "Pendulum against a soft stop"
[experiment]
stop = 1.0
step = 1e-2
tolerance = 1e-9
[parameters]
a = { unit = "s-2", start = 4.0, description = "Square of the natural frequency" }
b = { unit = "s-2", start = 50.0, min = 0.0, description = "Stiffness of the stop" }
x0 = { start = 1.0, fixed = true, description = "Initial angle" }
[inputs]
u = { unit = "s-2", description = "Angular acceleration from outside" }
[states]
x = { start = "x0", rate = "w", output = true, nominal = 0.1, description = "Angle" }
w = { unit = "s-1", depends = ["a", "b", "x", "u"], description = "Angular velocity" }
[outputs]
push = { unit = "s-2", depends = ["b", "x"], description = "Acceleration by the stop" }
[locals]
evaluations = { depends = [], description = "How often outputs were computed" }
[indicators]
stop = { nominal = 0.1, description = "The pendulum touches the stop" }
""",
    "element.c": """
#include "waist.h"
static double evaluations;
static void outputs(Element *e)
{
    e->push = re(e->x) < 0.0 ? -e->b * e->x : 0.0;
    e->evaluations = ++evaluations;
}
static void derivatives(Element *e)
{
    Real x2 = e->x * e->x; /* sin x to the power 7 */
    e->der.w = -e->a * e->x * (1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0))) + e->push + e->u;
}
static void indicators(const Element *e, Indicators *z) { z->stop = re(e->x); }
""",
}
# A spring that gives way: the rest length follows what exceeds the yield strain, x'' = -a (x - rest).
YIELDING = {
    "element.toml": """
description = "Spring that yields"
[experiment]
stop = 1.0
step = 1e-2
tolerance = 1e-9
[parameters]
a = { unit = "s-2", start = 100.0, description = "Square of the natural frequency" }
limit = { start = 0.1, description = "Strain at which the spring yields" }
w0 = { unit = "s-1", start = 2.0, fixed = true, description = "Initial strain rate" }
[states]
x = { rate = "w", output = true, description = "Strain" }
w = { unit = "s-1", start = "w0", depends = ["a", "x"], output = true, description = "Strain rate" }
[memory]
rest = { output = true, depends = [], description = "Strain of the spring without force" }
""",
    "element.c": """
#include "waist.h"
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.w = -e->a * (e->x - e->rest); }
static void start(Element *e) { e->rest = 0.0; }
static int accept(Element *e, CcHost *host, double step)
{
    double strain = re(e->x - e->rest), limit = re(e->limit);
    (void)host, (void)step;
    if (strain > limit)
        e->rest += strain - limit;
    return strain > limit;
}
""",
}
# A stop that throws what passes it back to 0, with the speed it had.
THROWN_BACK = {
    "element.toml": """
description = "Point that a stop throws back"
[experiment]
stop = 1.0
step = 1e-2
tolerance = 1e-9
[states]
x = { unit = "m", rate = "w", reinit, description = "Position" }
w = { unit = "m/s", depends = [], description = "Velocity" }
[memory]
count = { depends = [], description = "Number of times that it was thrown back" }
""",
    "element.c": """
#include "waist.h"
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.w = 0.0; }
static void start(Element *e) { e->count = 0.0; }
static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    if (re(e->x) <= 1.0)
        return 0;
    e->x = 0.0;
    e->count += 1.0;
    return CC_JUMPED;
}
""",
}
AMPLIFIER = {
    "element.toml": """
description = "Without states"
[experiment]
stop = 1.0
step = 1e-2
tolerance = 1e-9
[parameters]
gain = { start = 3.0, description = "Gain" }
[inputs]
u = { description = "Signal" }
[outputs]
y = { depends = ["gain", "u"], description = "Amplified signal" }
""",
    "element.c": '#include "waist.h"\nstatic void outputs(Element *e) { e->y = e->gain * e->u; }\n',
}
ELASTIC = """
element = "point_surface"
[surface]
kind = "plane"
x = [-1, 1]
y = [-1, 1]
[structure]
coupling = false
[start]
C_F = 1e5
C_r = 1.0
"""

BALL = """
description = "A ball on a floor"
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }
floor = { recipe = "PointSurface", start = { C_F = 1e4, C_r = 0.8 } }
"""


def own(folder: Path, name: str, files: Mapping[str, str]) -> Fmu:
    element = folder / "elements" / name
    element.mkdir(parents=True)
    for file, text in files.items():
        (element / file).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:  # the count of evaluations is against the rules of an element
        patch.setattr(fmu_module, "element_problems", lambda *_: [])
        return build(folder, name.capitalize(), f'element = "{name}"\n')


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", ELASTIC)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    with pytest.MonkeyPatch.context() as patch:  # the count is against the rules of an element, and builds refuse it
        patch.setattr(fmu_module, "element_problems", lambda *_: [])
        return own(tmp_path_factory.mktemp("pendulum"), "pendulum", PENDULUM)


@pytest.fixture(scope="module")
def yielding(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return own(tmp_path_factory.mktemp("yielding"), "yielding", YIELDING)


@pytest.fixture(scope="module")
def amplifier(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return own(tmp_path_factory.mktemp("amplifier"), "amplifier", AMPLIFIER)


def at_event(fmu: Fmu, values: Values | None = None, tolerance: float | None = None) -> Slave:
    """An instance after its initialization."""
    slave = fmu.slave(kind=MODEL_EXCHANGE)
    assert slave.set(values or {}) == OK, slave.importer.texts
    assert slave.call("fmi2SetupExperiment", tolerance is not None, tolerance or 0.0, 0.0, 0, 0.0) == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == OK, slave.importer.texts
    return slave


def running(fmu: Fmu, values: Values | None = None, tolerance: float | None = None) -> Slave:
    """An instance in continuous-time mode."""
    slave = at_event(fmu, values, tolerance)
    begin(slave)
    return slave


def begin(slave: Slave) -> None:
    assert slave.new_discrete_states()[0] == OK, slave.importer.texts
    assert slave.call("fmi2EnterContinuousTimeMode") == OK, slave.importer.texts


def event(slave: Slave, values: Values) -> None:
    """Set values at an event."""
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.set(values) == OK, slave.importer.texts
    begin(slave)


# ---- what is legal besides the table of test_fmi2_calls.py -----------------------------------------------------------


def test_what_may_jump_is_set_at_events_only(floor: Fmu) -> None:
    slave = running(floor)
    before = slave.state()
    assert slave.set({"C_F": 2e5}) == ERROR
    assert "C_F cannot be set in the mode 'continuous-time mode'" in only(slave.importer.messages).text
    slave.importer.messages.clear()
    assert slave.set_boolean("work", 0) == ERROR
    assert "fmi2SetBoolean is not allowed in the mode 'continuous-time mode'" in only(slave.importer.messages).text
    assert slave.state() == before
    slave.importer.messages.clear()
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.set({"C_F": 2e5}) == OK
    assert slave.set_boolean("work", 0) == OK
    begin(slave)
    assert slave.get("C_F") == [2e5]
    assert slave.importer.messages == []


def test_fixed_parameters_end_with_the_initialization(mass: Fmu) -> None:
    slave = at_event(mass)
    assert slave.set({"r0[1]": 2.0}) == ERROR
    assert "r0[1] cannot be set after the initialization" in only(slave.importer.messages).text


@pytest.mark.parametrize(
    ("function", "what", "right"),
    [
        ("fmi2SetContinuousStates", "states", 6),
        ("fmi2GetContinuousStates", "states", 6),
        ("fmi2GetDerivatives", "states", 6),
        ("fmi2GetNominalsOfContinuousStates", "states", 6),
        ("fmi2GetEventIndicators", "indicators", 0),
    ],
)
def test_a_vector_of_another_size_is_refused(mass: Fmu, function: str, what: str, right: int) -> None:
    slave = running(mass)
    before = slave.state()
    for size in {0, 1, right - 1, right + 1, 7} - {right, -1}:
        slave.importer.messages.clear()
        values = reals(*[5.0] * size)
        assert slave.call(function, values, size) == ERROR
        assert only(slave.importer.messages).text == f"{function}: {size} {what} are given, this FMU has {right}"
        assert set(values) <= {5.0}
    assert slave.state() == before


@pytest.mark.parametrize(
    ("function", "argument", "arguments"),
    [
        ("fmi2SetContinuousStates", "x", (None, 2)),
        ("fmi2GetContinuousStates", "x", (None, 2)),
        ("fmi2GetDerivatives", "derivatives", (None, 2)),
        ("fmi2GetNominalsOfContinuousStates", "x_nominal", (None, 2)),
        ("fmi2GetEventIndicators", "eventIndicators", (None, 1)),
        ("fmi2CompletedIntegratorStep", "enterEventMode", (1, None, integers(0))),
        ("fmi2CompletedIntegratorStep", "terminateSimulation", (1, integers(0), None)),
    ],
)
def test_a_null_array_is_named(pendulum: Fmu, function: str, argument: str, arguments: tuple[object, ...]) -> None:
    slave = running(pendulum)
    assert slave.call(function, *arguments) == ERROR
    assert only(slave.importer.messages).text == f"{function}: the argument {argument} is NULL"


def test_no_place_for_the_answer_of_an_event_is_named(mass: Fmu) -> None:
    slave = at_event(mass)
    assert slave.call("fmi2NewDiscreteStates", None) == ERROR
    assert "the argument eventInfo is NULL" in only(slave.importer.messages).text


def test_arrays_of_no_elements_may_be_null(amplifier: Fmu) -> None:
    slave = running(amplifier)
    for function in ("SetContinuousStates", "GetContinuousStates", "GetDerivatives", "GetEventIndicators"):
        assert slave.call(f"fmi2{function}", None, 0) == OK
    assert slave.call("fmi2GetNominalsOfContinuousStates", None, 0) == OK


def test_an_event_asks_for_nothing(floor: Fmu) -> None:
    slave = at_event(floor, {"point.r[3]": -1e-3})
    for _ in range(2):
        status, info = slave.new_discrete_states()
        assert status == OK
        assert [getattr(info, name) for name, _ in info._fields_] == [0, 0, 0, 0, 0, 0.0]
    assert slave.call("fmi2EnterContinuousTimeMode") == OK
    assert slave.call("fmi2SetTime", 0.1) == OK
    assert slave.completed_step() == (OK, 0, 0)
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.call("fmi2EnterEventMode") == OK


@pytest.mark.parametrize("time", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_not_finite_is_refused(mass: Fmu, time: float) -> None:
    slave = running(mass)
    before = slave.state()
    assert slave.call("fmi2SetTime", time) == ERROR
    assert "must be finite" in only(slave.importer.messages).text
    assert slave.state() == before


def test_a_solver_may_look_behind_the_stop_time(mass: Fmu) -> None:
    slave = mass.slave(kind=MODEL_EXCHANGE)
    slave.initialize(stop=1.0)
    begin(slave)
    assert slave.call("fmi2SetTime", 1.5) == OK
    assert slave.get("time") == [1.5]


# ---- values ----------------------------------------------------------------------------------------------------------


def test_states_and_derivatives_stand_in_the_order_of_the_model_structure(mass: Fmu, floor: Fmu, pendulum: Fmu) -> None:
    for fmu in (mass, floor, pendulum):
        slave = running(fmu)
        derivatives = [u.variable.name for u in fmu.description.derivatives]
        states = [u.variable.derivative.name for u in fmu.description.derivatives]
        assert len(states) == fmu.description.numberOfContinuousStates
        x = [0.5 + k for k in range(len(states))]
        assert slave.set_states(x) == OK
        assert slave.continuous_states() == x == slave.get(*states)
        assert slave.derivatives() == slave.get(*derivatives)


def test_the_initial_states_follow_the_parameters(mass: Fmu) -> None:
    slave = mass.slave(kind=MODEL_EXCHANGE)
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.set({"r0[2]": 5.0, "v0[1]": -1.0, "m": 2.0, "p.f[1]": 3.0}) == OK
    assert slave.continuous_states() == [0.0, 5.0, 0.0, -1.0, 0.0, 0.0]
    assert slave.derivatives() == [-1.0, 0.0, 0.0, 1.5, 0.0, -9.81]


def test_values_are_those_of_the_point_that_was_set(mass: Fmu) -> None:
    slave = running(mass, {"m": 2.0})
    assert slave.call("fmi2SetTime", 3.0) == OK
    assert slave.set_states([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == OK
    assert slave.set({"p.f[2]": 7.0}) == OK
    assert slave.get("time", "p.r[3]", "energy.kinetic") == [3.0, 3.0, 16.0 + 25.0 + 36.0]
    assert slave.derivatives() == [4.0, 5.0, 6.0, 0.0, 3.5, -9.81]
    assert slave.get("energy.potential") == [pytest.approx(2.0 * 9.81 * 3.0, rel=1e-15)]


def test_a_point_is_evaluated_once(pendulum: Fmu) -> None:
    slave = running(pendulum)
    (before,) = slave.get("evaluations")
    assert slave.call("fmi2SetTime", 0.1) == OK
    assert slave.set_states([0.2, 0.3]) == OK
    assert slave.set({"u": 0.5}) == OK
    slave.derivatives(), slave.indicators(), slave.continuous_states(), slave.get("push")
    assert slave.get("evaluations") == [before + 1.0]
    assert slave.call("fmi2SetTime", 0.1) == OK  # the same point again
    assert slave.set_states([0.2, 0.3]) == OK
    assert slave.set({"u": 0.5}) == OK
    slave.derivatives()
    assert slave.get("evaluations") == [before + 1.0]


def test_nominals_are_those_of_the_model_description(mass: Fmu, floor: Fmu, pendulum: Fmu) -> None:
    for fmu in (mass, floor, pendulum):
        nominals = [float(u.variable.derivative.nominal or 1.0) for u in fmu.description.derivatives]
        assert at_event(fmu).nominals() == nominals
    assert at_event(pendulum).nominals() == [0.1, 1.0]
    slave = pendulum.slave(kind=MODEL_EXCHANGE)
    assert slave.nominals() == [0.1, 1.0]


# ---- indicators ------------------------------------------------------------------------------------------------------


def handed_out(z: float, side: float, nominal: float = 0.1, tolerance: float = TOLERANCE) -> float:
    return z / nominal + side * tolerance


@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_indicators_keep_their_side_until_the_next_event(pendulum: Fmu, tolerance: float | None) -> None:
    slave, allowed = running(pendulum, {"x0": 0.5}, tolerance), tolerance or TOLERANCE
    for x in (0.5, 1e-12, 0.0, -1e-12, -0.5 * 0.1 * allowed, -0.2):  # below zero the side is still that above
        assert slave.set_states([x, 0.0]) == OK
        assert slave.indicators() == [handed_out(x, +1.0, tolerance=allowed)]
    for x in (-1e-12, 0.0, -0.3):
        assert slave.set_states([x, 0.0]) == OK
        event(slave, {})
        assert slave.indicators() == [handed_out(x, -1.0, tolerance=allowed)]
        assert slave.indicators()[0] < 0.0
    assert slave.set_states([0.5 * 0.1 * allowed, 0.0]) == OK
    assert slave.indicators()[0] < 0.0  # not seen yet
    assert slave.set_states([1.5 * 0.1 * allowed, 0.0]) == OK
    assert slave.indicators()[0] > 0.0
    event(slave, {})
    assert slave.indicators() == [handed_out(1.5 * 0.1 * allowed, +1.0, tolerance=allowed)]


def test_the_tolerance_of_the_indicators_can_be_tuned_at_events(pendulum: Fmu) -> None:
    slave = running(pendulum, {"x0": 0.5})
    event(slave, {"solver.tolerance": 1e-4})
    assert slave.indicators() == [handed_out(0.5, +1.0, tolerance=1e-4)]


def test_the_solver_of_the_fmu_rests(pendulum: Fmu) -> None:
    slave = running(pendulum)
    swing(slave, 30, 0.0)
    for counter in ("steps", "rejected", "events", "evaluations"):
        assert slave.get_integer(f"solver.{counter}") == 0


def test_an_indicator_that_starts_at_zero_is_not_handed_out_as_zero(pendulum: Fmu) -> None:
    slave = pendulum.slave(kind=MODEL_EXCHANGE)
    assert slave.set({"x0": 0.0}) == OK
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    assert slave.indicators() == [-TOLERANCE]
    assert slave.call("fmi2ExitInitializationMode") == OK
    assert slave.indicators() == [-TOLERANCE]


def test_sides_follow_what_is_set_at_the_event(floor: Fmu) -> None:
    """The distance is the first indicator: above the floor at the start, below it after the jump."""
    slave = running(floor, {"point.r[3]": 0.25})
    declaration = tomllib.loads((shipped("elements") / "point_surface" / "element.toml").read_text(encoding="utf-8"))
    nominal = declaration["indicators"]["distance"]["nominal"]
    assert slave.indicators()[0] == 0.25 / nominal + TOLERANCE
    event(slave, {"point.r[3]": -0.25})
    assert slave.indicators()[0] == -0.25 / nominal - TOLERANCE
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.new_discrete_states()[0] == OK
    assert slave.set({"point.r[3]": 0.5}) == OK  # after the last fmi2NewDiscreteStates
    assert slave.call("fmi2EnterContinuousTimeMode") == OK
    assert slave.indicators()[0] == 0.5 / nominal + TOLERANCE


# ---- accepted points -------------------------------------------------------------------------------------------------


def depth(slave: Slave, h: float, speed: float = 0.0) -> None:
    assert slave.set({"point.r[3]": -h, "point.v[3]": -speed}) == OK


def test_memory_follows_accepted_points_and_not_trial_points(floor: Fmu) -> None:
    slave = running(floor, {"point.r[3]": 1e-3, "point.v[3]": -1.0})
    assert slave.call("fmi2SetTime", 2e-3) == OK
    depth(slave, 5e-3, 1.0)  # a trial point
    assert slave.get("normal_force", "peak_force") == [1e5 * 5e-3, 0.0]
    assert slave.get_integer("contact_count") == 0
    depth(slave, 1e-3, 1.0)
    assert slave.completed_step() == (OK, 0, 0)
    assert slave.get("peak_force") == [1e5 * 1e-3]
    assert slave.get_integer("contact_count") == 1
    assert slave.completed_step() == (OK, 0, 0)  # the same point once more
    assert slave.get_integer("contact_count") == 1
    assert slave.get("energy.switched") == [0.0]
    assert slave.importer.messages == []


def test_the_step_to_an_accepted_point_begins_at_the_one_before(floor: Fmu) -> None:
    """The element takes a contact for plausible that begins within 1.5 times the way of one step."""
    for h, plausible in ((1.4e-3, True), (1.6e-3, False)):
        slave = running(floor, {"point.r[3]": 1e-3, "point.v[3]": -1.0})
        for t in (0.5, 0.501):
            assert slave.call("fmi2SetTime", t) == OK
            if t > 0.5:
                depth(slave, h, 1.0)
            assert slave.completed_step() == (OK, 0, 0)
        assert (slave.get("energy.switched") == [0.0]) == plausible
        assert (slave.importer.messages == []) == plausible


def test_a_jump_at_an_event_is_booked(floor: Fmu) -> None:
    slave = running(floor, {"point.r[3]": -2e-3})
    stored = 0.5 * 1e5 * 2e-3**2
    event(slave, {"C_F": 3e5})
    assert slave.get("energy.switched", "peak_force") == [pytest.approx(-2.0 * stored, rel=1e-14), 3e5 * 2e-3]
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.set_boolean("work", 0) == OK
    begin(slave)
    assert slave.get("energy.switched", "point.f[3]") == [pytest.approx(stored, rel=1e-14), 0.0]
    before = slave.state()
    event(slave, {})  # nothing jumped
    assert slave.state() == before


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "not declared"])
def test_a_state_jumps_at_an_event_where_it_is_declared_to_and_else_the_point_is_refused(
    tmp_path: Path, declared: bool
) -> None:
    text = THROWN_BACK["element.toml"].replace("reinit,", "reinit = true," if declared else "")
    fmu = own(tmp_path, "thrown", THROWN_BACK | {"element.toml": text})
    slave = running(fmu)
    assert slave.set_states([0.5, 3.0]) == OK
    assert slave.completed_step() == (OK, 0, 0)
    assert slave.set_states([1.5, 3.0]) == OK
    status, enter, _ = slave.completed_step()
    if declared:
        assert (status, enter, slave.continuous_states()) == (OK, 1, [0.0, 3.0])
        assert slave.call("fmi2EnterEventMode") == OK
        assert slave.new_discrete_states()[1].valuesOfContinuousStatesChanged == 1
    else:
        assert status == ERROR
        assert only(slave.importer.messages).text == (
            "fmi2CompletedIntegratorStep: the element changes the state x from 1.5 to 0 at 0 s, but its element.toml "
            "does not declare the state with reinit = true"
        )
        assert slave.continuous_states() == [1.5, 3.0]


def test_a_derivative_that_follows_the_memory_asks_for_an_event(yielding: Fmu) -> None:
    slave = running(yielding)
    for t, x, rest, moved in ((0.1, 0.05, 0.0, 0), (0.2, 0.1, 0.0, 0), (0.3, 0.15, 0.05, 1), (0.4, 0.14, 0.05, 0)):
        assert slave.call("fmi2SetTime", t) == OK
        assert slave.set_states([x, 1.0]) == OK
        assert slave.completed_step() == (OK, moved, 0)
        assert slave.get("rest") == [pytest.approx(rest, abs=1e-15)]
        assert slave.derivatives() == [1.0, pytest.approx(-100.0 * (x - rest), rel=1e-13)]
        assert slave.completed_step() == (OK, 0, 0)


@pytest.mark.parametrize(("off", "told"), [(1e-6, 0), (1e-2, 1)])
def test_states_are_the_importers_until_it_is_told(tmp_path: Path, off: float, told: int) -> None:
    """A mechanism's dependent coordinates are put back onto their constraints once they are 0.1 mrad off."""
    slave = running(load_shipped("FourBar", tmp_path))
    closed = slave.continuous_states()
    given = [x + off for x in closed]
    assert slave.call("fmi2SetTime", 1e-3) == OK
    assert slave.set_states(given) == OK
    assert slave.completed_step() == (OK, told, 0)
    if not told:
        assert slave.continuous_states() == given
        return
    assert slave.call("fmi2EnterEventMode") == OK
    status, info = slave.new_discrete_states()
    assert (status, info.valuesOfContinuousStatesChanged) == (OK, 1)
    moved = slave.continuous_states()
    assert moved != given
    assert moved == pytest.approx(given, abs=10.0 * off)


@pytest.mark.parametrize("call", ["fmi2NewDiscreteStates", "fmi2EnterContinuousTimeMode"])
def test_a_rule_broken_at_an_event_ends_in_error_until_a_state_is_set(floor: Fmu, call: str) -> None:
    slave = running(floor, {"point.r[3]": -1e-3})
    place, values = slave.get_state(), slave.all_values()
    assert slave.call("fmi2EnterEventMode") == OK
    assert slave.set({"D_max": 0.0, "surface.q[1]": 0.1}) == OK
    status = slave.new_discrete_states()[0] if call == "fmi2NewDiscreteStates" else slave.call(call)
    assert status == ERROR
    assert any("D_max = 0 m: it must be greater than 0 m" in text for text in slave.importer.texts)
    assert any("surface.q[1] .. [4]" in text for text in slave.importer.texts)
    assert slave.get("D_max") == [0.0]
    assert slave.call("fmi2EnterContinuousTimeMode") == ERROR
    assert "'error'" in slave.importer.texts[-1]
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert slave.all_values() == values
    begin_again = slave.call("fmi2EnterEventMode")
    assert begin_again == OK
    begin(slave)


def test_a_vanishing_quaternion_cannot_be_accepted(floor: Fmu) -> None:
    slave = running(floor)
    assert slave.call("fmi2SetTime", 0.1) == OK
    assert slave.set({"surface.q[1]": 0.4}) == OK
    assert slave.completed_step()[0] == ERROR
    assert "the length of a quaternion must be 1" in only(slave.importer.messages).text


# ---- what is not finite ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_state_that_is_not_finite_is_discarded(mass: Fmu, value: float) -> None:
    slave = running(mass)
    before = slave.state()
    assert slave.set_states([1.0, 2.0, 3.0, 4.0, value, 6.0]) == DISCARD
    message = only(slave.importer.messages)
    assert (message.category, "p.v[2] = " in message.text) == ("logStatusDiscard", True)
    assert slave.state() == before


def test_a_trial_point_that_is_not_finite_is_discarded_and_another_one_is_fine(floor: Fmu) -> None:
    slave = running(floor, {"point.r[3]": -1e-3, "C_F": 1e300})
    before = slave.derivatives()
    depth(slave, 0.5, 1e200)
    slave.importer.messages.clear()
    n = slave.fmu.description.numberOfContinuousStates
    values = reals(*[5.0] * n)
    assert slave.call("fmi2GetDerivatives", values, n) == DISCARD
    message = only(slave.importer.messages)
    assert (message.category, "is not finite at 0 s" in message.text) == ("logStatusDiscard", True)
    assert set(values) == {5.0}
    work = vr(slave.fmu.references["power.work"])
    assert slave.call("fmi2GetReal", work, 1, reals(0.0)) == DISCARD
    depth(slave, 1e-3)
    assert slave.derivatives() == before


def test_indicators_that_are_not_finite_are_discarded(floor: Fmu) -> None:
    slave = running(floor, {"k_T": 1e200})
    assert slave.set({"point.v[1]": 1e150}) == OK
    n = slave.fmu.description.numberOfEventIndicators
    values = reals(*[5.0] * n)
    assert slave.call("fmi2GetEventIndicators", values, n) == DISCARD
    assert "the indicator full_friction[1] is not finite" in only(slave.importer.messages).text
    assert set(values) == {5.0}


def test_an_accepted_point_has_to_be_finite(floor: Fmu) -> None:
    slave = running(floor, {"C_F": 1e300})
    place, memory = slave.get_state(), slave.get("peak_force")
    assert slave.call("fmi2SetTime", 0.1) == OK
    depth(slave, 0.5, 1e200)
    assert slave.completed_step()[0] == ERROR
    assert "fmi2CompletedIntegratorStep: " in only(slave.importer.messages).text
    assert "is not finite at the accepted point of 0.1 s" in only(slave.importer.messages).text
    assert slave.get("peak_force") == memory  # the failed point has not left its mark
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert slave.get("peak_force") == memory


# ---- directional derivatives -----------------------------------------------------------------------------------------


def slopes(slave: Slave, unknowns: Sequence[str], known: str) -> Vector:
    found, numbers = reals(*[math.nan] * len(unknowns)), slave.fmu.references
    status = slave.call(
        "fmi2GetDirectionalDerivative",
        vr(*(numbers[name] for name in unknowns)),
        len(unknowns),
        vr(numbers[known]),
        1,
        reals(1.0),
        found,
    )
    assert status == OK, slave.importer.texts
    return np.array(found)


UNKNOWNS = ["der(x)", "der(w)", "push"]


@pytest.mark.parametrize("x", [-0.3, -1e-3, 0.7, 1.4])
@pytest.mark.parametrize("known", ["x", "w", "u"])
def test_directional_derivatives_are_the_limits_of_differences(pendulum: Fmu, x: float, known: str) -> None:
    slave = running(pendulum)
    point = {"x": x, "w": 0.4, "u": -0.2}

    def at(values: Values) -> Vector:
        assert slave.set_states([values["x"], values["w"]]) == OK
        assert slave.set({"u": values["u"]}) == OK
        return np.array([*slave.derivatives(), *slave.get("push")])

    h = 1e-4
    y = [at(point | {known: point[known] + k * h}) for k in (-2, -1, 1, 2)]
    central = (8.0 * (y[2] - y[1]) - (y[3] - y[0])) / (12.0 * h)
    at(point)
    found = slopes(slave, UNKNOWNS, known)
    assert found == pytest.approx(central, rel=1e-7, abs=1e-7)
    assert slave.call("fmi2EnterEventMode") == OK
    assert slopes(slave, UNKNOWNS, known).tobytes() == found.tobytes()
    begin(slave)
    assert slopes(slave, UNKNOWNS, known).tobytes() == found.tobytes()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_at_a_kink_the_derivative_is_that_of_the_side_of_the_state(pendulum: Fmu, side: float) -> None:
    slave = running(pendulum)
    x = side * 1e-300
    assert slave.set_states([x, 0.0]) == OK
    a, b = slave.get("a", "b")
    assert list(slopes(slave, UNKNOWNS, "x")) == [0.0, -a - (b if side < 0.0 else 0.0), -b if side < 0.0 else 0.0]


# ---- saved states ----------------------------------------------------------------------------------------------------


def swing(slave: Slave, steps: int, begin_at: float) -> bytes:
    """Euler steps with an event after each third one; the bits of all values on the way."""
    bits, h, t = b"", 1e-2, begin_at
    for k in range(steps):
        x, dx = slave.continuous_states(), slave.derivatives()
        t += h
        assert slave.call("fmi2SetTime", t) == OK
        assert slave.set_states([a + h * b for a, b in zip(x, dx, strict=True)]) == OK
        assert slave.completed_step()[0] == OK
        if k % 3 == 2:
            event(slave, {"u": math.sin(t)})
        values = np.array([*slave.continuous_states(), *slave.derivatives(), *slave.indicators(), *slave.get("push")])
        bits += values.tobytes()
    return bits


@pytest.mark.parametrize("mode", ["event mode", "continuous-time mode"])
def test_a_saved_state_goes_on_with_the_same_bits(pendulum: Fmu, mode: str) -> None:
    slave = running(pendulum)
    swing(slave, 40, 0.0)

    def finish(instance: Slave) -> bytes:
        if mode == "event mode":
            begin(instance)
        return swing(instance, 40, 0.4)

    if mode == "event mode":
        assert slave.call("fmi2EnterEventMode") == OK
        assert slave.set({"u": 3.0, "a": 5.0}) == OK
    place, data = slave.get_state(), slave.state()
    expected = finish(slave)
    assert len(set(expected)) > 100
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert slave.state() == data
    assert finish(slave) == expected
    other, moved = pendulum.slave(kind=MODEL_EXCHANGE), c_void_p()
    assert other.deserialize(data, moved) == OK
    assert other.call("fmi2SetFMUstate", moved) == OK
    assert finish(other) == expected


@pytest.mark.parametrize(("kind", "other"), [(CO_SIMULATION, MODEL_EXCHANGE), (MODEL_EXCHANGE, CO_SIMULATION)])
def test_a_state_of_the_other_type_is_refused(mass: Fmu, kind: int, other: int) -> None:
    slave, stranger = mass.slave(kind=kind), mass.slave(kind=other)
    place, before = stranger.get_state(), slave.state()
    assert slave.call("fmi2SetFMUstate", place) == ERROR
    names = {CO_SIMULATION: "co-simulation", MODEL_EXCHANGE: "model exchange"}
    expected = f"fmi2SetFMUstate: the state is one of {names[other]}, but this instance was made for {names[kind]}"
    assert only(slave.importer.messages).text == expected
    assert slave.state() == before
    moved = c_void_p()
    assert slave.deserialize(stranger.state(), moved) == OK
    assert slave.call("fmi2SetFMUstate", moved) == ERROR


def test_reset_keeps_the_type(pendulum: Fmu) -> None:
    slave, new = running(pendulum, {"a": 9.0}), pendulum.slave(kind=MODEL_EXCHANGE)
    swing(slave, 10, 0.0)
    assert slave.call("fmi2Reset") == OK
    assert slave.state() == new.state()
    assert slave.setup() == OK


def test_instances_in_threads_do_not_disturb_each_other(floor: Fmu, pendulum: Fmu) -> None:
    del floor
    alone = [swing(running(pendulum, {"a": 4.0 + k}), 200, 0.0) for k in range(4)]
    together: list[bytes] = [b""] * 4

    def run(k: int) -> None:
        together[k] = swing(running(pendulum, {"a": 4.0 + k}), 200, 0.0)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
    assert len(set(alone)) == 4


# ---- simulation by fmpy ----------------------------------------------------------------------------------------------


def simulated(fmu: Fmu, fmi_type: str, names: Sequence[str], starts: Values, **options: object) -> Vector:
    """Values at multiples of 10 ms, shape (n, names)."""
    result = fmpy.simulate_fmu(
        str(fmu.file),
        fmi_type=fmi_type,
        start_values=dict(starts),
        output=list(names),
        output_interval=0.01,
        stop_time=1.0,
        record_events=False,
        **options,
    )
    assert np.allclose(result["time"], np.linspace(0.0, 1.0, 101), rtol=0.0, atol=1e-12)
    return np.column_stack([result[name] for name in names])


THROWN = {"m": 2.0, "r0[3]": 1.0, "v0[1]": 2.0, "v0[3]": 3.0}
FLIGHT = ["p.r[1]", "p.r[3]", "p.v[3]", "energy.kinetic", "energy.potential"]


def test_a_throw_is_that_of_co_simulation(mass: Fmu) -> None:
    exchanged = simulated(mass, "ModelExchange", FLIGHT, THROWN, solver="CVode", relative_tolerance=1e-9)
    stepped = simulated(mass, "CoSimulation", FLIGHT, THROWN)
    t = np.linspace(0.0, 1.0, 101)
    closed_form = np.column_stack((2.0 * t, 1.0 + 3.0 * t - 0.5 * 9.81 * t**2))
    assert np.abs(exchanged - stepped).max() < 1e-6
    assert np.abs(exchanged[:, :2] - closed_form).max() < 1e-6


def test_euler_makes_the_error_of_euler(mass: Fmu) -> None:
    """r comes out too high by g h t / 2."""
    t = np.linspace(0.0, 1.0, 101)
    found = simulated(mass, "ModelExchange", FLIGHT, THROWN, solver="Euler", step_size=0.01)
    closed_form = 1.0 + 3.0 * t - 0.5 * 9.81 * t**2
    assert found[:, 1] == pytest.approx(closed_form + 9.81 * 0.01 * t / 2.0, abs=1e-12)


def test_a_pendulum_on_a_stop_is_that_of_co_simulation(pendulum: Fmu) -> None:
    names = ["x", "w", "push"]
    exchanged = simulated(pendulum, "ModelExchange", names, {"x0": 0.8}, solver="CVode", relative_tolerance=1e-10)
    stepped = simulated(pendulum, "CoSimulation", names, {"x0": 0.8})
    assert np.ptp(np.sign(stepped[:, 0])) == 2.0
    assert np.abs(exchanged - stepped).max() < 1e-6


def test_a_ball_bounces_as_in_co_simulation(tmp_path: Path) -> None:
    """In contact m r'' = F - m g: states, the force between them and its events lie in one FMU."""
    ball = build(tmp_path, "Ball", BALL)
    states = ["ball.p.r[3]", "ball.p.v[3]", "floor.impulse", "floor.contact_time", "floor.energy.damping"]
    memory = ["floor.contact_count", "floor.peak_force", "floor.energy.residual", "floor.energy.switched"]
    exchanged = simulated(ball, "ModelExchange", states + memory, {}, solver="CVode", relative_tolerance=1e-11)
    stepped = simulated(ball, "CoSimulation", states + memory, {}, relative_tolerance=1e-11)
    assert np.abs(exchanged[:, :5] - stepped[:, :5]).max() < 1e-6
    assert list(exchanged[:, 5]) == list(stepped[:, 5])
    assert exchanged[-1, 5] == 6.0
    assert exchanged[-1, 6] == pytest.approx(stepped[-1, 6], rel=1e-3)  # the largest of the points that were accepted
    assert np.abs(exchanged[:, 7]).max() < 1e-6
    assert exchanged[-1, 8] == 0.0


# the squeezer turns by 15 rad in 30 ms: over a second CVode runs out of steps
@pytest.mark.parametrize("name", recipes(without=["Squeezer"]))
def test_every_fmu_of_the_catalogue_gives_the_same_trace_twice(name: str, tmp_path: Path) -> None:
    fmu = load_shipped(name, tmp_path)
    names = [v.name for v in fmu.description.modelVariables if v.causality == "output" and v.type == "Real"]
    # impacts of corners one after the other multiply what CVode errs by, and an undamped contact that rings at 160 Hz
    # adds it up: a millionth of the force takes more digits
    long = name in ("BarOnFloor", "BodyOnFloor") or name.startswith(
        ("BeadIn", "MarbleIn", "PendulumOn", "PuckOn", "SlidingOff")
    )
    tolerance, allowed = (1e-12, 1e-5) if long else (1e-10, 1e-6)
    if name.startswith("BeadOn"):  # on a stiff wire CVode gives up at 1e-11, and errs by less the finer it is
        allowed = 1e-5
    if name == "BallOnFloor":  # where a sample begins to touch is no event: CVode gives up at 1e-8
        tolerance, allowed = 1e-6, 1e-2
    exchanged = simulated(fmu, "ModelExchange", names, {}, solver="CVode", relative_tolerance=tolerance)
    stepped = simulated(fmu, "CoSimulation", names, {}, relative_tolerance=tolerance)
    largest = np.maximum(np.abs(stepped).max(axis=0, initial=0.0), 1.0)
    assert (np.abs(exchanged - stepped) < allowed * largest).all()


@pytest.mark.parametrize("solver", ["CVode", "Euler"])
def test_a_surface_meets_an_input_that_jumps(floor: Fmu, solver: str) -> None:
    """fmpy holds inputs inside a step, so only constant pieces have an exact result: 5 mm deep from 0.3 s to 0.7 s."""
    times = [0.0, 0.3, 0.3, 0.7, 0.7, 1.0]
    heights = [1e-3, 1e-3, -5e-3, -5e-3, 1e-3, 1e-3]
    given = {"point.r[3]": heights}
    rest = [v for v in floor.description.modelVariables if v.causality == "input" and v.name not in given]
    numbers = {"time": times} | given | {v.name: [float(v.start)] * 6 for v in rest if v.type == "Real"}
    table = np.array(list(zip(*numbers.values(), strict=True)), dtype=[(name, float) for name in numbers])
    names = ["impulse", "contact_time", "contact_count", "energy.switched", "peak_force"]
    options = {"step_size": 0.01} if solver == "Euler" else {"relative_tolerance": 1e-9}
    found = simulated(floor, "ModelExchange", names, {}, solver=solver, input=table, **options)
    stored = 0.5 * 1e5 * 5e-3**2
    assert found[-1, :2] == pytest.approx([500.0 * 0.4, 0.4], abs=1e-6)
    assert found[-1, 2:] == pytest.approx([1.0, -stored, 500.0], rel=1e-14)  # the jump made what is stored


@pytest.mark.parametrize("solver", ["CVode", "Euler"])
def test_an_element_without_states_runs(amplifier: Fmu, solver: str) -> None:
    table = np.array([(0.0, 0.0), (1.0, 2.0)], dtype=[("time", float), ("u", float)])
    options = {"step_size": 0.01} if solver == "Euler" else {}
    found = simulated(amplifier, "ModelExchange", ["y"], {"gain": 5.0}, solver=solver, input=table, **options)
    assert found[:, 0] == pytest.approx(10.0 * np.linspace(0.0, 1.0, 101), abs=1e-12)


# ---- a solver of our own, with inputs that move during its steps -----------------------------------------------------


def integrate(slave: Slave, motion: Callable[[float], Values], stop: float) -> int:
    """DOP853 with events found by brentq on its dense output; returns the number of events."""
    t, events = 0.0, 0

    def place(time: float, x: Vector) -> None:
        assert slave.call("fmi2SetTime", time) == OK
        assert slave.set_states(x) == OK
        assert slave.set(scalars(motion(time))) == OK

    def slope(time: float, x: Vector) -> list[float]:
        place(time, x)
        return slave.derivatives()

    while t < stop:
        place(t, np.array(slave.continuous_states()))
        z_0 = slave.indicators()
        x = np.array(slave.continuous_states())
        step = solve_ivp(slope, (t, min(t + 1e-3, stop)), x, "DOP853", rtol=1e-11, atol=1e-12, dense_output=True)
        end, dense = step.t[-1], step.sol

        def indicator(time: float, i: int, dense: Callable[[float], Vector] = dense) -> float:
            place(time, dense(time))
            return slave.indicators()[i]

        crossed = [i for i, z in enumerate(z_0) if (indicator(end, i) > 0.0) != (z > 0.0)]
        if crossed:
            end = min(brentq(indicator, t, end, args=(i,), xtol=1e-15) for i in crossed)
            if all((indicator(end, i) > 0.0) == (z_0[i] > 0.0) for i in crossed):
                end = np.nextafter(end, math.inf) + 1e-15  # brentq may stop before the zero
        place(end, dense(end))
        assert slave.completed_step() == (OK, 0, 0)
        if crossed:
            events += 1
            event(slave, {})
        t = end
    return events


def test_rounding_around_zero_is_no_chain_of_events(pendulum: Fmu) -> None:
    """At rest where the stop begins, shaken by less than a tenth of what is seen."""
    seen, Omega = 0.1 * TOLERANCE, 100.0
    signs = set()

    def motion(t: float) -> Values:
        signs.add(slave.get("x")[0] > 0.0)
        return {"u": 1e-3 * seen * Omega**2 * math.sin(Omega * t + 0.5)}

    slave = running(pendulum, {"x0": 0.0})
    assert integrate(slave, motion, 0.5) == 0
    assert signs == {True, False}


def test_a_moving_point_leaves_the_impulse_of_its_depth(floor: Fmu) -> None:
    """z = z_0 cos(Omega t), elastic: the impulse is C_F times the integral of the depth, the energy returns whole."""
    z, Omega = 2e-3, 2.0 * math.pi * 10.0

    def motion(t: float) -> Values:
        return {"point.r[3]": z * math.cos(Omega * t), "point.v[3]": -z * Omega * math.sin(Omega * t)}

    slave = running(floor, scalars(motion(0.0)))
    events = integrate(slave, motion, 0.2)
    assert events >= 4  # two contacts
    impulse, duration, work, switched, peak = slave.get(
        "impulse", "contact_time", "energy.work", "energy.switched", "peak_force"
    )
    assert impulse == pytest.approx(2.0 * 1e5 * 2.0 * z / Omega, rel=1e-8)
    assert duration == pytest.approx(2.0 * math.pi / Omega, rel=1e-6)
    assert work == pytest.approx(0.0, abs=1e-8)
    assert switched == 0.0
    assert peak == pytest.approx(1e5 * z, rel=1e-4)
    assert slave.get_integer("contact_count") == 2
    stepped = floor.slave()
    stepped.initialize(scalars(motion(0.0)))
    n = 20_000
    for k in range(n):
        t = 0.2 * k / n
        assert stepped.set(scalars(motion(t + 0.1 / n))) == OK
        assert stepped.step(t, 0.2 / n) == OK
    assert stepped.get("impulse") == [pytest.approx(impulse, rel=1e-6)]
