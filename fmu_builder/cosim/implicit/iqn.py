"""Fixed points x = G(x) by quasi-Newton least squares, IQN-ILS (Degroote 2009), which is Anderson's acceleration.

From the differences of this solve's residuals r = G(x) - x and values, as columns of dR and dG with the newest one
first, each iterate is x <- G(x) + dG c with c the least squares solution of |r + dR c|.  Where that stagnates, as
across the kink at which a contact begins, Newton steps with difference quotients follow, each shortened until the
residual falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.implicit.arithmetic import least_squares

Vector = NDArray[np.float64]
MOST = 25  # quasi-Newton iterations; Newton's come on top
MOST_NEWTON = 12
SMALLEST_SHARE = 1e-4  # of a Newton step


@dataclass(frozen=True)
class Solution:
    """residual: of G at x, in the scaled norm     value: G(x)"""

    x: Vector
    residual: float
    solved: bool
    value: Vector


def solve(
    G: Callable[[Vector], Vector],
    x: Vector,
    scale: Vector,
    tolerance: float,
    enough: float | None = None,
    keep: Callable[[], None] = lambda: None,
) -> Solution:
    """x of shape (n,) with |scale * (G(x) - x)| <= tolerance in the largest component, from the first guess x.

    enough   what is a solution too, where the quasi-Newton iterations find none within the tolerance
    keep     called when G was last called with the x that is the solution so far"""

    def residual(at: Vector) -> tuple[Vector, Vector, float]:
        value = G(at)
        r = scale * (value - at)
        size = float(np.abs(r).max(initial=0.0))
        return value, r, size if np.isfinite(size) else np.inf

    value, r, size = residual(x)
    best = Solution(x, size, size <= tolerance, value)
    keep()
    values, residuals = [value], [r]
    for _ in range(MOST if not best.solved and np.isfinite(size) else 0):
        if len(values) > 1:
            dR = [b - a for a, b in pairwise(residuals)]
            dG = [b - a for a, b in pairwise(values)]
            x = values[-1]
            for c, change in zip(least_squares(dR[::-1], -residuals[-1]), dG[::-1], strict=True):
                x = x + c * change
        else:
            x = values[-1]
        value, r, size = residual(x)
        if size < best.residual:
            best = Solution(x, size, size <= tolerance, value)
            keep()
        if best.solved or not np.isfinite(size):
            break
        values, residuals = [*values, value][-_columns(x) :], [*residuals, r][-_columns(x) :]
    enough = tolerance if enough is None else enough
    if best.residual <= enough:
        return replace(best, solved=True)
    return _newton(residual, best, scale, enough, keep)


def _columns(x: Vector) -> int:
    return len(x) + 3


def _newton(
    residual: Callable[[Vector], tuple[Vector, Vector, float]],
    best: Solution,
    scale: Vector,
    tolerance: float,
    keep: Callable[[], None],
) -> Solution:
    if not np.isfinite(best.residual):
        return best
    for _ in range(MOST_NEWTON):
        _, r, size = residual(best.x)
        width = np.maximum(np.abs(best.x), size / np.maximum(scale, 1e-300)) * 1e-6 + 1e-300
        slopes = [(residual(best.x + d)[1] - r) / h for d, h in zip(np.diag(width), width, strict=True)]
        if not np.isfinite(slopes).all():
            return best
        direction = np.array(least_squares(slopes, -r))
        share = 1.0
        while share >= SMALLEST_SHARE:
            x = best.x + share * direction
            value, _, size = residual(x)
            if size < best.residual:
                break
            share *= 0.4
        else:
            return best
        best = Solution(x, size, size <= tolerance, value)
        keep()
        if best.solved:
            return best
    return best
