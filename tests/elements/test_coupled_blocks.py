"""Blocks that slide on four points while damped springs in other FMUs pull two of their corners down, by `run`.

The springs tilt the block and damp it: neither is part of what the surface finds out about the bodies, so it finds that
others act.  The motion under the law is that of 10 us steps with the literal force."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fmu_builder
from tests.elements.port_families import Draw

Array = NDArray[np.float64]
SCENARIO = """
connections = [
    ["block.point[1]", "floor.point[1]"], ["block.point[2]", "floor.point[2]"], ["block.point[3]", "floor.point[3]"],
    ["block.point[4]", "floor.point[4]"], ["block.point[1]", "one.first"], ["block.point[3]", "two.first"],
]
[experiment]
stop = "0.25 s"
step = "1 ms"
[slaves]
block = { recipe = "RigidBlock", start = { m = 2, r0 = [0, 0, "0.102 m"], g = [0, 0, -9.81] } }
floor = { recipe = "FourPointSurface", start = { C_F = 2.5e4, K_fr = 0.3, k_D = 100 } }
one = { recipe = "PointToPointSpring", start = { "second.r" = [0.2, 0.15, -1.0] } }
two = { recipe = "PointToPointSpring", start = { "second.r" = [-0.2, -0.15, -1.0] } }
"""


def drawn(seed: int, key: int) -> dict[str, float]:
    """Speeds, restitution coefficient and springs of a block."""
    draw = Draw(seed, key)
    k = draw.log(1e3, 2e4)
    start = {"block.v0[1]": draw.even(0.0, 1.0), "block.v0[3]": -draw.log(0.1, 1.0), "floor.C_r": draw.even(0.1, 0.5)}
    spring = {"k": k, "d": 2.0 * draw.even(0.1, 0.8) * math.sqrt(k), "l0": 1.0 - draw.even(1e-3, 6e-3)}
    return start | {f"{name}.{key}": value for name in ("one", "two") for key, value in spring.items()}


def heights(path: Path, start: dict[str, float], step: float, mode: str) -> Array:
    """Of the four corners, every millisecond."""
    modes = {f"{name}.coupling.mode": mode for name in ("floor", "one", "two")}
    found = fmu_builder.run(path, step=step, start={**start, **modes}).trace
    return np.array([found[f"block.point[{i}].r[3]"][:: round(1e-3 / step)] for i in (1, 2, 3, 4)])


def distances(path: Path, start: dict[str, float], algorithm: str = "gauss_seidel") -> tuple[float, float]:
    """Root of the mean square of the distance from the law's motion over its depth, from the impact on, with the
    literal forces and as the defaults have it: the order is given."""
    path.write_text(SCENARIO)
    exact = heights(path, start, 1e-5, "hold")
    path.write_text(SCENARIO.replace("[slaves]", f'algorithm = "{algorithm}"\n[slaves]'))
    away = ((heights(path, start, 1e-3, mode) - exact)[:, 60:] for mode in ("hold", "auto"))
    hold, auto = (float(np.sqrt(np.mean(each**2)) / -np.mean(exact[:, 100:])) for each in away)
    return hold, auto


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "most"), [("gauss_seidel", 0.55), ("jacobi", 1.2)])
def test_blocks_that_slide_on_damped_springs_come_to_where_the_law_has_them(
    tmp_path: Path, algorithm: str, most: float
) -> None:
    """Twenty blocks: none is worse than with the literal forces, which throw most of them under Jacobi."""
    found = np.array([distances(tmp_path / "block.toml", drawn(31, key), algorithm) for key in range(20)])
    for mode, each in zip(("hold", "auto"), found.T, strict=True):
        print(f"{mode}: median {np.median(each):.2g}, mean {np.mean(each):.2g}, most {max(each):.2g}")
    hold, auto = found.T
    assert (auto < hold).all() and np.max(auto) < most
    assert np.median(auto) < 0.2 * np.median(hold) and np.mean(auto) < 0.3 * np.mean(hold)


@pytest.mark.slow
def test_what_springs_add_from_step_to_step_does_not_add_up_where_others_act(tmp_path: Path) -> None:
    """Springs that the flight showed, and a mean of the accelerations since others were found: added up in it they took
    this block to 1.7 of its depth below the law's motion."""
    start = {"block.v0[1]": 0.3, "block.v0[3]": -0.338, "floor.C_r": 0.1}
    spring = {"k": 15577.0, "d": 105.2, "l0": 0.99869}
    start |= {f"{name}.{key}": value for name in ("one", "two") for key, value in spring.items()}
    hold, auto = distances(tmp_path / "block.toml", start)
    print(f"hold {hold:.2g}, auto {auto:.2g}")
    assert auto < 0.5
