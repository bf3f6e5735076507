"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def ring() -> Trace:
    """y_1 = (a_1 b_2 + b_1)/(1 - a_1 a_2) with a_1 = 1/2, a_2 = -1/2, b_1 = b_2 = 1."""
    t = np.arange(61, dtype=float) * 0.01
    first = (0.5 * 1.0 + 1.0) / (1.0 + 0.25)
    columns = np.column_stack([np.full(t.shape, first), np.full(t.shape, 1.0 - 0.5 * first)])
    provenance = {"case": "ring", "formula": "(a_1 b_2 + b_1)/(1 - a_1 a_2)", "script": "references.py"}
    return Trace(t, ("first.y", "second.y"), columns, {}, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (ring,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
