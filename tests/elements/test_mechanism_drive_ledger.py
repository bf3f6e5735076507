"""The energy of mechanisms that inputs drive: work, changes and residual against closed forms and scipy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest
from fmi2 import MODEL_EXCHANGE, OK, Fmu
from running import Running, build
from scipy.integrate import solve_ivp

from tests.elements.test_mechanism_drives import CART, G, bob, cart, drive_force

Motion = Callable[[float], tuple[float, float, float, float]]  # q and its derivatives at a time

NAMES = ("drive[1].q", "drive[1].qd", "drive[1].qdd")
CRANK = """
element = "planar_mechanism"
[[body]]
name = "crank"
joint = "revolute"
mass = 2
inertia = 0.1
centre = [0.3, 0]
motion = "inputs"
"""
SLIDER_CRANK = """
element = "planar_mechanism"
[[body]]
name = "crank"
joint = "revolute"
mass = 1
inertia = 1e-3
motion = "inputs"
stiffness = "2 N.m/rad"
damping = "0.1 N.m.s/rad"
[[body]]
name = "rod"
joint = "revolute"
place = [0.1, 0]
mass = 0.5
inertia = 4e-3
centre = [0.15, 0]
closes = true
[[constraint]]
kind = "profile"
body = "rod"
point = [0.3, 0]
profile = [0]
friction = 0.2
"""
WAYS = ("held", "with rates", "secants")


def turn(t: float) -> tuple[float, float, float, float]:
    """0.5 sin 3t."""
    return 0.5 * sin(3 * t), 1.5 * cos(3 * t), -4.5 * sin(3 * t), -13.5 * cos(3 * t)


def crank_energy(q: float, qd: float, m: float = 2.0) -> float:
    return 0.5 * (0.1 + m * 0.09) * qd * qd + m * G * 0.3 * sin(q)


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Fmu]:
    @cache
    def make(text: str) -> Fmu:
        return build(tmp_path_factory.mktemp("driven"), "Driven", text)

    return make


def give(running: Running, motion: Motion, h: float, way: str) -> None:
    """The inputs of the step that begins."""
    now, then = motion(running.time), motion(running.time + h)
    running.set(dict(zip(NAMES, now[:3], strict=True)))
    if way != "held":
        rates = now[1:] if way == "with rates" else [(b - a) / h for a, b in zip(now[:3], then[:3], strict=True)]
        running.rates(dict(zip(NAMES, rates, strict=True)))


def driven(fmu: Fmu, motion: Motion, way: str, stop: float, count: int) -> tuple[Running, float]:
    """A run of so many steps, and the largest residual behind any of them."""
    running, largest = Running(fmu, dict(zip(NAMES, motion(0.0)[:3], strict=True))), 0.0
    for _ in range(count):
        give(running, motion, stop / count, way)
        running.step(stop / count)
        if "energy.residual" in fmu.types:
            largest = max(largest, abs(running["energy.residual"]))
    return running, largest


def order(errors: list[float]) -> float:
    """Of errors with steps that are halved each time."""
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))


# ---- one body: all of its energy is given ----------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [0.5, 1.5])
def test_held_inputs_of_a_crank(fmu: Callable[[str], Fmu], stop: float) -> None:
    """The drive works for all that the crank gains, with errors of order 1, of which `changed` has as much; the
    residual is rounding at every step."""
    exact = crank_energy(*turn(stop)[:2]) - crank_energy(0.0, 1.5)
    off, changed = [], []
    for count in (50, 100, 200):
        running, residual = driven(fmu(CRANK), turn, "held", stop, count)
        assert residual < 1e-8
        give(running, turn, 1e-6, "held")
        running.step(1e-6)  # which books the last jump
        off.append(abs(running["energy.work"] - exact))
        changed.append(abs(running["energy.changed"]))
        assert running["energy.work"] + running["energy.changed"] == pytest.approx(exact, abs=1e-7)
    assert 0.9 < order(off) < 1.1 and 0.9 < order(changed) < 1.1 and off[-1] < 0.03 * abs(exact)


@pytest.mark.parametrize("way", ["with rates", "secants"])
def test_inputs_of_a_crank_that_go_on(fmu: Callable[[str], Fmu], way: str) -> None:
    """Errors of order 2 of work, changes and residual."""
    exact = crank_energy(*turn(0.5)[:2]) - crank_energy(0.0, 1.5)
    found = []
    for count in (25, 50, 100):
        running, residual = driven(fmu(CRANK), turn, way, 0.5, count)
        found.append((abs(running["energy.work"] - exact), abs(running["energy.changed"]), residual))
    for errors in zip(*found, strict=True):
        assert order(list(errors)) > 1.8 and errors[-1] < 2e-3 * abs(exact), found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, 50])
def test_a_speed_that_jumps_brings_its_energy(fmu: Callable[[str], Fmu], way: str, count: int) -> None:
    """From 1 rad/s to 3 rad/s at once, and a mass that is doubled on the way: what both bring is `changed`, and weight
    is lifted by the drive, of held inputs with the torque before each jump."""

    def before(t: float) -> tuple[float, float, float, float]:
        return 0.2 + t, 1.0, 0.0, 0.0

    def after(t: float) -> tuple[float, float, float, float]:
        return 0.2 + 0.1 + 3.0 * (t - 0.1), 3.0, 0.0, 0.0

    running, h = Running(fmu(CRANK), dict(zip(NAMES, before(0.0)[:3], strict=True))), 0.1 / count
    for _ in range(count):
        give(running, before, h, way)
        running.step(h)
    for k in range(count):
        give(running, after, h, way)
        if k == count // 2:
            running.set({"body[1].m": 4.0})
            q, qd = after(running.time)[:2]
        running.step(h)
        assert abs(running["energy.residual"]) < 1e-6
    give(running, after, 1e-9, way)
    running.step(1e-9)  # which books the last jump
    brought = crank_energy(0.0, 3.0) - crank_energy(0.0, 1.0) + crank_energy(q, qd, 4.0) - crank_energy(q, qd)
    assert running["energy.changed"] == pytest.approx(brought, abs=1e-6 if way != "held" else 0.25 / count)


def test_a_coordinate_without_its_speed_is_moved_by_changes(fmu: Callable[[str], Fmu]) -> None:
    """Only drive.q is given: no torque works, and each jump lifts the weight."""
    running = Running(fmu(CRANK))
    for k in range(20):
        running.set({"drive[1].q": 0.05 * k})
        if k % 2:
            running.rates({"drive[1].q": 0.5})
        running.step(0.1)
        assert abs(running["energy.residual"]) < 1e-3
    assert running["energy.work"] == 0.0
    assert running["energy.changed"] == pytest.approx(crank_energy(1.0, 0.0), abs=1e-3)


# ---- a pendulum on the driven body, and a loop -----------------------------------------------------------------------


@cache
def work_of_cart(stop: float) -> float:
    """Of the drive and of the force at the bob."""

    def slopes(t: float, y: np.ndarray) -> list[float]:
        v = cart(t)[1]
        power = drive_force(t, y[:2]) * v + 2.0 * cos(3 * t) * (v + 0.5 * y[1] * cos(y[0]))
        return [*bob(t, y[:2]), power]

    return float(solve_ivp(slopes, (0.0, stop), [0.3, 0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[2, -1])


@pytest.mark.slow
@pytest.mark.parametrize(("way", "least"), [("held", 0.9), ("with rates", 1.8), ("secants", 1.7)])
def test_a_pendulum_on_a_cart(fmu: Callable[[str], Fmu], way: str, least: float) -> None:
    """The residual is of order 2 in each way; work and changes are of order 1 if inputs are held, else 2."""
    found = []
    for count in (50, 100, 200):
        running, residual = driven(fmu(CART.format(motion="inputs")), cart, way, 0.5, count)
        found.append((residual, abs(running["energy.changed"]), abs(running["energy.work"] - work_of_cart(0.5))))
    for errors, expected in zip(zip(*found, strict=True), (1.7, least, least), strict=True):
        assert order(list(errors)) > expected, (errors, found)
    assert found[-1][0] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_slider_crank_with_friction_spring_and_damper(fmu: Callable[[str], Fmu], way: str) -> None:
    """Through dead centres."""

    def motion(t: float) -> tuple[float, float, float, float]:
        return 0.5 + 5 * t + 0.5 * sin(8 * t), 5 + 4 * cos(8 * t), -32 * sin(8 * t), -256 * cos(8 * t)

    residuals = [driven(fmu(SLIDER_CRANK), motion, way, 2.0, count)[1] for count in (500, 1000, 2000)]
    assert residuals[-1] < (1e-7 if way == "held" else 1e-3)
    assert way == "held" or order(residuals) > 1.8, residuals


TWO_DRIVES = """
element = "planar_mechanism"
[[body]]
name = "upper"
joint = "revolute"
mass = 1
inertia = 0.02
centre = [0.2, 0]
motion = "inputs"
[[body]]
name = "slide"
joint = "prismatic"
place = [0.4, 0]
mass = 0.5
inertia = 0.01
motion = "inputs"
[[body]]
name = "bob"
joint = "revolute"
mass = 0.5
inertia = 1e-3
centre = [0.3, 0]
damping = "0.05 N.m.s/rad"
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["held", "with rates"])
def test_two_drives_and_a_free_joint(fmu: Callable[[str], Fmu], way: str) -> None:
    """Each input of its own motion, in a tree; the residual is of order 2."""

    def inputs(t: float) -> tuple[dict[str, float], dict[str, float]]:
        values, rates = {}, {}
        for k, motion in enumerate((turn(t), cart(t)), start=1):
            names = [f"drive[{k}].{name}" for name in ("q", "qd", "qdd")]
            values |= dict(zip(names, motion[:3], strict=True))
            rates |= dict(zip(names, motion[1:], strict=True))
        return values, rates

    residuals = []
    for count in (100, 200, 400):
        running, largest = Running(fmu(TWO_DRIVES), inputs(0.0)[0]), 0.0
        for _ in range(count):
            values, rates = inputs(running.time)
            running.set(values)
            if way != "held":
                running.rates(rates)
            running.step(1.0 / count)
            largest = max(largest, abs(running["energy.residual"]))
        residuals.append(largest)
    assert order(residuals) > 1.8 and residuals[-1] < 1e-4, residuals


# ---- importers that integrate, and those that go back ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["true", "held"])
def test_in_model_exchange(fmu: Callable[[str], Fmu], inputs: str) -> None:
    """By Runge-Kutta steps.  Inputs that follow their motion leave nothing to `changed`; those that are held, and jump
    at events, are as in co-simulation."""
    found = []
    for count in (50, 100):
        instance, h = fmu(CART.format(motion="inputs")).slave(kind=MODEL_EXCHANGE), 0.5 / count
        instance.initialize(dict(zip(NAMES, cart(0.0)[:3], strict=True)))
        assert instance.new_discrete_states()[0] == OK
        assert instance.call("fmi2EnterContinuousTimeMode") == OK
        x = np.array(instance.continuous_states())

        def slopes(t: float, x: np.ndarray, seen: float, instance=instance) -> np.ndarray:  # type: ignore[no-untyped-def]
            assert instance.call("fmi2SetTime", t) == OK and instance.set_states(x) == OK
            assert instance.set(dict(zip(NAMES, cart(seen)[:3], strict=True))) == OK
            return np.array(instance.derivatives())

        for n in range(count):
            t = n * h
            if inputs == "held" and n:
                assert instance.call("fmi2EnterEventMode") == OK
                assert instance.set(dict(zip(NAMES, cart(t)[:3], strict=True))) == OK
                assert instance.new_discrete_states()[0] == OK
                assert instance.call("fmi2EnterContinuousTimeMode") == OK
            at = [t, t + h / 2, t + h / 2, t + h] if inputs == "true" else [t] * 4
            k_1 = slopes(t, x, at[0])
            k_2 = slopes(t + h / 2, x + h / 2 * k_1, at[1])
            k_3 = slopes(t + h / 2, x + h / 2 * k_2, at[2])
            k_4 = slopes(t + h, x + h * k_3, at[3])
            x = x + h / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
            slopes(t + h, x, at[3])
            assert instance.completed_step()[0] == OK
            x = np.array(instance.continuous_states())
        found.append([abs(v) for v in instance.get("energy.residual", "energy.changed")])
    (residual, changed), (finer, changed_less) = found
    if inputs == "true":
        assert finer < 1e-8 and order([residual, finer]) > 3.5
        assert changed < 1e-12 and changed_less < 1e-12
    else:
        assert finer < 1e-3 and order([residual, finer]) > 1.8 and order([changed, changed_less]) > 0.9


def test_a_step_that_is_made_again_books_the_same(fmu: Callable[[str], Fmu]) -> None:
    running, h = Running(fmu(CART.format(motion="inputs")), dict(zip(NAMES, cart(0.0)[:3], strict=True))), 0.01
    for _ in range(5):
        give(running, cart, h, "held")
        running.step(h)
    place, time = running.slave.get_state(), running.time
    kept = []
    for way in ("held", "with rates", "held"):
        assert running.slave.call("fmi2SetFMUstate", place) == OK
        running.time = time
        for _ in range(5):
            give(running, cart, h, way)
            running.step(h)
        kept.append(running.values(["energy.work", "energy.changed", "energy.residual"]))
    assert list(kept[0]) == list(kept[2]) != list(kept[1])
    running.slave.free_state(place)


def test_without_balances_changes_are_the_same(fmu: Callable[[str], Fmu], tmp_path: Path) -> None:
    short = build(tmp_path, "Short", CRANK + "[structure]\nledger = false\n")
    assert driven(short, turn, "held", 0.5, 50)[0]["energy.changed"] == pytest.approx(
        driven(fmu(CRANK), turn, "held", 0.5, 50)[0]["energy.changed"], abs=1e-12
    )
