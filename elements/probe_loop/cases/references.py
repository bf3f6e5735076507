"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def ring() -> Trace:
    """y_1 = (a_1 b_2 + b_1)/(1 - a_1 a_2) with a_1 = 1/2, a_2 = -1/2, b_1 = b_2 = 1."""
    t = np.arange(61, dtype=float) * 0.01
    first = (0.5 * 1.0 + 1.0) / (1.0 + 0.25)
    columns = {"first.y": (first, ""), "second.y": (1.0 - 0.5 * first, "")}
    return reference("ring", "(a_1 b_2 + b_1)/(1 - a_1 a_2)", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (ring,)

if __name__ == "__main__":
    write_references(CASES, __file__)
