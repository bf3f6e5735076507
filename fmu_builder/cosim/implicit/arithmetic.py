"""Sums and functions in one order of operations, so that arithmetic.h gives the same bits; numpy's depend on machines.

least squares   columns are taken from the first one on, orthogonalized twice (Gram-Schmidt); one that depends on those
                before it is left out, its coefficient is 0
x^(2/5)         Newton's iteration for y^5 = x^2, 1/32 <= x <= 32; outside, x 32^n has the root 4^n x^(2/5)
sin, cos        series up to x^15 below 1/2; above, sin 2x = 2 sin x cos x, cos 2x = 1 - 2 sin^2 x"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
INDEPENDENT = 2.0**-26  # part of a column, sqrt of the rounding error, that is not rounding of those before it
_NEWTON_STEPS = 6
_RANGE, _ROOT_OF_RANGE = 32.0, 4.0
_SMALLEST, _LARGEST = 2.0**-200, 2.0**200
_SERIES, _LARGEST_ANGLE = 0.5, 1e6


def dot(a: Vector, b: Vector) -> float:
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total += x * y
    return total


def least_squares(columns: Sequence[Vector], goal: Vector) -> list[float]:
    """c with the least |goal - sum c_k columns_k|."""
    kept: list[tuple[int, Vector, list[float], float]] = []  # number, direction, its parts along those before, length
    left = goal
    parts = []
    for k, column in enumerate(columns):
        if len(kept) == len(goal):
            break
        rest, along = column, [0.0] * len(kept)
        for _ in range(2):
            for j, (_, direction, _, _) in enumerate(kept):
                part = dot(direction, rest)
                rest = rest - part * direction
                along[j] += part
        length = math.sqrt(dot(rest, rest))
        if not length > INDEPENDENT * math.sqrt(dot(column, column)):
            continue
        direction = rest / length
        kept.append((k, direction, along, length))
        parts.append(dot(direction, left))
        left = left - parts[-1] * direction
    c = [0.0] * len(columns)
    for j in range(len(kept) - 1, -1, -1):
        total = parts[j]
        for i in range(j + 1, len(kept)):
            total -= kept[i][2][j] * c[kept[i][0]]
        c[kept[j][0]] = total / kept[j][3]
    return c


def power_of_two_fifths(x: float) -> float:
    """x > 0, taken as the nearest number of 2^-200 .. 2^200"""
    x, factor = min(max(x, _SMALLEST), _LARGEST), 1.0
    while x > _RANGE:
        x, factor = x / _RANGE, factor * _ROOT_OF_RANGE
    while x < 1.0 / _RANGE:
        x, factor = x * _RANGE, factor / _ROOT_OF_RANGE
    fourth = math.sqrt(math.sqrt(x))
    y = fourth * math.sqrt(fourth)
    for _ in range(_NEWTON_STEPS):
        fourth = y * y * (y * y)
        y = y - (fourth * y - x * x) / (5.0 * fourth)
    return factor * y


def sine_cosine(x: float) -> tuple[float, float]:
    """0 <= x <= 1e6; not a number beyond"""
    if not x <= _LARGEST_ANGLE:
        return math.nan, math.nan
    doublings = 0
    while x > _SERIES:
        x, doublings = x / 2.0, doublings + 1
    square = x * x
    s = c = 1.0
    for k in range(14, 0, -2):
        s = 1.0 - s * square / (k * (k + 1.0))
        c = 1.0 - c * square / (k * (k - 1.0))
    s *= x
    for _ in range(doublings):
        s, c = 2.0 * s * c, 1.0 - 2.0 * s * s
    return s, c


def turned(q: Vector, angle: Vector) -> Vector:
    """The quaternion q, scalar first, after a rotation by this vector, rad, in world axes."""
    size = math.sqrt(dot(angle, angle))
    s, a = sine_cosine(size / 2.0)
    b = angle * (0.5 if size < 1e-8 else s / size)
    along = dot(b, q[1:])
    return np.array([a * q[0] - along, *(a * q[1:] + q[0] * b + np.cross(b, q[1:]))])
