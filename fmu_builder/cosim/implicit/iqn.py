"""Fixed points x = G(x) by quasi-Newton least squares, IQN-ILS (Degroote 2009), which is Anderson's acceleration.

From the differences of this solve's residuals r = G(x) - x and values, as columns of dR and dG, each iterate is
x <- G(x) + dG c with c the least squares solution of |r + dR c|.  Where that stagnates, as across the kink at which a
contact begins, Newton steps with difference quotients follow, each shortened until the residual falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_MOST = 25  # quasi-Newton iterations; Newton's come on top
_MOST_NEWTON = 12
_SMALLEST_SHARE = 1e-4  # of a Newton step
_INDEPENDENT = 1e-12  # relative singular value of dR below which a direction is not used


@dataclass(frozen=True)
class Solution:
    """residual: of G at x, in the scaled norm     value: G(x)"""

    x: Vector
    residual: float
    solved: bool
    value: Vector


def solve(
    G: Callable[[Vector], Vector], x: Vector, scale: Vector, tolerance: float, enough: float | None = None
) -> Solution:
    """x of shape (n,) with |scale * (G(x) - x)| <= tolerance in the largest component, from the first guess x.

    enough   what is a solution too, where the quasi-Newton iterations find none within the tolerance"""

    def residual(at: Vector) -> tuple[Vector, Vector, float]:
        value = G(at)
        r = scale * (value - at)
        size = float(np.abs(r).max(initial=0.0))
        return value, r, size if np.isfinite(size) else np.inf

    value, r, size = residual(x)
    best = Solution(x, size, size <= tolerance, value)
    values, residuals = [value], [r]
    for _ in range(_MOST if not best.solved and np.isfinite(size) else 0):
        if len(values) > 1:
            dR = np.array([b - a for a, b in pairwise(residuals)]).T
            dG = np.array([b - a for a, b in pairwise(values)]).T
            c = np.linalg.lstsq(dR, -residuals[-1], rcond=_INDEPENDENT)[0]
            x = values[-1] + dG @ c
        else:
            x = values[-1]
        value, r, size = residual(x)
        if size < best.residual:
            best = Solution(x, size, size <= tolerance, value)
        if best.solved or not np.isfinite(size):
            break
        values, residuals = [*values, value][-_columns(x) :], [*residuals, r][-_columns(x) :]
    enough = tolerance if enough is None else enough
    if best.residual <= enough:
        return replace(best, solved=True)
    return _newton(residual, best, scale, enough)


def _columns(x: Vector) -> int:
    return len(x) + 3


def _newton(
    residual: Callable[[Vector], tuple[Vector, Vector, float]], best: Solution, scale: Vector, tolerance: float
) -> Solution:
    if not np.isfinite(best.residual):
        return best
    for _ in range(_MOST_NEWTON):
        _, r, size = residual(best.x)
        width = np.maximum(np.abs(best.x), size / np.maximum(scale, 1e-300)) * 1e-6 + 1e-300
        slopes = np.array([(residual(best.x + d)[1] - r) / d.sum() for d in np.diag(width)]).T
        if not np.isfinite(slopes).all():
            return best
        direction = np.linalg.lstsq(slopes, -r, rcond=_INDEPENDENT)[0]
        share = 1.0
        while share >= _SMALLEST_SHARE:
            x = best.x + share * direction
            value, _, size = residual(x)
            if size < best.residual:
                break
            share *= 0.4
        else:
            return best
        best = Solution(x, size, size <= tolerance, value)
        if best.solved:
            return best
    return best
