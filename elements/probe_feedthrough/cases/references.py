"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def values() -> Trace:
    """The sine that was set before each step, and the start values."""
    t = np.arange(101, dtype=float) * 0.01
    sine = [math.sin(2.0 * math.pi * float(one)) for one in (t[0], *t[:-1])]
    columns: dict[str, tuple[ArrayLike, str]] = {
        "real_out": (sine, ""), "int_out": (-2147483648.0, ""), "bool_out": (1.0, ""), "enum_out": (3.0, ""),
        "real_sum": (4.0, ""),
    }  # fmt: skip
    return reference("values", "sin(2 pi t)", t, columns, of="probe")


CASES: tuple[Callable[[], Trace], ...] = (values,)

if __name__ == "__main__":
    write_references(CASES, __file__)
