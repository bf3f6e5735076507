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

Array = NDArray[np.float64]
STEPS, SETTLED = 200, 40
HOLD, AUTO = 1, 5  # of coupling.mode
STIFFNESS, FRICTION = 1e5, 0.3  # of the floor, N/m: C_F; K_fr


@dataclass(frozen=True)
class Axis:
    """Holds 1 kg at `aim`, m, with a stiffness and a damping, N/m and N s/m, and a damping across; the force is held in
    each interval.  The mass comes with the speed `along` the floor and `down`, m/s.  `line`: they act along the line to
    a point 1 m below the floor instead, as those of a spring and a damper between two points."""

    stiffness: float
    damping: float
    aim: float
    along: float
    down: float
    across: float
    restitution: float
    line: bool

    def force(self, r: Array, v: Array) -> Array:
        """N, along x and z, at the position r, m, with the speed v, m/s."""
        way = r + np.array([0.0, 1.0])
        n = way / np.linalg.norm(way) if self.line else np.array([0.0, 1.0])
        stretch = way @ n - 1.0 - self.aim
        held: Array = -(self.stiffness * stretch + self.damping * (v @ n)) * n - np.array([self.across * v[0], 0.0])
        return held


class AxisBlock(Block):
    def __init__(self, floor: Fmu, master: str, order: int, mode: int, axis: Axis) -> None:
        self.axis = axis
        start = {"coupling.mode": mode, "C_r": axis.restitution, "K_fr": FRICTION}
        super().__init__(floor, 1, master, order, v=(axis.along, 0.0, axis.down), **start)

    def outer_force(self) -> Array:
        x, z = self.axis.force(self.r[::2], self.v[::2])
        return np.array([x, 0.0, z])


def axes(line: bool) -> list[Axis]:
    draw, drawn = np.random.default_rng(21), []
    for _ in range(24):
        k = 10 ** draw.uniform(3.5, 4.8)
        d = 2.0 * draw.uniform(0.3, 1.2) * np.sqrt(k)
        along, down = float(draw.choice([0.1, 0.3, 0.7, 0.7 if line else 2.0])), -(10 ** draw.uniform(-1.0, 0.3))
        aim, across, e = -draw.uniform(2e-3, 12e-3), draw.choice([0.0, 300.0]), draw.choice([0.1, 0.3, 0.5])
        drawn.append(Axis(k, d, aim, along, down, float(across), float(e), line))
    return drawn


def heights_under_the_law(axis: Axis, k_D: float, k_T: float) -> Array:
    """m, at each communication point; by scipy's LSODA."""
    d = (1.0 - axis.restitution**2) / (1.0 + axis.restitution**2)
    state, heights = np.array([0.0, 2.3e-3, axis.along, axis.down]), []
    for _ in range(STEPS):
        held = axis.force(state[:2], state[2:])

        def rates(_t: float, s: Array, held: Array = held) -> list[float]:
            N = max(-s[1], 0.0) * STIFFNESS * (1.0 + np.clip(-k_D * s[3], -d, d))
            return [s[2], s[3], held[0] - FRICTION * N * np.clip(k_T * s[2], -1.0, 1.0), held[1] + N]

        state = solve_ivp(rates, (0.0, H), state, method="LSODA", rtol=1e-8, atol=1e-12).y[:, -1]
        heights.append(state[1])
    return np.array(heights)


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", FLOOR.format(points="", bristle="false"))


@pytest.fixture(scope="module")
def laws(floor: Fmu) -> dict[Axis, Array]:
    start = Running(floor, {})
    k_D, k_T = float(start["k_D"]), float(start["k_T"])
    return {axis: heights_under_the_law(axis, k_D, k_T) for line in (False, True) for axis in axes(line)}


@pytest.mark.slow
@ORDERS
@pytest.mark.parametrize("line", [False, True])
def test_a_point_that_slides_while_an_axis_presses_on_it_is_where_the_law_has_it(
    floor: Fmu, laws: dict[Axis, Array], master: str, order: int, line: bool
) -> None:
    """Root mean square of the distance from it over the depth, once the axis has settled.  The line turns as the point
    slides along: where its axis is taken for none the body stays where the first forces let it sink."""
    errors = []
    for axis in axes(line):
        law, row = laws[axis][SETTLED:], []
        for mode in (HOLD, AUTO):
            block, heights = AxisBlock(floor, master, order, mode, axis), []
            for _ in range(STEPS):
                block.step()
                heights.append(block.r[2])
            row.append(np.sqrt(np.mean((np.array(heights[SETTLED:]) - law) ** 2)) / -np.mean(law))
        errors.append(row)
    hold, auto = np.array(errors).T
    print(f"{master}, {order}: median {np.median(auto):.4f}, at most {auto.max():.3f}; hold {np.median(hold):.2f}")
    print(f"   mean {auto.mean():.4f}, of hold {hold.mean():.4f}; worse than hold: {np.flatnonzero(auto > hold)}")
    assert np.median(auto) < 0.01
    assert np.mean(auto) < 0.3 * np.mean(hold)
    if not line:
        assert auto.max() < 0.02
        assert np.all(auto < hold), "nowhere worse than the literal force"
