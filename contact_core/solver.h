/* Integration of one communication step with the classical Runge-Kutta method of order 4.
 *
 * Inputs are held, or follow u(t) = u(t_c) + u' (t - t_c) where the importer gave derivatives.  A sign change of an
 * indicator is located by bisection to 1e-12 of the step; the step then ends just behind it, the element accepts the
 * point, and integration goes on from there. */
#ifndef CC_SOLVER_H
#define CC_SOLVER_H

#include "instance.h"

#define CC_MAX_EVENTS 1000 /* in one communication step; more is chatter, and the importer must hear of it */

/* Inputs and time at t, s. */
static void cc_place(Instance *instance, double t_c, double t)
{
    double *block = cc_block(instance);
    block[0] = t;
    if (instance->now.extrapolate != 0.0)
        for (int i = 0; i < CC_INPUTS; i++)
            block[cc_inputs[i]] = instance->input_starts[i] + instance->now.input_rates[i] * (t - t_c);
}

/* From x_0 at t to t + h; the block is left evaluated at the end. */
static void cc_runge_kutta(Instance *instance, double t_c, double t, double h)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double *block = cc_block(instance);
    for (int i = 0; i < CC_STATES; i++)
        instance->x_sum[i] = instance->x_0[i];
    for (int stage = 0; CC_STATES && stage < 4; stage++) {
        for (int i = 0; i < CC_STATES; i++) /* the slope still in the block is that of the stage before */
            block[cc_states[i]] =
                instance->x_0[i] + (stage ? node[stage] * h * block[cc_state_derivatives[i]] : 0.0);
        cc_place(instance, t_c, t + node[stage] * h);
        CC_ENTRY(evaluate)(&instance->now.element);
        for (int i = 0; i < CC_STATES; i++)
            instance->x_sum[i] += weight[stage] * h * block[cc_state_derivatives[i]];
    }
    for (int i = 0; i < CC_STATES; i++)
        block[cc_states[i]] = instance->x_sum[i];
    cc_place(instance, t_c, t + h);
    CC_ENTRY(evaluate)(&instance->now.element);
}

#if CC_INDICATORS
static int cc_changed_sign(const double a[], const double b[])
{
    for (int i = 0; i < CC_INDICATORS; i++)
        if ((a[i] > 0.0 && b[i] < 0.0) || (a[i] < 0.0 && b[i] > 0.0))
            return 1;
    return 0;
}
#endif

/* One step from t towards t_end: to t_end itself, or to just behind the first sign change.  Returns its length. */
static double cc_step(Instance *instance, double t_c, double t, double t_end)
{
    double *block = cc_block(instance);
    double h = t_end - t;
    for (int i = 0; i < CC_STATES; i++)
        instance->x_0[i] = block[cc_states[i]];
#if CC_INDICATORS
    CC_ENTRY(indicators)(&instance->now.element, instance->z_0);
    cc_runge_kutta(instance, t_c, t, h);
    CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
    if (!cc_changed_sign(instance->z_0, instance->z_1))
        return h;
    double low = 0.0;
    while (h - low > 1e-12 * (t_end - t_c)) {
        double middle = 0.5 * (low + h);
        cc_runge_kutta(instance, t_c, t, middle);
        CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
        if (cc_changed_sign(instance->z_0, instance->z_1))
            h = middle;
        else
            low = middle;
    }
#endif
    cc_runge_kutta(instance, t_c, t, h);
    return h;
}

/* From the block's time to t_end, accepting every step.  Returns 0, or 1 if the events do not come to an end. */
static int cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    double t = block[0];
    for (int i = 0; i < CC_INPUTS; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
    if (CC_QUADRATURE && instance->now.extrapolate == 0.0) { /* all rates are constant: nothing to solve or to locate */
        for (int i = 0; i < CC_STATES; i++)
            block[cc_states[i]] += (t_end - t) * block[cc_state_derivatives[i]];
        block[0] = t_end;
        CC_ENTRY(evaluate)(&instance->now.element);
        CC_ENTRY(accept)(&instance->now.element, instance, t_end - t);
        return 0;
    }
    for (int events = 0; events < CC_MAX_EVENTS; events++) {
        double h = cc_step(instance, t_c, t, t_end);
        int last = h >= t_end - t;
        if (last)
            cc_place(instance, t_c, t_end);
        CC_ENTRY(accept)(&instance->now.element, instance, h);
        if (last)
            return 0;
        t += h;
    }
    return 1;
}

#endif
