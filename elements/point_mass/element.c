/* Point mass.   r' = v,   m v' = f + m g
 *
 * m mass, kg, > 0      f sum of the forces, N      g gravitational acceleration, m/s^2
 * Energies, J: kinetic m v^2 / 2, potential -m g r.   Source: Newton's second law. */
#include "base/vector.h"

static void outputs(Element *e)
{
    e->energy.kinetic = 0.5 * e->m * cc_dot(e->p.v, e->p.v);
    e->energy.potential = -e->m * cc_dot(e->g, e->p.r);
}

static void derivatives(Element *e)
{
    for (int i = 0; i < 3; i++)
        e->der.p.v[i] = e->p.f[i] / e->m + e->g[i];
}
