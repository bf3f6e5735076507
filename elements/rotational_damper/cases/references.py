"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def run_down() -> Trace:
    """An inertia J braked by a damper d to the ground: w = w0 exp(-d t/J), dissipated J (w0^2 - w^2)/2."""
    t = np.arange(1001, dtype=float) * 1e-3
    inertia, d, w_0 = 0.1, 0.2, 3.0
    w = w_0 * np.exp(-d * t / inertia)
    lost = inertia * (w_0**2 - w**2) / 2
    columns = {"disc.p.w": (w, "rad/s"), "damper.t": (d * w, "N.m"), "damper.energy.damping": (lost, "J")}
    return reference("run_down", "w = w0 exp(-d t/J), t = d w", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (run_down,)

if __name__ == "__main__":
    write_references(CASES, __file__)
