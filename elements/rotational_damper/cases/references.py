"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def run_down() -> Trace:
    """An inertia J braked by a damper d to the ground: w = w0 exp(-d t/J), dissipated J (w0^2 - w^2)/2."""
    t = np.arange(1001, dtype=float) * 1e-3
    inertia, d, w_0 = 0.1, 0.2, 3.0
    w = w_0 * np.exp(-d * t / inertia)
    names = ("disc.p.w", "damper.t", "damper.energy.damping")
    units = dict(zip(names, ("rad/s", "N.m", "J"), strict=True))
    formula = "w = w0 exp(-d t/J), t = d w"
    provenance = {"case": "run_down", "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([w, d * w, inertia * (w_0**2 - w**2) / 2]), units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (run_down,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
