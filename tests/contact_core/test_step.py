"""What fmi2DoStep means (design: the step), and that it integrates what it promises."""

from __future__ import annotations

import math
from ctypes import byref, c_double
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from contact_reference import Law, Scene, contact
from fmi2 import ERROR, LAST_SUCCESSFUL_TIME, OK, WARNING, Fmu, Slave, integers, load_shipped, only, reals, references
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Running, build
from scipy.integrate import quad

PATCH = """
element = "point_surface"
[surface]
kind = "plane"
x = [-1, 1]
y = [-1, 1]
[structure]
coupling = false
"""
FLOOR = 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\ncoupling = false\n'
EPSILON = 2.0**-52
TINY = 1e-300  # among subnormal numbers rounding is absolute


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", FLOOR)


@pytest.fixture(scope="module")
def patch(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("patch"), "Patch", PATCH)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("Pendulum", tmp_path_factory.mktemp("pendulum"))


@pytest.fixture(params=["pendulum", "floor"])
def fmu(request: pytest.FixtureRequest) -> Fmu:
    """An element that integrates with stages, and one whose held inputs leave nothing to integrate."""
    return request.getfixturevalue(request.param)


def clock(slave: Slave) -> float:
    value = c_double()
    assert slave.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, byref(value)) == OK
    return value.value


def started(fmu: Fmu, start: float = 0.0, stop: float | None = None) -> Slave:
    slave = fmu.slave()
    slave.initialize(start=start, stop=stop)
    slave.importer.messages.clear()
    return slave


# ---- the clock -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, 0.1, -3.7, 1e6])
@pytest.mark.parametrize("h", [1e-9, 1e-4, 1 / 3, math.sqrt(2.0) * 1e-3, math.pi, 1e3])
def test_step_lands_exactly_on_its_end(fmu: Fmu, start: float, h: float) -> None:
    slave = started(fmu, start)
    assert slave.step(start, h) == OK
    assert clock(slave) == start + h
    assert slave.get("time") == [start + h]


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=20), rates=st.booleans())
def test_random_steps_land_exactly_with_and_without_input_derivatives(
    floor: Fmu, steps: list[float], rates: bool
) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, 1.0)})
    for h in steps:
        if rates:
            running.rates({"point.v": (0.1, 0.2, 0.3)})
        running.step(h)
        assert running["time"] == running.time


@pytest.mark.slow
def test_million_steps_do_not_drift_from_the_clock_of_the_importer(floor: Fmu) -> None:
    """The importer's clock is t0 + k h, which rounding keeps apart from the sum of the steps."""
    slave = started(floor, start=0.1)
    assert slave.set({"point.r[3]": -1e-3}) == OK
    step, component, h, steps, different = floor.library.fmi2DoStep, slave.handle, 1e-3, 1_000_000, 0
    last = 0.1
    for k in range(steps):
        t = 0.1 + k * h
        different += t != last
        last = t + h
        if step(component, t, h, 0):
            raise AssertionError(slave.importer.texts)
    assert different > steps // 10  # else this test shows nothing
    assert clock(slave) == 0.1 + (steps - 1) * h + h
    # 10^6 additions, each rounded to half an ulp of at most 1000 s, all in one direction at worst
    assert slave.get("contact_time")[0] == pytest.approx(steps * h, rel=0.5 * EPSILON * steps)


def test_step_may_start_a_rounding_error_away_from_the_end_of_the_last_one(fmu: Fmu) -> None:
    slave = started(fmu)
    if fmu.name == "Floor":
        assert slave.set({"point.r[3]": -1e-3}) == OK
    assert slave.step(0.0, 0.3) == OK
    for start in (0.3 - 0.9e-10, 0.3 + 0.9e-10):
        place = slave.get_state()
        assert slave.step(start, 0.1) == OK
        assert clock(slave) == start + 0.1  # the importer's clock is the right one
        if fmu.name == "Floor":
            assert slave.get("contact_time")[0] == pytest.approx(start + 0.1, rel=1e-15)
        assert slave.call("fmi2SetFMUstate", place) == OK
        slave.free_state(place)


@pytest.mark.parametrize("start", [0.3 + 1.2e-10, 0.3 - 1.2e-10, 0.4, 0.0])
def test_step_that_starts_elsewhere_is_refused(fmu: Fmu, start: float) -> None:
    slave = started(fmu)
    assert slave.step(0.0, 0.3) == OK
    before = slave.state()
    assert slave.step(start, 0.1) == ERROR
    told = only(slave.importer.messages).text
    assert "but the last one ended at 0.3 s" in told and f"difference of {abs(start - 0.3):.3g} s" in told
    assert slave.state() == before
    assert slave.step(0.3, 0.1) == OK


@pytest.mark.parametrize("time", [0.0, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("h", [1e-6, 1e-3, 1.0])
def test_the_clock_may_err_by_a_share_of_the_step_or_by_rounding_of_the_time(fmu: Fmu, time: float, h: float) -> None:
    """In the first step up to 1e-9 of it or 4 units in the last place of the time; not by four times the larger."""
    allowed = max(1e-9 * h, 4.0 * math.ulp(time))
    for sign in (-1.0, 1.0):
        slave = started(fmu, start=time)
        assert slave.step(time + 4.0 * sign * allowed, h) == ERROR
        assert slave.step(time + sign * allowed, h) == OK, slave.importer.texts
        assert clock(slave) == time + sign * allowed + h


@pytest.mark.parametrize("h", [1e-4, 1e-5, 1e-6])
def test_a_clock_that_adds_up_its_steps_may_err_by_their_roundings(floor: Fmu, h: float) -> None:
    """An importer that adds up 20,000 steps from 10 s on, and then goes on from t_0 + k h: the sum has drifted by many
    units in the last place, and by more than 1e-9 of a step.  As much again is not rounding."""
    slave, n, t = started(floor, start=10.0), 20_000, 10.0
    for _ in range(n):
        if slave.call("fmi2DoStep", c_double(t), c_double(h), 0) != OK:
            raise AssertionError(slave.importer.texts)
        t += h
    counted = 10.0 + n * h
    assert 0.1 * n * math.ulp(10.0) < abs(t - counted) < 0.5 * n * math.ulp(counted)
    assert abs(t - counted) > 1e-9 * h + 4.0 * math.ulp(counted)
    assert slave.step(t + 2.0 * n * math.ulp(counted) + 2e-9 * h, h) == ERROR
    assert slave.step(counted, h) == OK, slave.importer.texts
    assert clock(slave) == counted + h


def test_tiny_step_may_start_at_most_half_a_step_away(fmu: Fmu) -> None:
    """Where four units in the last place of the clock are longer than the step."""
    slave = started(fmu, start=1e6)
    h = math.ulp(1e6) * 4.0
    assert slave.step(1e6 + 0.75 * h, h) == ERROR
    assert slave.step(1e6 + 0.5 * h, h) == OK
    assert clock(slave) == 1e6 + 0.5 * h + h


@pytest.mark.parametrize("h", [0.0, -1e-3, -0.0, math.nan, math.inf, -math.inf])
def test_step_that_does_not_go_forward_is_refused(fmu: Fmu, h: float) -> None:
    slave = started(fmu)
    before = slave.state()
    assert slave.step(0.0, h) == ERROR
    assert "the step must be greater than 0 and both finite" in only(slave.importer.messages).text
    assert slave.state() == before


@pytest.mark.parametrize("t", [math.nan, math.inf])
def test_step_from_nowhere_is_refused(fmu: Fmu, t: float) -> None:
    assert started(fmu).step(t, 0.1) == ERROR


def test_step_that_the_clock_cannot_resolve_is_refused(fmu: Fmu) -> None:
    slave = started(fmu, start=1e6)
    assert slave.step(1e6, 1e-11) == ERROR
    assert "does not move the clock" in only(slave.importer.messages).text


@pytest.mark.parametrize(
    ("start", "h", "status"),
    [
        (0.9, 0.1, OK),
        (0.9, 0.1 * (1.0 + 5e-9), OK),  # ends 0.5e-9 behind the stop time
        (0.9, 0.1 + 2e-9, ERROR),
        (0.9, 0.2, ERROR),
        (1.0, 1e-10, ERROR),  # within 1e-9, but more than half a step
        (1.0, 1e-3, ERROR),
    ],
)
def test_step_past_the_stop_time_is_refused_with_allowance_for_rounding(
    fmu: Fmu, start: float, h: float, status: int
) -> None:
    slave = started(fmu, stop=1.0)
    assert slave.step(0.0, start) == OK
    assert slave.step(start, h) == status
    if status == ERROR:
        assert "after the stop time 1 s" in only(slave.importer.messages).text


# ---- get after set -------------------------------------------------------------------------------------------------


def test_get_after_set_answers_for_the_new_inputs(floor: Fmu) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, 0.1), "C_F": 1e5})
    running.step(1e-3)
    assert running["point.f[3]"] == 0.0
    running.set({"point.r": (0.0, 0.0, -2e-3)})
    assert running["point.f[3]"] == running["normal_force"] == pytest.approx(200.0, rel=4 * EPSILON)
    assert running["depth"] == 2e-3
    assert running["in_contact"] == 1
    running.set({"C_F": 2e5})
    assert running["point.f[3]"] == pytest.approx(400.0, rel=4 * EPSILON)
    running.set({"work": 0})
    assert running["point.f[3]"] == 0.0


def test_get_after_set_moves_no_state_no_count_and_no_ledger(floor: Fmu) -> None:
    """A get between set and step changes outputs only; the step gives the same bits with and without it."""
    accumulated = [
        name for name in floor.names("Real") if name.split("[")[0] in ("impulse", "contact_time", "peak_force")
    ] + ["energy.damping", "energy.friction", "energy.work", "energy.switched", "energy.start"]
    ends = []
    for with_get in (False, True):
        running = Running(floor, {"point.r": (0.0, 0.0, 1e-3), "point.v": (0.2, 0.0, -1.0), "C_r": 0.5, "K_fr": 0.3})
        trace = []
        for r_z in (-1e-3, -2e-3, 1e-3, -1e-3, -5e-4):
            running.set({"point.r[3]": r_z})
            if with_get:
                before, count = running.values(accumulated).tobytes(), running["contact_count"]
                running.slave.all_values()
                running.slave.all_values()
                assert running.values(accumulated).tobytes() == before
                assert running["contact_count"] == count
            running.step(1e-3)
            trace.append(running.slave.state())
        ends.append(trace)
    assert ends[0] == ends[1]


# ---- input derivatives ---------------------------------------------------------------------------------------------


def test_input_derivatives_move_the_inputs_of_a_model_without_states(tmp_path: Path) -> None:
    """At every point of a run that does not begin at 0."""
    running = Running(load_shipped("TwoDPointX", tmp_path), {"p_in.F": 3.0}, time=5.0)
    for F in (3.5, 4.0, 4.5):
        running.rates({"p_in.F": 2.0})
        running.step(0.25)
        assert running.values(["p_in.F", "P_out.F[1]"]).tolist() == [F, F]


def test_input_derivative_moves_the_input_during_the_next_step_only(floor: Fmu) -> None:
    running = Running(floor, {"point.r": (0.0, 0.0, 1.0), "point.v": (0.0, 0.0, -2.0)})
    running.rates({"point.r[3]": -2.0})
    assert running["point.r[3]"] == 1.0
    running.step(0.25)
    assert running["point.r[3]"] == 0.5  # the input holds its value at the end of the step
    assert running["distance"] == 0.5
    running.step(0.25)
    assert running["point.r[3]"] == 0.5
    running.rates({"point.r[3]": 4.0})
    running.set({"point.r[3]": 0.0})  # the value at t_c may come before or after its derivative
    running.step(0.25)
    assert running["point.r[3]"] == 1.0


def test_order_zero_is_an_error_and_sets_nothing(mass: Fmu) -> None:
    slave = started(mass)
    before = slave.state()
    vr = references(mass.references["p.f[1]"], mass.references["p.f[2]"])
    assert slave.call("fmi2SetRealInputDerivatives", vr, 2, integers(1, 0), reals(1.0, 1.0)) == ERROR
    assert "order 0 of p.f[2]" in only(slave.importer.messages).text
    assert slave.state() == before


def test_order_above_one_is_ignored_with_a_warning(mass: Fmu) -> None:
    slave, plain = started(mass), started(mass)
    vr = references(mass.references["p.f[1]"], mass.references["p.f[2]"])
    assert slave.call("fmi2SetRealInputDerivatives", vr, 2, integers(1, 2), reals(3.0, 7.0)) == WARNING
    assert "order 2 of p.f[2] is ignored" in only(slave.importer.messages).text
    assert plain.call("fmi2SetRealInputDerivatives", vr, 1, integers(1), reals(3.0)) == OK
    for one in (slave, plain):
        assert one.step(0.0, 0.1) == OK
    assert slave.all_values() == plain.all_values()
    assert slave.get("p.f[1]", "p.f[2]") == [pytest.approx(0.3), 0.0]


@pytest.mark.parametrize("name", ["m", "p.r[1]", "energy.kinetic"])
def test_only_inputs_have_input_derivatives(mass: Fmu, name: str) -> None:
    slave = started(mass)
    vr = references(mass.references[name])
    assert slave.call("fmi2SetRealInputDerivatives", vr, 1, integers(1), reals(1.0)) == ERROR
    assert name in only(slave.importer.messages).text


# ---- integration: a mass -------------------------------------------------------------------------------------------

moderate = st.floats(-100.0, 100.0)


@settings(max_examples=150, deadline=None)
@given(h=st.floats(1e-6, 1e3), f=moderate, rate=moderate, r=moderate, v=moderate, m=st.floats(0.01, 100.0))
def test_mass_under_a_linearly_varying_force_is_exact_at_any_step(
    mass: Fmu, h: float, f: float, rate: float, r: float, v: float, m: float
) -> None:
    """r = r0 + v t + a t^2/2 + a' t^3/6: within what the order of the method solves without error."""
    running = Running(mass, {"m": m, "r0": (r, 0.0, 0.0), "v0": (v, 0.0, 0.0), "p.f": (f, 0.0, 0.0), "g": (0, 0, 0)})
    running.rates({"p.f[1]": rate})
    running.step(h)
    a, jerk = f / m, rate / m
    terms_r = np.array([r, v * h, a * h**2 / 2.0, jerk * h**3 / 6.0])
    terms_v = np.array([v, a * h, jerk * h**2 / 2.0])
    # rounding: seven stages with weights up to 12
    assert abs(running["p.r[1]"] - terms_r.sum()) <= 40 * EPSILON * np.abs(terms_r).sum() + TINY
    assert abs(running["p.v[1]"] - terms_v.sum()) <= 20 * EPSILON * np.abs(terms_v).sum() + TINY


@pytest.mark.parametrize("h", [1e-6, 1e-3, 0.1, 1 / 3, 1.0])
def test_mass_under_a_constant_force_is_exact_at_any_step(mass: Fmu, h: float) -> None:
    running = Running(mass, {"m": 2.0, "v0": (1.0, 0.0, 3.0), "p.f": (4.0, -2.0, 0.0)})
    for _ in range(10):
        running.step(h)
    t = running.time
    expected_r = [t + t**2, -0.5 * t**2, 3.0 * t - 0.5 * 9.81 * t**2]
    assert running.vector("p.r") == pytest.approx(expected_r, rel=200 * EPSILON, abs=200 * EPSILON * 3.0 * t)
    assert running.vector("p.v") == pytest.approx([1.0 + 2.0 * t, -t, 3.0 - 9.81 * t], rel=100 * EPSILON)
    work = 4.0 * expected_r[0] - 2.0 * expected_r[1]
    total = running["energy.kinetic"] + running["energy.potential"]
    # the potential energy is a large part that cancels where the mass falls far
    assert total == pytest.approx(10.0 + work, rel=1e-13, abs=1e-13 * 9.81 * 2.0 * (9.81 * t**2 + 3.0 * t))


@pytest.mark.parametrize("method", [1, 2, 3])  # of solver.method: auto, explicit, implicit
@pytest.mark.parametrize("h", [1e-6, 1e-3, 1 / 3, 1e3])
def test_held_forces_leave_one_evaluation_and_a_few_roundings(mass: Fmu, h: float, method: int) -> None:
    """r = r0 + v h + a h^2/2 and v + a h, in fractions."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        r, v, f = rng.uniform(-100.0, 100.0, (3, 3))
        running = Running(mass, {"m": rng.uniform(0.1, 10.0), "r0": r, "v0": v, "p.f": f, "solver.method": method})
        a = running.values([f"der(p.v[{k}])" for k in (1, 2, 3)])
        running.step(h)
        for k in range(3):
            way = [Fraction(r[k]), Fraction(v[k]) * Fraction(h), Fraction(a[k]) * Fraction(h) ** 2 / 2]
            error = abs(Fraction(running.vector("p.r")[k]) - sum(way))
            assert error <= 4 * Fraction(EPSILON) / 2 * sum(map(abs, way))
            speed = [Fraction(v[k]), Fraction(a[k]) * Fraction(h)]
            assert abs(Fraction(running.vector("p.v")[k]) - sum(speed)) <= Fraction(EPSILON) * sum(map(abs, speed))
        running.step(h)
        assert (running["solver.steps"], running["solver.evaluations"], running["solver.rejected"]) == (2, 2, 0)


# ---- integration: a contact ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-9, 1e-4, 0.37, 1e3])
def test_held_inputs_make_impulse_time_and_energies_proportional_to_the_step(floor: Fmu, h: float) -> None:
    law = Law(C_F=1e5, C_r=0.5, K_fr=0.3)
    scene = Scene(r=np.array([0.1, 0.2, -1e-3]), v=np.array([0.4, -0.3, -0.2]))
    running = Running(floor, scene.values() | {"C_F": 1e5, "C_r": 0.5, "K_fr": 0.3})
    running.step(h)
    force = contact(law, scene)
    expected = {
        "impulse": force.normal * h,
        "contact_time": h,
        "energy.damping": force.damping * force.depth_rate * h,
        "energy.friction": force.friction * force.slip_speed * h,
        "energy.work": -float(force.force @ scene.v) * h,
    }
    assert {name: running[name] for name in expected} == pytest.approx(expected, rel=1e-14)
    assert (running["solver.steps"], running["solver.evaluations"]) == (1, 0)  # nothing moves that could be evaluated


def in_step(running: Running, scene: Scene, h: float) -> None:
    """One step in which the point and the surface's origin go on with their velocities: r' = v."""
    running.set(scene.values())
    running.rates({"point.r": scene.v, "surface.r": scene.v_o})
    running.step(h)


def integral(f: str, law: Law, scene: Scene, h: float, *breaks: float, **options: float) -> float:
    """Integral of a power over the step, piecewise between the breaks."""

    def rate(t: float) -> float:
        moved = replace(scene, r=scene.r + t * scene.v, o=scene.o + t * scene.v_o)
        c = contact(law, moved, **options)
        return {
            "impulse": c.normal,
            "energy.damping": c.damping * c.depth_rate,
            "energy.friction": c.friction * c.slip_speed,
            "energy.work": -float(c.force @ scene.v - c.force @ scene.v_o),
        }[f]

    points = [0.0, *breaks, h]
    return sum(quad(rate, a, b, epsabs=0.0, epsrel=1e-13)[0] for a, b in pairwise(points))


INTEGRALS = ("impulse", "energy.damping", "energy.friction", "energy.work")


@pytest.mark.parametrize("c_r", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("slip", [0.0, 4e-3, 0.8], ids=["no slip", "ramp", "sliding"])
@pytest.mark.parametrize("speed", [5e-3, 0.7], ids=["slow", "saturated"])
def test_touch_down_inside_a_step_is_located_and_integrated(floor: Fmu, c_r: float, slip: float, speed: float) -> None:
    law = Law(C_F=1e5, C_r=c_r, K_fr=0.3)
    h = 2e-3
    touch = 0.377 * h
    scene = Scene(r=np.array([0.0, 0.0, speed * touch]), v=np.array([slip, 0.0, -speed]))
    running = Running(floor, {"C_F": 1e5, "C_r": c_r, "K_fr": 0.3} | scene.values())
    in_step(running, scene, h)
    assert running["contact_time"] == pytest.approx(h - touch, rel=1e-10)
    expected = {name: integral(name, law, scene, h, touch) for name in INTEGRALS}
    assert {name: running[name] for name in INTEGRALS} == pytest.approx(expected, rel=1e-10)
    assert running["contact_count"] == 1
    assert running["energy.switched"] == 0.0
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-12 * running["energy.work"])


@pytest.mark.parametrize("c_r", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("slip", [0.0, 0.8])
def test_release_inside_a_step_is_located_and_integrated(floor: Fmu, c_r: float, slip: float) -> None:
    law = Law(C_F=1e5, C_r=c_r, K_fr=0.3)
    h, speed = 2e-3, 0.7
    release = 0.377 * h
    scene = Scene(r=np.array([0.0, 0.0, -speed * release]), v=np.array([slip, 0.0, speed]))
    running = Running(floor, {"C_F": 1e5, "C_r": c_r, "K_fr": 0.3} | scene.values())
    in_step(running, scene, h)
    stored = contact(law, scene).energy
    assert running["contact_time"] == pytest.approx(release, rel=1e-10)
    expected = {name: integral(name, law, scene, h, release) for name in INTEGRALS}
    assert {name: running[name] for name in INTEGRALS} == pytest.approx(expected, rel=1e-10, abs=1e-14 * stored)
    assert running["in_contact"] == 0
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-12 * stored)


@pytest.mark.parametrize("start", [0.0, 1e6], ids=["small clock", "large clock"])
def test_touch_at_a_communication_point_counts_in_full(floor: Fmu, start: float) -> None:
    """The point lies exactly on the surface, where it is not in contact, and is in contact ever after."""
    running = Running(floor, {"C_F": 1e5, "point.v": (0.0, 0.0, -1.0)}, time=start)
    in_step(running, Scene(r=np.zeros(3), v=np.array([0.0, 0.0, -1.0])), 2.0**-10)
    assert running["contact_time"] == pytest.approx(2.0**-10, rel=1e-11)
    in_step(running, Scene(r=running.vector("point.r"), v=np.array([0.0, 0.0, 1.0])), 2.0**-10)  # and off, to 0 exactly
    assert running["distance"] == 0.0
    assert running["contact_time"] == pytest.approx(2.0**-9, rel=1e-11)
    assert running["impulse"] == pytest.approx(1e5 * 2.0**-20, rel=1e-11)


def test_touch_is_located_where_the_clock_is_a_million_seconds(floor: Fmu) -> None:
    running = Running(floor, {"C_F": 1e5}, time=1e6)
    h = 2.0**-10  # the clock there has a resolution of 2^-33 s: this step ends on it
    in_step(running, Scene(r=np.array([0.0, 0.0, h / 3.0]), v=np.array([0.0, 0.0, -1.0])), h)
    assert running["contact_time"] == pytest.approx(h * 2.0 / 3.0, rel=1e-11)


def test_point_that_crosses_a_patch_in_one_step_was_in_contact(patch: Fmu) -> None:
    """Outside at both ends: in through one edge, over 2 m, out through the other.  Energy made is energy destroyed."""
    law = Law(C_F=1e5, K_fr=0.3)
    scene = Scene(r=np.array([-41.0, 0.3, -2e-3]), v=np.array([100.0, 0.0, 0.0]))
    running = Running(patch, {"C_F": 1e5, "K_fr": 0.3} | scene.values())
    in_step(running, scene, 1.0)
    assert running["contact_time"] == pytest.approx(0.02, rel=1e-10)
    assert running["contact_count"] == 1
    assert running["impulse"] == pytest.approx(1e5 * 2e-3 * 0.02, rel=1e-10)
    assert running["energy.friction"] == pytest.approx(0.3 * 200.0 * 2.0, rel=1e-10)
    assert running["energy.switched"] == pytest.approx(0.0, abs=1e-12)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-12 * running["energy.friction"])
    assert running["energy.work"] == pytest.approx(integral("energy.work", law, scene, 1.0, 0.4, 0.42, surface=1.0))


def test_limit_depth_inside_a_step_is_located_and_booked(floor: Fmu) -> None:
    scene = Scene(r=np.array([0.0, 0.0, 0.001]), v=np.array([0.0, 0.0, -1.0]))
    running = Running(floor, {"C_F": 1e5, "D_max": 0.004} | scene.values())
    in_step(running, scene, 0.0093)
    assert running["contact_time"] == pytest.approx(0.004, rel=1e-10)
    assert running["energy.switched"] == pytest.approx(0.5 * 1e5 * 0.004**2, rel=1e-10)
    assert running["energy.work"] == pytest.approx(0.5 * 1e5 * 0.004**2, rel=1e-10)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rate", [-40.0, 40.0], ids=["into contact", "out of contact"])
@pytest.mark.slow
def test_turning_surface_is_integrated_to_the_tolerance(floor: Fmu, rate: float) -> None:
    """The quaternion moves linearly, so depth and slip are no polynomials of time: the error control has to work."""
    law = Law(C_F=1e5, C_r=0.5, K_fr=0.3, D_max=10.0)
    h, q, q_rate = 0.02, np.array([1.0, 0.0, math.copysign(0.1, -rate), 0.0]), np.array([0.0, 0.0, rate, 0.0])
    scene = Scene(r=np.array([1.0, 0.2, -0.05]), v=np.array([0.3, 0.1, -0.2]), q=q)
    running = Running(floor, {"C_F": 1e5, "C_r": 0.5, "K_fr": 0.3, "D_max": 10.0} | scene.values(), tolerance=1e-12)
    running.rates({"surface.q": q_rate})
    running.step(h)

    def depth(t: float) -> float:
        return contact(law, replace(scene, q=q + t * q_rate)).depth

    def normal_force(t: float) -> float:
        return contact(law, replace(scene, q=q + t * q_rate)).normal

    switches = [t for t in np.linspace(0.0, h, 2001)[1:] if (depth(t) > 0.0) != (depth(t - h / 2000) > 0.0)]
    breaks = []
    for end in switches:
        low, high = end - h / 2000, end
        inside = depth(low) > 0.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if (depth(middle) > 0.0) == inside else (low, middle)
        breaks.append(high)
    points = [0.0, *breaks, h]
    expected = sum(quad(normal_force, a, b, epsabs=0.0, epsrel=1e-13, limit=200)[0] for a, b in pairwise(points))
    assert len(breaks) == 1
    assert running["impulse"] == pytest.approx(expected, rel=1e-10)
    in_contact = sum(b - a for a, b in pairwise(points) if depth(0.5 * (a + b)) > 0.0)
    assert running["contact_time"] == pytest.approx(in_contact, rel=1e-10)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_tolerance_of_the_experiment_is_obeyed(floor: Fmu, tolerance: float) -> None:
    """Friction at a turning surface, once more: the error falls with the tolerance, and stays below it."""
    scene = Scene(r=np.array([1.0, 0.2, -0.05]), v=np.array([0.3, 0.1, -0.2]), q=np.array([1.0, 0.0, -0.1, 0.0]))
    values = {"C_F": 1e5, "C_r": 0.5, "K_fr": 0.3, "D_max": 10.0} | scene.values()
    found = {}
    for used in (tolerance, 1e-13):
        running = Running(floor, values, tolerance=used)
        running.rates({"surface.q": (0.0, 0.0, 40.0, 0.0)})
        running.step(0.02)
        found[used] = running.values(["impulse", "energy.friction", "energy.damping", "energy.work"])
    assert found[tolerance].all()
    assert found[tolerance] == pytest.approx(found[1e-13], rel=10 * tolerance)


def test_ledger_closes_while_inputs_move_consistently(patch: Fmu) -> None:
    """A zigzag with touch-down, edges, limit depth and release, each step with r' = v: work is integrated with the
    forces it belongs to, so what is left is rounding and the width to which events are located."""
    running = Running(patch, {"C_F": 1e5, "C_r": 0.6, "K_fr": 0.3, "D_max": 0.02, "point.r": (0.0, 0.0, 0.01)})
    rng = np.random.default_rng(7)
    r, o = np.array([0.0, 0.0, 0.01]), np.zeros(3)
    throughput = 0.0
    for k in range(200):
        v = np.array([*rng.uniform(-60.0, 60.0, 2), rng.uniform(-1.0, 1.0)]) - [*(20.0 * r[:2]), 20.0 * r[2] + 0.1]
        v_o = rng.uniform(-0.1, 0.1, 3) - 5.0 * o
        scene = Scene(r=r, v=v, o=o, v_o=v_o, q=np.array([1.0, 0.02, -0.01, 0.3]))
        if k == 0:
            running = Running(patch, {"C_F": 1e5, "C_r": 0.6, "K_fr": 0.3, "D_max": 0.02} | scene.values())
        in_step(running, scene, 0.02)
        r, o = running.vector("point.r"), running.vector("surface.r")
        throughput = max(throughput, running["energy.friction"], running["energy.damping"], abs(running["energy.work"]))
    assert running["contact_count"] > 20
    assert abs(running["energy.switched"]) > 1e-3
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-9 * throughput)


@pytest.mark.parametrize("angle", [0.3, 1.1, 2.0])
def test_indicator_that_rounding_shakes_around_zero_does_not_stop_the_step(floor: Fmu, angle: float) -> None:
    """The point slides on a slope and never leaves it: distance and depth rate are zero but for rounding."""
    q = np.array([math.cos(0.5 * angle), math.sin(0.5 * angle), 0.0, 0.0])
    along = np.array([0.0, math.cos(angle), math.sin(angle)])
    running = Running(floor, {"C_F": 1e5, "K_fr": 0.3, "surface.q": q, "point.v": along})
    running.rates({"point.r": along})
    running.step(1.0)
    assert -0.05 <= running["contact_time"] <= 1.05  # it is noise, summed with weights of both signs, but bounded
    assert running["solver.evaluations"] < 20_000
    assert abs(running["point.f[3]"]) < 1e-9


def test_indicator_that_leaves_zero_flatly_does_not_stop_the_step(patch: Fmu) -> None:
    """The point is on the edge of the patch, which turns: its distance from the edge is 1 - cos, at first exactly 0."""
    running = Running(patch, {"point.r": (0.0, 1.0, 0.0)})
    running.rates({"surface.q[2]": 0.025})
    running.step(1e-3)
    assert clock(running.slave) == 1e-3
    assert running["solver.steps"] + running["solver.rejected"] < 200
