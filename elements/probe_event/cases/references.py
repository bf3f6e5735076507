"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def doses() -> Trace:
    """Between two events the exponential decay of what was left, and of all doses since."""
    rate, dose, interval, x_0 = 4.0, 1.0, 0.26, 1.0
    t = np.arange(101, dtype=float) * 0.01
    q = math.exp(-rate * interval)
    rows = []
    for one in t:
        k = math.floor(round(float(one) / interval, 9))  # an event at a sample belongs to it
        left = x_0 * q**k + dose * math.fsum(q**j for j in range(k))
        rows.append((left * math.exp(-rate * (float(one) - k * interval)), k))
    provenance = {"case": "doses", "formula": "geometric series of exponentials", "script": "references.py"}
    return Trace(t, ("probe.x", "probe.count"), np.array(rows, dtype=float), {}, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (doses,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
