"""A point that slides on a rough floor while an axis presses its body on, against the motion under the law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from fmi2 import Fmu
from numpy.typing import NDArray
from running import Running, build
from scipy.integrate import solve_ivp

from tests.elements.test_coupled_ledgers import FLOOR, ORDERS, Block, H

STEPS, SETTLED = 80, 40
HOLD, AUTO = 1, 5  # of coupling.mode
STIFFNESS = 1e5  # of the floor, N/m: C_F


@dataclass(frozen=True)
class Axis:
    """Holds 1 kg at `aim`, its force held in each interval; the mass comes with `speed` along and across the floor."""

    stiffness: float  # N/m
    damping: float  # N s/m
    aim: float  # m
    speed: tuple[float, float]  # m/s
    across: float  # damping across, N s/m
    restitution: float

    def force(self, z: float, w: float) -> float:
        return -self.stiffness * (z - self.aim) - self.damping * w


class AxisBlock(Block):
    def __init__(self, floor: Fmu, master: str, order: int, mode: int, axis: Axis) -> None:
        along, down = axis.speed
        self.axis = axis
        start = {"coupling.mode": mode, "C_r": axis.restitution}
        super().__init__(floor, 1, master, order, v=(along, 0.0, down), **start)

    def outer_force(self) -> NDArray[np.float64]:
        return np.array([-self.axis.across * self.v[0], 0.0, self.axis.force(self.r[2], self.v[2])])


def axes() -> list[Axis]:
    draw, drawn = np.random.default_rng(21), []
    for _ in range(24):
        k = 10 ** draw.uniform(3.5, 4.8)
        d = 2.0 * draw.uniform(0.3, 1.2) * np.sqrt(k)
        speed = (float(draw.choice([0.1, 0.3, 0.7, 2.0])), -(10 ** draw.uniform(-1.0, 0.3)))
        aim, across, e = -draw.uniform(2e-3, 12e-3), draw.choice([0.0, 300.0]), draw.choice([0.1, 0.3, 0.5])
        drawn.append(Axis(k, d, aim, speed, float(across), float(e)))
    return drawn


def heights_under_the_law(axis: Axis, k_D: float) -> NDArray[np.float64]:
    """m, at each communication point; by scipy's LSODA.  Friction does nothing along the normal."""
    d = (1.0 - axis.restitution**2) / (1.0 + axis.restitution**2)
    state, heights = np.array([2.3e-3, axis.speed[1]]), []
    for _ in range(STEPS):
        held = axis.force(*state)

        def rates(_t: float, s: NDArray[np.float64], held: float = held) -> tuple[float, float]:
            return s[1], held + max(-s[0], 0.0) * STIFFNESS * (1.0 + np.clip(-k_D * s[1], -d, d))

        state = solve_ivp(rates, (0.0, H), state, method="LSODA", rtol=1e-9, atol=1e-13).y[:, -1]
        heights.append(state[0])
    return np.array(heights)


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", FLOOR.format(points="", bristle="false"))


@pytest.fixture(scope="module")
def laws(floor: Fmu) -> list[NDArray[np.float64]]:
    k_D = float(Running(floor, {})["k_D"])
    return [heights_under_the_law(axis, k_D) for axis in axes()]


@ORDERS
def test_a_point_that_slides_while_an_axis_presses_on_it_is_where_the_law_has_it(
    floor: Fmu, laws: list[NDArray[np.float64]], master: str, order: int
) -> None:
    """Root mean square of the distance from it over the depth, once the axis has settled."""
    errors = []
    for axis, law in zip(axes(), laws, strict=True):
        row = []
        for mode in (HOLD, AUTO):
            block, heights = AxisBlock(floor, master, order, mode, axis), []
            for _ in range(STEPS):
                block.step()
                heights.append(block.r[2])
            distance = np.array(heights[SETTLED:]) - law[SETTLED:]
            row.append(np.sqrt(np.mean(distance**2)) / -np.mean(law[SETTLED:]))
        errors.append(row)
    hold, auto = np.array(errors).T
    print(f"{master}, {order}: median {np.median(auto):.4f}, at most {auto.max():.3f}; hold {np.median(hold):.2f}")
    assert np.median(auto) < 0.01
    assert auto.max() < 0.02
    assert np.all(auto < hold), "nowhere worse than the literal force"
