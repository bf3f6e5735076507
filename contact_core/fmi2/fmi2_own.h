/* The functions of FMI 2.0 that FMI 3.0 does not have, or has in another form. */
#ifndef CC_FMI2_OWN_H
#define CC_FMI2_OWN_H

#include "fmi2_derivatives.h"
#include "fmi2_texts.h"

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {0};
    (void)visible;
    if (!functions)
        functions = &none;
    if (fmuType != fmi2CoSimulation && fmuType != fmi2ModelExchange)
        return cc_no_instance(functions, instanceName,
                              "fmi2Instantiate: the type %d is neither fmi2ModelExchange (0) nor fmi2CoSimulation (1)",
                              (int)fmuType);
    return cc_instantiate("fmi2Instantiate", instanceName, fmuType, fmuGUID, fmuResourceLocation, functions,
                          loggingOn != fmi2False);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

#define CC_DEFINE_GET(Type, TYPE)                                                                                      \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##Type value[])           \
    {                                                                                                                  \
        CC_ENTER(Get##Type, CC_READABLE);                                                                              \
        CC_NEED(nvr, vr);                                                                                              \
        CC_NEED(nvr, value);                                                                                           \
        fmi2Status status = cc_prepare_get(instance, "fmi2Get" #Type, TYPE, vr, nvr);                                  \
        if (status != fmi2OK)                                                                                          \
            return status;                                                                                             \
        for (size_t k = 0; k < nvr; k++)                                                                               \
            value[k] = (fmi2##Type)cc_shown(instance, vr[k]);                                                          \
        return fmi2OK;                                                                                                 \
    }

#define CC_DEFINE_SET(Type, TYPE, MODES)                                                                               \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##Type value[])     \
    {                                                                                                                  \
        CC_ENTER(Set##Type, MODES);                                                                                    \
        CC_NEED(nvr, vr);                                                                                              \
        CC_NEED(nvr, value);                                                                                           \
        return cc_set(instance, "fmi2Set" #Type, TYPE, vr, nvr, value);                                                \
    }

CC_DEFINE_GET(Real, CC_REAL)
CC_DEFINE_GET(Integer, CC_INTEGER)
CC_DEFINE_GET(Boolean, CC_BOOLEAN)
CC_DEFINE_SET(Real, CC_REAL, CC_WRITABLE | CC_CONTINUOUS)
CC_DEFINE_SET(Integer, CC_INTEGER, CC_WRITABLE)
CC_DEFINE_SET(Boolean, CC_BOOLEAN, CC_WRITABLE)

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    CC_ENTER(GetString, CC_READABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_get_texts(instance, "fmi2GetString", vr, nvr, value);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    CC_ENTER(SetString, CC_WRITABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_set_texts(instance, "fmi2SetString", vr, nvr, value, 0);
}

/* ---- slopes of inputs ------------------------------------------------------------------------------------------ */

/* The first slope after a step clears those of that step. */
static inline void cc_begin_slopes(Instance *instance)
{
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate == 0.0; i++)
        instance->now.input_rates[i] = instance->now.given_rates[i] = 0.0;
    instance->now.extrapolate = instance->now.sloped = 1.0;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    CC_ENTER_OF(SetRealInputDerivatives, fmi2CoSimulation, CC_INSTANTIATED | CC_INITIALIZATION | CC_STEP_COMPLETE);
    CC_NEED_CAPABILITY("canInterpolateInputs");
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
            return cc_refuse(instance, fmi2Error,
                             "fmi2SetRealInputDerivatives: order %d of %s: the order must be at "
                             "least 1", order[k], cc_name(vr[k]));
        if (!cc_is_finite(value[k]))
            status = cc_refuse(instance, fmi2Discard, "fmi2SetRealInputDerivatives: the derivative %g of %s is "
                               "refused, it must be finite", value[k], cc_name(vr[k]));
    }
    if (status != fmi2OK)
        return status;
    for (size_t k = 0; k < nvr; k++) {
        if (order[k] > 1) {
            status = cc_refuse(instance, fmi2Warning,
                               "fmi2SetRealInputDerivatives: order %d of %s is ignored, inputs "
                               "are extrapolated with order 1", order[k], cc_name(vr[k]));
            continue;
        }
        cc_begin_slopes(instance);
        instance->now.input_rates[cc_input_place(vr[k])] = value[k];
        instance->now.given_rates[cc_input_place(vr[k])] = 1.0;
    }
    return status;
}

/* ---- status ---------------------------------------------------------------------------------------------------- */

fmi2Status fmi2CancelStep(fmi2Component c)
{
    CC_ENTER_OF(CancelStep, fmi2CoSimulation, CC_ANY | CC_IN_PROGRESS);
    if (cc_is_deferred(instance))
        return cc_cancel_step(instance);
    return cc_refuse(instance, fmi2Error, CC_ALL_STATUSES ? "fmi2CancelStep: no step is pending"
                                                          : "fmi2CancelStep: steps are never pending here");
}

CC_RARE fmi2Status cc_refuse_kind(Instance *instance, const char *function, fmi2StatusKind kind)
{
    return cc_refuse(instance, fmi2Discard, "%s: the kind %d is not supported", function, (int)kind);
}

#define CC_ASKABLE (CC_STEP_COMPLETE | CC_ERROR | CC_TERMINATED | CC_IN_PROGRESS)

/* The end of the last step that has been completed, s. */
static inline double cc_last_time(Instance *instance)
{
#if CC_ALL_STATUSES
    if (cc_is_deferred(instance))
        return instance->deferred.begin;
#endif
    return cc_block(instance)[0];
}

/* The body of a fmi2Get*Status that answers one kind. */
#define CC_STATUS_OF(name, kind, answer)                                                                               \
    CC_ENTER_OF(name, fmi2CoSimulation, CC_ASKABLE);                                                                   \
    CC_NEED(1, value);                                                                                                 \
    if (s != (kind))                                                                                                   \
        return cc_refuse_kind(instance, function, s);                                                                  \
    cc_count_question(instance);                                                                                       \
    *value = (answer);                                                                                                 \
    return fmi2OK

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
{
    CC_STATUS_OF(GetStatus, fmi2DoStepStatus,
                 cc_is_deferred(instance) ? fmi2Pending : (fmi2Status)instance->now.last_status);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    CC_STATUS_OF(GetRealStatus, fmi2LastSuccessfulTime, cc_last_time(instance));
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value)
{
    CC_ENTER_OF(GetIntegerStatus, fmi2CoSimulation, CC_ASKABLE);
    CC_NEED(1, value);
    return cc_refuse_kind(instance, function, s);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    CC_STATUS_OF(GetBooleanStatus, fmi2Terminated,
                 instance->now.ended != 0.0 && !cc_is_deferred(instance) ? fmi2True : fmi2False);
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value)
{
    CC_STATUS_OF(GetStringStatus, fmi2PendingStatus, cc_is_deferred(instance) ? "the step is in progress" : "");
}

#endif
