/* What every curved surface computes for a point P, in the frame of the surface, and what they share.
 *
 * The closest point Q is sought on the extended surface and only then has to lie on the drawn part, so that edges never
 * push.  n is the unit normal out of the material, h = -(P - Q) n the depth of P, positive in the material.
 *
 * side  +1: the material is inside (a ball), -1: the material is outside (a bowl).  It turns n and h, not Q.
 *
 * Singular points have no single closest point: the centre of a sphere, the axis of a cylinder.  There the direction
 * from the axis or centre to `last`, the closest point at an accepted point before, is kept, and with it Q and n; if
 * there is none it is an axis of the frame.  Nothing is divided by zero, and derivatives are those at the fixed n.
 *
 * Derivatives: dh = -n dP, dQ and dn with the curvature of the surface; they grow without bound towards a singular
 * point, and the limit depth D_max keeps contacts away from it. */
#ifndef CC_FOOT_H
#define CC_FOOT_H

#include "../base/vector.h"

typedef struct {
    Real depth;     /* h, m */
    Real normal[3]; /* n */
    Real point[3];  /* Q, m */
    double edge[4];  /* way of Q inside the ends of a profile, or the edges of a patch, negative beyond, m */
    double rival[3]; /* of a profile: where Q may jump to, m */
    double gap;      /* of a profile: how much farther off that is than Q, m */
    double way;      /* of a profile: of Q to a corner at which it stays, negative at it, m */
    int on;          /* Q lies on the drawn part */
    int singular;    /* Q is not the only closest point: the last one is kept */
} CcFoot;

#define CC_SINGULAR 0x1p-50 /* share of its size that rounding leaves open of a distance */

/* e = the direction of the first n components of a, or the first axis if they vanish. */
CC_API void cc_direction(const Real a[], int n, Real e[])
{
    Real b[3] = {a[0], a[1], n > 2 ? a[2] : 0.0};
    double length = re(cc_norm(b));
    for (int i = 0; i < n; i++)
        e[i] = length > 0.0 ? re(b[i]) / length : i == 0;
}

/* Distance of P from the z axis and the direction e[2] that leads there; returns 1 on the axis, within `size` times
 * CC_SINGULAR: then e is that of `last`, and the distance is measured along it. */
CC_API int cc_radial(const Real P[3], const Real last[3], double size, Real *distance, Real e[2])
{
    Real across[3] = {P[0], P[1], 0.0};
    *distance = cc_norm(across);
    if (re(*distance) > CC_SINGULAR * size) {
        Real inverse = 1.0 / *distance;
        e[0] = P[0] * inverse;
        e[1] = P[1] * inverse;
        return 0;
    }
    cc_direction(last, 2, e);
    *distance = e[0] * P[0] + e[1] * P[1];
    return 1;
}

#endif
