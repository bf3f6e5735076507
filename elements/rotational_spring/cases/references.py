"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def _swing(case: str) -> Trace:
    """An inertia J on a spring k to the ground, at rest at first: theta = theta0 cos(Omega t), Omega = sqrt(k/J)."""
    t = np.arange(1001, dtype=float) * 1e-3
    inertia, k, theta_0 = 0.1, 10.0, math.radians(3.0)
    omega = math.sqrt(k / inertia)
    theta, w = theta_0 * np.cos(omega * t), -theta_0 * omega * np.sin(omega * t)
    columns = {"spring.theta": (theta, "rad"), "spring.t": (k * theta, "N.m"), "disc.p.w": (w, "rad/s")}
    return reference(case, "theta = theta0 cos(Omega t), Omega = sqrt(k/J), t = k theta", t, columns)


def held_torque() -> Trace:
    return _swing("held_torque")


def held_angle() -> Trace:
    return _swing("held_angle")


CASES: tuple[Callable[[], Trace], ...] = (held_torque, held_angle)

if __name__ == "__main__":
    write_references(CASES, __file__)
