"""Lines through points by other means than those of contact_core: scipy's cubics, roots to 30 digits."""

from __future__ import annotations

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BarycentricInterpolator, CubicHermiteSpline
from scipy.optimize import brentq

Vector = NDArray[np.float64]


def hermite(points: Vector, closed: bool) -> CubicHermiteSpline:
    """Over the centripetal parameter; one more turn before and behind a closed line."""
    chain = np.concatenate([points, points, points, points[:1]]) if closed else points
    way = np.concatenate([[0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(chain, axis=0), axis=1)))])
    slopes = []
    for i in range(len(chain)):
        j = min(max(i - 1, 0), len(chain) - 3)
        near = way[j : j + 3]
        parabola = BarycentricInterpolator(near - way[i], chain[j : j + 3])
        slopes.append(parabola.derivative(0.0))
    return CubicHermiteSpline(way, chain, np.array(slopes), axis=0)


def turns(points: Vector, closed: bool) -> Vector:
    """Unit directions that halve the angles between chords."""
    chords = (np.roll(points, -1, axis=0) - points)[: None if closed else -1]
    unit = chords / np.linalg.norm(chords, axis=1)[:, None]
    if closed:
        both = unit + np.roll(unit, 1, axis=0)
    else:
        both = np.concatenate([unit[:1], unit[1:] + unit[:-1], unit[-1:]])
    return both / np.linalg.norm(both, axis=1)[:, None]


def root_of(*vectors: Vector) -> float:
    """u of (P - a - u (b - a)) (s + u (e - s)) = 0 between 0 and 1."""
    with mpmath.workdps(30):
        P, a, b, s, e = ([mpmath.mpf(float(x)) for x in v] for v in vectors)

        def g(u: mpmath.mpf) -> mpmath.mpf:
            return mpmath.fsum((P[k] - a[k] - u * (b[k] - a[k])) * (s[k] + u * (e[k] - s[k])) for k in range(3))

        return float(mpmath.findroot(g, (0, 1), solver="anderson", tol=1e-40, verify=False))


def foot(points: Vector, closed: bool, kind: str, P: Vector) -> tuple[Vector, Vector]:
    """Foot of P and unit tangent there, where P is close to the line and not near an end."""
    if kind == "spline":
        curve = hermite(points, closed)
        turn = (curve.x[-1] - curve.x[0]) / 3.0 if closed else 0.0  # the middle one of three
        grid = np.linspace(curve.x[0] + 0.99 * turn, curve.x[-1] - 0.99 * turn, 40 * len(points))
        i = int(np.argmin(np.linalg.norm(curve(grid) - P, axis=1)))
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        x = brentq(lambda x: float(np.dot(P - curve(x), curve(x, 1))), low, high, xtol=1e-15, rtol=1e-14)
        return curve(x), curve(x, 1) / np.linalg.norm(curve(x, 1))
    T = turns(points, closed)
    gates = np.einsum("ij,ij->i", P - points, T)
    after = np.roll(np.arange(len(points)), -1)[: len(points) if closed else -1]
    spans = [i for i in range(len(after)) if gates[i] >= 0.0 > gates[after[i]]]
    i = min(spans, key=lambda i: float(np.linalg.norm(P - 0.5 * (points[i] + points[after[i]]))))
    j = after[i]
    u = root_of(P, points[i], points[j], T[i], T[j])
    t = T[i] + u * (T[j] - T[i])
    return points[i] + u * (points[j] - points[i]), t / np.linalg.norm(t)
