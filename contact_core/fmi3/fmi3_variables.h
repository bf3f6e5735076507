/* Getting and setting variables of FMI 3.0: several scalars in an array, whose reference is that of its first scalar.
 * The event indicators are variables too; their references follow those of the others. */
#ifndef CC_FMI3_VARIABLES_H
#define CC_FMI3_VARIABLES_H

#include "../fmi2/fmi2_model_exchange.h"
#include "../fmi2/fmi2_texts.h"

static int cc_is_indicator(fmi3ValueReference vr)
{
    return vr >= CC_VARIABLES && (long long)vr - CC_VARIABLES < CC_INDICATORS;
}

CC_RARE fmi3Status cc_refuse_count(Instance *instance, const char *function, size_t given, size_t needed)
{
    return cc_refuse(instance, fmi3Error, "%s: there are %g values, but the variables have %g", function,
                     (double)given, (double)needed);
}

/* fmi3OK if all references are variables and have as many values together as the importer's array. */
static fmi3Status cc_check_count(Instance *instance, const char *function, const fmi3ValueReference vr[], size_t n,
                                 size_t given)
{
    size_t needed = 0;
    for (size_t k = 0; k < n; k++) {
        if (!cc_is_indicator(vr[k]) && !cc_known_reference(instance, function, vr[k]))
            return fmi3Error;
        needed += CC_LENGTH(vr[k]);
    }
    return given == needed ? fmi3OK : cc_refuse_count(instance, function, given, needed);
}

#define CC_DEFINE_READ(Type, TYPE)                                                                                     \
    fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,      \
                             fmi3##Type values[], size_t nValues)                                                      \
    {                                                                                                                  \
        CC_ENTER_AS("fmi3Get" #Type, CC_READABLE);                                                                     \
        CC_NEED(nValueReferences, valueReferences);                                                                    \
        CC_NEED(nValues, values);                                                                                      \
        fmi3Status status = cc_check_count(instance, function, valueReferences, nValueReferences, nValues);            \
        if (status == fmi3OK)                                                                                          \
            status = cc_prepare_get(instance, function, TYPE, valueReferences, nValueReferences);                      \
        if (status != fmi3OK)                                                                                          \
            return status;                                                                                             \
        CC_EACH_SCALAR (valueReferences, nValueReferences)                                                             \
            values[at] = (fmi3##Type)cc_shown(instance, (fmi3ValueReference)index);                                    \
        return fmi3OK;                                                                                                 \
    }

CC_DEFINE_READ(Int32, CC_INTEGER)
CC_DEFINE_READ(Int64, CC_ENUMERATION)
CC_DEFINE_READ(Boolean, CC_BOOLEAN)

/* Whether a co-simulation with event mode is in step mode, where discrete inputs and tunable parameters keep their
 * values.  The same value may be set again. */
static fmi3Status cc_check_events(Instance *instance, const char *function, int type, const fmi3ValueReference vr[],
                                  size_t n, const void *values)
{
    if (!instance->importer.uses_events || instance->now.mode != CC_STEP_COMPLETE)
        return fmi3OK;
    CC_EACH_SCALAR (vr, n) {
        const CcVariable *v = cc_variable(index);
        if (!cc_is_continuous_input(v) && cc_given(type, values, at) != cc_block(instance)[index])
            return cc_refuse(instance, fmi3Error, "%s: %s changes in event mode only, which this instance uses",
                             function, cc_name(index));
    }
    return fmi3OK;
}

#define CC_DEFINE_WRITE(Type, TYPE, MODES)                                                                             \
    fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,      \
                             const fmi3##Type values[], size_t nValues)                                                \
    {                                                                                                                  \
        CC_ENTER_AS("fmi3Set" #Type, MODES);                                                                           \
        CC_NEED(nValueReferences, valueReferences);                                                                    \
        CC_NEED(nValues, values);                                                                                      \
        fmi3Status status = cc_check_count(instance, function, valueReferences, nValueReferences, nValues);            \
        if (status == fmi3OK)                                                                                          \
            status = cc_check_references(instance, function, TYPE, valueReferences, nValueReferences);                 \
        if (status == fmi3OK)                                                                                          \
            status = cc_check_events(instance, function, TYPE, valueReferences, nValueReferences, values);             \
        return status == fmi3OK ? cc_set(instance, function, TYPE, valueReferences, nValueReferences, values)          \
                                : status;                                                                              \
    }

CC_DEFINE_WRITE(Float64, CC_REAL, CC_WRITABLE | CC_CONTINUOUS)
CC_DEFINE_WRITE(Int32, CC_INTEGER, CC_WRITABLE)
CC_DEFINE_WRITE(Int64, CC_ENUMERATION, CC_WRITABLE)
CC_DEFINE_WRITE(Boolean, CC_BOOLEAN, CC_WRITABLE)

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         fmi3String values[], size_t nValues)
{
    CC_ENTER_AS("fmi3GetString", CC_READABLE);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValues, values);
    if (nValues != nValueReferences)
        return cc_refuse_count(instance, function, nValues, nValueReferences);
    return cc_get_texts(instance, function, valueReferences, nValueReferences, values);
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const fmi3String values[], size_t nValues)
{
    CC_ENTER_AS("fmi3SetString", CC_WRITABLE);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValues, values);
    if (nValues != nValueReferences)
        return cc_refuse_count(instance, function, nValues, nValueReferences);
    return cc_set_texts(instance, function, valueReferences, nValueReferences, values,
                        instance->importer.uses_events && instance->now.mode == CC_STEP_COMPLETE);
}

/* Event indicators too. */
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues)
{
    CC_ENTER_AS("fmi3GetFloat64", CC_READABLE);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValues, values);
    fmi3Status status = cc_check_count(instance, function, valueReferences, nValueReferences, nValues);
    int with_indicators = 0;
    for (size_t k = 0; k < nValueReferences && status == fmi3OK; k++) {
        if (cc_is_indicator(valueReferences[k]))
            with_indicators = 1;
        else
            status = cc_prepare_get(instance, function, CC_REAL, valueReferences + k, 1);
    }
    if (with_indicators && status == fmi3OK)
        status = cc_find_indicators(instance, function);
    if (status != fmi3OK)
        return status;
    CC_EACH_SCALAR (valueReferences, nValueReferences)
        values[at] = index < CC_VARIABLES ? cc_shown(instance, (fmi3ValueReference)index)
                                          : cc_shown_indicator(instance, index - CC_VARIABLES);
    return fmi3OK;
}

#endif
