"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


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
    columns = {"x": (s[:, 0], "m"), "y": (s[:, 1], "m"), "theta": (s[:, 2], "rad")}
    columns |= {f"P[2].v[{k + 1}]": (v[:, k], unit) for k, unit in enumerate(("m/s", "m/s", "rad/s"))}
    columns |= {"energy.kinetic": (kinetic, "J"), "energy.potential": (potential, "J")}
    return reference("thrown", "s = s0 + v0 t + a t^2/2", t, columns, of="body")


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
    columns = {"x": (q[:, 0], "m"), "y": (q[:, 1], "m"), "theta": (q[:, 2], "rad")}
    formula = "q = q0 + modes of K p = W^2 M p, K = sum k B^T B"
    return reference("on_three_springs", formula, t, columns, of="body")


CASES: tuple[Callable[[], Trace], ...] = (on_three_springs, thrown)

if __name__ == "__main__":
    write_references(CASES, __file__)
