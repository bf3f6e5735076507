"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipj, ellipk, ellipkinc

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references

Array = NDArray[np.float64]


def rotation(q: Array) -> Array:
    """Rotation matrices, shape (..., 3, 3), of unit quaternions (..., 4), scalar first: columns are body axes."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def product(p: Array, q: Array) -> Array:
    """Product of quaternions of shape (..., 4)."""
    p, q = np.broadcast_arrays(p, q)
    scalar = p[..., :1] * q[..., :1] - (p[..., 1:] * q[..., 1:]).sum(-1, keepdims=True)
    vector = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def about(axis: int, angle: Array) -> Array:
    """Quaternions of turns about a coordinate axis, shape (n, 4)."""
    q = np.zeros((*np.shape(angle), 4))
    q[..., 0], q[..., axis + 1] = np.cos(angle / 2), np.sin(angle / 2)
    return q


def free_rotation(moments: Array, w_0: Array, t: Array) -> tuple[Array, Array]:
    """A body without moments, with the body rates w_0 at t = 0: its body rates (n, 3), and its orientation (n, 4)
    relative to a frame at rest whose z axis is the direction of the momentum.

    Principal moments A < B < C, 2 T = w J w, L = |J w|, and L^2 > 2 T B (the body turns about its z axis on average):

        w_x = a_x cn u,  w_y = a_y sn u,  w_z = a_z dn u,    u = n t + u_0,  of the modulus m
        a_x^2 = (2TC - L^2)/(A(C - A))   a_y^2 = (2TC - L^2)/(B(C - B))   a_z^2 = (L^2 - 2TA)/(C(C - A))
        n^2 = (C - B)(L^2 - 2TA)/(ABC)   m = (B - A)(2TC - L^2)/((C - B)(L^2 - 2TA))

    Euler's angles z-x-z about the momentum: cos theta = C w_z/L, tan psi = A w_x/(B w_y),
    phi' = L (A w_x^2 + B w_y^2)/(A^2 w_x^2 + B^2 w_y^2).   Landau & Lifshitz, Mechanics, section 37."""
    a, b, c = moments
    twice_energy, square = moments @ w_0**2, (moments * w_0) @ (moments * w_0)
    length = np.sqrt(square)
    assert a < b < c and square > twice_energy * b and w_0[2] > 0
    low, high = twice_energy * c - square, square - twice_energy * a
    m = (b - a) * low / ((c - b) * high)
    n = np.sqrt((c - b) * high / (a * b * c))
    a_x, a_y, a_z = np.sqrt([low / (a * (c - a)), low / (b * (c - b)), high / (c * (c - a))])
    u_0 = float(ellipkinc(np.arctan2(w_0[1] / a_y, w_0[0] / a_x), m))

    def rates(time: Array) -> Array:
        sn, cn, dn, _ = ellipj(n * time + u_0, m)
        return np.stack([a_x * cn, a_y * sn, a_z * dn], axis=-1)

    def precession(time: Array) -> Array:
        w = rates(time)
        return np.asarray(length * (moments[:2] * w[..., :2] ** 2).sum(-1) / ((moments[:2] * w[..., :2]) ** 2).sum(-1))

    nodes, weights = np.polynomial.legendre.leggauss(20)  # of a smooth function over intervals much shorter than a turn
    half = np.diff(t) / 2
    between = (half[:, None] * weights * precession(t[:-1, None] + half[:, None] * (nodes + 1))).sum(axis=1)
    phi = np.concatenate([[0.0], np.cumsum(between)])
    w = rates(t)
    theta = np.arccos(c * w[:, 2] / length)
    psi = np.unwrap(np.arctan2(a * w[:, 0], b * w[:, 1]))
    return w, product(product(about(2, phi), about(0, theta)), about(2, psi))


def tumble() -> Trace:
    """Without moments: body rates and attitude by elliptic functions; momentum and energy keep their values."""
    t = np.arange(201, dtype=float) * 0.1
    moments, w_0 = np.array([1.0, 2.0, 2.5]), np.array([0.6, 0.6, -0.9])
    q_0 = np.array([0.5, -0.1, 0.7, 0.5])
    assert abs(q_0 @ q_0 - 1.0) < 1e-15
    turned = rotation(q_0)
    rates, q = free_rotation(moments, turned.T @ w_0, t)
    conjugate = np.array([1.0, -1.0, -1.0, -1.0])
    q = product(product(q_0, q[0] * conjugate), q)  # the constant turn that makes it q_0 at t = 0
    w = np.einsum("nij,nj->ni", rotation(q), rates)
    momentum = np.broadcast_to(turned @ (moments * (turned.T @ w_0)), w.shape)
    energy = np.full(t.shape, 0.5 * w_0 @ momentum[0])
    columns = {"frame.q": (q, "1"), "frame.w": (w, "rad/s"), "angular_momentum": (momentum, "N.m.s")}
    columns["energy.kinetic"] = (energy, "J")
    return reference("tumble", "Euler-Poinsot motion by Jacobi's elliptic functions", t, columns, of="body")


def needle() -> Trace:
    """phi'' = -w^2 sin phi from rest at 120 degrees; the centre of mass flies its parabola."""
    t = np.arange(201, dtype=float) * 0.02
    mass, moment, force, amplitude = 2.0, 0.1, 4.0, 2 * np.pi / 3
    offset, v_0 = np.array([0.3, 0.0, 0.1]), np.array([-1.0, 0.5, 0.25])
    omega, k = np.sqrt(force * offset[0] / moment), np.sin(amplitude / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - omega * t, k**2)
    phi, rate = 2 * np.arcsin(k * sn), -2 * k * omega * cn
    q = about(2, phi)
    v = v_0 + np.array([force / mass, 0.0, 0.0]) * t[:, None]
    r = v_0 * t[:, None] + np.array([force / mass, 0.0, 0.0]) * t[:, None] ** 2 / 2
    w = np.stack([0 * t, 0 * t, rate], axis=-1)
    arm = rotation(q) @ offset
    columns = {
        "frame.r": (r, "m"),
        "frame.q": (q, "1"),
        "frame.w": (w, "rad/s"),
        "point.r": (r + arm, "m"),
        "attach.v": (v + np.cross(w, arm), "m/s"),
    }
    return reference("needle", "sin(phi/2) = k sn(K - w t)", t, columns, of="body")


CASES: tuple[Callable[[], Trace], ...] = (tumble, needle)

if __name__ == "__main__":
    write_references(CASES, __file__)
