"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace


def _swing(case: str) -> Trace:
    """A mass m on a spring k to the ground, at rest at first: x = x0 cos(Omega t), Omega = sqrt(k/m)."""
    t = np.arange(1001, dtype=float) * 1e-3
    mass, k, x_0 = 10.0, 1000.0, 3e-3
    omega = math.sqrt(k / mass)
    x, v = x_0 * np.cos(omega * t), -x_0 * omega * np.sin(omega * t)
    names = ("spring.x", "spring.F", "mass.p.v")
    units = dict(zip(names, ("m", "N", "m/s"), strict=True))
    formula = "x = x0 cos(Omega t), Omega = sqrt(k/m), F = k x"
    provenance = {"case": case, "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([x, k * x, v]), units, {}, provenance)


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
    names = ("mass[50].p.v", "mass[45].p.v", "spring[51].F")
    units = dict(zip(names, ("m/s", "m/s", "N"), strict=True))
    formula = "s_i = v0 sum_j 2/(N + 1) sin(i j pi/(N + 1)) sin(p j pi/(N + 1)) sin(w_j t)/w_j"
    provenance = {"case": "train", "formula": formula, "script": "references.py"}
    return Trace(t, names, np.column_stack([v[:, 50], v[:, 45], k * (s[:, 51] - s[:, 50])]), units, {}, provenance)


CASES: tuple[Callable[[], Trace], ...] = (held_force, held_position, train)

if __name__ == "__main__":
    for case in CASES:
        write_trace(case(), Path(__file__).parent / f"{case.__name__}_ref.csv")
