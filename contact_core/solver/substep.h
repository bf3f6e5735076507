/* What both methods need in a substep: evaluation at a point, the allowed error, zeros of indicators. */
#ifndef CC_SUBSTEP_H
#define CC_SUBSTEP_H

#include "../instance.h"

#define CC_NO_ZERO 2.0       /* a share of the substep that is none */
#define CC_LEDGER_SHARE 1e-3 /* relative error of a ledger that rounding turns on and off, */
#define CC_SURE_REFUSALS 3   /* after so many refusals in a row */

/* A communication step, and the substep it is at. */
typedef struct {
    double t_c, t_end, length; /* s */
    double tolerance, width;   /* width, s: how sharply events are located */
    double attempts, accepted, events, evaluations;
    double proposed;   /* length by the error control, s */
    double wanted;     /* length of the next attempt from this point, s */
    int is_short;      /* 1 if the last attempt was that of bogacki_shampine.h */
    int landings;      /* substeps in a row that ended before a zero */
    int ignores_zeros; /* 1 while zeros of indicators are passed over */
    int broken_off;    /* attempts from this point that met an event */
    int refused;       /* attempts from this point that had too large an error */
    int noisy;         /* of these, for a ledger that rounding turns on and off */
    int flickers;      /* 1 if rounding turned the sign of an indicator in the last attempt */
    int worst_state;   /* that had the largest error in the last attempt */
    int is_lost;       /* 1 if an indicator was no number in the last attempt; looked for where there is Python */
} CcStep;

/* Keep the inputs of the communication point, if they are going to move. */
static void cc_keep_inputs(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
}

/* Inputs and time at t_c + tau.  Time inside a step counts from its communication point, so that a large clock does not
 * blur it. */
static void cc_place(Instance *instance, const CcStep *step, double tau)
{
    double *block = cc_block(instance);
    block[0] = tau < step->length ? step->t_c + tau : step->t_end;
    if (instance->now.extrapolate != 0.0)
        for (int i = 0; i < CC_INPUTS; i++)
            block[cc_inputs[i]] = instance->input_starts[i] + instance->now.input_rates[i] * tau;
}

/* The block at the states x, at t_c + tau.  Where nothing moves under held inputs, current outputs stay as they are. */
__attribute__((noinline)) static void cc_evaluate_with(Instance *instance, CcStep *step, const double x[], double tau)
{
    double *block = cc_block(instance);
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
        block[cc_states[i]] = x[i];
    cc_place(instance, step, tau);
    if (CC_STILL && instance->now.dirty == 0.0 && instance->now.extrapolate == 0.0)
        return;
    CC_ENTRY(evaluate)(&instance->now.element, 0);
    step->evaluations += 1.0;
}

static void cc_evaluate_at(Instance *instance, CcStep *step, double tau)
{
    cc_evaluate_with(instance, step, instance->x_1, tau);
}

#if CC_STATES

/* Error allowed in state i, in its unit: tolerance * max(|x| before, |x| behind, the way it moves, its nominal value).
 * The last term keeps rounding from being taken for an error where a state rests at zero.  A ledger, a state no
 * right-hand side depends on, may err by CC_LEDGER_SHARE where rounding turns what it sums up on and off: shorter
 * substeps lessen that error in proportion only. */
static double cc_allowed(const Instance *instance, const CcStep *step, int i, double way)
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

#if CC_INDICATORS

/* 1 if it has, and by more than rounding at one of the two places. */
static int cc_has_crossed(const Instance *instance, CcStep *step, int i)
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

/* Indicators at the block, which stands at `share` of the substep: the share at which the first zero is expected,
 * CC_NO_ZERO if none has been crossed.  At a stage that is a step along the slope at the beginning, to_slope = 1/share
 * and the indicators' slopes over the substep are kept; else it is 0. */
static double cc_expected_zero(Instance *instance, CcStep *step, double share, double to_slope)
{
    double first = CC_NO_ZERO;
    const double *z_0 = instance->z_0, *z_1 = instance->z_1;
    CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
    for (int i = 0; i < CC_INDICATORS && to_slope > 0.0; i++)
        instance->z_slope[i] = (z_1[i] - z_0[i]) * to_slope;
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

#else

static double cc_expected_zero(Instance *instance, CcStep *step, double share, double to_slope)
{
    (void)instance, (void)step, (void)share, (void)to_slope;
    return CC_NO_ZERO;
}

#endif

#endif

#endif
