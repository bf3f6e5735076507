/* One short substep with the explicit Runge-Kutta pair of order 3(2) by Bogacki and Shampine.
 *
 * It takes half the evaluations of dormand_prince.h, where communication steps or events leave substeps so short that
 * the result is the same.
 *
 * Stages      x_2 = x_0 + h k_1/2,  x_3 = x_0 + 3 h k_2/4,  x_1 = x_0 + h (2 k_1 + 3 k_2 + 4 k_3)/9;  k_4 at the end
 * Error       h |-5 k_1 + 6 k_2 + 8 k_3 - 9 k_4|/72, of order h^3, while that of x_1 is of order h^4
 * Allowed     CC_SHORT_SHARE of what a substep may err by, at a tolerance of CC_SHORT_TOLERANCE at most.  What x_1 errs
 *             by is about the power 4/3 of the estimate: at the tolerance 1e-9 an estimate of 1e-12 stands for 1e-16,
 *             the rounding of x_1.
 *
 * It is tried up to the length `short_length`, which begins at that of a substep in which the error of the larger pair
 * was rounding alone.  Failures halve it.  Longer substeps let it grow slowly, or to their own length where the motion
 * has become smooth: the larger pair errs by rounding alone, and its stages show that this one would do as well.
 *
 * Source: Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321. */
#ifndef CC_BOGACKI_SHAMPINE_H
#define CC_BOGACKI_SHAMPINE_H

#include "substep.h"

#define CC_SHORT_SHARE 1e-3
#define CC_SHORT_TOLERANCE 1e-9
#define CC_SHORT_ROUNDING 0x1p-50 /* relative error of the larger pair that is rounding alone */
#define CC_SHORT_REGROWTH 1.02    /* of short_length, for each longer substep */
#define CC_SHORT_SURELY 0.25      /* of what is allowed: with this error, a step half as long again would pass too */

/* x_1 = the states of a stage; a loop over the states for each, in which the weights are numbers. */
static inline void cc_short_states(Instance *instance, int stage, double h)
{
    const double *x_0 = instance->x_0, *k_1 = instance->slopes[0], *k_2 = instance->slopes[1];
    const double *k_3 = instance->slopes[2];
    double *restrict x = instance->x_1;
    switch (stage) {
    case 1:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + 0.5 * h * k_1[i];
        break;
    case 2:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + 0.75 * h * k_2[i];
        break;
    default:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * ((2.0 * k_1[i] + 3.0 * k_2[i] + 4.0 * k_3[i]) * (1.0 / 9.0));
    }
}

/* The stages behind the first, from x_0 at tau to `end`, where the block is left evaluated, with k_4 as the last
 * slopes; stops and returns as cc_explicit_stages does. */
static inline double cc_short_stages(Instance *instance, CcStep *step, double tau, double end)
{
    static const double nodes[4] = {0.0, 0.5, 0.75, 1.0};
    double *block = cc_block(instance), h = end - tau;
    for (int stage = 1; stage < 4; stage++) {
        double *slopes = instance->slopes[stage < 3 ? stage : CC_STAGES - 1];
        cc_short_states(instance, stage, h);
        cc_evaluate_at(instance, step, stage < 3 ? tau + nodes[stage] * h : end);
        double zero = cc_expected_zero(instance, step, nodes[stage], stage == 1 ? 2.0 : 0.0);
        if (zero < CC_NO_ZERO)
            return zero;
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            slopes[i] = block[cc_state_derivatives[i]];
    }
    return CC_NO_ZERO;
}

/* What is allowed here, as a share of what a substep may err by. */
static inline double cc_short_share(const CcStep *step)
{
    return CC_SHORT_SHARE * cc_min(1.0, CC_SHORT_TOLERANCE / step->tolerance);
}

/* The largest estimated error as a multiple of what is allowed here; NaN if a value is not finite. */
static inline double cc_short_error(const Instance *instance, const CcStep *step, double h)
{
    const double *k_1 = instance->slopes[0], *k_2 = instance->slopes[1], *k_3 = instance->slopes[2];
    const double *k_4 = instance->slopes[CC_STAGES - 1];
    double worst = 0.0, not_finite = 0.0; /* NaN if an error is infinite or NaN, else 0 */
    for (int i = 0; i < CC_STATES; i++) {
        double sum = 6.0 * k_2[i] + 8.0 * k_3[i] - 5.0 * k_1[i] - 9.0 * k_4[i];
        double error = cc_abs(sum) / cc_allowed(instance, step, i, h * cc_abs(k_1[i]));
        worst = error > worst ? error : worst;
        not_finite += 0.0 * error;
    }
    return h * (worst + not_finite) / (72.0 * cc_short_share(step));
}

/* Adapt short_length after an attempt of length h with the error e. */
static inline void cc_learn_short(Instance *instance, double h, double e)
{
    double *length = &instance->now.short_length;
    if (e < 1.0 / 16.0)
        *length = cc_max(*length, 2.0 * h); /* eight times the error at most */
    for (int halved = 0; !(e <= 1.0) && halved < 32; halved++, e *= 0.125)
        *length = halved ? 0.5 * *length : 0.5 * h;
}

/* What cc_short_error would find in the place of a substep of the larger pair, of the length h: where slopes are
 * k_1 + b c + a c^2 at the share c of it, the sum of its estimate is -3 a. */
static inline double cc_expected_short_error(const Instance *instance, const CcStep *step, double h)
{
    const double *k_1 = instance->slopes[0], *k_3 = instance->slopes[2], *k_7 = instance->slopes[CC_STAGES - 1];
    double worst = 0.0, c = 0.3; /* of k_3 */
    for (int i = 0; i < CC_STATES; i++) {
        double a = ((k_7[i] - k_1[i]) - (k_3[i] - k_1[i]) / c) / (1.0 - c);
        worst = cc_max(worst, 3.0 * cc_abs(a) / cc_allowed(instance, step, i, h * cc_abs(k_1[i])));
    }
    return h * worst / (72.0 * cc_short_share(step));
}

/* Adapt short_length after an accepted substep of the larger pair. */
static inline void cc_learn_long(Instance *instance, const CcStep *step, double h, double error)
{
    double *length = &instance->now.short_length;
    if (error * step->tolerance <= CC_SHORT_ROUNDING && *length < h)
        if (*length == 0.0 || cc_expected_short_error(instance, step, h) <= CC_SHORT_SURELY)
            *length = h;
    *length *= CC_SHORT_REGROWTH;
}

#endif
