"""Ball that a force and a moment move.   r' = v,   m v' = f,   q' = (0, w) q / 2,   J w' = t

m mass, kg, > 0    J moment of inertia about every axis, kg.m^2, > 0    f force, N, and t moment, N.m, at its centre
r position, m    q orientation, quaternion body to world    v velocity, m/s    w angular velocity, rad/s
Energy, J: kinetic (m v^2 + J w^2) / 2.   Not modelled: unlike moments of inertia.   Source: Newton and Euler."""

import numpy as np


def outputs(e):
    v, w = e.frame.v, e.frame.w
    e.energy.kinetic = 0.5 * (e.m * v @ v + e.J * w @ w)


def derivatives(e):
    q, w = e.frame.q, e.frame.w
    e.der.frame.q = 0.5 * np.concatenate(([-w @ q[1:]], q[0] * w + np.cross(w, q[1:])))
    e.der.frame.v = e.frame.f / e.m
    e.der.frame.w = e.frame.t / e.J
