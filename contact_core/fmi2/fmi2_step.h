/* The communication step. */
#ifndef CC_FMI2_STEP_H
#define CC_FMI2_STEP_H

#include "fmi2.h"
#if CC_STATES
#include "../solver/solver.h"
#else
#include "../solver/stateless.h"
#endif

/* How far the importer's clock may lie from the end of the last step, s: the sum of
 *
 *     1e-9 h        of the step: what a conversion of units, or a clock of ten digits, leaves
 *     4 2^-52 t     units in the last place of the time t: of a clock that counts its steps, t_0 + k h
 *     n 2^-53 t     of one that adds them up, t += h: each of the n steps so far was rounded by half a unit at most
 *
 * and never more than half a step.  Where the clocks agree to the last bit, none of it is computed. */
CC_RARE double cc_clock_slack(double time, double h, double steps)
{
    double slack = 1e-9 * h + (0x1p-50 + 0x1p-53 * steps) * time;
    return slack < 0.5 * h ? slack : 0.5 * h;
}

/* What must hold before a step; 1 if it does. */
static inline int cc_may_step(Instance *instance, double t_c, double h)
{
    double t = cc_block(instance)[0];
    if (!cc_is_finite(t_c) || !cc_is_finite(h) || !(h > 0.0)) {
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DoStep) ": a step of %g s from %g s; the step must be greater than 0 and both "
                  "finite", h, t_c);
        return 0;
    }
    if (t_c != t) {
        double slack = cc_clock_slack(cc_max(cc_abs(t), cc_abs(t_c)), h, instance->now.steps_done);
        if (cc_abs(t_c - t) > slack) {
            cc_refuse(instance, fmi2Error,
                      CC_CALLED(DoStep) ": the step begins at %g s, but the last one ended at %g s: the "
                      "difference of %.3g s must be at most %.3g s", t_c, t, cc_abs(t_c - t), slack);
            return 0;
        }
    }
    double end = t_c + h, stop = instance->now.stop_time;
    if (!(end > t)) {
        cc_refuse(instance, fmi2Error, CC_CALLED(DoStep) ": a step of %g s from %g s does not move the clock", h, t_c);
        return 0;
    }
    if (instance->now.stop_defined != 0.0 && end > stop
        && end > stop + cc_min(1e-9 * cc_max(cc_abs(stop), h), 0.5 * h)) {
        cc_refuse(instance, fmi2Error, CC_CALLED(DoStep) ": the step ends at %g s, after the stop time %g s that "
                  CC_CALLED(SetupExperiment) " announced", end, stop);
        return 0;
    }
    return 1;
}

/* Without canHandleVariableCommunicationStepSize all steps have the length of the first one. */
CC_RARE int cc_other_length(Instance *instance, double h)
{
    double last = instance->now.last_step;
    if (last == 0.0 || cc_abs(h - last) <= 1e-9 * last)
        return 0;
    cc_refuse(instance, fmi2Error, CC_CALLED(DoStep) ": a step of %g s after one of %g s; this FMU has no "
              "canHandleVariableCommunicationStepSize", h, last);
    return 1;
}

/* A number for the inputs of the step that begins, by FNV-1a over words; 0 and -0 are one. */
static unsigned long long cc_hash_inputs(const Instance *instance)
{
    const double *block = (const double *)&instance->now.element;
    unsigned long long hash = 0xcbf29ce484222325ull, bits;
    for (int i = 0; i < CC_INPUTS; i++) {
        double values[2] = {block[cc_inputs[i]] + 0.0, 0.0};
        if (instance->now.extrapolate != 0.0)
            values[1] = instance->now.input_rates[i] + 0.0;
        for (int k = 0; k < 2; k++) {
            __builtin_memcpy(&bits, values + k, sizeof bits);
            hash = (hash ^ bits ^ bits >> 32) * 0x100000001b3ull;
        }
    }
    return hash;
}

/* Find whether the step from t_c on, of the length h, is one of those made last, and remember it. */
CC_RARE void cc_remember_step(Instance *instance, double t_c, double h)
{
    CcTried made = {t_c, h, cc_hash_inputs(instance)}, *at = NULL;
    for (int i = 0; i < CC_MOST_TRIED; i++)
        if (instance->tried[i].time == t_c && instance->tried[i].length == h)
            at = instance->tried + i;
    if (at && at->inputs != made.inputs)
        instance->iterates = CC_ITERATING;
    else if (!at && instance->iterates > 0)
        instance->iterates--;
    instance->repeats = !at ? CC_NO_REPEAT : instance->iterates ? CC_WITH_OTHER_INPUTS : CC_SAME_AGAIN;
    if (!at) {
        at = instance->tried + instance->tried_next;
        instance->tried_next = (instance->tried_next + 1) % CC_MOST_TRIED;
    }
    *at = made;
}

CC_FUNCTION fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                                  fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    CC_ENTER_OF(DoStep, fmi2CoSimulation, CC_STEP_COMPLETE);
    (void)noSetFMUStatePriorToCurrentPoint;
    double t_c = currentCommunicationPoint, h = communicationStepSize;
    if (!cc_may_step(instance, t_c, h))
        return fmi2Error;
    if (CC_PLAIN && cc_other_length(instance, h))
        return fmi2Error;
    CcBeforeStep began;
    cc_save_step(instance, &began);
    instance->stopped = 0;
    instance->step_end = t_c + h;
    int failures = cc_check_quaternions(instance);
    if (instance->now.changed != 0.0)
        failures += cc_check(instance);
    if (!failures) {
        if (instance->now.dirty == 0.0)
            instance->now.shown = 0.0; /* and nothing was set again */
        if (instance->now.jumped != 0.0) {
            CC_ENTRY(evaluate)(&instance->now.element, 0);
            instance->now.dirty = 0.0;
            if (instance->followed)
                instance->followed->settled = 0;
            cc_accept_point_of(instance, cc_max(instance->now.last_step, h));
        }
        if (CC_HAS_SAMPLE) {
            cc_keep_inputs(instance);
            if (instance->keeps)
                cc_remember_step(instance, t_c, h);
            CC_ENTRY(sample)(&instance->now.element, instance, h);
        }
        instance->now.behind = 1.0;
        failures = instance->failures || !(instance->stopped || cc_integrate(instance, t_c, t_c + h))
                   || instance->failures;
        int bad = failures ? -1 : cc_first_not_finite(instance, 1);
        if (bad >= 0) {
            failures = 1;
            cc_log_origin(instance, fmi2Error, cc_block(instance)[bad]);
            cc_refuse(instance, fmi2Error, CC_CALLED(DoStep) ": %s is not finite after the step from %g s to %g s",
                      cc_name(bad), t_c, t_c + h);
        }
    }
    if (failures) {
        cc_return_from_step(instance, &began);
        instance->now.last_status = fmi2Error;
        return cc_answer_step(instance, CC_FAILURE, t_c);
    }
    instance->now.sloped = instance->now.extrapolate;
    instance->now.extrapolate = 0.0;
    instance->now.changed = instance->now.jumped = instance->now.shown = instance->now.dirty = 0.0;
    instance->now.last_step = instance->stopped ? cc_block(instance)[0] - t_c : h;
    instance->now.steps_done += 1.0;
    instance->now.last_status = instance->stopped ? fmi2Discard : fmi2OK;
    return cc_answer_step(instance, (fmi2Status)instance->now.last_status, t_c);
}

#endif
