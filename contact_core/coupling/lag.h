/* What all coupled ports share: what they are given, what gives their force, and how evidence decides between lags.
 *
 * Lag         L, intervals between a sample and the interval on which its force acts: 0 Gauss-Seidel, 1 Jacobi,
 *             2 Jacobi with inputs a step late
 * Remainder   what a multiple of the changes s of the force with the lag L leaves of the changes q of an acceleration,
 *
 *                 J_L = sum q^2 - (sum s q)^2 / sum s^2      0 with the true lag of a body that nothing else moves */
#ifndef CC_LAG_H
#define CC_LAG_H

#include "../base/real.h"

enum { CC_LAG_AUTO = -1 }; /* the lag is found */

#define CC_LAGS 3

typedef struct {
    int lag;        /* 0, 1, 2, or CC_LAG_AUTO */
    int identify;   /* 0: the inertia stays as given */
    int straight;   /* 1: mean force along the straight line of v, W = 0: for partners whose motion is prescribed */
    double inertia; /* effective mass, kg, or moment of inertia, kg m^2, given; 0: none */
    int holds;      /* 1: the literal force acts, and is watched */
} CcCouplingOptions;

/* What gives the force: the law at the inputs, a first guess of the inertia, the bodies as free masses, the bodies as
 * their model has them, a motion that the force does not change. */
enum { CC_HELD, CC_FIRST_GUESSED, CC_FREE_BODY, CC_MODELLED, CC_PRESCRIBED };

/* The lag as an index. */
CC_API int cc_lag(double lag) { return cc_index(lag, CC_LAGS); }

/* Below this a fading sum is 0.  A product of denormal numbers takes a hundred times as long as others, and a share
 * above 1/2 of the least of them is rounded to it again: a body at rest would be slow for ever.  The square of what is
 * left must not be denormal either. */
#define CC_GONE 1e-140

/* The share of a fading sum that is left. */
CC_SMALL double cc_faded(double share, double sum)
{
    double left = share * sum;
    return __builtin_fabs(left) < CC_GONE ? 0.0 : left;
}

/* The largest of what was shown, of which each sample leaves a share. */
CC_SMALL double cc_fading_peak(double share, double peak, double newest)
{
    double left = cc_faded(share, peak);
    return left > newest ? left : newest;
}

/* Put n numbers in front of `count` such rows, the newest first; the last row goes. */
CC_API void cc_put_first(double *rows, int count, int n, const double *newest)
{
    __builtin_memmove(rows + n, rows, (unsigned long)(count - 1) * (unsigned long)n * sizeof *rows);
    __builtin_memcpy(rows, newest, (unsigned long)n * sizeof *rows);
}

/* J of the sums of s s, s q, q q. */
CC_API double cc_remainder(double ss, double sq, double qq) { return ss > 0.0 ? qq - sq * sq / ss : qq; }

/* The lag of the least of these. */
CC_API int cc_least_lag(const double left[CC_LAGS])
{
    int best = 0;
    for (int L = 1; L < CC_LAGS; L++)
        best = left[L] < left[best] ? L : best;
    return best;
}

/* 1 if that of the lag is below a share of each other one. */
CC_API int cc_is_least_by(const double left[CC_LAGS], int lag, double share)
{
    int least = 1;
    for (int L = 0; L < CC_LAGS; L++)
        least &= L == lag || left[lag] < share * left[L];
    return least;
}

#endif
