"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def quantities() -> Trace:
    """Start values in SI; the temperature is warmed by 5 K."""
    t = np.arange(11, dtype=float) * 0.01
    values = {
        "probe.temperature_out": (-40.0 + 273.15 + 5.0, "K"),
        "probe.angle_out": (math.pi / 2.0, "rad"),
        "probe.speed_out": (3000.0 * math.pi / 30.0, "rad/s"),
        "probe.pressure_out": (1e5, "Pa"),
        "probe.share_out": (0.5, "1"),
    }
    columns = np.column_stack([np.full(t.shape, value) for value, _ in values.values()])
    units = {name: unit for name, (_, unit) in values.items()}
    provenance = {"case": "quantities", "formula": "definitions of units", "script": "references.py"}
    return Trace(t, tuple(values), columns, units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (quantities,)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
