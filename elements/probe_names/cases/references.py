"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def sum() -> Trace:
    """2^13 - 1 at all times."""
    t = np.arange(11, dtype=float) * 0.01
    return reference("sum", "2^13 - 1", t, {"probe.y": (8191.0, "")})


CASES: tuple[Callable[[], Trace], ...] = (sum,)

if __name__ == "__main__":
    write_references(CASES, __file__)
