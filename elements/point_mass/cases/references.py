"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def projectile() -> Trace:
    """r = r0 + v0 t + g t^2/2, v = v0 + g t; the total energy keeps its value."""
    t = np.arange(101, dtype=float) * 0.01
    r_0, v_0, g, m = np.array([0.0, 1.0, 2.0]), np.array([3.0, -1.0, 4.0]), np.array([0.0, 0.0, -9.81]), 2.0
    r = r_0 + v_0 * t[:, None] + g * t[:, None] ** 2 / 2
    v = v_0 + g * t[:, None]
    kinetic, potential = m / 2 * (v**2).sum(axis=1), -m * (r * g).sum(axis=1)
    columns = {"p.r": (r, "m"), "p.v": (v, "m/s")}
    columns |= {"energy.kinetic": (kinetic, "J"), "energy.potential": (potential, "J")}
    return reference("projectile", "r = r0 + v0 t + g t^2/2", t, columns, of="body")


CASES: tuple[Callable[[], Trace], ...] = (projectile,)

if __name__ == "__main__":
    write_references(CASES, __file__)
