/* The torus about the z axis of its frame: a tube of the radius r round the circle of the radius R in z = 0, r < R.
 *
 * Distance from the axis, m    d = sqrt(x^2 + y^2),       direction  e = (x, y)/d
 * From the circle, m           a = (d - R, z),  |a|,      direction  c = a/|a|
 * Closest point, m             Q = (R e, 0) + r (c_1 e, c_2)
 * Depth, m                     h = side (r - |a|),        normal  n = side (c_1 e, c_2)
 *
 * No edge.  Singular: the circle, and the axis.  Reach: r from outside, R - r from inside. */
#ifndef CC_TORUS_H
#define CC_TORUS_H

#include "foot.h"

CC_API void cc_torus(double major, double minor, double side, const Real P[3], const Real last[3], CcFoot *foot)
{
    Real d, e[2];
    int on_axis = cc_radial(P, last, major, &d, e);
    Real a[3] = {d - major, P[2], 0.0}, c[2], away = cc_norm(a);
    int on_circle = re(away) <= CC_SINGULAR * major;
    if (on_circle) {
        Real across[3] = {last[0], last[1], 0.0}, from[2] = {cc_norm(across) - major, last[2]};
        cc_direction(from, 2, c);
        away = c[0] * a[0] + c[1] * a[1];
    } else {
        Real inverse = 1.0 / away;
        c[0] = a[0] * inverse;
        c[1] = a[1] * inverse;
    }
    foot->on = 1;
    foot->singular = on_axis || on_circle;
    foot->depth = side * (minor - away);
    for (int i = 0; i < 2; i++) {
        foot->normal[i] = side * (c[0] * e[i]);
        foot->point[i] = (major + minor * c[0]) * e[i];
    }
    foot->normal[2] = side * c[1];
    foot->point[2] = minor * c[1];
}

#endif
