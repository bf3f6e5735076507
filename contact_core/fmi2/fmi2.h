/* FMI 2.0.5 for co-simulation and model exchange, once for all elements: creation, log, initialization here, the rest
 * in fmi2_*.h.
 *
 * A call that is not legal now, or has a wrong argument, is logged, answered with fmi2Error, and changes nothing; a
 * rejected value is not stored, and answered with fmi2Error for a parameter, with fmi2Discard for an input.  Only a
 * step, an accepted point or an initialization that fails puts the instance into the mode CC_ERROR, with its state as
 * before the call; fmi2SetFMUstate or fmi2Reset end that mode. */
#ifndef CC_FMI2_H
#define CC_FMI2_H

#include "../instance.h"
#if CC_PYTHON
#include "python_host.h"
#endif

CC_RARE const char *cc_mode_name(double mode)
{
    return mode == CC_INSTANTIATED     ? "instantiated"
           : mode == CC_INITIALIZATION ? "initialization mode"
           : mode == CC_STEP_COMPLETE  ? "step complete"
           : mode == CC_EVENT          ? "event mode"
           : mode == CC_CONTINUOUS     ? "continuous-time mode"
           : mode == CC_ERROR          ? "error"
                                       : "terminated";
}

/* The name of a function in the standard: one that is linked statically carries a prefix. */
CC_RARE const char *cc_standard_name(const char *name)
{
    const char *found = name;
    for (const char *c = name; *c; c++)
        if (c[0] == 'f' && c[1] == 'm' && c[2] == 'i' && c[3] == '2')
            found = c;
    return found;
}

CC_RARE const char *cc_type_name(int type) { return type == fmi2CoSimulation ? "co-simulation" : "model exchange"; }

/* The reason of a refusal; not in the macro, which fifty functions use. */
CC_RARE fmi2Status cc_refuse_mode(Instance *instance, const char *name)
{
    return cc_refuse(instance, fmi2Error, "%s is not allowed in the mode '%s'", cc_standard_name(name),
                     cc_mode_name(instance->now.mode));
}

CC_RARE fmi2Status cc_refuse_type(Instance *instance, const char *name)
{
    int type = (int)instance->now.type;
    return cc_refuse(instance, fmi2Error, "%s belongs to %s, but this instance was made for %s", cc_standard_name(name),
                     cc_type_name(fmi2CoSimulation + fmi2ModelExchange - type), cc_type_name(type));
}

CC_RARE fmi2Status cc_refuse_null(Instance *instance, const char *name, const char *argument)
{
    return cc_refuse(instance, fmi2Error, "%s: the argument %s is NULL", cc_standard_name(name), argument);
}

/* Leave the function with fmi2Error unless there is an instance in one of the modes. */
#define CC_ENTER(modes)                                                                                                \
    Instance *instance = (Instance *)c;                                                                                \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (!((int)instance->now.mode & (modes)))                                                                          \
    return cc_refuse_mode(instance, __func__)

/* The same for a function that only one type of instance has. */
#define CC_ENTER_OF(fmi_type, modes)                                                                                   \
    Instance *instance = (Instance *)c;                                                                                \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (instance->now.type != (fmi_type))                                                                              \
        return cc_refuse_type(instance, __func__);                                                                     \
    if (!((int)instance->now.mode & (modes)))                                                                          \
    return cc_refuse_mode(instance, __func__)

/* Leave the function with fmi2Error if there are n elements but no array. */
#define CC_NEED(n, pointer)                                                                                            \
    if ((n) > 0 && !(pointer))                                                                                         \
    return cc_refuse_null(instance, __func__, #pointer)

/* ---- version, log ---------------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    CC_ENTER(CC_ANY);
    CC_NEED(nCategories, categories);
    fmi2Status status = fmi2OK;
    unsigned wanted = nCategories ? 0u : ~0u;
    instance->now.logging = loggingOn != fmi2False;
    instance->now.categories = ~0u; /* a misspelt category is reported even if no other category is on */
    for (size_t k = 0; k < nCategories; k++) {
        int found = 0;
        for (int i = 0; i < CC_LOG_CATEGORIES && categories[k]; i++)
            if (cc_same(categories[k], cc_log_categories[i]) || cc_same(categories[k], "logAll")) {
                wanted |= 1u << i;
                found = 1;
            }
        if (!found)
            status = cc_refuse(instance, fmi2Warning, "fmi2SetDebugLogging: the log category '%s' is unknown",
                               categories[k] ? categories[k] : "(NULL)");
    }
    instance->now.categories = wanted;
    return status;
}

/* ---- creation -------------------------------------------------------------------------------------------------- */

CC_RARE void cc_set_starts(Instance *instance)
{
    double type = instance->now.type, logging = instance->now.logging, categories = instance->now.categories;
    double *block = cc_block(instance);
    __builtin_memset(&instance->now, 0, sizeof instance->now);
    instance->now.type = type;
    instance->now.logging = logging;
    instance->now.categories = categories;
    for (int i = 0; i < CC_VARIABLES; i++)
        block[i] = cc_start((size_t)i);
    instance->now.mode = CC_INSTANTIATED;
    instance->now.last_status = fmi2OK;
    instance->now.dirty = 1.0;
}

__attribute__((format(printf, 3, 4))) static fmi2Component cc_no_instance(const fmi2CallbackFunctions *callbacks,
                                                                          const char *name, const char *format, ...)
{
    CcText text;
    va_list arguments;
    text.length = 0;
    va_start(arguments, format);
    cc_text_format(&text, format, arguments);
    va_end(arguments);
    if (callbacks)
        cc_send(callbacks, name ? name : "", fmi2Error, "logStatusError", &text);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {0};
    (void)fmuResourceLocation; /* elements in C need no resources, so any address is accepted */
    (void)visible;
    if (!functions)
        functions = &none;
    if (!instanceName || !*instanceName)
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: the instance name is empty");
    if (fmuType != fmi2CoSimulation && fmuType != fmi2ModelExchange)
        return cc_no_instance(functions, instanceName,
                              "fmi2Instantiate: the type %d is neither fmi2ModelExchange (0) nor fmi2CoSimulation (1)",
                              (int)fmuType);
    if (!fmuGUID || !cc_same(fmuGUID, CC_GUID))
        return cc_no_instance(functions, instanceName,
                              "fmi2Instantiate: the GUID is '%s', but this binary belongs to '%s': "
                              "modelDescription.xml and binary are from different builds",
                              fmuGUID ? fmuGUID : "(NULL)", CC_GUID);
#if CC_PYTHON
    CcText why = {0};
    if (!cc_load_python(instanceName, fmuResourceLocation, &why))
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: %s", why.chars);
#endif
    Instance *instance = cc_allocate(functions, sizeof(Instance));
    if (!instance)
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: no memory for one more instance");
    instance->callbacks = *functions;
    for (int i = 0; i + 1 < CC_NAME_SIZE && instanceName[i]; i++)
        instance->name[i] = instanceName[i];
    if (instance->name[CC_NAME_SIZE - 2])
        instance->name[cc_whole_characters(instance->name, CC_NAME_SIZE - 1)] = '\0';
    instance->now.type = fmuType;
    instance->now.logging = loggingOn != fmi2False;
    instance->now.categories = ~0u;
    cc_set_starts(instance);
    return instance;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c) {
        fmi2CallbackFunctions callbacks = ((Instance *)c)->callbacks;
        cc_release(&callbacks, c);
    }
}

/* ---- initialization, end --------------------------------------------------------------------------------------- */

/* On which side of zero the indicators of the evaluated point are. */
CC_RARE void cc_remember_sides(Instance *instance)
{
    double *s = instance->now.sides;
    CC_ENTRY(indicators)(&instance->now.element, s);
    for (int i = 0; i < CC_INDICATORS; i++)
        s[i] = s[i] > 0.0 ? 1.0 : -1.0;
}

/* solver.tolerance follows the tolerance of the experiment, within its range; a value that was set stays. */
CC_RARE void cc_set_tolerance(Instance *instance, double tolerance)
{
#if CC_STATES
    double *set = &instance->now.element.solver.tolerance;
    size_t reference = (size_t)(set - cc_block(instance));
    if (tolerance > 0.0 && *set == cc_start(reference))
        *set = cc_clamp(tolerance, cc_variable(reference)->min, cc_variable(reference)->max);
#endif
    (void)instance, (void)tolerance;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    CC_ENTER(CC_INSTANTIATED);
    if (!cc_is_finite(startTime))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: startTime = %g s must be finite", startTime);
    if (stopTimeDefined && !(stopTime >= startTime && cc_is_finite(stopTime)))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: stopTime = %g s must be finite and not before "
                         "startTime = %g s", stopTime, startTime);
    if (toleranceDefined && !(tolerance >= 0.0 && cc_is_finite(tolerance)))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: tolerance = %g must be greater than 0", tolerance);
    if (toleranceDefined && tolerance == 0.0) /* sent by importers without a tolerance */
        cc_report(instance, CC_WARNING, "logStatusWarning",
                  "fmi2SetupExperiment: tolerance = 0 is ignored, it must be greater than 0");
    instance->now.experiment = 1.0;
    cc_set_tolerance(instance, toleranceDefined ? tolerance : 0.0);
    instance->now.stop_defined = stopTimeDefined != fmi2False;
    instance->now.stop_time = stopTimeDefined ? stopTime : 0.0;
    cc_block(instance)[0] = startTime;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    CC_ENTER(CC_INSTANTIATED);
    if (instance->now.experiment == 0.0)
        return cc_refuse(instance, fmi2Error,
                         "fmi2EnterInitializationMode: fmi2SetupExperiment has to be called first");
    instance->now.mode = CC_INITIALIZATION;
    instance->now.dirty = 1.0;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    CC_ENTER(CC_INITIALIZATION);
    cc_save(instance);
    int failures = cc_check(instance) + cc_check_quaternions(instance);
    if (!failures) {
        instance->now.dirty = 1.0;
        cc_refresh(instance, 0);
        CC_ENTRY(accept)(&instance->now.element, instance, 0.0);
        cc_refresh(instance, 1);
        failures = instance->failures;
        int bad = failures ? -1 : cc_first_not_finite(instance);
        if (bad >= 0) {
            failures = 1;
            cc_log_origin(instance, fmi2Error, cc_block(instance)[bad]);
            cc_refuse(instance, fmi2Error, "initialization: %s is not finite", cc_name(bad));
        }
    }
    if (failures) {
        cc_return(instance);
        return fmi2Error;
    }
    instance->now.changed = instance->now.jumped = 0.0;
    instance->now.mode = CC_STEP_COMPLETE;
    if (instance->now.type == fmi2ModelExchange) {
        instance->now.mode = CC_EVENT;
        instance->now.accepted = cc_block(instance)[0];
        cc_remember_sides(instance);
    }
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    CC_ENTER(CC_STEP_COMPLETE | CC_EVENT | CC_CONTINUOUS);
    cc_refresh(instance, 1);
    instance->now.mode = CC_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    CC_ENTER(CC_ANY);
    cc_set_starts(instance);
    __builtin_memset(instance->tried, 0, sizeof instance->tried);
    instance->keeps = instance->repeats = instance->iterates = 0;
    return fmi2OK;
}

#endif
