"""Spring and damper between a shaft and a fixed angle.   t = -k (phi - anchor) - c w

t torque on the body, N.m    k stiffness, N.m/rad, > 0    c damping, N.m.s/rad, >= 0    phi, w angle and speed
Energies, J: elastic k (phi - anchor)^2 / 2; damping int c w^2 dt, never falling.   Source: Hooke's law."""


def outputs(e):
    stretch = e.shaft.phi - e.anchor
    e.shaft.t = -e.work * (e.k * stretch + e.c * e.shaft.w)
    e.energy.elastic = e.work * 0.5 * e.k * stretch**2
    e.power.damping = e.work * e.c * e.shaft.w**2
