"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def _swing(case: str) -> Trace:
    """A mass m on a spring k to the ground, at rest at first: x = x0 cos(Omega t), Omega = sqrt(k/m)."""
    t = np.arange(1001, dtype=float) * 1e-3
    mass, k, x_0 = 10.0, 1000.0, 3e-3
    omega = math.sqrt(k / mass)
    x, v = x_0 * np.cos(omega * t), -x_0 * omega * np.sin(omega * t)
    columns = {"spring.x": (x, "m"), "spring.F": (k * x, "N"), "mass.p.v": (v, "m/s")}
    return reference(case, "x = x0 cos(Omega t), Omega = sqrt(k/m), F = k x", t, columns)


def held_force() -> Trace:
    return _swing("held_force")


def held_position() -> Trace:
    return _swing("held_position")


def train() -> Trace:
    """N masses m in a row between two walls, joined by springs k, at rest but for mass p with v0:

    s_i = v0 sum_j 2/(N + 1) sin(i j pi/(N + 1)) sin(p j pi/(N + 1)) sin(w_j t)/w_j
    w_j = 2 sqrt(k/m) sin(j pi/2/(N + 1))
    """
    n, struck, m, k, v_0 = 100, 50, 1.0, 1e4, 3.0
    t, mode = np.arange(101, dtype=float) * 1e-3, np.arange(1, n + 1)
    w = 2 * math.sqrt(k / m) * np.sin(mode * math.pi / 2 / (n + 1))
    shape = np.sin(np.outer(np.arange(n + 2), mode) * math.pi / (n + 1))
    share = 2 / (n + 1) * v_0 * shape * shape[struck]
    s, v = np.sin(np.outer(t, w)) @ (share / w).T, np.cos(np.outer(t, w)) @ share.T
    force = k * (s[:, 51] - s[:, 50])
    columns = {"mass[50].p.v": (v[:, 50], "m/s"), "mass[45].p.v": (v[:, 45], "m/s"), "spring[51].F": (force, "N")}
    formula = "s_i = v0 sum_j 2/(N + 1) sin(i j pi/(N + 1)) sin(p j pi/(N + 1)) sin(w_j t)/w_j"
    return reference("train", formula, t, columns)


CASES: tuple[Callable[[], Trace], ...] = (held_force, held_position, train)

if __name__ == "__main__":
    write_references(CASES, __file__)
