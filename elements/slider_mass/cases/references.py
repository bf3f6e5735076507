"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def push() -> Trace:
    """A constant force F: v = v0 + F/m t, s = s0 + v0 t + F/m t^2/2."""
    t = np.arange(101, dtype=float) * 0.01
    mass, force, s_0, v_0 = 0.5, 3.0, 3e-3, -4.0
    v = v_0 + force / mass * t
    s = s_0 + v_0 * t + force / mass * t**2 / 2
    columns = {"p.s": (s, "m"), "p.v": (v, "m/s"), "energy.kinetic": (mass * v**2 / 2, "J")}
    return reference("push", "v = v0 + F/m t, s = s0 + v0 t + F/m t^2/2", t, columns, of="carriage")


CASES: tuple[Callable[[], Trace], ...] = (push,)

if __name__ == "__main__":
    write_references(CASES, __file__)
