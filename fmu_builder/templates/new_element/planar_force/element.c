/* Spring and damper that hold a body in the plane.   F = -k x - c v,   x' = v,   each component by itself
 *
 * F = (F_x, F_y, torque) on the body, N and N.m    x displacement and angle from where the spring is relaxed, m and rad
 * k stiffness, N/m and N.m/rad, > 0    c damping, N.s/m and N.m.s/rad, >= 0    v velocity of the body, m/s and rad/s
 * Energies, J: elastic sum k x^2 / 2; damping int sum c v^2 dt, never falling.   Source: Hooke's law. */

static void outputs(Element *e)
{
    e->energy.elastic = e->power.damping = 0.0;
    for (int i = 0; i < 3; i++) {
        Real x = e->x[i], v = e->plane.v[i];
        e->plane.F[i] = -e->work * (e->k[i] * x + e->c[i] * v);
        e->energy.elastic += e->work * 0.5 * e->k[i] * x * x;
        e->power.damping += e->work * e->c[i] * v * v;
    }
}
