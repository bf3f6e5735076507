"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def moved_point() -> Trace:
    """A body shakes as s = s0 + A sin(2 pi f t) in x, y and the angle: p_in.v = B s' and P_out.F = B^T F with

    B = (cos th, sin th, XP sin th - YP cos th)."""
    t = np.arange(101, dtype=float) * 0.01
    amplitude, frequency = np.array([3e-3, 5e-3, math.radians(2.0)]), np.array([2.0, 3.0, 5.0])
    speed = np.cos(math.tau * np.outer(t, frequency)) * amplitude * math.tau * frequency
    x, y, angle, force = 0.3, -0.12, math.radians(60.0), 7.0
    row = np.array([math.cos(angle), math.sin(angle), x * math.sin(angle) - y * math.cos(angle)])
    columns = {"p_in.v": (speed @ row, "m/s")}
    columns |= {f"P_out.F[{k + 1}]": (force * row[k], unit) for k, unit in enumerate(("N", "N", "N.m"))}
    return reference("moved_point", "p_in.v = B s', P_out.F = B^T F", t, columns, of="point")


CASES: tuple[Callable[[], Trace], ...] = (moved_point,)

if __name__ == "__main__":
    write_references(CASES, __file__)
