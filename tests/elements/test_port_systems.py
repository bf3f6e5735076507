"""The means of port_systems.py: its reference against scipy, its closed loop against one that is written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tests.elements.closed_loop import BODIES_FIRST, JACOBI, SEQUENTIAL, Law
from tests.elements.port_bodies import System
from tests.elements.port_families import FAMILIES, Draw, draw_systems, one_system

LINEAR = ("free", "gravity", "pressed", "sine", "PD axis", "two-mass", "two bodies", "spring by rates")
Array = NDArray[np.float64]


def law_force(law: Law, x: float, w: float) -> float:
    """Along the normal, out of the surface; of a spring at elongation x against it."""
    if law.kind == "spring":
        return -law.stiffness * x
    low, high = law.limits[1], law.limits[0]
    return law.stiffness * max(x, 0.0) * (1 + min(max(law.k_D * w, low), high))


def lawful_end(system: System, start: Array) -> Array:
    """The end of a linear system with one port of one direction, by scipy's DOP853."""
    plant, law = system.plant, system.laws[0]
    assert plant.A is not None and plant.B is not None and plant.c is not None
    A, B, c = plant.A, plant.B[:, -1], plant.c
    x_row, w_row = plant.law_rows[[0, 1] if law.kind == "spring" else [2, 5]]
    sign = 1.0 if law.kind == "spring" else -1.0

    def rates(_: float, z: Array) -> Array:
        dz: Array = A @ z + B * law_force(law, sign * float(x_row @ z), sign * float(w_row @ z)) + c
        return dz

    scale = system.scale()[:-1]
    found = solve_ivp(
        rates, (0, system.H * system.steps), start, "DOP853", rtol=1e-12, atol=1e-12 * scale, max_step=system.H / 4
    )
    end: Array = found.y[:, -1]
    return end


@pytest.mark.parametrize("family", LINEAR)
def test_reference_agrees_with_scipy(family: str) -> None:
    """Far within the 2 % that a system may be wrong by."""
    system = FAMILIES[family](Draw(3, 0))
    end = system.reference()[0][-1, :-1]
    difference = (end - lawful_end(system, system.starts[0])) / system.scale()[:-1]
    assert np.max(np.abs(difference)) < 1e-5


@pytest.mark.parametrize("master", [JACOBI, SEQUENTIAL, BODIES_FIRST])
@pytest.mark.parametrize("family", ["gravity", "sine", "two-mass", "spring by positions"])
def test_loop_under_hold_is_the_law_at_the_samples(family: str, master: str) -> None:
    system = FAMILIES[family](Draw(3, 1))
    plant, law = system.plant, system.laws[0]
    assert plant.Ad is not None and plant.Bd is not None and plant.cd is not None
    x_row, w_row = plant.law_rows[[0, 1] if law.kind == "spring" else [2, 5]]
    sign = 1.0 if law.kind == "spring" else -1.0
    Ad, Bd, cd = plant.Ad, plant.Bd[:, -1], plant.cd
    start, steps = system.starts[0], 40

    def force(z: Array) -> float:
        return law_force(law, sign * float(x_row @ z), sign * float(w_row @ z))

    z, expected, last = start, [start], force(start)
    for _ in range(steps):
        seen = force(z)
        acting = seen if master == SEQUENTIAL else last
        z = Ad @ z + Bd * acting + cd
        last = force(z) if master == BODIES_FIRST else seen
        expected.append(z)
    run = system.bench.run(start, system.H, steps, master, {"coupling.mode": "hold"})
    assert not run.broke_off
    largest = np.max(np.abs(expected), axis=0) + 1e-300
    assert np.max(np.abs(run.states - expected) / largest) < 1e-9  # rounding, which bounces raise


def test_a_system_is_known_by_seed_family_and_number() -> None:
    (_, first), (_, second) = list(draw_systems(5, 13, ("free", "rod")))[:2]
    third = dict(enumerate(system for _, system in draw_systems(5, 13, ("free", "rod"))))[5]
    assert (first.family, second.family, third.family) == ("free", "rod", "rod")
    assert np.array_equal(third.starts, one_system(5, "rod", 2).starts)
    assert not np.array_equal(third.starts, second.starts)
