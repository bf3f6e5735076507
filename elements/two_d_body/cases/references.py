"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder.trace import Trace, write_trace


def thrown() -> Trace:
    """Constant forces F at two ports, and gravity: v = v0 + a t, s = s0 + v0 t + a t^2/2 in x, y and the angle."""
    t = np.arange(101) * 0.01
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


CASES: tuple[Callable[[], Trace], ...] = (thrown,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
