/* The axes of a guide in its base plane, the plane across the line at the foot FLP (line_foot.h).
 *
 * Unit vector a is carried by the body of the point; t is the unit tangent of the line, d = P - FLP, d t = 0.
 *
 * Part of a in the plane, 1    N = a - (a t) t              share = |N|: 0 where a points along the line
 * Axes                         V1 = N/share,  V2 = side t x V1                       side = +1 or -1, for ever
 * Displacements, m             delta1 = d V1,  delta2 = d V2
 * Spin of the axes, 1/s        sigma = V2 V1'               their rate of turning from V1 to V2 as a and t turn
 *
 * Rates of the displacements   delta1' = (v_P - FLP') V1 + sigma delta2,   delta2' = (v_P - FLP') V2 - sigma delta1
 *
 * Range: share > 0.  Where it vanishes no axis exists; V1, V2 and the displacements are then zero. */
#ifndef CC_BASE_PLANE_H
#define CC_BASE_PLANE_H

#include "line_foot.h"

typedef struct {
    Real V1[3], V2[3];
    Real delta1, delta2; /* m */
    Real share;
    Real spin; /* sigma */
} CcBasePlane;

CC_API void cc_base_plane(const Real a[3], const Real a_t[3], double side, const CcLineFoot *foot, CcBasePlane *out)
{
    const Real *t = foot->tangent, *t_t = foot->tangent_t;
    Real along = cc_dot(a, t), N[3], inverse;
    for (int k = 0; k < 3; k++)
        N[k] = a[k] - along * t[k];
    out->share = cc_norm(N);
    inverse = re(out->share) > 0.0 ? 1.0 / out->share : (Real)0.0;
    for (int k = 0; k < 3; k++)
        out->V1[k] = N[k] * inverse;
    cc_cross(t, out->V1, out->V2);
    for (int k = 0; k < 3; k++)
        out->V2[k] *= side;
    out->delta1 = cc_dot(foot->away, out->V1);
    out->delta2 = cc_dot(foot->away, out->V2);
    out->spin = (cc_dot(out->V2, a_t) - along * cc_dot(out->V2, t_t)) * inverse;
}

#endif
