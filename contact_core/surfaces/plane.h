/* The plane z = 0 of its own frame, outward normal +z, material below.
 *
 * For a point P = (x, y, z) the closest point is Q = (x, y, 0) and the depth is h = -(P - Q) n = -z, m.
 * The drawn part is the rectangle x_1 <= x <= x_2, y_1 <= y <= y_2 (edges included): the closest point is sought on the
 * infinite plane first and then has to lie on the drawn part, so the edges themselves never push.
 *
 * Source: EULER manual, contactPS: order of the tests. */
#ifndef CC_PLANE_H
#define CC_PLANE_H

#include "../base/real.h"

/* Depth of P below the plane, m, negative above it; *on is 1 if the closest point belongs to the drawn part. */
CC_API Real cc_plane(const double x[2], const double y[2], const Real P[3], int *on)
{
    *on = re(P[0]) >= x[0] && re(P[0]) <= x[1] && re(P[1]) >= y[0] && re(P[1]) <= y[1];
    return -P[2];
}

#endif
