"""Body in the plane that forces and a torque move.   r' = v,   m v_x' = F_x,   m v_y' = F_y,   J omega' = F_3

m mass, kg, > 0    J moment of inertia, kg.m^2, > 0    F_x, F_y forces on it, N    F_3 torque, N.m
r = (x, y, angle), m and rad    v = (v_x, v_y, omega), m/s and rad/s
Energy, J: kinetic (m v_x^2 + m v_y^2 + J omega^2) / 2.   Source: Newton's second law."""


def outputs(e):
    v_x, v_y, omega = e.plane.v
    e.energy.kinetic = 0.5 * (e.m * (v_x**2 + v_y**2) + e.J * omega**2)


def derivatives(e):
    e.der.plane.v = e.plane.F / [e.m, e.m, e.J]
