"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


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
    x, count = np.array(rows).T
    return reference("doses", "geometric series of exponentials", t, {"probe.x": (x, ""), "probe.count": (count, "")})


CASES: tuple[Callable[[], Trace], ...] = (doses,)

if __name__ == "__main__":
    write_references(CASES, __file__)
