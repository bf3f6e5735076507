/* The sphere of the radius R about the origin of its frame.
 *
 * Distance, m        d = |P|
 * Closest point, m   Q = R P/d
 * Depth, m           h = side (R - d),    normal  n = side P/d
 *
 * No edge.  Singular: the centre.  Reach: R from outside, unlimited from inside. */
#ifndef CC_SPHERE_H
#define CC_SPHERE_H

#include "foot.h"

CC_API void cc_sphere(double radius, double side, const Real P[3], const Real last[3], CcFoot *foot)
{
    Real d = cc_norm(P), e[3];
    foot->on = 1;
    foot->singular = re(d) <= CC_SINGULAR * radius;
    if (foot->singular) {
        cc_direction(last, 3, e);
        d = cc_dot(e, P);
    } else {
        Real inverse = 1.0 / d;
        for (int i = 0; i < 3; i++)
            e[i] = P[i] * inverse;
    }
    foot->depth = side * (radius - d);
    for (int i = 0; i < 3; i++) {
        foot->normal[i] = side * e[i];
        foot->point[i] = radius * e[i];
    }
}

#endif
