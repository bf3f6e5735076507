/* Spring and damper between a frame and a fixed anchor.   f = -k (r - anchor) - c v,   t = -c_t w
 *
 * f force, N, and t moment, N.m, on the body at the frame    k stiffness, N/m, > 0    c damping, N.s/m, >= 0
 * c_t damping of the rotation, N.m.s, >= 0    r, v position and velocity of the frame    w its angular velocity, rad/s
 * Energies, J: elastic k |r - anchor|^2 / 2; damping int c v^2 + c_t w^2 dt, never falling.
 * Not modelled: stiffness against turning.   Source: Hooke's law. */
#include "base/vector.h"

static void outputs(Element *e)
{
    Real stretch[3];
    for (int i = 0; i < 3; i++) {
        stretch[i] = e->frame.r[i] - e->anchor[i];
        e->frame.f[i] = -e->work * (e->k * stretch[i] + e->c * e->frame.v[i]);
        e->frame.t[i] = -e->work * e->c_t * e->frame.w[i];
    }
    e->energy.elastic = e->work * 0.5 * e->k * cc_dot(stretch, stretch);
    e->power.damping = e->work * (e->c * cc_dot(e->frame.v, e->frame.v) + e->c_t * cc_dot(e->frame.w, e->frame.w));
}
