"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def alarm() -> Trace:
    """x = t^2; the warning comes at 0.29 s."""
    t = np.arange(11, dtype=float) * 0.1
    columns = np.column_stack([t**2, t > 0.295])
    provenance = {"case": "alarm", "formula": "x = t^2", "script": "references.py"}
    return Trace(t, ("probe.x", "probe.warned"), columns, {}, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (alarm,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
