"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def values() -> Trace:
    """The sine that was set before each step, and the start values."""
    t = np.arange(101, dtype=float) * 0.01
    sine = [math.sin(2.0 * math.pi * float(one)) for one in (t[0], *t[:-1])]
    constant = {"probe.int_out": -2147483648.0, "probe.bool_out": 1.0, "probe.enum_out": 3.0, "probe.real_sum": 4.0}
    columns = np.column_stack([sine, *(np.full(t.shape, value) for value in constant.values())])
    provenance = {"case": "values", "formula": "sin(2 pi t)", "script": "references.py"}
    return Trace(t, ("probe.real_out", *constant), columns, {}, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (values,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
