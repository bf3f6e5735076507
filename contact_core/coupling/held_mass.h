/* The bodies at a port as a mass that a spring and a damper hold, m x'' + d x' + k x = f, from the poles exp(s H) of
 * the model, s^2 + (d/m) s + k/m = 0, and b_0: 1 N changes the speed by b_0 H within a step.  A constant force moves
 * such a mass to another place and accelerates nothing for ever: the admittance of all bodies,
 * (b_0 + b_1 + b_2)/(1 - a_1 - a_2), is 0.  The poles of a free mass are no bodies' but those of what else pushes it:
 * b_1 = -a_1 b_0, b_2 = -a_2 b_0, and m = 1/b_0. */
#ifndef CC_HELD_MASS_H
#define CC_HELD_MASS_H

#include "../base/elementary.h"
#include "partner_model.h"

#define CC_MASS_DOUBLE 1e-6 /* of the product of the poles: nearer ones count as one */
#define CC_MASS_FREE 1e-6   /* of b_0: what b_1, b_2 may miss those of a free mass by; a held one by (omega H)^2 */

typedef struct {
    double mass, stiffness, damping; /* kg, N/m, N s/m */
} CcHeldMass;

/* Of a free mass without spring and damper; all 0 where the model shows neither. */
CC_API CcHeldMass cc_held_mass(const CcPartnerModel *m, int lag)
{
    const double *p = m->lag[lag].p;
    double H = m->H, product = -p[1], half = 0.5 * p[0];
    CcHeldMass held = {0.0, 0.0, 0.0};
    if (m->use == 0.0 || !(p[2] > 0.0))
        return held;
    if (cc_abs(p[3] + p[0] * p[2]) + cc_abs(p[4] + p[1] * p[2]) <= CC_MASS_FREE * p[2])
        return (CcHeldMass){1.0 / (p[2] * m->unit), 0.0, 0.0};
    if (!(product > CC_MODEL_LEAST && product < 1.0 && H > 0.0) || !cc_model_is_held(m, lag))
        return held;
    double decay = 0.5 * re(cc_log(product)) / H, size = cc_sqrt(product), turn = half * half - product;
    double swing = 0.0, per_step = size * H; /* of a double pole; v after a step of the force m */
    if (turn < -CC_MASS_DOUBLE * product) {
        double omega = re(cc_acos(half / size)) / H;
        swing = omega * omega, per_step = size * re(cc_sin(omega * H)) / omega;
    } else if (turn > CC_MASS_DOUBLE * product && half > 0.0) {
        double slow = half + cc_sqrt(turn), apart = 0.5 * re(cc_log(slow * slow / product)) / H;
        swing = -apart * apart, per_step = 0.5 * (slow - product / slow) / apart;
    } else if (half < 0.0) {
        return held; /* poles of no motion in time */
    }
    held.mass = per_step / (H * p[2] * m->unit);
    held.stiffness = held.mass * (decay * decay + swing);
    held.damping = -2.0 * held.mass * decay;
    return held;
}

/* That, or the free mass 1/W where the bodies are not predicted by the model; W: 0 while unknown. */
CC_API CcHeldMass cc_partner_mass(const CcPartnerModel *m, int lag, int modelled, double W)
{
    return modelled ? cc_held_mass(m, lag) : (CcHeldMass){W > 0.0 ? 1.0 / W : 0.0, 0.0, 0.0};
}

#endif
