"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def run_up() -> Trace:
    """A constant torque t_0: w = w0 + t_0/J t, phi = phi0 + w0 t + t_0/J t^2/2."""
    t = np.arange(101, dtype=float) * 0.01
    inertia, torque, phi_0, w_0 = 0.5, 3.0, math.radians(3.0), -4.0
    w = w_0 + torque / inertia * t
    phi = phi_0 + w_0 * t + torque / inertia * t**2 / 2
    columns = {"p.phi": (phi, "rad"), "p.w": (w, "rad/s"), "energy.kinetic": (inertia * w**2 / 2, "J")}
    return reference("run_up", "w = w0 + t_0/J t, phi = phi0 + w0 t + t_0/J t^2/2", t, columns, of="shaft")


CASES: tuple[Callable[[], Trace], ...] = (run_up,)

if __name__ == "__main__":
    write_references(CASES, __file__)
