/* A load of one frequency on a body of several ports, from how the body moves while its own forces are 0 (mobility.h).
 *
 * Under A sin(omega t + phi), a wrench, the rate Y of the twist (its mean over an interval H) changes from one interval
 * to the next by rho_i = Y_i - Y_i-1, whatever the weight of the body, and exactly by
 *     rho_i+1 = 2 cos(omega H) rho_i - rho_i-1
 * One number for all six directions.  It is found in flight by least squares,
 *     2 cos(omega H) = sum 0.98^i (rho_i+1 + rho_i-1) rho_i / sum 0.98^i rho_i^2
 * and the last two rho of the flight say what the load does in the contact that follows.  A load that no flight showed
 * is found in contact (vibrated_body.h). */
#ifndef CC_VIBRATION_H
#define CC_VIBRATION_H

#include "lag.h"
#include "twist.h"

#define CC_VIBRATION_FORGETS 0.98 /* share of the sums that an interval of flight leaves */
#define CC_VIBRATION_LEFT 1e-4    /* of the squares of rho in flight: what it is off by at most, to be used */

typedef struct {
    double rho[2][6], seen CC_IN(0, 2); /* of the interval that ended, and of the one before; how many are known */
    double sums[2];                     /* the numerator and the denominator above */
    double missed[2];                   /* sums of squares, fading, of rho in flight: of what it was off by, all */
} CcVibration;

/* Forget where in its period the load is. */
CC_API void cc_lose_vibration(CcVibration *v)
{
    v->seen = 0.0;
}

CC_API int cc_vibration_is_known(const CcVibration *v)
{
    return v->seen >= 2.0 && v->sums[1] > 0.0 && cc_abs(v->sums[0]) <= 2.0 * v->sums[1];
}

/* rho of the next interval; of that after the next one, ... with `ahead` = 2, ...  0 while it is not known. */
CC_API void cc_vibration_ahead(const CcVibration *v, int ahead, double rho[6])
{
    double twice = cc_vibration_is_known(v) ? v->sums[0] / v->sums[1] : 0.0;
    for (int i = 0; i < 6; i++) {
        double now = v->rho[0][i], before = v->rho[1][i];
        for (int n = 0; n < ahead; n++) {
            double next = twice * now - before;
            before = now, now = next;
        }
        rho[i] = cc_vibration_is_known(v) ? now : 0.0;
    }
}

CC_API void cc_vibration_next(CcVibration *v, const double rho[6])
{
    for (int i = 0; i < 6; i++)
        v->rho[1][i] = v->rho[0][i], v->rho[0][i] = rho[i];
}

/* An interval of flight changed Y by q; what is below `least` is noise. */
CC_API void cc_learn_vibration(CcVibration *v, const double q[6], double least)
{
    double off[6], product = 0.0, all = cc_squares(v->rho[0]);
    if (cc_vibration_is_known(v)) {
        cc_vibration_ahead(v, 1, off);
        for (int i = 0; i < 6; i++)
            off[i] -= q[i];
        v->missed[0] = cc_faded(CC_VIBRATION_FORGETS, v->missed[0]) + cc_squares(off);
        v->missed[1] = cc_faded(CC_VIBRATION_FORGETS, v->missed[1]) + cc_squares(q);
    }
    for (int i = 0; i < 6; i++)
        product += (q[i] + v->rho[1][i]) * v->rho[0][i];
    if (v->seen >= 2.0 && all > least * least) {
        v->sums[0] = cc_faded(CC_VIBRATION_FORGETS, v->sums[0]) + product;
        v->sums[1] = cc_faded(CC_VIBRATION_FORGETS, v->sums[1]) + all;
    }
    cc_vibration_next(v, q);
    v->seen += v->seen < 2.0;
}

/* In contact the load goes on as it did. */
CC_API void cc_carry_vibration(CcVibration *v)
{
    double rho[6];
    if (!cc_vibration_is_known(v)) {
        cc_lose_vibration(v);
        return;
    }
    cc_vibration_ahead(v, 1, rho);
    cc_vibration_next(v, rho);
}

#endif
