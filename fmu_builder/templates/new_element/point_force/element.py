"""Spring and damper between a point and a fixed anchor.   f = -k (r - anchor) - c v

f force on the point, N    k stiffness, N/m, > 0    c damping, N.s/m, >= 0    r, v position and velocity of the point
Energies, J: elastic k |r - anchor|^2 / 2; damping int c v^2 dt, never falling.
Not modelled: a length of the spring at rest.   Source: Hooke's law."""


def outputs(e):
    stretch = e.point.r - e.anchor
    e.point.f = -e.work * (e.k * stretch + e.c * e.point.v)
    e.energy.elastic = e.work * 0.5 * e.k * stretch @ stretch
    e.power.damping = e.work * e.c * e.point.v @ e.point.v
