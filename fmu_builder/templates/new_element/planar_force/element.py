"""Spring and damper that hold a body in the plane.   F = -k x - c v,   x' = v,   each component by itself

F = (F_x, F_y, torque) on the body, N and N.m    x displacement and angle from where the spring is relaxed, m and rad
k stiffness, N/m and N.m/rad, > 0    c damping, N.s/m and N.m.s/rad, >= 0    v velocity of the body, m/s and rad/s
Energies, J: elastic sum k x^2 / 2; damping int sum c v^2 dt, never falling.   Source: Hooke's law."""


def outputs(e):
    e.plane.F = -e.work * (e.k * e.x + e.c * e.plane.v)
    e.energy.elastic = e.work * 0.5 * (e.k * e.x) @ e.x
    e.power.damping = e.work * (e.c * e.plane.v) @ e.plane.v
