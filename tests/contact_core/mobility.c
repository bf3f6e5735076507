/* The mobility of a body, learned from changes of wrenches and of the rate of its twist that a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/vibrated_body.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void guess(double w, double B[6][6]) { cc_guess_mobility(B, w, CC_ROTATION_GUESS); }

/* n secants, s and q one after the other. */
EXPORT void learn(int n, double s[][6], double q[][6], double noise, double B[6][6])
{
    CcMobility m = {.known = 1.0};
    __builtin_memcpy(m.B, B, sizeof m.B);
    for (int i = 0; i < n; i++)
        cc_learn_mobility(&m, s[i], q[i], 1.0, noise);
    __builtin_memcpy(B, m.B, sizeof m.B);
}

/* n intervals with the wrenches S, of the interval before the first on, that changed Y by q: x, B and what they leave
 * for each lag, found anew with every interval. */
EXPORT void find_load(int n, double S[][6], double q[][6], double B_0[6][6], double x[], double B[][6][6],
                      double rest[])
{
    CcVibratedSums sums[CC_LAGS] = {{.seen = 0.0}};
    CcMobility m = {.known = 1.0, .count = 1.0};
    __builtin_memcpy(m.B, B_0, sizeof m.B);
    for (int i = CC_LAGS; i < n; i++)
        for (int L = 0; L < CC_LAGS; L++) {
            double s[6];
            for (int j = 0; j < 6; j++)
                s[j] = S[i - L][j] - S[i - L - 1][j];
            cc_sum_vibrated(sums + L, s, q[i]);
            CcVibratedFit fit = cc_fit_vibrated(&m, sums + L, 1.0);
            x[L] = sums[L].x, rest[L] = fit.rest;
            __builtin_memcpy(B[L], fit.B, sizeof fit.B);
        }
}
