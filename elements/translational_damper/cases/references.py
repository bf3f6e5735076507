"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def run_down() -> Trace:
    """A mass m braked by a damper d to the ground: v = v0 exp(-d t/m), dissipated m (v0^2 - v^2)/2."""
    t = np.arange(1001, dtype=float) * 1e-3
    mass, d, v_0 = 10.0, 20.0, 3.0
    v = v_0 * np.exp(-d * t / mass)
    lost = mass * (v_0**2 - v**2) / 2
    columns = {"mass.p.v": (v, "m/s"), "damper.F": (d * v, "N"), "damper.energy.damping": (lost, "J")}
    return reference("run_down", "v = v0 exp(-d t/m), F = d v", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (run_down,)

if __name__ == "__main__":
    write_references(CASES, __file__)
