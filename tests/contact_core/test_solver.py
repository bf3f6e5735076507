"""The solver inside a communication step: orders, tolerance, stiffness, events, bounds, counters.

Every element here has a solution in closed form, or one that scipy finds by another method."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, OK, Fmu
from running import Running, Values, build
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

METHODS = {"auto": 1, "explicit": 2, "implicit": 3}
COUNTERS = ("steps", "rejected", "events", "evaluations")

SWING = """
description = "x' = x cos t, so x = exp(sin t): time enters the right-hand side"
[states]
x = { start = 1.0, output = true, depends = ["x", "time"], description = "State" }
"""
SWING_C = """
#include "base/elementary.h"
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.x = e->x * cc_cos(e->time); }
"""
VAN_DER_POL = """
description = "Van der Pol's oscillator: x' = v, v' = mu (1 - x^2) v - x"
[parameters]
mu = { start = 1.0, description = "Stiffness" }
[states]
x = { start = 2.0, output = true, rate = "v", description = "Deflection" }
v = { start = 0.0, output = true, depends = ["x", "v", "mu"], description = "Its rate" }
square = { rate = "power", output = true, description = "Integral of v^2, a ledger" }
[locals]
power = { depends = ["v"], description = "v^2" }
"""
VAN_DER_POL_C = """
static void outputs(Element *e) { e->power = e->v * e->v; }
static void derivatives(Element *e) { e->der.v = e->mu * (1.0 - e->x * e->x) * e->v - e->x; }
"""
THROW = """
description = "A body thrown upwards under gravity; a ledger counts the time above a level, where its rate jumps"
[parameters]
g = { unit = "m/s2", start = 10.0, description = "Gravity" }
v0 = { unit = "m/s", start = 10.0, fixed = true, description = "Speed at the start" }
level = { unit = "m", start = 4.0, description = "Level" }
break_at = { unit = "s", start = 1e9, description = "Time from which the force is no number" }
[states]
z = { unit = "m", rate = "v", output = true, description = "Height" }
v = { unit = "m/s", start = "v0", output = true, depends = ["g", "time", "break_at"], description = "Speed" }
above = { unit = "s", rate = "is_above", output = true, description = "Time above the level" }
[locals]
is_above = { depends = ["z", "level"], description = "1 above the level" }
[indicators]
level = { nominal = 1e-3, description = "The body passes the level" }
"""
THROW_C = """
static void outputs(Element *e) { e->is_above = re(e->z) > re(e->level) ? 1.0 : 0.0; }
static void derivatives(Element *e)
{
    double broken = re(e->time) > re(e->break_at);
    e->der.v = -e->g / (1.0 - broken);
}
static void indicators(const Element *e, Indicators *z) { z->level = re(e->z - e->level); }
"""
SWERVE = """
description = "A point that moves by a cubic polynomial of time; a ledger counts the time below a level"
[parameters]
bend = { unit = "m/s3", start = 1.0, fixed = true, description = "Third derivative of the way over 6" }
v0 = { unit = "m/s", start = -1.0, fixed = true, description = "Speed at the start, bend - 2" }
level = { unit = "m", start = 0.0, description = "Level" }
[states]
z = { unit = "m", start = 1.0, rate = "v", output = true, description = "(1 + bend t)(t - 1)^2" }
v = { unit = "m/s", start = "v0", output = true, depends = ["bend", "time"], description = "Speed" }
below = { unit = "s", rate = "is_below", output = true, description = "Time below the level" }
[locals]
is_below = { depends = ["z", "level"], description = "1 below the level" }
[indicators]
level = { description = "The point passes the level" }
"""
SWERVE_C = """
static void outputs(Element *e) { e->is_below = re(e->z) < re(e->level) ? 1.0 : 0.0; }
static void derivatives(Element *e) { e->der.v = 2.0 - 4.0 * e->bend + 6.0 * e->bend * e->time; }
static void indicators(const Element *e, Indicators *z) { z->level = re(e->z - e->level); }
"""
CHAIN = """
description = "x_1' = -x_1, x_k' = x_(k-1) - x_k: as many states that depend on each other as wanted"
[structure]
links = { default = 64, min = 2, max = 100, description = "Number of states" }
[states]
x = { start = 1.0, each = "links", output = true, depends = ["x[*]"], description = "State" }
"""
CHAIN_C = """
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e)
{
    e->der.x[0] = -e->x[0];
    for (int k = 1; k < LINKS; k++)
        e->der.x[k] = e->x[k - 1] - e->x[k];
}
"""
REST = """
description = "A mass on the floor of contact.h"
[parameters]
k = { unit = "N/m", start = 1e6, description = "Stiffness" }
z0 = { unit = "m", start = -9e-6, fixed = true, description = "Height at the start" }
[states]
z = { unit = "m", start = "z0", nominal = 1e-2, rate = "v", output = true, description = "Height" }
v = { unit = "m/s", output = true, depends = ["z", "v", "k"], description = "Speed" }
[indicators]
touch = { nominal = 1e-2, description = "Touch-down or release" }
turn = { description = "Compression turns to restitution" }
"""
REST_C = """
#include "laws/contact.h"
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e)
{
    CcContactLaw law = {e->k, 0.0, 0.5, 100.0, 0.5, 100.0};
    Real n[3] = {0.0, 0.0, 1.0}, v[3] = {0.0, 0.0, e->v};
    CcContact contact;
    cc_contact(&law, re(e->z) < 0.0 ? -e->z : 0.0, n, v, &contact);
    e->der.v = contact.force[2] - 9.81;
}
static void indicators(const Element *e, Indicators *z)
{
    z->touch = re(e->z);
    z->turn = re(e->v);
}
"""

FAINT = """
description = "A stiff state whose rate is multiplied by a quotient of tiny numbers: 1, with a derivative that is none"
[parameters]
k = { start = 1e4, description = "Rate" }
tiny = { start = 1.0, description = "Divided by itself" }
[states]
x = { start = 0.0, output = true, depends = ["k", "tiny", "x", "time"], description = "Follows sin t" }
"""
FAINT_C = """
#include "base/elementary.h"
static void outputs(Element *e) { (void)e; }
static void derivatives(Element *e) { e->der.x = e->k * (cc_sin(e->time) - e->x) * (e->tiny / e->tiny); }
"""

STEEP = """
description = "A bristle that a constant force bends: x' = f - k x, and the work of its spring on what moves along"
[parameters]
k = { start = 1.0, description = "Rate" }
f = { start = 1.0, description = "Force" }
[states]
x = { output = true, rate = "speed", description = "f (1 - e^(-k t))/k" }
work = { rate = "power", output = true, description = "Integral of (k x)^2, a ledger" }
[locals]
speed = { depends = ["k", "f", "x"], description = "f - k x" }
power = { depends = ["k", "x"], description = "(k x)^2" }
"""
STEEP_C = """
static void outputs(Element *e)
{
    e->speed = e->f - e->k * e->x;
    e->power = e->k * e->x * (e->k * e->x);
}
"""


def element(folder: Path, name: str, declaration: str, code: str, recipe: str = "") -> Fmu:
    """The FMU of an element that is written here."""
    place = folder / "elements" / name.lower()
    place.mkdir(parents=True, exist_ok=True)
    (place / "element.toml").write_text(declaration, encoding="utf-8")
    (place / "element.c").write_text(code, encoding="utf-8")
    return build(folder, name, f'element = "{name.lower()}"\n{recipe}')


def fixture(name: str, declaration: str, code: str, recipe: str = "") -> object:
    @pytest.fixture(scope="module", name=name.lower())
    def made(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
        return element(tmp_path_factory.mktemp(name), name, declaration, code, recipe)

    return made


swing_fixture = fixture("Swing", SWING, SWING_C)
van_der_pol_fixture = fixture("VanDerPol", VAN_DER_POL, VAN_DER_POL_C)
throw_fixture = fixture("Throw", THROW, THROW_C)
swerve_fixture = fixture("Swerve", SWERVE, SWERVE_C)
rest_fixture = fixture("Rest", REST, REST_C)
steep_fixture = fixture("Steep", STEEP, STEEP_C)
faint_fixture = fixture("Faint", FAINT, FAINT_C)
chain_fixture = fixture("Chain", CHAIN, CHAIN_C)
long_chain_fixture = fixture("LongChain", CHAIN, CHAIN_C, "[structure]\nlinks = 65\n")


def counts(running: Running) -> dict[str, float]:
    return {name: running[f"solver.{name}"] for name in COUNTERS}


@cache
def van_der_pol_reference(mu: float, stop: float, method: str = "Radau") -> tuple[float, float, float]:
    def rates(_: float, x: np.ndarray) -> list[float]:
        return [x[1], mu * (1.0 - x[0] ** 2) * x[1] - x[0], x[1] ** 2]

    found = solve_ivp(rates, (0.0, stop), [2.0, 0.0, 0.0], method=method, rtol=1e-12, atol=1e-13)
    return tuple(found.y[:, -1])


# ---- orders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "order", "longest"), [("explicit", 5, 0.1), ("implicit", 4, 0.025)])
def test_the_error_falls_with_the_order_of_the_method(swing: Fmu, method: str, order: int, longest: float) -> None:
    """Equal substeps, which the coarse tolerance lets pass; order 4 of RODAS needs the exact Jacobian and the exact
    derivative by time."""
    lengths, errors = [longest, longest / 2, longest / 4], []
    for h in lengths:
        running = Running(swing, {"solver.max_step": h, "solver.tolerance": 1e-2, "solver.method": METHODS[method]})
        running.step(2.0)
        assert counts(running)["steps"] == round(2.0 / h)
        errors.append(abs(running["x"] - math.exp(math.sin(2.0))))
    orders = np.diff(np.log(errors)) / np.diff(np.log(lengths))
    assert orders == pytest.approx(order, abs=0.2)
    assert errors[-1] < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
def test_the_tolerance_bounds_the_error(vanderpol: Fmu, method: str, tolerance: float) -> None:
    """Over one period of a smooth oscillator; local errors of 1 tolerance each add up over some hundred substeps."""
    running = Running(vanderpol, {"solver.tolerance": tolerance, "solver.method": METHODS[method]})
    running.step(6.0)
    error = running.values(["x", "v", "square"]) - van_der_pol_reference(1.0, 6.0, "DOP853")
    assert np.abs(error).max() < 100.0 * tolerance
    assert np.abs(error).max() > 1e-4 * tolerance  # else the solver works far too hard


def test_communication_steps_hardly_change_the_cost_or_the_result(vanderpol: Fmu) -> None:
    """The length of the substeps is remembered from one communication step to the next."""
    whole, parts = Running(vanderpol), Running(vanderpol)
    whole.step(6.0)
    for _ in range(24):
        parts.step(0.25)
    assert parts["x"] == pytest.approx(whole["x"], abs=1e-8)
    assert counts(parts)["evaluations"] < 1.2 * counts(whole)["evaluations"]


def test_short_communication_steps_take_half_the_evaluations_and_err_by_rounding(vanderpol: Fmu) -> None:
    running, h = Running(vanderpol), 2.0**-16
    for _ in range(2000):
        running.step(h)
    assert counts(running) == {"steps": 2000, "rejected": 0, "events": 0, "evaluations": 6 + 3 * 1999}
    error = running.values(["x", "v", "square"]) - van_der_pol_reference(1.0, 2000 * h, "DOP853")
    assert np.abs(error).max() < 2000 * 2.0**-52


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9, 1e-11])
def test_steps_err_by_rounding_where_the_smaller_pair_gives_way_to_the_larger_one(
    vanderpol: Fmu, tolerance: float
) -> None:
    """Errors add up, so the smaller pair must leave the tolerance to the larger one."""
    expected = van_der_pol_reference(1.0, 0.5, "DOP853")  # of order 8: right to 1e-14
    shares = set()
    for k in range(8, 17):  # steps of 4 ms to 0.015 ms
        running = Running(vanderpol, tolerance=tolerance)
        for _ in range(2 ** (k - 1)):
            running.step(2.0**-k)
        error = running.values(["x", "v", "square"]) - expected
        assert np.abs(error).max() < 1e-12
        done = counts(running)
        assert done["steps"] == 2 ** (k - 1) and done["rejected"] == 0
        shares.add(round(done["evaluations"] / done["steps"]))
    assert shares >= {3, 6}  # both pairs had their turn


def test_the_smaller_pair_returns_as_soon_as_a_contact_has_ended(rest: Fmu) -> None:
    running, h = Running(rest, {"z0": 0.01}), 1e-3
    while not (running["v"] > 0.0 and running["z"] > 0.0):
        running.step(h)
    running.step(h)
    running.step(h)
    before = counts(running)
    assert before["events"] >= 3
    for _ in range(10):
        running.step(h)
    assert running["v"] > 0.0 and counts(running)["evaluations"] - before["evaluations"] == 3 * 10


def test_a_restored_instance_goes_on_bit_for_bit_in_short_steps(vanderpol: Fmu) -> None:
    for steps in (0, 1, 2, 50):
        running = Running(vanderpol)
        for _ in range(steps):
            running.step(2.0**-13)
        place, time, ways = running.slave.get_state(), running.time, []
        for _ in range(2):
            assert running.slave.call("fmi2SetFMUstate", place) == OK
            running.time = time
            for _ in range(50):
                running.step(2.0**-13)
            ways.append(running.slave.all_values())
        assert ways[0] == ways[1]


# ---- stiffness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [1e3, 1e4])
def test_a_stiff_system_is_integrated_implicitly_without_being_asked(vanderpol: Fmu, mu: float) -> None:
    stop = 0.4 * mu  # on the slow branch, whose rate is 1/mu, with another of 3 mu beside it
    automatic = Running(vanderpol, {"mu": mu}, tolerance=1e-7)
    automatic.step(stop)
    expected = van_der_pol_reference(mu, stop)
    assert automatic.values(["x", "v", "square"]) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert counts(automatic)["evaluations"] < 3000
    # an explicit method is stable up to 3.3 / (3 mu) and would need 0.36 mu^2 substeps
    explicit = Running(vanderpol, {"mu": mu, "solver.method": METHODS["explicit"], "solver.max_substeps": 50_000})
    assert explicit.slave.step(0.0, stop) == ERROR


@pytest.mark.slow
def test_a_ledger_follows_the_implicit_method_exactly(vanderpol: Fmu) -> None:
    """Ledgers are left out of the linear system: their result must be that of the full one."""
    running = Running(vanderpol, {"mu": 50.0, "solver.method": METHODS["implicit"]}, tolerance=1e-9)
    running.step(50.0)  # with one fast transition, at 41
    assert running["square"] == pytest.approx(van_der_pol_reference(50.0, 50.0)[2], rel=1e-6)


def test_the_implicit_method_serves_64_states_that_depend_on_each_other(chain: Fmu) -> None:
    running = Running(chain, {"solver.method": METHODS["implicit"]})
    running.step(2.0)
    # x_k = sum over j <= k of exp(-t) t^j / j!
    expected = np.cumsum([math.exp(-2.0) * 2.0**j / math.factorial(j) for j in range(64)])
    assert running.values([f"x[{k}]" for k in range(1, 65)]) == pytest.approx(expected, abs=1e-8)


def test_more_states_are_refused_to_the_implicit_method_and_served_by_the_others(longchain: Fmu) -> None:
    slave = Running.in_initialization(longchain).slave
    assert slave.set_integer("solver.method", METHODS["implicit"]) == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "solver.method = implicit: 65 states depend on each other, at most 64 are" in slave.importer.texts[-1]
    automatic = Running(longchain)
    automatic.step(2.0)
    assert automatic["x[65]"] == pytest.approx(1.0, abs=1e-8)


# ---- events --------------------------------------------------------------------------------------------------------


def time_above(level: float, v: float = 10.0, g: float = 10.0) -> float:
    """Of a body thrown with speed v: between both roots of v t - g t^2/2 = level."""
    return 2.0 / g * math.sqrt(max(v**2 - 2.0 * g * level, 0.0))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("steps", [1, 7])
def test_events_are_located_to_1e_12_of_the_step(throw: Fmu, method: str, steps: int) -> None:
    """The rate of the ledger jumps at both events, so its error is the sum of theirs."""
    running = Running(throw, {"solver.method": METHODS[method]})
    for _ in range(steps):
        running.step(2.1 / steps)
    assert counts(running)["events"] == 2
    assert running["above"] == pytest.approx(time_above(4.0), abs=2.0 * 1e-12 * 2.1)


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6, 1e-8])
def test_an_indicator_that_only_grazes_zero_is_an_event(throw: Fmu, depth: float) -> None:
    """The top lies `depth` above the level: the whole visit is shorter than a substep."""
    running = Running(throw, {"level": 5.0 - depth})
    running.step(2.0)
    assert counts(running)["events"] == 2
    # both roots are as sharp as rounding of z leaves them: 1e-15 m over a speed of sqrt(2 g depth)
    assert running["above"] == pytest.approx(time_above(5.0 - depth), abs=1e-11 + 1e-14 / math.sqrt(depth))


@pytest.mark.parametrize("bend", [-0.2, 0.2, 1.0])
def test_a_visit_within_a_substep_of_uneven_bend_is_found(swerve: Fmu, bend: float) -> None:
    """(1 + bend t)(t - 1)^2 = 0.1 has two roots around t = 1, and one substep takes the cubic as a whole: between its
    ends the way is that of the dense output."""
    running = Running(swerve, {"bend": bend, "v0": bend - 2.0, "level": 0.1})
    running.step(2.0)
    first, second = (brentq(lambda t: (1.0 + bend * t) * (t - 1.0) ** 2 - 0.1, a, b) for a, b in ((0, 1), (1, 2)))
    assert counts(running)["events"] == 2
    assert running["below"] == pytest.approx(second - first, abs=1e-11)


@pytest.mark.parametrize("miss", [1e-4, 1e-6, 1e-9])
def test_an_indicator_that_just_misses_zero_is_none(throw: Fmu, miss: float) -> None:
    running = Running(throw, {"level": 5.0 + miss})
    running.step(2.0)
    assert counts(running)["events"] == 0
    assert running["above"] == 0.0
    assert counts(running)["evaluations"] < 100


def test_a_body_at_rest_costs_a_few_evaluations(rest: Fmu) -> None:
    """Off its depth m g / k by 8 % at first: the vibration decays, and nothing is left to do."""
    running = Running(rest)
    running.step(1.0)
    before = counts(running)
    for _ in range(100):
        running.step(1e-3)
    after = counts(running)
    assert running["z"] == pytest.approx(-9.81e-6, rel=1e-9)
    assert after["events"] == before["events"]
    assert after["evaluations"] - before["evaluations"] <= 12 * 100
    assert after["rejected"] == before["rejected"]


# ---- bounds and faults ---------------------------------------------------------------------------------------------


def test_used_up_substeps_are_an_error_that_says_where_and_what_helps(vanderpol: Fmu) -> None:
    running = Running(vanderpol, {"solver.max_substeps": 20})
    before = running.slave.state()
    assert running.slave.step(0.0, 6.0) == ERROR
    text = running.told[-1]
    assert re.fullmatch(
        r"fmi2DoStep: solver\.max_substeps = 20 are used up at [\d.]+ s, the substeps are [\d.e-]+ s long there; the "
        r"largest error is that of (x|v|square), 0 events were located: a larger solver\.max_substeps or "
        r"solver\.tolerance, or a shorter step, helps",
        text,
    ), text
    assert running["time"] == 0.0
    assert counts(running) == dict.fromkeys(COUNTERS, 0)
    del before


@pytest.mark.parametrize("method", METHODS)
def test_a_right_hand_side_that_stops_being_a_number_is_told_with_variable_and_time(throw: Fmu, method: str) -> None:
    running = Running(throw, {"break_at": 0.3, "solver.method": METHODS[method]})
    running.step(0.2)
    place, values = running.slave.get_state(), running.slave.all_values()
    assert running.slave.step(0.2, 0.2) == ERROR
    assert re.fullmatch(
        r"fmi2DoStep: (v|z|der\(v\)) is not finite at 0\.3\d* s, so the step from 0\.2 s to 0\.4 s fails",
        running.told[-1],
    ), running.told[-1]
    assert running.slave.all_values() == values
    assert running.slave.step(0.2, 0.05) == ERROR  # not before the state is set
    assert running.slave.call("fmi2SetFMUstate", place) == OK
    assert running.slave.step(0.2, 0.05) == OK
    assert running["v"] == pytest.approx(7.5, rel=1e-12)


@pytest.mark.parametrize("k", [1e12, 1e15, 1e18])
def test_what_is_too_stiff_for_the_shortest_explicit_substep_is_integrated_implicitly(steep: Fmu, k: float) -> None:
    running = Running(steep, {"k": k})
    running.step(0.5)
    assert running["x"] == pytest.approx(1.0 / k, rel=1e-8, abs=0.0)
    assert running["work"] == pytest.approx(0.5, rel=1e-8)


def test_where_the_jacobian_is_not_finite_the_explicit_method_goes_on(faint: Fmu) -> None:
    """Of k >> 1, x' = k (sin t - x), x(0) = 0: (k^2 sin t - k cos t + k e^(-k t))/(k^2 + 1)."""
    k, stop = 1e4, 0.5
    known = (k * k * math.sin(stop) - k * math.cos(stop)) / (k * k + 1.0)
    cost = {}
    for tiny in (1.0, 1e-170):
        running = Running(faint, {"k": k, "tiny": tiny})
        running.step(stop)
        assert running["x"] == pytest.approx(known, rel=1e-8), tiny
        cost[tiny] = counts(running)["steps"]
    assert 2.0 * cost[1.0] < k * stop / 3.3 < cost[1e-170], "else the explicit method did not have to go on"


def test_the_implicit_method_alone_tells_which_derivative_is_not_finite(faint: Fmu) -> None:
    running = Running(faint, {"tiny": 1e-170, "solver.method": METHODS["implicit"]})
    assert running.slave.step(0.0, 0.25) == ERROR
    assert running.told[-1] == (
        "fmi2DoStep: the derivative of der(x) by time is not finite at 0 s, and the implicit method needs it, so the "
        "step from 0 s to 0.25 s fails: another solver.method needs none"
    )


# ---- settings and state --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "experiment", "used"),
    [({}, None, 1e-9), ({}, 1e-5, 1e-5), ({}, 1e-20, 1e-13), ({}, 1.0, 1e-2), ({"solver.tolerance": 1e-7}, 1e-5, 1e-7)],
)
def test_the_tolerance_is_that_of_the_experiment_unless_it_is_set(
    throw: Fmu, given: Values, experiment: float | None, used: float
) -> None:
    assert Running(throw, given, tolerance=experiment)["solver.tolerance"] == used


def test_no_substep_is_longer_than_wanted(throw: Fmu) -> None:
    running = Running(throw, {"solver.max_step": 1e-2, "level": 100.0})
    running.step(1.0)
    assert counts(running)["steps"] == 100


@pytest.mark.parametrize("method", METHODS)
def test_a_restored_instance_goes_on_bit_for_bit(vanderpol: Fmu, method: str) -> None:
    """In the midst of the stiff part: the length of the substep and the method in use belong to the state."""
    running = Running(vanderpol, {"mu": 100.0, "solver.method": METHODS[method]})
    for _ in range(40):
        running.step(1.0)
    place, time = running.slave.get_state(), running.time
    data = running.slave.serialize(place)
    ways = []
    for restore in (None, place, running.slave.deserialize):
        if restore is place:
            assert running.slave.call("fmi2SetFMUstate", place) == OK
        elif restore is not None:
            running = Running(vanderpol)
            fresh = running.slave.get_state()
            assert running.slave.deserialize(data, fresh) == OK
            assert running.slave.call("fmi2SetFMUstate", fresh) == OK
        running.time = time
        for _ in range(40):
            running.step(1.0)
        ways.append(running.slave.all_values())
    assert ways[0] == ways[1] == ways[2]


def test_counters_count(throw: Fmu) -> None:
    running = Running(throw)
    assert counts(running) == dict.fromkeys(COUNTERS, 0)
    running.step(2.1)
    first = counts(running)
    assert first["steps"] >= 5  # three arcs, and a step across each of the two events
    assert first["evaluations"] >= 3 * (first["steps"] - first["events"])  # of the smaller pair
    running.step(0.1)
    assert counts(running)["steps"] == first["steps"] + 1
