/* Dry friction on a ramp: along the slip, in proportion to it up to the slip speed 1/k_T, then constant.
 *
 * Friction force, N     F_fr = K_fr N min(k_T u, 1)          against the slip, u >= 0 its speed, m/s
 *
 * K_fr  friction coefficient, 1, >= 0     N  normal force, N, >= 0     k_T  slope of the ramp, s/m, >= 0
 *
 * The formula changes at k_T u = 1.  Not modelled: sticking; below 1/k_T a load creeps (bristle.h holds it).
 * Source: EULER manual, contactPS and forcePointLine2. */
#ifndef CC_FRICTION_H
#define CC_FRICTION_H

#include "../base/real.h"

/* F_fr/(K_fr N u), s/m: a factor of the slip, so that nothing is divided at rest. */
CC_API Real cc_friction_per_slip(Real k_T, Real u) { return re(u) * re(k_T) < 1.0 ? k_T : 1.0 / u; }

/* F_fr of a slip v_t of the speed u, m/s, and F_t, the force against it, N. */
CC_API Real cc_ramp_force(Real K_fr, Real k_T, Real N, Real u, const Real v_t[3], Real F_t[3])
{
    Real share = cc_friction_per_slip(k_T, u);
    CC_UNROLL for (int i = 0; i < 3; i++)
        F_t[i] = K_fr * (N * (share * v_t[i]));
    return K_fr * (N * (share * u));
}

/* F_fr/(K_fr N) of a slip with sign, along one line. */
CC_API Real cc_friction_share(Real k_T, Real slip) { return cc_clamp(k_T * slip, -1.0, 1.0); }

/* Zero where the formula changes: of a slip speed, and of a slip with sign. */
CC_API double cc_full_friction(Real k_T, Real u) { return re(k_T * u) - 1.0; }

CC_API double cc_full_friction_of_slip(Real k_T, Real slip)
{
    double ratio = re(k_T * slip);
    return ratio * ratio - 1.0;
}

#endif
