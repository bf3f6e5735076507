"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references

Vector = tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]

STEP, ORDER, DIGITS = mpmath.mpf(1) / 32, 40, 40  # s; steps of 1/64 s agree to 24 digits at 10 s


def taylor(start: Vector) -> Vector:
    """The solution of the equations of Lorenz a step later, by its power series: products are sums of products."""
    sigma, rho, beta = mpmath.mpf(10), mpmath.mpf(28), mpmath.mpf(2.6666666666666665)
    x, y, z = ([one] for one in start)
    for k in range(ORDER):
        xz = mpmath.fsum(x[j] * z[k - j] for j in range(k + 1))
        xy = mpmath.fsum(x[j] * y[k - j] for j in range(k + 1))
        x.append(sigma * (y[k] - x[k]) / (k + 1))
        y.append((x[k] * rho - xz - y[k]) / (k + 1))
        z.append((xy - beta * z[k]) / (k + 1))
    powers = [STEP**k for k in range(ORDER + 1)]
    return mpmath.fdot(x, powers), mpmath.fdot(y, powers), mpmath.fdot(z, powers)


def lorenz() -> Trace:
    """From (1, 1, 1), 40 digits."""
    with mpmath.workdps(DIGITS):
        points: list[Vector] = [(mpmath.mpf(1), mpmath.mpf(1), mpmath.mpf(1))]
        for _ in range(320):
            points.append(taylor(points[-1]))
    t = np.arange(321, dtype=float) / 32.0
    x = [[float(one) for one in p] for p in points]
    return reference("lorenz", "Taylor series, 40 digits", t, {"probe.x": (x, "")})


def cosine() -> Trace:
    """cos t, whatever the rate."""
    t = np.arange(101, dtype=float) * 0.1
    return reference("cosine", "cos t", t, {"probe.x": ([math.cos(float(one)) for one in t], "")})


CASES: tuple[Callable[[], Trace], ...] = (lorenz, cosine)

if __name__ == "__main__":
    write_references(CASES, __file__)
