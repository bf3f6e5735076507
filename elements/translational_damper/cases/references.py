"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def run_down() -> Trace:
    """A mass m braked by a damper d to the ground: v = v0 exp(-d t/m), dissipated m (v0^2 - v^2)/2."""
    t = np.arange(1001, dtype=float) * 1e-3
    mass, d, v_0 = 10.0, 20.0, 3.0
    v = v_0 * np.exp(-d * t / mass)
    names = ("mass.p.v", "damper.F", "damper.energy.damping")
    units = dict(zip(names, ("m/s", "N", "J"), strict=True))
    formula = "v = v0 exp(-d t/m), F = d v"
    provenance = {"case": "run_down", "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([v, d * v, mass * (v_0**2 - v**2) / 2]), units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (run_down,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
