/* The axes of a guide in its base plane, the plane across the line at the foot FLP (line_foot.h).
 *
 * Unit vectors a, b are carried by the body of the point; t is the unit tangent of the line, d = P - FLP, d t = 0.
 *
 * Part of a in the plane, 1    N = a - (a t) t              share = |N|: 0 where a points along the line
 * Handedness, 1                t (a x b) = share (t x V1) b
 * Axes                         V1 = N/share,  V2 = side t x V1        side = sign of the handedness, so that V2 b >= 0
 * Displacements, m             delta1 = d V1,  delta2 = d V2
 * Spin of the axes, 1/s        sigma = V2 V1'               their rate of turning from V1 to V2 as a and t turn
 *
 * Rates of the displacements   delta1' = (v_P - FLP') V1 + sigma delta2,   delta2' = (v_P - FLP') V2 - sigma delta1
 *
 * Where the handedness changes its sign one axis turns over: V2 while V1 turns past b; V1 where a passes t itself, for
 * then V2 stays on the side of b.  At share = 0, within BASE_PLANE_LEAST, the axes are this limit: V2 the unit part of
 * b in the plane, V1 = side V2 x t.  Where b is along t as well no axis exists; V1, V2 and the displacements are then
 * zero. */
#ifndef CC_BASE_PLANE_H
#define CC_BASE_PLANE_H

#include "line_foot.h"

#define BASE_PLANE_LEAST 1e-8 /* of share: below it rounding moves V1 by more than 1e-8 */

typedef struct {
    Real V1[3], V2[3];
    Real delta1, delta2; /* m */
    Real share, handedness;
    double side;
    Real spin; /* sigma */
} CcBasePlane;

/* The unit vector out along the part of a across t, whose length is returned; 0 where there is none. */
CC_API Real cc_part_across(const Real a[3], const Real t[3], Real along, Real out[3])
{
    Real N[3], length, inverse;
    for (int k = 0; k < 3; k++)
        N[k] = a[k] - along * t[k];
    length = cc_norm(N);
    inverse = re(length) > 0.0 ? 1.0 / length : (Real)0.0;
    for (int k = 0; k < 3; k++)
        out[k] = N[k] * inverse;
    return length;
}

/* w  angular velocity of the body that carries a and b, rad/s */
CC_API void cc_base_plane(const Real a[3], const Real b[3], const Real w[3], const CcLineFoot *foot, CcBasePlane *out)
{
    const Real *t = foot->tangent, *t_t = foot->tangent_t;
    Real along = cc_dot(a, t), normal[3], rate[3];
    out->share = cc_part_across(a, t, along, out->V1);
    cc_cross(a, b, normal);
    out->handedness = cc_dot(t, normal);
    out->side = re(out->handedness) < 0.0 ? -1.0 : 1.0;
    if (re(out->share) > BASE_PLANE_LEAST) {
        cc_cross(t, out->V1, out->V2);
        for (int k = 0; k < 3; k++)
            out->V2[k] *= out->side;
        cc_cross(w, a, rate);
        out->spin = (cc_dot(out->V2, rate) - along * cc_dot(out->V2, t_t)) * (1.0 / out->share);
    } else {
        along = cc_dot(b, t);
        Real length = cc_part_across(b, t, along, out->V2);
        cc_cross(out->V2, t, out->V1);
        for (int k = 0; k < 3; k++)
            out->V1[k] *= out->side;
        cc_cross(w, b, rate);
        out->spin = re(length) > 0.0 ? (along * cc_dot(out->V1, t_t) - cc_dot(out->V1, rate)) / length : (Real)0.0;
    }
    out->delta1 = cc_dot(foot->away, out->V1);
    out->delta2 = cc_dot(foot->away, out->V2);
}

#endif
