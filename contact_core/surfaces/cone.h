/* The cone about the z axis of its frame, apex in the origin, opening to +z, half angle a.
 *
 * Distance from the axis, m    d = sqrt(x^2 + y^2),      direction  e = (x, y)/d
 * Along the generator, m       u = d sin a + z cos a
 * u > 0, flank                 Q = u (e sin a, cos a),   n = side (e cos a, -sin a),   h = side (z sin a - d cos a)
 * u <= 0, apex                 Q = 0,                    n = side P/|P|,               h = -side |P|
 *
 * h and n are continuous where the two meet.  Drawn part: z[0] <= Q_z <= z[1] with z[0] >= 0.
 * Singular: the axis above the apex, and the apex itself.  Reach at the height z of Q: z sin a / cos^2 a from outside,
 * unlimited from inside. */
#ifndef CC_CONE_H
#define CC_CONE_H

#include "foot.h"

/* angle: cos a and sin a. */
CC_API void cc_cone(const double angle[2], const double z[2], double side, const Real P[3], const Real last[3],
                    CcFoot *foot)
{
    double c = angle[0], s = angle[1];
    Real away = cc_norm(P), d, e[2];
    int at_apex = re(away) <= CC_SINGULAR * z[1];
    int on_axis = cc_radial(P, last, re(away), &d, e);
    Real u = d * s + P[2] * c;
    if (re(u) > 0.0 || at_apex) {
        foot->singular = on_axis || at_apex;
        foot->depth = side * (P[2] * s - d * c);
        for (int i = 0; i < 2; i++) {
            foot->normal[i] = side * (c * e[i]);
            foot->point[i] = u * (s * e[i]);
        }
        foot->normal[2] = -side * s;
        foot->point[2] = u * c;
    } else {
        Real inverse = 1.0 / away;
        foot->singular = 0;
        foot->depth = -side * away;
        for (int i = 0; i < 3; i++) {
            foot->normal[i] = side * (P[i] * inverse);
            foot->point[i] = 0.0;
        }
    }
    foot->on = re(foot->point[2]) >= z[0] && re(foot->point[2]) <= z[1];
}

#endif
