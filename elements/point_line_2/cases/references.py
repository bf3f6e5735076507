"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def rail() -> Trace:
    """x = 0.5 m + 0.7 m sin(2 pi t/s) on a rail from 0 to 1 m, 2 mm and -1 mm off it.

    While on it: F_ri = k_ri delta_i, F_fr = K_fr |F_r| min(k_T |v|, 1); off it nothing, and U is booked as switched."""
    t = np.arange(1001, dtype=float) * 1e-3
    x, v = 0.5 + 0.7 * np.sin(2 * np.pi * t), 1.4 * np.pi * np.cos(2 * np.pi * t)
    on = (x >= 0.0) & (x <= 1.0)
    delta_1, delta_2, k_1, k_2, mu, k_t = 2e-3, -1e-3, 1e5, 2e5, 0.2, 0.5
    f_1, f_2 = k_1 * delta_1, k_2 * delta_2
    friction = mu * np.hypot(f_1, f_2) * np.minimum(k_t * np.abs(v), 1.0)
    energy = (f_1 * delta_1 + f_2 * delta_2) / 2
    columns = {
        "rail.s": (np.clip(x, 0.0, 1.0), "m"),
        "rail.delta1": (on * delta_1, "m"),
        "rail.delta2": (on * delta_2, "m"),
        "rail.F_r1": (on * f_1, "N"),
        "rail.F_r2": (on * f_2, "N"),
        "rail.friction_force": (on * friction, "N"),
        "rail.energy.switched": (energy * ~on, "J"),
    }
    return reference("rail", "F_ri = k_ri delta_i, F_fr = K_fr |F_r| min(k_T |v|, 1) while 0 <= x <= 1 m", t, columns)


def guided_mass() -> Trace:
    """1 kg runs along a smooth rail at -1 m/s and swings across it, w^2 = k_r/m, about the depth of its weight."""
    t = np.arange(101, dtype=float) * 2e-3
    w_1, w_2, sag = np.sqrt(1e5), np.sqrt(1e4), 9.81 / 1e4
    columns = {
        "mass.p.r[1]": (0.9 - t, "m"),
        "mass.p.r[2]": (1e-3 * np.cos(w_1 * t), "m"),
        "mass.p.r[3]": (sag * (np.cos(w_2 * t) - 1.0), "m"),
        "mass.p.v[3]": (-sag * w_2 * np.sin(w_2 * t), "m/s"),
    }
    return reference("guided_mass", "x = x0 + v0 t, y = y0 cos(w1 t), z = m g/k2 (cos(w2 t) - 1)", t, columns)


CASES: tuple[Callable[[], Trace], ...] = (guided_mass, rail)

if __name__ == "__main__":
    write_references(CASES, __file__)
