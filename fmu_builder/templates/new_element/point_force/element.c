/* Spring and damper between a point and a fixed anchor.   f = -k (r - anchor) - c v
 *
 * f force on the point, N    k stiffness, N/m, > 0    c damping, N.s/m, >= 0    r, v position and velocity of the point
 * Energies, J: elastic k |r - anchor|^2 / 2; damping int c v^2 dt, never falling.
 * Not modelled: a length of the spring at rest.   Source: Hooke's law. */
#include "base/vector.h"

static void outputs(Element *e)
{
    Real stretch[3];
    for (int i = 0; i < 3; i++) {
        stretch[i] = e->point.r[i] - e->anchor[i];
        e->point.f[i] = -e->work * (e->k * stretch[i] + e->c * e->point.v[i]);
    }
    e->energy.elastic = e->work * 0.5 * e->k * cc_dot(stretch, stretch);
    e->power.damping = e->work * e->c * cc_dot(e->point.v, e->point.v);
}
