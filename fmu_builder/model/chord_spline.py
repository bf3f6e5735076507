"""A cubic spline through the points of a plane curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def chord_spline(points: Array, closed: bool) -> tuple[Array, Array]:
    """Points (n, 2), of a closed curve the first one again as the last, no two neighbours the same, -> s (n), the sum
    of the chords up to each, and c (4, n - 1, 2), of which the curve between two points is the sum over k of
    c[k] (s - s_i)^(3 - k).  It is twice continuously differentiable by s, of a closed curve everywhere, of an open one
    with the third derivative continuous at the second point and the last but one."""
    from scipy.interpolate import CubicSpline  # starts in half a second: only who needs it waits

    steps = np.diff(points, axis=0)
    s = np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
    return s, np.asarray(CubicSpline(s, points, bc_type="periodic" if closed else "not-a-knot").c)
