"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import eigh

from fmu_builder import Trace, write_trace


def thrown() -> Trace:
    """Constant forces F at two ports, and gravity: v = v0 + a t, s = s0 + v0 t + a t^2/2 in x, y and the angle."""
    t = np.arange(101, dtype=float) * 0.01
    m, inertia, gravity = 2.0, 0.5, np.array([0.0, -9.81])
    force = np.array([1.0, -2.0, 0.3]) + np.array([3.0, 5.0, -0.8])
    acceleration = force / np.array([m, m, inertia]) + np.array([*gravity, 0.0])
    s_0, v_0 = np.array([0.1, 0.2, math.radians(3.0)]), np.array([1.5, 4.0, -6.0])
    v = v_0 + np.outer(t, acceleration)
    s = s_0 + np.outer(t, v_0) + np.outer(t**2 / 2, acceleration)
    kinetic = (m * (v[:, 0] ** 2 + v[:, 1] ** 2) + inertia * v[:, 2] ** 2) / 2
    potential = -m * (s[:, :2] @ gravity)
    names = ["body.x", "body.y", "body.theta", *(f"body.P[2].v[{k}]" for k in (1, 2, 3))]
    names += ["body.energy.kinetic", "body.energy.potential"]
    units = dict(zip(names, ["m", "m", "rad", "m/s", "m/s", "rad/s", "J", "J"], strict=True))
    provenance = {"case": "thrown", "formula": "s = s0 + v0 t + a t^2/2", "script": "references.py"}
    return Trace(t, tuple(names), np.column_stack([s, v, kinetic, potential]), units, {}, provenance)


def on_three_springs() -> Trace:
    """On springs k at points with the rows B, relaxed at the start, where the body has a velocity:

    q - q0 = sum p p^T M q'(0) sin(W t)/W,   K p = W^2 M p with p^T M p = 1,   K = sum k B^T B"""
    t = np.arange(51, dtype=float) * 5e-3
    mass, velocity = np.diag([2.0, 2.0, 0.05]), np.array([0.2, 0.1, 1.5])
    c, s = math.cos(math.radians(60.0)), math.sin(math.radians(60.0))
    rows = np.array([[0.0, 1.0, -0.3], [c, s, 0.25 * s + 0.1 * c], [1.0, 0.0, -0.1]])
    squares, modes = eigh(rows.T @ np.diag([500.0, 800.0, 300.0]) @ rows, mass)
    w = np.sqrt(squares)
    q = np.sin(np.outer(t, w)) * (modes.T @ mass @ velocity / w) @ modes.T + np.array([3e-3, 0.0, 0.0])
    names = ("body.x", "body.y", "body.theta")
    units = dict(zip(names, ("m", "m", "rad"), strict=True))
    formula = "q = q0 + modes of K p = W^2 M p, K = sum k B^T B"
    provenance = {"case": "on_three_springs", "formula": formula, "script": "references.py"}
    return Trace(t, names, q, units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (on_three_springs, thrown)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
