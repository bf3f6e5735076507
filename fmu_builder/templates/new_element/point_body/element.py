"""Point mass that a force moves.   r' = v,   m v' = f

m mass, kg, > 0    f sum of the forces on it, N    r position, m    v velocity, m/s
Energy, J: kinetic m v^2 / 2.   Source: Newton's second law."""


def outputs(e):
    e.energy.kinetic = 0.5 * e.m * e.point.v @ e.point.v


def derivatives(e):
    e.der.point.v = e.point.f / e.m
