/* The disc of the radius R in the plane z = 0 of its own frame, outward normal +z, material below.
 *
 * As in plane.h the closest point of P = (x, y, z) is Q = (x, y, 0) and the depth h = -z, m; the drawn part is
 * x^2 + y^2 <= R^2.  Nothing is singular. */
#ifndef CC_DISC_H
#define CC_DISC_H

#include "../base/vector.h"

/* Depth of P below the disc, m, negative above it; *inside is the way of Q inside the edge, m, negative beyond it. */
CC_API Real cc_disc(double radius, const Real P[3], double *inside)
{
    Real across[3] = {P[0], P[1], 0.0};
    *inside = radius - re(cc_norm(across));
    return -P[2];
}

#endif
