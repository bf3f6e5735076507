"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def alarm() -> Trace:
    """x = t^2; the warning comes at 0.29 s."""
    t = np.arange(11, dtype=float) * 0.1
    return reference("alarm", "x = t^2", t, {"probe.x": (t**2, ""), "probe.warned": (t > 0.295, "")})


CASES: tuple[Callable[[], Trace], ...] = (alarm,)

if __name__ == "__main__":
    write_references(CASES, __file__)
