/* Sums over intervals from which the mobility of a body and a load of one frequency on it are found together
 * (vibrated_body.h).
 *
 * With the changes q_i of the rate Y and s_i of the wrench from one interval to the next, and x = 2 cos(omega H),
 *     q^x = B s^x,   q^x = q_i - x q_i-1 + q_i-2,   s^x likewise
 * for a load changes q by rho_i = q_i - B s_i, and rho_i - x rho_i-1 + rho_i-2 = 0 (vibration.h).  The sums of
 * wrench_lag.h over s^x and q^x are polynomials of the second degree in x: they are kept for x = 0, 1 and -1. */
#ifndef CC_VIBRATED_SUMS_H
#define CC_VIBRATED_SUMS_H

#include "wrench_lag.h"

typedef struct {
    double s[2][6], q[2][6], seen CC_IN(0, 2); /* of the last two intervals; how many are known */
    double x CC_IN(-2, 2), next CC_IN(0, 5);   /* to go on with; which one to begin with next (vibrated_body.h) */
    CcWrenchSums at[3];
} CcVibratedSums;

/* Add the interval that ended. */
CC_API void cc_sum_vibrated(CcVibratedSums *v, const double s[6], const double q[6])
{
    static const double x[] = {0.0, 1.0, -1.0};
    for (int n = 0; n < 3 && v->seen >= 2.0; n++) {
        double s_x[6], q_x[6];
        for (int i = 0; i < 6; i++) {
            s_x[i] = s[i] - x[n] * v->s[0][i] + v->s[1][i];
            q_x[i] = q[i] - x[n] * v->q[0][i] + v->q[1][i];
        }
        cc_sum_wrenches(v->at + n, CC_VIBRATION_FORGETS, s_x, q_x);
        v->at[n].samples -= !(cc_squares(s_x) > 0.0); /* flight does not show B */
    }
    for (int i = 0; i < 6; i++) {
        v->s[1][i] = v->s[0][i], v->s[0][i] = s[i];
        v->q[1][i] = v->q[0][i], v->q[0][i] = q[i];
    }
    v->seen += v->seen < 2.0;
}

/* The sums for x = v->x. */
CC_API CcWrenchSums cc_vibrated_at(const CcVibratedSums *v)
{
    double x = v->x, w[] = {1.0 - x * x, 0.5 * x * (x + 1.0), 0.5 * x * (x - 1.0)};
    CcWrenchSums sums = {.samples = v->at[0].samples};
    for (int n = 0; n < 3; n++) {
        const CcWrenchSums *at = v->at + n;
        sums.qq += w[n] * at->qq;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                sums.ss[i][j] += w[n] * at->ss[i][j];
                sums.qs[i][j] += w[n] * at->qs[i][j];
            }
    }
    return sums;
}

/* sum |q^x - B s^x|^2 */
CC_API double cc_vibrated_rest(const CcWrenchSums *at, double B[6][6])
{
    double rest = at->qq;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double answer = -2.0 * at->qs[i][j];
            for (int k = 0; k < 6; k++)
                answer += B[i][k] * at->ss[k][j];
            rest += B[i][j] * answer;
        }
    return rest > 0.0 ? rest : 0.0;
}

/* The x by which B leaves least. */
CC_API double cc_vibrated_by(const CcVibratedSums *v, double B[6][6])
{
    double rest[3];
    for (int n = 0; n < 3; n++)
        rest[n] = cc_vibrated_rest(v->at + n, B);
    double bend = 0.5 * (rest[1] + rest[2]) - rest[0];
    double x = bend > 0.0 ? -0.25 * (rest[1] - rest[2]) / bend : 0.0;
    return x > 2.0 ? 2.0 : x < -2.0 ? -2.0 : x;
}

#endif
