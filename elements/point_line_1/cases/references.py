"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def swing() -> Trace:
    """d = (0, 2 mm sin(2 pi t/s), 3 mm sin(4 pi t/s)) from a point of the line that stands across the plane of y and z.

    F_r + F_d = -k_r d - c d', P its length.  The circle's spline runs along x there, to the rounding of its points."""
    t = np.arange(1001, dtype=float) * 1e-3
    size, rate = np.array([2e-3, 3e-3]), 2 * np.pi * np.array([1.0, 2.0])
    d, v = size * np.sin(np.outer(t, rate)), size * rate * np.cos(np.outer(t, rate))
    k, c = 1e5, 2000.0
    force = -k * d - c * v
    delta = np.linalg.norm(d, axis=1)
    columns = {
        "ring.delta": (delta, "m"),
        "ring.F_r": (k * delta, "N"),
        "ring.P": (np.linalg.norm(force, axis=1), "N"),
        "ring.point.f[2]": (force[:, 0], "N"),
        "ring.point.f[3]": (force[:, 1], "N"),
        "ring.energy.elastic": (k * delta**2 / 2, "J"),
    }
    return reference("swing", "F = -k_r d - c d', P = |F|, U = k_r d^2/2", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (swing,)

if __name__ == "__main__":
    write_references(CASES, __file__)
