/* The order in which a master calls the programs, asked by a signal in the force.
 *
 * A force that is a linear function of the motion explains the motion with each lag alike: with F = k x, D^2 F_i is
 * proportional to D v_i, so a force that acts at once is a combination of those that act later and of the motion.  So
 * an element that does not know the order multiplies nine forces by
 *
 *     1 + s_i        s_i = +- 0.03, signs from a table, by the samples since the start
 *
 * and the lag is the one with which y_i/(1 + s_i-L) is smooth: of which the squared third differences are below a tenth
 * of those with each other lag.  Where the bodies carry a load, y is the small difference of that and the forces, and
 * smooth with no lag: there it is the one with which y_i - w s_i-L f_i-L is, f without its signal, w the slope that
 * leaves least.
 *
 * All elements that begin with the same sample give the same signs to the end, so a body between two of them has
 * (1 + s_i) times its acceleration, and each of them sees the signal, whichever is the stronger one.  Without a
 * decision the question comes again after 6, 12, 24, .. samples, louder each time, for a swing of few samples hides a
 * small signal.  Others may then give none.
 *
 * Source: identification in closed loop: Soderstrom & Stoica, System Identification (1989), 10. */
#ifndef CC_ORDER_PROBE_H
#define CC_ORDER_PROBE_H

#include "lag.h"

enum { CC_PROBE_ORDER = 3, CC_PROBE_KEPT = CC_LAGS + CC_PROBE_ORDER };

#define CC_PROBE_SIZE 0.03        /* |s_i| of a spring, */
#define CC_PROBE_SIZE_DAMPED 0.02 /* of a damper, */
#define CC_PROBE_SIZE_GUIDE 0.1   /* and of a guide; n + 1 times that in a question after n others, up to */
#define CC_PROBE_LOUDEST 0.1
#define CC_PROBE_LAST 8.0         /* samples of a question, which is decided at the last one, if it can be */
#define CC_PROBE_AGAIN 10.0       /* questions after the first one */
#define CC_PROBE_SURE 0.1         /* roughness of the lag over that of each other one */
#define CC_PROBE_LIKELY 0.5       /* likewise of later questions */
#define CC_PROBE_LOADED 0.03      /* likewise of what the signal's force leaves of y */
#define CC_PROBE_WAITS 3.0        /* samples before the next question, doubled by each one */
#define CC_PROBE_LEAST 2.0        /* intervals that show it */
#define CC_PROBE_MOVES 1e-6       /* share of the largest force by which it changes: nothing that rests is shaken */
#define CC_PROBE_SIGNS 0x576CF9A4u
#define CC_PROBE_SIGN_COUNT 32.0

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double count, asked CC_IN(0, 10); /* samples of this question, and questions before it */
    double clock CC_IN(0, 31);          /* samples since the start, by which the signs go */
    double s[CC_PROBE_KEPT];            /* of the forces given, the newest first */
    double y[CC_PROBE_ORDER][3];        /* accelerations, the newest first, m/s^2 */
    double rough[CC_LAGS], seen CC_FROM(0); /* squared third differences, summed; intervals */
    double fits[CC_LAGS][2], changed CC_FROM(0); /* likewise of s f: squares, products with those of y; squares of y */
} CcOrderProbe;

CC_API int cc_probe_ends(const CcOrderProbe *p) { return p->count > CC_PROBE_LAST; }

CC_API void cc_probe_end(CcOrderProbe *p) { p->count = CC_PROBE_LAST + 1.0; }

/* The factor of the force of this sample. */
CC_API double cc_probe_factor(CcOrderProbe *p, double size, int asks)
{
    double louder = (1.0 + p->asked) * size;
    size = louder < CC_PROBE_LOUDEST ? louder : CC_PROBE_LOUDEST;
    int silent = !asks || p->count < 0.0 || cc_probe_ends(p);
    double s = silent ? 0.0 : CC_PROBE_SIGNS >> (int)p->clock & 1 ? size : -size;
    cc_put_first(p->s, CC_PROBE_KEPT, 1, &s);
    p->count += (asks || p->count != 0.0) && !cc_probe_ends(p); /* what rests has not begun */
    p->clock = p->clock < CC_PROBE_SIGN_COUNT - 1.0 ? p->clock + 1.0 : 0.0;
    return 1.0 + p->s[0];
}

/* The third difference of the component i of accelerations, the newest of them y. */
CC_API double cc_probe_bend(const CcOrderProbe *p, double y, int i)
{
    return y - 3.0 * p->y[0][i] + 3.0 * p->y[1][i] - p->y[2][i];
}

/* What the acceleration y of the interval that ended shows; n: directions, 1 or 3; f: the forces
 * given, with the signal, the newest first. */
CC_API void cc_probe_see(CcOrderProbe *p, int n, const double y[3], double f[CC_PROBE_KEPT][3])
{
    static const double third[CC_PROBE_ORDER + 1] = {1.0, -3.0, 3.0, -1.0};
    int full = 1;
    for (int k = 0; k < CC_PROBE_KEPT - 1; k++)
        full &= p->s[k] != 0.0;
    for (int i = 0; i < n && full; i++) {
        double bend = cc_probe_bend(p, y[i], i);
        p->changed += bend * bend;
        for (int L = 0; L < CC_LAGS; L++) {
            double D = y[i] / (1.0 + p->s[L]), U = f[L][i] * p->s[L] / (1.0 + p->s[L]);
            for (int k = 1; k <= CC_PROBE_ORDER; k++) {
                D += third[k] * p->y[k - 1][i] / (1.0 + p->s[L + k]);
                U += third[k] * f[L + k][i] * p->s[L + k] / (1.0 + p->s[L + k]);
            }
            p->rough[L] += D * D;
            p->fits[L][0] += U * U, p->fits[L][1] += U * bend;
        }
    }
    p->seen += full;
    cc_put_first(p->y[0], CC_PROBE_ORDER, 3, y);
}

/* Ask once more where the last sample did not decide. */
CC_API int cc_probe_again(CcOrderProbe *p)
{
    if (p->count != CC_PROBE_LAST || p->asked >= CC_PROBE_AGAIN)
        return 0;
    p->asked += 1.0;
    p->seen = p->changed = 0.0;
    p->count = -CC_PROBE_WAITS * (double)(1 << (int)p->asked);
    for (int L = 0; L < CC_LAGS; L++)
        p->rough[L] = p->fits[L][0] = p->fits[L][1] = 0.0;
    return 1;
}

/* The lag with which the signal's force explains what y is beside a load, or -1. */
CC_API int cc_probe_loaded_lag(const CcOrderProbe *p)
{
    double left[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        left[L] = cc_remainder(p->fits[L][0], cc_max(p->fits[L][1], 0.0), p->changed);
    int best = cc_least_lag(left);
    return cc_is_least_by(left, best, CC_PROBE_LOADED) ? best : -1;
}

/* The lag that the signal shows, or -1. */
CC_API int cc_probe_lag(const CcOrderProbe *p)
{
    int best = cc_least_lag(p->rough);
    double sure = p->asked > 0.0 && best < 2 ? CC_PROBE_LIKELY : CC_PROBE_SURE;
    if (p->seen < CC_PROBE_LEAST)
        return -1;
    return cc_is_least_by(p->rough, best, sure) ? best : cc_probe_loaded_lag(p);
}

#endif
