/* A communication step, and the evaluation of the element at its points. */
#ifndef CC_EVALUATION_H
#define CC_EVALUATION_H

#include "../instance.h"

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
static inline void cc_keep_inputs(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
}

/* Inputs and time at t_c + tau.  Time inside a step counts from its communication point, so that a large clock does not
 * blur it. */
static inline void cc_place(Instance *instance, const CcStep *step, double tau)
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

static inline void cc_evaluate_at(Instance *instance, CcStep *step, double tau)
{
    cc_evaluate_with(instance, step, instance->x_1, tau);
}

#endif
