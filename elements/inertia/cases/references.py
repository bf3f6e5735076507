"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def run_up() -> Trace:
    """A constant torque t_0: w = w0 + t_0/J t, phi = phi0 + w0 t + t_0/J t^2/2."""
    t = np.arange(101, dtype=float) * 0.01
    inertia, torque, phi_0, w_0 = 0.5, 3.0, math.radians(3.0), -4.0
    w = w_0 + torque / inertia * t
    phi = phi_0 + w_0 * t + torque / inertia * t**2 / 2
    names = ("shaft.p.phi", "shaft.p.w", "shaft.energy.kinetic")
    units = dict(zip(names, ("rad", "rad/s", "J"), strict=True))
    formula = "w = w0 + t_0/J t, phi = phi0 + w0 t + t_0/J t^2/2"
    provenance = {"case": "run_up", "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([phi, w, inertia * w**2 / 2]), units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (run_up,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
