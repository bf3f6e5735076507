/* Rigid body in the plane.   x' = v_x,  y' = v_y,  theta' = omega
 *
 *     m v_x' = sum F[1] + m g[1]        m v_y' = sum F[2] + m g[2]        J omega' = sum F[3]
 *
 * m mass, kg, > 0      J moment of inertia about the centre of mass, kg.m^2, > 0      g gravity, m/s^2
 * F[1], F[2] forces, N, and F[3] moments about the centre of mass, N.m, of all ports P
 * Every port moves as the centre of mass does: P.v = (v_x, v_y, omega) and, with large_angle, P.r = (x, y, theta).
 * Energies, J: kinetic m (v_x^2 + v_y^2)/2 + J omega^2/2, potential -m (g[1] x + g[2] y).
 * The equations hold at every angle; those of the points that act on the body may not.   Source: Newton's second law;
 * 20-sim for the ports. */

static void outputs(Element *e)
{
    for (int i = 0; i < PORTS; i++) {
        e->P[i].v[0] = e->v_x;
        e->P[i].v[1] = e->v_y;
        e->P[i].v[2] = e->omega;
#if LARGE_ANGLE
        e->P[i].r[0] = e->x;
        e->P[i].r[1] = e->y;
        e->P[i].r[2] = e->theta;
#endif
    }
    e->energy.kinetic = 0.5 * (e->m * (e->v_x * e->v_x + e->v_y * e->v_y) + e->J * e->omega * e->omega);
    e->energy.potential = -e->m * (e->g[0] * e->x + e->g[1] * e->y);
}

static void derivatives(Element *e)
{
    Real F[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < PORTS; i++)
        for (int k = 0; k < 3; k++)
            F[k] += e->P[i].F[k];
    e->der.v_x = F[0] / e->m + e->g[0];
    e->der.v_y = F[1] / e->m + e->g[1];
    e->der.omega = F[2] / e->J;
}
