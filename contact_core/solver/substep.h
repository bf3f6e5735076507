/* What both methods need in a substep: the allowed error, zeros of indicators. */
#ifndef CC_SUBSTEP_H
#define CC_SUBSTEP_H

#include "evaluation.h"

#define CC_NO_ZERO 2.0       /* a share of the substep that is none */
#define CC_LEDGER_SHARE 1e-3 /* relative error of a ledger that rounding turns on and off, */
#define CC_SURE_REFUSALS 3   /* after so many refusals in a row */

#if CC_INDICATORS <= 16
#define CC_INDICATOR_LOOP CC_UNROLL
#else
#define CC_INDICATOR_LOOP CC_ONE_BY_ONE
#endif

/* Error allowed in state i, in its unit: tolerance * max(|x| before, |x| behind, the way it moves, its nominal value).
 * The last term keeps rounding from being taken for an error where a state rests at zero.  A ledger, a state no
 * right-hand side depends on, may err by CC_LEDGER_SHARE where rounding turns what it sums up on and off: shorter
 * substeps lessen that error in proportion only. */
static inline double cc_allowed(const Instance *instance, const CcStep *step, int i, double way)
{
    double size = cc_max(cc_max(cc_abs(instance->x_0[i]), cc_abs(instance->x_1[i])), way);
    int coarse = step->noisy >= CC_SURE_REFUSALS && !cc_is_core[i];
    double share = coarse ? CC_LEDGER_SHARE : step->tolerance;
    return share * cc_max(size, cc_state_nominals[i]);
}

/* 1 if indicator i has another sign than at the beginning of the substep; 0 is a sign of its own; infinity has none. */
static int cc_has_turned(const Instance *instance, int i)
{
    double a = instance->z_0[i], b = instance->z_1[i];
    return cc_is_finite(b) && ((a > 0.0) != (b > 0.0) || (a < 0.0) != (b < 0.0));
}

/* 1 if it has, and by more than rounding at one of the two places. */
static inline int cc_has_crossed(const Instance *instance, CcStep *step, int i)
{
    if (!cc_has_turned(instance, i))
        return 0;
    double noise = step->tolerance * cc_indicator_nominals[i];
    int crossed = cc_abs(instance->z_0[i]) > noise || cc_abs(instance->z_1[i]) > noise;
    step->flickers |= !crossed;
    return crossed;
}

/* The zero in 0 .. share of the parabola through z_0 with the slope `slope` there, and through z_1 at `share`. */
static double cc_zero_of_parabola(double z_0, double slope, double z_1, double share)
{
    double b = ((z_1 - z_0) / share - slope) / share, root = slope * slope - 4.0 * b * z_0;
    double q = -0.5 * (slope + (slope < 0.0 ? -1.0 : 1.0) * cc_sqrt(cc_max(root, 0.0)));
    double one = q != 0.0 ? z_0 / q : share, other = b != 0.0 ? q / b : share; /* their product is z_0 / b */
    one = one >= 0.0 && one <= share ? one : share;
    other = other >= 0.0 && other <= share ? other : share;
    return one < other ? one : other;
}

/* 1 if all indicators are on the sides of the beginning of the substep, and none is 0 or no number. */
static inline int cc_is_on_same_sides(const Instance *instance)
{
    const double *z_0 = instance->z_0, *z_1 = instance->z_1;
    int same = 1;
    CC_INDICATOR_LOOP for (int i = 0; i < CC_INDICATORS; i++)
        same &= z_0[i] * z_1[i] > 0.0;
    return same;
}

/* Indicators at the block, which stands at `share` of the substep: the share at which the first zero is expected,
 * CC_NO_ZERO if none has been crossed.  At a stage that is a step along the slope at the beginning, to_slope = 1/share
 * and the indicators' slopes over the substep are kept; else it is 0. */
static double cc_expected_zero(Instance *instance, CcStep *step, double share, double to_slope)
{
    double first = CC_NO_ZERO;
    const double *z_0 = instance->z_0, *z_1 = instance->z_1;
    if (!CC_INDICATORS)
        return first;
    CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
    for (int i = 0; i < CC_INDICATORS && to_slope > 0.0; i++)
        instance->z_slope[i] = (z_1[i] - z_0[i]) * to_slope;
    if (cc_is_on_same_sides(instance))
        return first;
    for (int i = 0; i < CC_INDICATORS; i++) {
        if (CC_PYTHON && (z_0[i] != z_0[i] || z_1[i] != z_1[i]))
            step->is_lost = 1;
        if (z_0[i] * z_1[i] > 0.0 || !cc_has_crossed(instance, step, i) || step->ignores_zeros)
            continue;
        double zero = cc_zero_of_parabola(z_0[i], instance->z_slope[i], z_1[i], share);
        first = zero < first ? zero : first;
    }
    return first;
}

#endif
