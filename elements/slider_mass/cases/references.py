"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def push() -> Trace:
    """A constant force F: v = v0 + F/m t, s = s0 + v0 t + F/m t^2/2."""
    t = np.arange(101, dtype=float) * 0.01
    mass, force, s_0, v_0 = 0.5, 3.0, 3e-3, -4.0
    v = v_0 + force / mass * t
    s = s_0 + v_0 * t + force / mass * t**2 / 2
    names = ("carriage.p.s", "carriage.p.v", "carriage.energy.kinetic")
    units = dict(zip(names, ("m", "m/s", "J"), strict=True))
    formula = "v = v0 + F/m t, s = s0 + v0 t + F/m t^2/2"
    provenance = {"case": "push", "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([s, v, mass * v**2 / 2]), units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (push,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
