"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def _swing(case: str) -> Trace:
    """An inertia J on a spring k to the ground, at rest at first: theta = theta0 cos(Omega t), Omega = sqrt(k/J)."""
    t = np.arange(1001, dtype=float) * 1e-3
    inertia, k, theta_0 = 0.1, 10.0, math.radians(3.0)
    omega = math.sqrt(k / inertia)
    theta, w = theta_0 * np.cos(omega * t), -theta_0 * omega * np.sin(omega * t)
    names = ("spring.theta", "spring.t", "disc.p.w")
    units = dict(zip(names, ("rad", "N.m", "rad/s"), strict=True))
    formula = "theta = theta0 cos(Omega t), Omega = sqrt(k/J), t = k theta"
    provenance = {"case": case, "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([theta, k * theta, w]), units, {}, provenance)


def held_torque() -> Trace:
    return _swing("held_torque")


def held_angle() -> Trace:
    return _swing("held_angle")


CASES: tuple[Callable[[], Trace], ...] = (held_torque, held_angle)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
