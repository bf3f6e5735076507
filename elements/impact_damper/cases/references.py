"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references

Vector = NDArray[np.float64]
M, GAP, C_F = 0.1, 0.01, 1e5


def bounces(t: Vector, v_0: float, c_r: float, k_e: float = 0.5) -> tuple[Vector, Vector, Vector]:
    """x, v and the force on the mass of one that starts in the middle at v_0 > 0, with the damping on its limits.

    A contact is a quarter of an oscillation with the stiffness C_F/Delta, then one with C_r^2 C_F/Delta, where
    Delta = 1 - k_E + C_r^2 k_E (contact_core/laws/contact.h); the relative speed leaves it multiplied by -C_r."""
    delta = 1 - k_e + c_r**2 * k_e
    rates = [math.sqrt(C_F / (M * delta)) * share for share in (1.0, c_r)]  # of compression and restitution, rad/s
    x, v, force = np.empty_like(t), np.empty_like(t), np.zeros_like(t)
    begin, at, speed, side = 0.0, 0.0, v_0, 1.0  # of a flight; the speed is that towards the wall `side`
    while begin <= t[-1]:
        touch = begin + (GAP / 2 - at) / speed
        turn = touch + math.pi / 2 / rates[0]
        release = turn + math.pi / 2 / rates[1]
        deepest = speed / rates[0]
        flight = (begin <= t) & (t < touch)
        x[flight], v[flight] = side * (at + speed * (t[flight] - begin)), side * speed
        for first, last, rate, phase in ((touch, turn, rates[0], 0.0), (turn, release, rates[1], math.pi / 2)):
            part = (first <= t) & (t < last)
            angle = rate * (t[part] - first) + phase
            depth = deepest * np.sin(angle)
            x[part], v[part] = side * (GAP / 2 + depth), side * deepest * rate * np.cos(angle)
            force[part] = -side * M * rate**2 * depth
        begin, at, speed, side = release, -GAP / 2, speed * c_r, -side
    return x, v, force


def rattle() -> Trace:
    """Elastic walls, a housing at rest."""
    t = np.arange(201, dtype=float) * 0.5e-3
    x, v, force = bounces(t, 1.0, 1.0)
    columns = {"x": (x, "m"), "w": (v, "m/s"), "p.F": (-force, "N")}
    return reference("rattle", "x = gap/2 + w0/W sin(W t) in a wall, W = sqrt(C_F/m)", t, columns, of="damper")


def restitution() -> Trace:
    """Walls that take half of the speed, a housing at 0.2 m/s."""
    t = np.arange(201, dtype=float) * 0.5e-3
    x, v, _ = bounces(t, 1.0, 0.5)
    # in the frame of the housing nothing puts in work: what is lost is missing in kinetic and elastic energy
    delta, depth = 1 - 0.5 + 0.25 * 0.5, np.maximum(np.abs(x) - GAP / 2, 0.0)
    lost = 0.5 * M * 1.0**2 - 0.5 * M * v**2 - 0.5 * C_F * depth**2
    columns = {"x": (x, "m"), "w": (v + 0.2, "m/s"), "energy.damping": (lost, "J")}
    formula = f"speed times -C_r in each contact of pi/2 sqrt(m Delta/C_F) (1 + 1/C_r), Delta = {delta:g}"
    return reference("restitution", formula, t, columns, of="damper")


CASES: tuple[Callable[[], Trace], ...] = (rattle, restitution)

if __name__ == "__main__":
    write_references(CASES, __file__)
