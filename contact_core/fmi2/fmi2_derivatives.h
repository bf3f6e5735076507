/* Directional derivatives, derivatives of inputs and outputs. */
#ifndef CC_FMI2_DERIVATIVES_H
#define CC_FMI2_DERIVATIVES_H

#include "fmi2_variables.h"

/* The block as dual numbers with all directions zero. */
CC_RARE void cc_make_dual(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_VARIABLES; i++) {
        instance->dual[2 * i] = block[i];
        instance->dual[2 * i + 1] = 0.0;
    }
}

/* The computed derivative of a variable; 0 of a discrete one, which changes at events only. */
static double cc_slope(const Instance *instance, fmi2ValueReference vr)
{
    return cc_variable(vr)->type == CC_REAL ? instance->dual[2 * vr + 1] / CC_DUAL_STEP : 0.0;
}

static int cc_is_continuous_input(const CcVariable *v) { return v->kind == CC_INPUT && v->type == CC_REAL; }

/* Elements in Python have differences only, so modelDescription.xml does not announce derivatives. */
CC_RARE fmi2Status cc_refuse_derivatives(Instance *instance, const char *name)
{
    return cc_refuse(instance, fmi2Error, "%s is not supported: an element in Python has no exact derivatives",
                     cc_standard_name(name));
}

/* Of every unknown that ModelStructure names, over every known that it names except parameters.  Some importers
 * request all outputs over all inputs: a discrete variable, on either side, has the derivative 0. */
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    CC_ENTER(CC_READABLE);
    if (CC_PYTHON)
        return cc_refuse_derivatives(instance, __func__);
    CC_NEED(nUnknown, vUnknown_ref);
    CC_NEED(nUnknown, dvUnknown);
    CC_NEED(nKnown, vKnown_ref);
    CC_NEED(nKnown, dvKnown);
    for (size_t k = 0; k < nUnknown; k++) {
        const CcVariable *v = cc_known_reference(instance, "fmi2GetDirectionalDerivative", vUnknown_ref[k]);
        if (!v)
            return fmi2Error;
        if (!v->is_output && v->kind != CC_OUTPUT && v->kind != CC_STATE && v->kind != CC_DERIVATIVE)
            return cc_refuse(instance, fmi2Error, "fmi2GetDirectionalDerivative: the unknown %s is neither an output "
                             "nor a state derivative", cc_name(vUnknown_ref[k]));
    }
    for (size_t k = 0; k < nKnown; k++) {
        const CcVariable *v = cc_known_reference(instance, "fmi2GetDirectionalDerivative", vKnown_ref[k]);
        if (!v)
            return fmi2Error;
        if (v->kind != CC_INPUT && v->kind != CC_STATE && v->kind != CC_TIME)
            return cc_refuse(instance, fmi2Error, "fmi2GetDirectionalDerivative: the known %s is neither an input nor "
                             "a state nor time", cc_name(vKnown_ref[k]));
    }
    cc_refresh(instance, 0);
    cc_make_dual(instance);
    for (size_t k = 0; k < nKnown; k++)
        if (cc_variable(vKnown_ref[k])->type == CC_REAL)
            instance->dual[2 * vKnown_ref[k] + 1] += dvKnown[k] * CC_DUAL_STEP;
    CC_ENTRY(dual)(instance->dual, 1);
    for (size_t k = 0; k < nUnknown; k++)
        if (!cc_is_finite(cc_slope(instance, vUnknown_ref[k])))
            return cc_refuse(instance, cc_not_finite(instance),
                             "fmi2GetDirectionalDerivative: the derivative of %s is not finite",
                             cc_name(vUnknown_ref[k]));
    for (size_t k = 0; k < nUnknown; k++)
        dvUnknown[k] = cc_slope(instance, vUnknown_ref[k]);
    return fmi2OK;
}

/* The place of a continuous input among all of them. */
static int cc_input_place(fmi2ValueReference vr)
{
    int low = 0, high = CC_INPUTS - 1; /* cc_inputs is ascending */
    while (low < high) {
        int middle = (low + high) / 2;
        if (cc_inputs[middle] < (int)vr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first slope after a step clears those of that step. */
static void cc_begin_slopes(Instance *instance)
{
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate == 0.0; i++)
        instance->now.input_rates[i] = instance->now.given_rates[i] = 0.0;
    instance->now.extrapolate = instance->now.sloped = 1.0;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    CC_ENTER_OF(fmi2CoSimulation, CC_INSTANTIATED | CC_INITIALIZATION | CC_STEP_COMPLETE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, order);
    CC_NEED(nvr, value);
    if (cc_check_references(instance, "fmi2SetRealInputDerivatives", CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    fmi2Status status = fmi2OK;
    for (size_t k = 0; k < nvr; k++) {
        const CcVariable *v = cc_variable(vr[k]);
        if (!cc_is_continuous_input(v))
            return cc_refuse(instance, fmi2Error, "fmi2SetRealInputDerivatives: %s is no continuous input",
                             cc_name(vr[k]));
        if (order[k] < 1)
            return cc_refuse(instance, fmi2Error, "fmi2SetRealInputDerivatives: order %d of %s: the order must be at "
                             "least 1", order[k], cc_name(vr[k]));
        if (!cc_is_finite(value[k]))
            status = cc_refuse(instance, fmi2Discard, "fmi2SetRealInputDerivatives: the derivative %g of %s is "
                               "refused, it must be finite", value[k], cc_name(vr[k]));
    }
    if (status != fmi2OK)
        return status;
    for (size_t k = 0; k < nvr; k++) {
        if (order[k] > 1) {
            status = cc_refuse(instance, fmi2Warning, "fmi2SetRealInputDerivatives: order %d of %s is ignored, inputs "
                               "are extrapolated with order 1", order[k], cc_name(vr[k]));
            continue;
        }
        cc_begin_slopes(instance);
        instance->now.input_rates[cc_input_place(vr[k])] = value[k];
        instance->now.given_rates[cc_input_place(vr[k])] = 1.0;
    }
    return status;
}

/* 1 if fmi2SetRealInputDerivatives gave the slope of the input at this place for the next step, or for the last one. */
static int cc_is_given(const Instance *instance, int place)
{
    return instance->now.sloped != 0.0 && instance->now.given_rates[place] != 0.0;
}

/* Directions of d/dt: time itself, states, and inputs: the slope that was given, else the derivative that is known
 * (r' = v, q' = (0, w) q / 2), else 0. */
CC_RARE void cc_set_time_directions(Instance *instance)
{
    const double *block = cc_block(instance);
    double *dual = instance->dual;
    dual[1] = CC_DUAL_STEP;
    for (int i = 0; i < CC_INPUTS; i++) {
        int rate = cc_input_rates[i];
        double slope = cc_is_given(instance, i) ? instance->now.input_rates[i] : rate >= 0 ? block[rate] : 0.0;
        dual[2 * cc_inputs[i] + 1] = slope * CC_DUAL_STEP;
    }
    for (int i = 0; i < CC_QUATERNIONS; i++) {
        const double *q = block + cc_quaternions[i][0], *w = block + cc_quaternions[i][1];
        int place = cc_input_place((fmi2ValueReference)cc_quaternions[i][0]), given = 0;
        for (int k = 0; k < 4; k++)
            given |= cc_is_given(instance, place + k);
        if (given)
            continue;
        double *direction = dual + 2 * cc_quaternions[i][0] + 1;
        direction[0] = 0.5 * (-w[0] * q[1] - w[1] * q[2] - w[2] * q[3]) * CC_DUAL_STEP;
        direction[2] = 0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]) * CC_DUAL_STEP;
        direction[4] = 0.5 * (w[1] * q[0] + w[2] * q[1] - w[0] * q[3]) * CC_DUAL_STEP;
        direction[6] = 0.5 * (w[2] * q[0] + w[0] * q[2] - w[1] * q[1]) * CC_DUAL_STEP;
    }
    for (int i = 0; i < CC_STATES; i++)
        dual[2 * cc_states[i] + 1] = block[cc_state_derivatives[i]] * CC_DUAL_STEP;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    CC_ENTER_OF(fmi2CoSimulation, CC_STEP_COMPLETE | CC_ERROR | CC_TERMINATED);
    if (CC_PYTHON)
        return cc_refuse_derivatives(instance, __func__);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, order);
    CC_NEED(nvr, value);
    if (cc_check_references(instance, "fmi2GetRealOutputDerivatives", CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    for (size_t k = 0; k < nvr; k++) {
        if (!cc_variable(vr[k])->is_output)
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: %s is no output",
                             cc_name(vr[k]));
        if (order[k] < 1)
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: order %d of %s: the order must be at "
                             "least 1", order[k], cc_name(vr[k]));
    }
    cc_refresh(instance, 0);
    cc_make_dual(instance);
    cc_set_time_directions(instance);
    CC_ENTRY(dual)(instance->dual, 1);
    for (size_t k = 0; k < nvr; k++)
        if (!cc_is_finite(instance->dual[2 * vr[k] + 1] / CC_DUAL_STEP))
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: the derivative of %s is not finite",
                             cc_name(vr[k]));
    for (size_t k = 0; k < nvr; k++)
        value[k] = order[k] == 1 ? instance->dual[2 * vr[k] + 1] / CC_DUAL_STEP : 0.0;
    return fmi2OK;
}

#endif
