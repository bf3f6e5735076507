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
static inline double cc_slope(const Instance *instance, size_t index)
{
    return cc_variable(index)->type == CC_REAL ? instance->dual[2 * index + 1] / CC_DUAL_STEP : 0.0;
}

static inline int cc_is_continuous_input(const CcVariable *v) { return v->kind == CC_INPUT && v->type == CC_REAL; }

/* Elements in Python have differences only, so modelDescription.xml does not announce derivatives. */
CC_RARE fmi2Status cc_refuse_derivatives(Instance *instance, const char *function)
{
    return cc_refuse(instance, fmi2Error, "%s is not supported: an element in Python has no exact derivatives",
                     function);
}

/* 1 if a derivative of the variable can be asked for; else 0, with a message. */
CC_RARE int cc_is_unknown(Instance *instance, const char *function, fmi2ValueReference vr)
{
    const CcVariable *v = cc_known_reference(instance, function, vr);
    if (!v)
        return 0;
    if (v->is_output || v->kind == CC_OUTPUT || v->kind == CC_STATE || v->kind == CC_DERIVATIVE)
        return 1;
    cc_refuse(instance, fmi2Error, "%s: the unknown %s is neither an output nor a state derivative", function,
              cc_name(vr));
    return 0;
}

/* 1 if a derivative with respect to the variable can be asked for; else 0, with a message. */
CC_RARE int cc_is_known(Instance *instance, const char *function, fmi2ValueReference vr)
{
    const CcVariable *v = cc_known_reference(instance, function, vr);
    if (!v)
        return 0;
    if (v->kind == CC_INPUT || v->kind == CC_STATE || v->kind == CC_TIME)
        return 1;
    cc_refuse(instance, fmi2Error, "%s: the known %s is neither an input nor a state nor time", function, cc_name(vr));
    return 0;
}

/* Directions of the element's memory that follow from those of inputs and time.  In initialization mode it is made by
 * `start`, which is compiled over double only: by differences along these directions.  Where those over one step and
 * over two disagree, `start` has a kink or a jump, and its memory keeps the direction 0. */
CC_RARE void cc_add_start_directions(Instance *instance)
{
    double *dual = instance->dual, *aside = (double *)&instance->before.element, step = 0.0;
    const double *block = cc_block(instance);
    int memory = 0;
    if (instance->now.mode != CC_INITIALIZATION)
        return;
    for (int i = 0; i < CC_VARIABLES; i++) {
        const CcVariable *v = cc_variable((size_t)i);
        double rate = cc_abs(dual[2 * i + 1]) / CC_DUAL_STEP;
        double most = block[i] != 0.0 ? CC_START_SHARE * cc_abs(block[i]) : CC_START_STEP;
        memory += v->kind == CC_MEMORY && v->type == CC_REAL;
        if ((v->kind == CC_INPUT || v->kind == CC_TIME) && rate > 0.0 && !(step > 0.0 && step * rate <= most))
            step = most / rate;
    }
    if (!memory || step == 0.0)
        return;
    for (int i = 0; i < CC_VARIABLES; i++) /* of memory, quotients over one step and over two */
        if (cc_variable((size_t)i)->kind == CC_MEMORY)
            dual[2 * i] = dual[2 * i + 1] = 0.0;
    for (int k = -2; k <= 2; k++) {
        if (k == 0)
            continue;
        __builtin_memcpy(aside, block, sizeof(double) * CC_VARIABLES);
        for (int i = 0; i < CC_VARIABLES; i++)
            if (cc_variable((size_t)i)->kind == CC_INPUT || cc_variable((size_t)i)->kind == CC_TIME)
                aside[i] += k * step * (dual[2 * i + 1] / CC_DUAL_STEP);
        CC_ENTRY(start)(&instance->before.element);
        for (int i = 0; i < CC_VARIABLES; i++)
            if (cc_variable((size_t)i)->kind == CC_MEMORY)
                dual[2 * i + (k == 2 || k == -2)] += (aside[i] - block[i]) / (2.0 * k * step);
    }
    for (int i = 0; i < CC_VARIABLES; i++)
        if (cc_variable((size_t)i)->kind == CC_MEMORY) {
            double near = dual[2 * i], far = dual[2 * i + 1];
            int agree = cc_abs(near - far) <= CC_START_NOISE * cc_abs(near) + 0x1p-40 * cc_abs(block[i]) / step;
            dual[2 * i] = block[i];
            dual[2 * i + 1] = agree && cc_variable((size_t)i)->type == CC_REAL
                                  ? CC_DUAL_STEP * ((4.0 * near - far) / 3.0)
                                  : 0.0;
        }
}

/* Of every unknown that ModelStructure names, over every known that it names except parameters.  Some importers
 * request all outputs over all inputs: a discrete variable, on either side, has the derivative 0. */
CC_FUNCTION fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[],
                                                    size_t nUnknown, const fmi2ValueReference vKnown_ref[],
                                                    size_t nKnown, const fmi2Real dvKnown[], fmi2Real dvUnknown[])
{
    CC_ENTER(GetDirectionalDerivative, CC_READABLE & ~CC_UPDATE);
    CC_NEED_CAPABILITY("providesDirectionalDerivative");
    if (CC_PYTHON)
        return cc_refuse_derivatives(instance, function);
    CC_NEED(nUnknown, vUnknown_ref);
    CC_NEED(nUnknown, dvUnknown);
    CC_NEED(nKnown, vKnown_ref);
    CC_NEED(nKnown, dvKnown);
    for (size_t k = 0; k < nUnknown; k++)
        if (!cc_is_unknown(instance, CC_CALLED(GetDirectionalDerivative), vUnknown_ref[k]))
            return fmi2Error;
    for (size_t k = 0; k < nKnown; k++)
        if (!cc_is_known(instance, CC_CALLED(GetDirectionalDerivative), vKnown_ref[k]))
            return fmi2Error;
    cc_refresh(instance, 0);
    cc_make_dual(instance);
    CC_EACH_SCALAR (vKnown_ref, nKnown)
        if (cc_variable(index)->type == CC_REAL)
            instance->dual[2 * index + 1] += dvKnown[at] * CC_DUAL_STEP;
    cc_add_start_directions(instance);
    CC_ENTRY(dual)(instance->dual, 1);
    CC_EACH_SCALAR (vUnknown_ref, nUnknown)
        if (!cc_is_finite(cc_slope(instance, index)))
            return cc_refuse(instance, cc_not_finite(instance), "%s: the derivative of %s is not finite", function,
                             cc_name(index));
    CC_EACH_SCALAR (vUnknown_ref, nUnknown)
        dvUnknown[at] = cc_slope(instance, index);
    return fmi2OK;
}

/* The place of a continuous input among all of them. */
static inline int cc_input_place(fmi2ValueReference vr)
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

/* 1 if fmi2SetRealInputDerivatives gave the slope of the input at this place for the next step, or for the last one. */
static inline int cc_is_given(const Instance *instance, int place)
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

CC_FUNCTION fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                                    const fmi2Integer order[], fmi2Real value[])
{
    CC_ENTER_OF(GetRealOutputDerivatives, fmi2CoSimulation, CC_STEP_MODES | CC_UPDATE | CC_ERROR | CC_TERMINATED);
    CC_NEED_CAPABILITY("maxOutputDerivativeOrder of 1");
    if (CC_PYTHON)
        return cc_refuse_derivatives(instance, function);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, order);
    CC_NEED(nvr, value);
    if (cc_check_references(instance, CC_CALLED(GetRealOutputDerivatives), CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    for (size_t k = 0; k < nvr; k++) {
        if (!cc_variable(vr[k])->is_output)
            return cc_refuse(instance, fmi2Error, CC_CALLED(GetRealOutputDerivatives) ": %s is no output",
                             cc_name(vr[k]));
        if (order[k] < 1)
            return cc_refuse(instance, fmi2Error,
                             CC_CALLED(GetRealOutputDerivatives) ": order %d of %s: the order must be at "
                             "least 1", order[k], cc_name(vr[k]));
    }
    cc_refresh(instance, 0);
    cc_make_dual(instance);
    cc_set_time_directions(instance);
    CC_ENTRY(dual)(instance->dual, 1);
    CC_EACH_SCALAR (vr, nvr)
        if (!cc_is_finite(instance->dual[2 * index + 1] / CC_DUAL_STEP))
            return cc_refuse(instance, fmi2Error, "%s: the derivative of %s is not finite", function, cc_name(index));
    CC_EACH_SCALAR (vr, nvr)
        value[at] = order[k] == 1 ? instance->dual[2 * index + 1] / CC_DUAL_STEP : 0.0;
    return fmi2OK;
}

#endif
