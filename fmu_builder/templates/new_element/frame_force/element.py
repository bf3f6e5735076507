"""Spring and damper between a frame and a fixed anchor.   f = -k (r - anchor) - c v,   t = -c_t w

f force, N, and t moment, N.m, on the body at the frame    k stiffness, N/m, > 0    c damping, N.s/m, >= 0
c_t damping of the rotation, N.m.s, >= 0    r, v position and velocity of the frame    w its angular velocity, rad/s
Energies, J: elastic k |r - anchor|^2 / 2; damping int c v^2 + c_t w^2 dt, never falling.
Not modelled: stiffness against turning.   Source: Hooke's law."""


def outputs(e):
    stretch, v, w = e.frame.r - e.anchor, e.frame.v, e.frame.w
    e.frame.f = -e.work * (e.k * stretch + e.c * v)
    e.frame.t = -e.work * e.c_t * w
    e.energy.elastic = e.work * 0.5 * e.k * stretch @ stretch
    e.power.damping = e.work * (e.c * v @ v + e.c_t * w @ w)
