"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def driven() -> Trace:
    """first at (x, y, 0), x = 0.3 m + 0.1 m sin p, y = 0.2 m sin 2p, p = 2 pi t/s, second at (0, 0, c):
    l = sqrt(x^2 + y^2 + c^2), l' = (x x' + y y')/l, and F = k (l - l0) + d l' on both along the line."""
    t, c, k, d, relaxed = np.arange(101, dtype=float) * 1e-2, 0.1, 100.0, 5.0, 0.2
    p, p_t = 2.0 * np.pi * t, 2.0 * np.pi
    x, y = 0.3 + 0.1 * np.sin(p), 0.2 * np.sin(2.0 * p)
    length = np.sqrt(x**2 + y**2 + c**2)
    length_rate = (x * 0.1 * p_t * np.cos(p) + y * 0.4 * p_t * np.cos(2.0 * p)) / length
    F = k * (length - relaxed) + d * length_rate
    columns = {
        "length": (length, "m"), "length_rate": (length_rate, "m/s"), "F": (F, "N"),
        "first.f[1]": (-F * x / length, "N"), "second.f[2]": (F * y / length, "N"),
        "second.f[3]": (-F * c / length, "N"),
    }  # fmt: skip
    return reference("driven", "F = k (l - l0) + d l' along the line, l of a figure of eight", t, columns, of="spring")


CASES: tuple[Callable[[], Trace], ...] = (driven,)

if __name__ == "__main__":
    write_references(CASES, __file__)
