"""The memory that only an element reads, C structs: a step does not copy it, and looks at an eighth of it."""

from __future__ import annotations

import itertools
import math
from ctypes import c_double, c_void_p
from dataclasses import dataclass
from pathlib import Path

import pytest
from fmi2 import ERROR, OK, Slave, load_shipped

from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

STEP = 1e-3
TURNS = 8  # steps in which all of that memory is looked at
SO_FAR = 52  # steps, after which the point touches the surface
MARK = 12345.678  # a value that is found in a state


@dataclass(frozen=True)
class Swing:
    """A motion a cos(0.3 k) of a body at an element; what makes a step fail."""

    stiffness: str
    speed: str
    place: str  # "" of an element that sees speeds alone
    a: float  # m, rad
    too_far: dict[str, float]

    def inputs(self, k: int) -> dict[str, float]:
        moved = {self.speed: -self.a * 0.3 / STEP * math.sin(0.3 * k)}
        return {**moved, self.place: self.a * math.cos(0.3 * k)} if self.place else moved


COUPLED = {
    "PointSurface": Swing("C_F", "point.v[3]", "point.r[3]", 1e-3, {"C_F": 1e300, "point.r[3]": -1e200}),
    "TranslationalSpring": Swing("k", "r.v", "", 1e-3, {"r.v": 1e300}),
    "RotationalDamper": Swing("d", "r.w", "", 1e-3, {"d": 1e200, "r.w": 1e200}),
}


def go_on(slave: Slave, swing: Swing, first: int, last: int) -> None:
    for k in range(first, last):
        assert slave.set(swing.inputs(k)) == OK
        assert slave.step(k * STEP, STEP) == OK, slave.importer.texts


@pytest.mark.parametrize("name", COUPLED)
def test_a_state_from_before_a_step_leads_on_the_same_way_whether_that_failed_or_not(name: str, tmp_path: Path) -> None:
    fmu, swing = load_shipped(name, tmp_path), COUPLED[name]
    states = []
    for inputs, status in ((swing.too_far, ERROR), ({swing.speed: 1.0}, OK)):
        slave = fmu.slave()
        slave.initialize({"D_max": 1e300} if name == "PointSurface" else None)
        go_on(slave, swing, 0, SO_FAR)
        place, time = slave.get_state(), slave.get("time")
        assert slave.set(inputs) == OK
        assert slave.step(SO_FAR * STEP, STEP) == status
        assert status == OK or slave.get("time") == time
        assert slave.call("fmi2SetFMUstate", place) == OK
        slave.free_state(place)
        go_on(slave, swing, SO_FAR, SO_FAR + 20)
        states.append(slave.state())
    assert states[0] == states[1]


@pytest.mark.parametrize("name", COUPLED)
def test_what_is_not_finite_there_ends_the_run_within_eight_steps(name: str, tmp_path: Path) -> None:
    """Unless a step writes another number over it; and no value that an importer reads is ever not finite."""
    fmu, swing = load_shipped(name, tmp_path), COUPLED[name]
    variables = load_model(shipped("fmus") / f"{name}.toml").variables
    rows = itertools.groupby(variables, lambda v: v.is_struct)
    private = max(([v.index for v in row] for is_struct, row in rows if is_struct), key=len)
    mark = next(v.index for v in variables if v.name == swing.stiffness)
    slave = fmu.slave()
    slave.initialize({swing.stiffness: MARK})
    go_on(slave, swing, 0, SO_FAR)
    place = slave.get_state()
    element = next(k for k in itertools.count() if numbers(place, k, 1) == [MARK]) - mark
    ended = 0
    for index in private:
        at = c_double.from_address(address(place, element + index))
        before, at.value = at.value, math.nan
        assert slave.call("fmi2SetFMUstate", place) == OK
        at.value = before
        status, k = OK, SO_FAR
        while status == OK and k < SO_FAR + TURNS:
            assert slave.set(swing.inputs(k)) == OK
            status = slave.step(k * STEP, STEP)
            slave.get(*fmu.names("Real"))
            k += 1
        ended += status == ERROR
        if status == OK:
            now = slave.get_state()
            assert all(math.isfinite(value) for value in numbers(now, element + private[0], len(private))), index
            slave.free_state(now)
    slave.free_state(place)
    assert ended > 50


def address(place: c_void_p, k: int) -> int:
    assert place.value is not None
    return place.value + 8 * k


def numbers(place: c_void_p, first: int, count: int) -> list[float]:
    return list((c_double * count).from_address(address(place, first)))
