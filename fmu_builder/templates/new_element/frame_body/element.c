/* Ball that a force and a moment move.   r' = v,   m v' = f,   q' = (0, w) q / 2,   J w' = t
 *
 * m mass, kg, > 0    J moment of inertia about every axis, kg.m^2, > 0    f force, N, and t moment, N.m, at its centre
 * r position, m    q orientation, quaternion body to world    v velocity, m/s    w angular velocity, rad/s
 * Energy, J: kinetic (m v^2 + J w^2) / 2.   Not modelled: unlike moments of inertia.   Source: Newton and Euler. */
#include "base/vector.h"

static void outputs(Element *e)
{
    e->energy.kinetic = 0.5 * (e->m * cc_dot(e->frame.v, e->frame.v) + e->J * cc_dot(e->frame.w, e->frame.w));
}

static void derivatives(Element *e)
{
    const Real *q = e->frame.q, *w = e->frame.w;
    Real across[3];
    cc_cross(w, q + 1, across);
    e->der.frame.q[0] = -0.5 * cc_dot(w, q + 1);
    for (int i = 0; i < 3; i++) {
        e->der.frame.q[i + 1] = 0.5 * (q[0] * w[i] + across[i]);
        e->der.frame.v[i] = e->frame.f[i] / e->m;
        e->der.frame.w[i] = e->frame.t[i] / e->J;
    }
}
