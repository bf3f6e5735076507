/* FMI 2.0.5 for co-simulation and model exchange: creation, log, initialization here, the rest in fmi2_*.h.
 *
 * FMI 3.0 is a layer around the same functions, which are private then (CC_FUNCTION).
 * fmi2_importer.h and fmi3_importer.h have types, memory, log, and the names of functions in messages, each of its
 * version; fmi2_own.h is what FMI 2.0 alone has.
 *
 * A call that is not legal now, or has a wrong argument, is logged, answered with fmi2Error, and changes nothing; a
 * rejected value is not stored, and answered with fmi2Error for a parameter, with fmi2Discard for an input.  Only a
 * step, an accepted point or an initialization that fails puts the instance into the mode CC_ERROR, with its values as
 * before the call; fmi2SetFMUstate or fmi2Reset end that mode. */
#ifndef CC_FMI2_H
#define CC_FMI2_H

#include "../all_statuses.h"
#include "../finite.h"
#include "../sensitivity.h"
#if CC_PYTHON
#include "python_host.h"
#endif
#if CC_RESOURCES
#include RESOURCES_FILE
#define CC_GIVE_BACK_RESOURCES cc_give_back_resources
#else
#define CC_GIVE_BACK_RESOURCES()
#endif

CC_RARE const char *cc_mode_name(int mode)
{
    return mode == CC_INSTANTIATED     ? "instantiated"
           : mode == CC_INITIALIZATION ? "initialization mode"
           : mode == CC_STEP_COMPLETE  ? "step complete"
           : mode == CC_EVENT          ? "event mode"
           : mode == CC_CONTINUOUS     ? "continuous-time mode"
           : mode == CC_UPDATE         ? "intermediate update mode"
           : mode == CC_ERROR          ? "error"
           : mode == CC_IN_PROGRESS    ? "step in progress"
           : mode == CC_CORRUPT        ? "fatal error"
                                       : "terminated";
}

CC_RARE const char *cc_type_name(int type) { return type == fmi2CoSimulation ? "co-simulation" : "model exchange"; }

/* The reason of a refusal; not in the macro, which fifty functions use. */
CC_RARE fmi2Status cc_refuse_mode(Instance *instance, const char *function)
{
    cc_refuse(instance, fmi2Error, "%s is not allowed in the mode '%s'", function, cc_mode_name(CC_MODE(instance)));
    return CC_FAILURE;
}

CC_RARE fmi2Status cc_refuse_type(Instance *instance, const char *function)
{
    int type = (int)instance->now.type;
    return cc_refuse(instance, fmi2Error, "%s belongs to %s, but this instance was made for %s", function,
                     cc_type_name(fmi2CoSimulation + fmi2ModelExchange - type), cc_type_name(type));
}

CC_RARE fmi2Status cc_refuse_null(Instance *instance, const char *function, const char *argument)
{
    return cc_refuse(instance, fmi2Error, "%s: the argument %s is NULL", function, argument);
}

/* Leave the function of this text with fmi2Error unless there is an instance in one of the modes. */
#define CC_ENTER_AS(text, modes)                                                                                       \
    const char *const function = text;                                                                                 \
    Instance *instance = (Instance *)c;                                                                                \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (!(CC_MODE(instance) & (modes)))                                                                                \
    return cc_refuse_mode(instance, function)

/* The same for a function that only one type of instance has. */
#define CC_ENTER_OF_AS(text, fmi_type, modes)                                                                          \
    const char *const function = text;                                                                                 \
    Instance *instance = (Instance *)c;                                                                                \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (instance->now.type != (fmi_type))                                                                              \
        return cc_refuse_type(instance, function);                                                                     \
    if (!(CC_MODE(instance) & (modes)))                                                                                \
    return cc_refuse_mode(instance, function)

/* Both by the name of the function in FMI 2.0, without fmi2. */
#define CC_ENTER(name, modes) CC_ENTER_AS(CC_CALLED(name), modes)
#define CC_ENTER_OF(name, fmi_type, modes) CC_ENTER_OF_AS(CC_CALLED(name), fmi_type, modes)

CC_RARE fmi2Status cc_refuse_capability(Instance *instance, const char *function, const char *capability)
{
    return cc_refuse(instance, fmi2Error, "%s: this FMU has no %s", function, capability);
}

/* Leave the function with fmi2Error unless the FMU has the capability. */
#define CC_NEED_CAPABILITY(name)                                                                                       \
    if (CC_PLAIN)                                                                                                      \
    return cc_refuse_capability(instance, function, name)

/* Leave the function with fmi2Error if there are n elements but no array. */
#define CC_NEED(n, pointer)                                                                                            \
    if ((n) > 0 && !(pointer))                                                                                         \
    return cc_refuse_null(instance, function, #pointer)

/* ---- log ------------------------------------------------------------------------------------------------------- */

CC_FUNCTION fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                                           const fmi2String categories[])
{
    CC_ENTER(SetDebugLogging, CC_ANY | CC_IN_PROGRESS);
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
            status = cc_refuse(instance, fmi2Warning, CC_CALLED(SetDebugLogging) ": the log category '%s' is unknown",
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
#if CC_TEXTS
    for (size_t i = 0; i < CC_TEXTS; i++)
        for (size_t k = 0; cc_texts[i].start[k]; k++)
            ((char *)instance->now.texts[i])[k] = cc_texts[i].start[k];
#endif
    instance->now.mode = CC_INSTANTIATED;
    instance->now.last_status = fmi2OK;
    instance->now.dirty = 1.0;
}

/* Log why there is no instance. */
__attribute__((format(printf, 3, 4))) CC_RARE Instance *cc_no_instance(const CcImporter *importer, const char *name,
                                                                       const char *format, ...)
{
    CcText text;
    va_list arguments;
    text.length = 0;
    va_start(arguments, format);
    cc_text_format(&text, format, arguments);
    va_end(arguments);
    if (importer)
        cc_send(importer, name ? name : "", fmi2Error, "logStatusError", &text);
    return NULL;
}

/* A new instance of this type, or NULL, with a message that begins with the name of the function. */
CC_RARE Instance *cc_instantiate(const char *function, const char *name, fmi2Type type, const char *guid,
                                 const char *resources, const CcImporter *importer, int logging)
{
    (void)resources; /* most elements in C need none, so any address is accepted */
    if (!name || !*name)
        return cc_no_instance(importer, name, "%s: the instance name is empty", function);
    if (!guid || !cc_same(guid, CC_GUID))
        return cc_no_instance(importer, name,
                              "%s: the " CC_GUID_NAME " is '%s', but this binary belongs to '%s': "
                              "modelDescription.xml and binary are from different builds",
                              function, guid ? guid : "(NULL)", CC_GUID);
#if CC_ALL_STATUSES
    if (cc_is_corrupt)
        return cc_no_instance(importer, name, "%s: the FMU has answered " CC_FATAL_NAME, function);
#endif
#if CC_PYTHON
    CcText why = {0};
    if (!cc_load_python(name, resources, &why))
        return cc_no_instance(importer, name, "%s: %s", function, why.chars);
#endif
#if CC_RESOURCES
    CcText lack = {0};
    if (!cc_take_resources(CC_RESOURCES_NAME, resources, &lack))
        return cc_no_instance(importer, name, "%s: %s", function, lack.chars);
#endif
    Instance *instance = cc_allocate(importer, sizeof(Instance));
    if (!instance) {
        CC_GIVE_BACK_RESOURCES();
        return cc_no_instance(importer, name, CC_PLAIN
                              ? "%s: canBeInstantiatedOnlyOncePerProcess, and there is an instance"
                              : "%s: no memory for one more instance", function);
    }
    instance->importer = *importer;
    for (int i = 0; i + 1 < CC_NAME_SIZE && name[i]; i++)
        instance->name[i] = name[i];
    if (instance->name[CC_NAME_SIZE - 2])
        instance->name[cc_whole_characters(instance->name, CC_NAME_SIZE - 1)] = '\0';
    instance->now.type = type;
    instance->now.logging = logging;
    instance->now.categories = ~0u;
    cc_set_starts(instance);
    return instance;
}

CC_FUNCTION void fmi2FreeInstance(fmi2Component c)
{
    if (c) {
        CcImporter importer = ((Instance *)c)->importer;
        cc_release_followed(c);
        cc_release(&importer, c);
        CC_GIVE_BACK_RESOURCES();
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

/* solver.tolerance follows the tolerance of the experiment, within its range, which the log says; a value that was set
 * stays. */
CC_RARE void cc_set_tolerance(Instance *instance, double tolerance)
{
#if CC_STATES
    double *set = &instance->now.element.solver.tolerance;
    size_t reference = (size_t)(set - cc_block(instance));
    if (tolerance > 0.0 && *set == cc_start(reference)) {
        double low = cc_variable(reference)->min, high = cc_variable(reference)->max;
        *set = cc_clamp(tolerance, low, high);
        if (*set != tolerance)
            cc_report(instance, CC_WARNING, "logStatusWarning",
                      CC_CALLED(SetupExperiment) ": tolerance = %g is outside of %g to %g, the range of "
                      "solver.tolerance, which becomes %g", tolerance, low, high, *set);
    }
#endif
    (void)instance, (void)tolerance;
}

CC_FUNCTION fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                                           fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    CC_ENTER(SetupExperiment, CC_INSTANTIATED);
    if (!cc_is_finite(startTime))
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(SetupExperiment) ": startTime = %g s must be finite", startTime);
    if (stopTimeDefined && !(stopTime >= startTime && cc_is_finite(stopTime)))
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(SetupExperiment) ": stopTime = %g s must be finite and not before "
                         "startTime = %g s", stopTime, startTime);
    if (toleranceDefined && !(tolerance >= 0.0 && cc_is_finite(tolerance)))
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(SetupExperiment) ": tolerance = %g must be greater than 0", tolerance);
    if (toleranceDefined && tolerance == 0.0) /* sent by importers without a tolerance */
        cc_report(instance, CC_WARNING, "logStatusWarning",
                  CC_CALLED(SetupExperiment) ": tolerance = 0 is ignored, it must be greater than 0");
    instance->now.experiment = 1.0;
    cc_set_tolerance(instance, toleranceDefined ? tolerance : 0.0);
    instance->now.stop_defined = stopTimeDefined != fmi2False;
    instance->now.stop_time = stopTimeDefined ? stopTime : 0.0;
    cc_block(instance)[0] = startTime;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    CC_ENTER(EnterInitializationMode, CC_INSTANTIATED);
    if (instance->now.experiment == 0.0)
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(EnterInitializationMode) ": " CC_CALLED(SetupExperiment) " has to be called first");
    instance->now.mode = CC_INITIALIZATION;
    instance->now.dirty = 1.0;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    CC_ENTER(ExitInitializationMode, CC_INITIALIZATION);
    cc_save(instance);
    cc_copy_private(&instance->before, &instance->now);
    instance->now.dirty = 1.0;
    instance->failures = 0;
    cc_refresh(instance, 0); /* parts are checked with what connections give them */
    int failures = instance->failures;
    failures += cc_check(instance);
    failures += cc_check_quaternions(instance);
    if (!failures) {
        if (instance->followed)
            cc_begin_following(instance);
        cc_accept_point_of(instance, 0.0);
        cc_refresh(instance, 1);
        failures = instance->failures;
        int bad = failures ? -1 : cc_first_not_finite(instance, 0);
        if (bad >= 0) {
            failures = 1;
            cc_log_origin(instance, fmi2Error, cc_block(instance)[bad]);
            cc_refuse(instance, fmi2Error, "initialization: %s is not finite", cc_name(bad));
        }
    }
    if (failures) {
        cc_copy_private(&instance->now, &instance->before);
        cc_return(instance);
        return fmi2Error;
    }
    instance->now.changed = instance->now.jumped = instance->now.shown = 0.0;
    instance->now.mode = CC_STEP_COMPLETE;
    if (instance->now.type == fmi2ModelExchange) {
        instance->now.mode = CC_EVENT;
        instance->now.accepted = cc_block(instance)[0];
        cc_remember_sides(instance);
    }
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2Terminate(fmi2Component c)
{
    CC_ENTER(Terminate, CC_STEP_COMPLETE | CC_EVENT | CC_CONTINUOUS);
    cc_refresh(instance, 1);
    instance->now.mode = CC_TERMINATED;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2Reset(fmi2Component c)
{
    CC_ENTER(Reset, CC_ANY);
    cc_release_followed(instance);
    cc_set_starts(instance);
    __builtin_memset(instance->tried, 0, sizeof instance->tried);
    instance->keeps = instance->repeats = instance->iterates = 0;
    return fmi2OK;
}

#endif
