"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def sum() -> Trace:
    """2^13 - 1 at all times."""
    t = np.arange(11, dtype=float) * 0.01
    provenance = {"case": "sum", "formula": "2^13 - 1", "script": "references.py"}
    return Trace(t, ("probe.y",), np.full((t.size, 1), 8191.0), {}, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (sum,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
