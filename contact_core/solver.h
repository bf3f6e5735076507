/* Integration of one communication step with the Runge-Kutta pair of order 5(4) by Dormand and Prince.
 *
 * Inputs are held, or follow u(t) = u(t_c) + u' (t - t_c) where the importer gave derivatives.
 *
 * Substeps    An attempt is refused and halved while its estimated error in a state x exceeds
 *                 tolerance * max(|x| before, |x| behind, substep * |x'| at any stage),
 *             a measure without units and without a size below which states would not count.
 * Events      Between two of their zeros the indicators promise smooth right-hand sides.  An attempt with a stage on
 *             which an indicator has another sign than at its beginning (0 is a sign of its own) is halved as well, so
 *             substeps end closer and closer before the zero, and the last one, CC_EVENT_STEP long, leads behind it:
 *             no accepted substep mixes both sides.  Indicators linear in time are never missed; others may cross twice
 *             between two stages.
 * Chatter     An indicator that rounding shakes around zero would cost an event at every stage: after CC_MAX_EVENTS
 *             events, signs are left alone until the end of the communication step.
 *
 * The element accepts the end of every substep.  Time inside a step counts from its communication point, so that a
 * large clock does not blur it.
 *
 * Source: Dormand & Prince, J. Comp. Appl. Math. 6 (1980) 19. */
#ifndef CC_SOLVER_H
#define CC_SOLVER_H

#include "instance.h"

#define CC_MAX_EVENTS 100                /* located in one communication step */
#define CC_EVENT_STEP 0x1p-40            /* of the communication step: how sharply events are located */
#define CC_SMALLEST_STEP 0x1p-17         /* of the communication step: attempts this short are not refused for their error */
#define CC_SMALLEST_TOLERANCE 1e-13      /* below it rounding would be taken for an error of the method */

static const double cc_nodes[CC_STAGES] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};
static const double cc_stage_weights[CC_STAGES][CC_STAGES - 1] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}, /* the end of the substep */
};
static const double cc_error_weights[CC_STAGES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

/* A communication step. */
typedef struct {
    double t_c, t_end, length; /* s */
    double tolerance;
    int locate;                /* 0 after too many events */
} CcStep;

/* Inputs and time at t_c + tau. */
static void cc_place(Instance *instance, const CcStep *step, double tau)
{
    double *block = cc_block(instance);
    block[0] = tau < step->length ? step->t_c + tau : step->t_end;
    if (instance->now.extrapolate != 0.0)
        for (int i = 0; i < CC_INPUTS; i++)
            block[cc_inputs[i]] = instance->input_starts[i] + instance->now.input_rates[i] * tau;
}

/* Where the block stands in relation to the beginning of the attempt: 1 if an indicator has changed its sign. */
static int cc_has_crossed(Instance *instance)
{
#if CC_INDICATORS
    const double *a = instance->z_0, *b = instance->z_1;
    CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
    for (int i = 0; i < CC_INDICATORS; i++)
        if ((a[i] > 0.0) != (b[i] > 0.0) || (a[i] < 0.0) != (b[i] < 0.0))
            return 1;
#endif
    (void)instance;
    return 0;
}

/* From x_0 at tau to `end`, where the block is left evaluated.  Returns 1 if an indicator changes its sign on the way;
 * *error is the estimated error as a multiple of what is allowed. */
static int cc_attempt(Instance *instance, const CcStep *step, double tau, double end, double *error)
{
    double *block = cc_block(instance), h = end - tau;
    int crossed = 0;
    for (int stage = 0; stage < CC_STAGES; stage++) {
        for (int i = 0; i < CC_STATES; i++) {
            double slope = 0.0;
            for (int s = 0; s < stage; s++)
                slope += cc_stage_weights[stage][s] * instance->slopes[s][i];
            block[cc_states[i]] = instance->x_0[i] + h * slope;
        }
        cc_place(instance, step, cc_nodes[stage] < 1.0 ? tau + cc_nodes[stage] * h : end);
        CC_ENTRY(evaluate)(&instance->now.element);
        crossed |= step->locate && cc_has_crossed(instance);
        for (int i = 0; i < CC_STATES && stage + 1 < CC_STAGES; i++)
            instance->slopes[stage][i] = block[cc_state_derivatives[i]];
    }
    *error = 0.0;
    for (int i = 0; i < CC_STATES; i++) {
        double slope = block[cc_state_derivatives[i]];
        double sum = cc_error_weights[CC_STAGES - 1] * slope, steepest = cc_abs(slope);
        for (int s = 0; s + 1 < CC_STAGES; s++) {
            slope = instance->slopes[s][i];
            sum += cc_error_weights[s] * slope;
            steepest = cc_max(steepest, cc_abs(slope));
        }
        double size = cc_max(cc_max(cc_abs(instance->x_0[i]), cc_abs(block[cc_states[i]])), h * steepest);
        if (h * cc_abs(sum) > *error * step->tolerance * size)
            *error = h * cc_abs(sum) / (step->tolerance * size);
    }
    return crossed;
}

/* From the block's time to t_end, accepting every substep.  It comes to an end in any case; what went wrong shows in
 * values that are not finite. */
static void cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    for (int i = 0; i < CC_INPUTS; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
    if (CC_QUADRATURE && instance->now.extrapolate == 0.0) { /* all rates are constant: nothing to solve or to locate */
        double h = t_end - block[0];
        for (int i = 0; i < CC_STATES; i++)
            block[cc_states[i]] += h * block[cc_state_derivatives[i]];
        block[0] = t_end;
        CC_ENTRY(evaluate)(&instance->now.element);
        CC_ENTRY(accept)(&instance->now.element, instance, h);
        return;
    }
    double tolerance = instance->now.tolerance > 0.0 ? instance->now.tolerance : CC_TOLERANCE;
    CcStep step = {t_c, t_end, t_end - t_c, cc_max(tolerance, CC_SMALLEST_TOLERANCE), 1};
    double tau = block[0] - t_c, h = step.length - tau;
    for (int events = 0, refused = 0; tau < step.length;) {
        double end = h < step.length - tau ? tau + h : step.length, error;
        if (!refused) { /* else the attempt before began here as well */
            for (int i = 0; i < CC_STATES; i++)
                instance->x_0[i] = block[cc_states[i]];
            CC_ENTRY(indicators)(&instance->now.element, instance->z_0);
        }
        int crossed = cc_attempt(instance, &step, tau, end, &error);
        h = end - tau;
        if ((crossed && h > CC_EVENT_STEP * step.length) || (error > 1.0 && h > CC_SMALLEST_STEP * step.length)) {
            h *= 0.5;
            refused = 1;
            continue;
        }
        CC_ENTRY(accept)(&instance->now.element, instance, h);
        tau = end;
        if (crossed) {
            step.locate = ++events < CC_MAX_EVENTS;
            h = step.length - tau;
        } else if (!refused && error < 1.0 / 64.0) { /* twice the step has at most 2^6 times the error */
            h *= 2.0;
        }
        refused = 0;
    }
}

#endif
