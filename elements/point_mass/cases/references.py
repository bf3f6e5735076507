"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def projectile() -> Trace:
    """r = r0 + v0 t + g t^2/2, v = v0 + g t; the total energy keeps its value."""
    t = np.arange(101, dtype=float) * 0.01
    r_0, v_0, g, m = np.array([0.0, 1.0, 2.0]), np.array([3.0, -1.0, 4.0]), np.array([0.0, 0.0, -9.81]), 2.0
    r = r_0 + v_0 * t[:, None] + g * t[:, None] ** 2 / 2
    v = v_0 + g * t[:, None]
    names = [f"body.p.r[{i}]" for i in (1, 2, 3)] + [f"body.p.v[{i}]" for i in (1, 2, 3)]
    kinetic, potential = m / 2 * (v**2).sum(axis=1), -m * (r * g).sum(axis=1)
    names += ["body.energy.kinetic", "body.energy.potential"]
    units = dict(zip(names, ["m"] * 3 + ["m/s"] * 3 + ["J"] * 2, strict=True))
    values = np.column_stack([r, v, kinetic, potential])
    provenance = {"case": "projectile", "formula": "r = r0 + v0 t + g t^2/2", "script": "references.py"}
    return Trace(t, tuple(names), values, units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (projectile,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
