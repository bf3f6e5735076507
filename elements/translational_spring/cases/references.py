"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder.trace import Trace, write_trace


def _swing(case: str) -> Trace:
    """A mass m on a spring k to the ground, at rest at first: x = x0 cos(Omega t), Omega = sqrt(k/m)."""
    t = np.arange(1001) * 1e-3
    mass, k, x_0 = 10.0, 1000.0, 3e-3
    omega = math.sqrt(k / mass)
    x, v = x_0 * np.cos(omega * t), -x_0 * omega * np.sin(omega * t)
    names = ("spring.x", "spring.F", "mass.p.v")
    units = dict(zip(names, ("m", "N", "m/s"), strict=True))
    formula = "x = x0 cos(Omega t), Omega = sqrt(k/m), F = k x"
    provenance = {"case": case, "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([x, k * x, v]), units, {}, provenance)


def held_force() -> Trace:
    return _swing("held_force")


def held_position() -> Trace:
    return _swing("held_position")


CASES: tuple[Callable[[], Trace], ...] = (held_force, held_position)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
