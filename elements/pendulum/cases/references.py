"""What is behind the cases of this folder, in closed form if there is one.  `python references.py` writes *_ref.csv."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references

Array = NDArray[np.float64]
G = np.array([0.0, 0.0, -9.81])


def turned(axis: Array, phi: Array, a: Array) -> Array:
    """A vector turned about a unit axis by angles of shape (n,): shape (n, 3)."""
    along = axis * (axis @ a)
    return along + np.cos(phi)[:, None] * (a - along) + np.sin(phi)[:, None] * np.cross(axis, a)


def swing() -> Trace:
    """A pendulum let go from rest: W^2 = m g_p c_p/J with what of gravity and centre of mass lies across the axis."""
    t = np.arange(301, dtype=float) * 0.02
    m, moment, phi_0 = 2.0, 1.5, 2.5
    pivot, axis = np.array([0.003, 0.2, 1.0]), np.array([1.0, 2.0, -0.5]) / np.sqrt(5.25)
    center, tip = np.array([0.2, -0.3, -0.6]), np.array([0.4, -0.5, -1.0])
    c, g = center - axis * (axis @ center), G - axis * (axis @ G)
    omega = np.sqrt(m * np.linalg.norm(g) * np.linalg.norm(c) / moment)
    rest = np.arctan2(axis @ np.cross(c, g), c @ g)  # where the centre of mass hangs
    k = np.sin((phi_0 - rest) / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - omega * t, k**2)
    phi, w = rest + 2 * np.arcsin(k * sn), -2 * k * omega * cn
    faster = -(omega**2) * np.sin(phi - rest)
    at, p = turned(axis, phi, center), turned(axis, phi, tip)
    across = np.cross(axis, at)
    bearing = m * (faster[:, None] * across + (w**2)[:, None] * np.cross(axis, across) - G)
    columns = {
        "hinge.phi": (phi, "rad"),
        "hinge.w": (w, "rad/s"),
        "tip.r": (pivot + p, "m"),
        "tip.v": (w[:, None] * np.cross(axis, p), "m/s"),
        "bearing_force": (bearing, "N"),
        "energy.potential": (-m * (pivot + at) @ G, "J"),
    }
    return reference("swing", "sin((phi - phi_e)/2) = k sn(K - W t)", t, columns, of="pendulum")


def door() -> Trace:
    """J phi'' + d phi' + k (phi - phi_free) = t, gravity along the axis; the damper takes the work not stored."""
    time = np.arange(401, dtype=float) * 0.02
    moment, k, d, free, torque = 5.0, 30.0, 4.0, np.pi / 6, 6.0
    phi_0, w_0 = np.radians(80.0), 3.0
    rest, decay = free + torque / k, d / (2 * moment)
    omega = np.sqrt(k / moment - decay**2)
    a, b = phi_0 - rest, (w_0 + decay * (phi_0 - rest)) / omega
    fade, cosine, sine = np.exp(-decay * time), np.cos(omega * time), np.sin(omega * time)
    phi = rest + fade * (a * cosine + b * sine)
    w = fade * ((b * omega - decay * a) * cosine - (a * omega + decay * b) * sine)
    elastic = k / 2 * (phi - free) ** 2
    stored = elastic + moment / 2 * w**2
    work = torque * (phi - phi_0)
    columns = {
        "hinge.phi": (phi, "rad"),
        "hinge.w": (w, "rad/s"),
        "energy.elastic": (elastic, "J"),
        "energy.damping": (work - (stored - stored[0]), "J"),
        "energy.work": (work, "J"),
        "energy.residual": (0 * time, "J"),
    }
    return reference("door", "phi = phi_e + exp(-d t/(2 J)) (a cos(W t) + b sin(W t))", time, columns, of="pendulum")


def falls_on_floor() -> Trace:
    """A rod of 1 m and 1 kg falls from 60 degrees; its tip meets a floor at z = -0.8 m, h = cos(phi) - 0.8:
    J phi'' = sin(phi) (k h - m g l/2), k h > 0 in contact only.  Integrated from touch to release to touch, so that no
    step goes over a kink."""
    t = np.arange(161, dtype=float) * 0.005

    def depth(_: float, y: Array, __: float) -> float:
        return float(np.cos(y[0]) - 0.8)

    def rates(_: float, y: Array, k: float) -> Array:
        return np.array([y[1], 3.0 * np.sin(y[0]) * (k * (np.cos(y[0]) - 0.8) - 0.5 * 9.81)])

    depth.terminal = True  # type: ignore[attr-defined]
    y, now, k = np.array([np.radians(60.0), 0.0]), 0.0, 0.0
    found = np.empty((2, t.size))
    while now < t[-1]:
        depth.direction = 1.0 if k == 0.0 else -1.0  # type: ignore[attr-defined]
        done = solve_ivp(
            rates, (now, t[-1]), y, "DOP853", args=(k,), events=depth, dense_output=True,
            rtol=1e-13, atol=1e-15, max_step=5e-4,
        )  # fmt: skip
        within = (t >= now) & (t <= done.t[-1])
        found[:, within] = done.sol(t[within])
        now, y, k = done.t[-1], done.y[:, -1], 1e4 - k
    columns = {"hinge.phi": (found[0], "rad"), "hinge.w": (found[1], "rad/s")}
    return reference("falls_on_floor", "J phi'' = sin(phi) (k h - m g l/2), DOP853 1e-13", t, columns, of="pendulum")


CASES: tuple[Callable[[], Trace], ...] = (swing, door, falls_on_floor)

if __name__ == "__main__":
    write_references(CASES, __file__)
