"""Inertia that a torque turns.   phi' = w,   J w' = t

J moment of inertia, kg.m^2, > 0    t sum of the torques on it, N.m    phi position, rad    w speed, rad/s
Energy, J: kinetic J w^2 / 2.   Source: Newton's second law."""


def outputs(e):
    e.energy.kinetic = 0.5 * e.J * e.shaft.w**2


def derivatives(e):
    e.der.shaft.w = e.shaft.t / e.J
