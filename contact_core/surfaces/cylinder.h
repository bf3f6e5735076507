/* The cylinder of the radius R about the z axis of its frame.
 *
 * Distance from the axis, m   d = sqrt(x^2 + y^2),    direction  e = (x, y)/d
 * Closest point, m            Q = (R e, z)
 * Depth, m                    h = side (R - d),       normal  n = side (e, 0)
 *
 * Drawn part: z[0] <= z <= z[1].  End faces are not part of it; a disc can stand for each.
 * Singular: the axis.  Reach: R from outside, unlimited from inside. */
#ifndef CC_CYLINDER_H
#define CC_CYLINDER_H

#include "foot.h"

CC_API void cc_cylinder(double radius, const double z[2], double side, const Real P[3], const Real last[3],
                        CcFoot *foot)
{
    Real d, e[2];
    foot->singular = cc_radial(P, last, radius, &d, e);
    foot->on = re(P[2]) >= z[0] && re(P[2]) <= z[1];
    foot->depth = side * (radius - d);
    for (int i = 0; i < 2; i++) {
        foot->normal[i] = side * e[i];
        foot->point[i] = radius * e[i];
    }
    foot->normal[2] = 0.0;
    foot->point[2] = P[2];
}

#endif
