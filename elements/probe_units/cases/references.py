"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def quantities() -> Trace:
    """Start values in SI; the temperature is warmed by 5 K."""
    t = np.arange(11, dtype=float) * 0.01
    columns = {
        "probe.temperature_out": (-40.0 + 273.15 + 5.0, "K"),
        "probe.angle_out": (math.pi / 2.0, "rad"),
        "probe.speed_out": (3000.0 * math.pi / 30.0, "rad/s"),
        "probe.pressure_out": (1e5, "Pa"),
        "probe.share_out": (0.5, "1"),
    }
    return reference("quantities", "definitions of units", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (quantities,)

if __name__ == "__main__":
    write_references(CASES, __file__)
