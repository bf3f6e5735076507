/* Point mass that a force moves.   r' = v,   m v' = f
 *
 * m mass, kg, > 0    f sum of the forces on it, N    r position, m    v velocity, m/s
 * Energy, J: kinetic m v^2 / 2.   Source: Newton's second law. */
#include "base/vector.h"

static void outputs(Element *e) { e->energy.kinetic = 0.5 * e->m * cc_dot(e->point.v, e->point.v); }

static void derivatives(Element *e)
{
    for (int i = 0; i < 3; i++)
        e->der.point.v[i] = e->point.f[i] / e->m;
}
