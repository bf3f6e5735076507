/* Body in the plane that forces and a torque move.   r' = v,   m v_x' = F_x,   m v_y' = F_y,   J omega' = F_3
 *
 * m mass, kg, > 0    J moment of inertia, kg.m^2, > 0    F_x, F_y forces on it, N    F_3 torque, N.m
 * r = (x, y, angle), m and rad    v = (v_x, v_y, omega), m/s and rad/s
 * Energy, J: kinetic (m v_x^2 + m v_y^2 + J omega^2) / 2.   Source: Newton's second law. */

static void outputs(Element *e)
{
    const Real *v = e->plane.v;
    e->energy.kinetic = 0.5 * (e->m * (v[0] * v[0] + v[1] * v[1]) + e->J * v[2] * v[2]);
}

static void derivatives(Element *e)
{
    e->der.plane.v[0] = e->plane.F[0] / e->m;
    e->der.plane.v[1] = e->plane.F[1] / e->m;
    e->der.plane.v[2] = e->plane.F[2] / e->J;
}
