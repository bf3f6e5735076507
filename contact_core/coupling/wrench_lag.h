/* The lag of the forces of several ports of one body, from their wrenches S and the rate Y of the twist (mobility.h).
 *
 * A rod that falls flat answers at one end to the force at the other, and no end shows the lag alone.  With the changes
 * s_L of the wrenches of the lag L and q of Y there is a B for the true one, q = B s_L:
 *     first answer   before anything is learned of B, where Y changes more than ever while no force acted: with the
 *                    present lag |q| > W |s_L|, more than any body can answer, W three times the one assumed at first;
 *                    with the other one |q| < W |s_L|, and the body gives way, s_L q > 0.  One interval is enough.
 *     exact          rest_L = sum 0.9^n q q - tr C A^-1 C', A = sum 0.9^n s s', C = sum 0.9^n q s', what no B at all
 *                    explains, is 1e-6 of that of the present lag, of more intervals than S has directions.  Bodies
 *                    on one another, which others move, do not meet that by chance.
 *     gives way      sum 0.9^n s_L q, the trace of C, is positive, for B is; with the present lag it is clearly
 *                    negative.  A load that shakes the body hides B, and a force that acts earlier than is assumed is
 *                    in turn too large and too small.
 *     ports          the fits of the ports on their own (partner.h), in two intervals in a row. */
#ifndef CC_WRENCH_LAG_H
#define CC_WRENCH_LAG_H

#include "partner.h"
#include "twist.h"

#define CC_LIGHTEST 3.0            /* times the W assumed at first: most that a body answers */
#define CC_WRENCHES_EXACT 1e-6     /* rest of an exact lag over that of the present one */
#define CC_WRENCHES_OPEN 1e-3      /* share of sum q q that the present lag leaves at least, for another one */
#define CC_GIVES_WAY 0.5           /* of |s_L| |q|: what a body gives way by, and goes against the present lag by, */
#define CC_GIVES_WAY_SAMPLES 6.0   /* after more intervals than this */
#define CC_WRENCH_DIRECTION 1e-10  /* of the trace of A: smaller pivots are rounding */

/* Sums over intervals, fading: A, C, of q q; and how many there are. */
typedef struct {
    double ss[6][6], qs[6][6], qq CC_FROM(0), samples CC_FROM(0);
} CcWrenchSums;

typedef struct {
    CcWrenchSums of[CC_LAGS];
    double confirmed, quiet_changes; /* as of a partner, of Y */
} CcWrenchLag;

/* s_L of the interval that ended. */
CC_API void cc_wrench_change(double S[CC_KEPT_FORCES][6], int L, double s[6])
{
    for (int i = 0; i < 6; i++)
        s[i] = S[L][i] - S[L + 1][i];
}

/* The lag by a first answer of at most W |s|; `now` if it shows none. */
CC_API int cc_lag_by_first_answer(double S[CC_KEPT_FORCES][6], int now, const double q[6], double W)
{
    double least = cc_squares(q) / (W * W), ss[CC_LAGS], sq[CC_LAGS] = {0.0}, s[6];
    for (int L = 0; L < CC_LAGS; L++) {
        cc_wrench_change(S, L, s);
        ss[L] = cc_squares(s);
        for (int i = 0; i < 6; i++)
            sq[L] += s[i] * q[i];
    }
    for (int L = CC_LAGS - 1; L >= 0 && ss[now] < least; L--) /* the oldest force that can have acted */
        if (ss[L] >= least && sq[L] > 0.0)
            return L;
    return now;
}

/* Add an interval with the changes s and q to sums of which it leaves the share `forgets`. */
CC_APART void cc_sum_wrenches(CcWrenchSums *sums, double forgets, const double s[6], const double q[6])
{
    sums->samples += 1.0;
    sums->qq = forgets * sums->qq + cc_squares(q);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            sums->ss[i][j] = forgets * sums->ss[i][j] + s[i] * s[j];
            sums->qs[i][j] = forgets * sums->qs[i][j] + q[i] * s[j];
        }
}

/* rest_L; *directions: those of S that the sums hold. */
CC_API double cc_wrenches_rest(const CcWrenchSums *sums, int *directions)
{
    double A[6][6], C[6][6], rest = sums->qq, trace = 0.0;
    __builtin_memcpy(A, sums->ss, sizeof A);
    __builtin_memcpy(C, sums->qs, sizeof C);
    for (int i = 0; i < 6; i++)
        trace += A[i][i];
    for (*directions = 0; *directions < 6; *directions += 1) { /* elimination, the largest pivot first */
        int k = 0;
        for (int i = 1; i < 6; i++)
            k = A[i][i] > A[k][k] ? i : k;
        double pivot = A[k][k], row[6];
        if (!(pivot > CC_WRENCH_DIRECTION * trace))
            break;
        __builtin_memcpy(row, A[k], sizeof row);
        for (int i = 0; i < 6; i++) {
            double c = C[i][k] / pivot, a = row[i] / pivot;
            rest -= c * C[i][k];
            for (int j = 0; j < 6; j++)
                A[i][j] -= a * row[j], C[i][j] -= c * row[j];
        }
    }
    return rest > 0.0 ? rest : 0.0;
}

/* The exact lag; `now` if none is, or that leaves little. */
CC_API int cc_exact_lag(const CcWrenchLag *l, int now, double least)
{
    double rest[CC_LAGS];
    int directions[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        rest[L] = cc_wrenches_rest(l->of + L, directions + L);
    int best = cc_least_lag(rest);
    int exact = rest[best] < CC_WRENCHES_EXACT * rest[now] && l->of[now].samples > directions[best];
    return exact && rest[now] > CC_WRENCHES_OPEN * l->of[now].qq && rest[now] > least * least ? best : now;
}

/* The lag by which the body gives way, where it goes against the forces of the present one; `now` if there is none. */
CC_API int cc_passive_lag(const CcWrenchLag *l, int now, double least)
{
    double given[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++) {
        const CcWrenchSums *of = l->of + L;
        double ss = 0.0, qs = 0.0;
        for (int i = 0; i < 6; i++)
            ss += of->ss[i][i], qs += of->qs[i][i];
        given[L] = ss > 0.0 && of->qq > 0.0 ? qs / cc_sqrt(ss * of->qq) : 0.0;
    }
    int best = now;
    for (int L = 0; L < CC_LAGS; L++)
        best = given[L] > given[best] ? L : best;
    int against = given[now] < -CC_GIVES_WAY && given[best] > CC_GIVES_WAY;
    return against && l->of[now].samples > CC_GIVES_WAY_SAMPLES && l->of[now].qq > least * least ? best : now;
}

/* The lag to go on with after one more interval, `now` if it is given; fits: of the ports, W: largest one assumed,
 * 0 where B is learned. */
CC_API int cc_lag_by_wrenches(CcWrenchLag *l, double S[CC_KEPT_FORCES][6], int now, const CcTwistChange *seen,
                              const CcLagFits *fits, double W, int given)
{
    double s[6], change = cc_squares(seen->q);
    int clear = cc_exceeds_quiet_changes(&l->quiet_changes, change, seen->quiet);
    if (seen->quiet)
        *l = (CcWrenchLag){.quiet_changes = l->quiet_changes};
    else if (seen->compared)
        for (int L = 0; L < CC_LAGS; L++) {
            cc_wrench_change(S, L, s);
            cc_sum_wrenches(l->of + L, CC_LAG_FORGETS, s, seen->q);
        }
    if (seen->quiet || given)
        return now;
    int by_ports = cc_better_lag(now, fits, seen->least);
    l->confirmed = by_ports != now && fits->left[by_ports] <= CC_LAG_SURE * fits->answer ? l->confirmed + 1.0 : 0.0;
    int better = l->confirmed < CC_LAG_SAMPLES ? now : by_ports;
    if (seen->compared) {
        if (clear && W > 0.0 && change > seen->least * seen->least)
            better = cc_lag_by_first_answer(S, now, seen->q, CC_LIGHTEST * W);
        if (better == now)
            better = cc_exact_lag(l, now, seen->least);
        if (better == now)
            better = cc_passive_lag(l, now, seen->least);
    }
    l->confirmed = better == now ? l->confirmed : 0.0;
    return better;
}

#endif
