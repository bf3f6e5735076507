"""`coupling.step_advised` of a contact: the same bodies at that step are where the law has them within 2 %.

Free bodies, bodies under a load, tips of two masses, a sine that pushes, rows of balls; under both masters, with the
order given and unknown, in fifteen phases, after a run with more or fewer steps a contact than the advice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.elements.closed_loop import JACOBI, SEQUENTIAL
from tests.elements.port_bodies import System
from tests.elements.port_systems import RIGHT, Measured, measure
from tests.elements.port_table import joined_masses, one_mass, three_balls

PERIOD = 4.0  # steps in a period of what else moves the bodies, over the steps of a contact
ALONE: dict[str, Callable[[float], System]] = {
    "elastic": lambda N: one_mass(N),
    "C_r = 0.5": lambda N: one_mass(N, 0.5),
    "C_r = 0.2": lambda N: one_mass(N, 0.2),
}
OTHERS: dict[str, Callable[[float], System]] = {
    "weight of 3 % of the force": lambda N: one_mass(N, g=9.81),
    "weight of 20 %": lambda N: one_mass(N, 0.5, g=60.0),
    "sine of 30 %": lambda N: one_mass(N, wave=(0.3, 2.0 * N)),
    "tip on 0.3 of its mass": lambda N: joined_masses(N, 0.5, 0.3, PERIOD * N),
    "tip on three times its mass": lambda N: joined_masses(N, 0.5, 3.0, PERIOD * N),
    "tip on ten times its mass": lambda N: joined_masses(N, 0.5, 10.0, 2.0 * N),
    "three balls": three_balls,
}


def measured(make: Callable[[float], System], N: float, master: str, method: str) -> Measured:
    found = measure(0, make(N), master, method, make(N).reference())
    assert found is not None
    return found


def advised(one: Measured) -> float:
    """Steps a contact at the shortest step that a port advises at the end."""
    steps = [port.get("coupling.step_advised", port.get("coupling.step_advised[1]", 0.0)) for port in one.coupling]
    assert min(steps) > 0.0
    return float(one.system.N * one.system.H / min(steps))


@pytest.mark.parametrize("method", ["auto", "given"])
@pytest.mark.parametrize("master", [JACOBI, SEQUENTIAL])
@pytest.mark.parametrize("N", [4.0, 6.3, 16.0])
@pytest.mark.parametrize("name", [*ALONE, *OTHERS])
def test_the_bodies_are_right_at_the_step_that_is_advised(name: str, N: float, master: str, method: str) -> None:
    make = {**ALONE, **OTHERS}[name]
    steps = advised(measured(make, N, master, method))
    assert steps == pytest.approx(4.0 if name in ALONE else 16.0, rel=0.1)
    assert np.mean(measured(make, steps, master, method).errors) < RIGHT


@pytest.mark.parametrize("name", ["sine of 30 %", "tip on ten times its mass", "weight of 20 %"])
def test_at_four_steps_bodies_that_others_move_are_wrong(name: str) -> None:
    """So the longer step may not be advised there."""
    assert np.mean(measured(OTHERS[name], 4.0, JACOBI, "auto").errors) > RIGHT
