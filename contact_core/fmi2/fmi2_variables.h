/* Getting and setting variables. */
#ifndef CC_FMI2_VARIABLES_H
#define CC_FMI2_VARIABLES_H

#include "fmi2.h"

#define CC_READABLE (CC_INITIALIZATION | CC_STEP_COMPLETE | CC_EVENT | CC_CONTINUOUS | CC_ERROR | CC_TERMINATED)
/* discrete and tunable values */
#define CC_WRITABLE (CC_INSTANTIATED | CC_INITIALIZATION | CC_STEP_COMPLETE | CC_EVENT)

static const char *const cc_type_names[] = {"Real", "Integer", "Boolean"};

/* The visible variable of a reference; NULL, with a message, if there is none. */
static const CcVariable *cc_known_reference(Instance *instance, const char *function, fmi2ValueReference vr)
{
    if (vr < CC_VARIABLES && !cc_variable(vr)->hidden)
        return cc_variable(vr);
    cc_refuse(instance, fmi2Error, "%s: there is no variable with the value reference %g", function, (double)vr);
    return NULL;
}

/* fmi2Error unless every reference is a variable of this type. */
static fmi2Status cc_check_references(Instance *instance, const char *function, int type, const fmi2ValueReference vr[],
                                      size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const CcVariable *v = cc_known_reference(instance, function, vr[k]);
        if (!v)
            return fmi2Error;
        if (v->type != type)
            return cc_refuse(instance, fmi2Error, "%s: %s is of type %s, not %s", function, cc_name(vr[k]),
                             cc_type_names[v->type], cc_type_names[type]);
    }
    return fmi2OK;
}

/* The answer to a call whose result is not finite: in continuous-time mode the importer may take a shorter step. */
static fmi2Status cc_not_finite(const Instance *instance)
{
    return instance->now.mode == CC_CONTINUOUS ? fmi2Discard : fmi2Error;
}

/* Before a get: references right, outputs current, and no value to be returned is NaN or infinite. */
static fmi2Status cc_prepare_get(Instance *instance, const char *function, int type, const fmi2ValueReference vr[],
                                 size_t n)
{
    if (cc_check_references(instance, function, type, vr, n) != fmi2OK)
        return fmi2Error;
    int on_demand = 0;
    for (size_t k = 0; k < n && CC_HAS_RATES; k++)
        on_demand |= cc_variable(vr[k])->on_demand;
    cc_refresh(instance, on_demand);
    for (size_t k = 0; k < n; k++)
        if (!cc_is_finite(cc_block(instance)[vr[k]])) {
            cc_log_origin(instance, cc_not_finite(instance), cc_block(instance)[vr[k]]);
            return cc_refuse(instance, cc_not_finite(instance), "%s: %s is not finite", function,
                             cc_name(vr[k]));
        }
    return fmi2OK;
}

/* fmi2Error if a variable may not be set now, or a parameter not to this value, which must be finite and in its range:
 * an importer that continues after fmi2Discard would use the value before.  An input is answered with fmi2Discard: the
 * solver of an importer may try another value. */
static fmi2Status cc_check_value(Instance *instance, const char *function, fmi2ValueReference vr, double value)
{
    const CcVariable *v = cc_variable(vr);
    int legal = v->kind == CC_INPUT && v->type == CC_REAL         ? CC_WRITABLE | CC_CONTINUOUS
                : v->kind == CC_INPUT || v->kind == CC_TUNABLE ? CC_WRITABLE
                : v->kind == CC_FIXED                          ? CC_INSTANTIATED | CC_INITIALIZATION
                                                               : 0;
    if (!((int)instance->now.mode & legal))
        return cc_refuse(instance, fmi2Error, "%s: %s cannot be set %s", function, cc_name(vr),
                         !legal                 ? "at all: the FMU computes it"
                         : v->kind == CC_FIXED ? "after the initialization: it is a fixed parameter"
                                               : "in the mode 'continuous-time mode': it may jump at an event only");
    fmi2Status forbidden = v->kind == CC_INPUT ? fmi2Discard : fmi2Error;
    if (!cc_is_finite(value))
        return cc_refuse(instance, forbidden, "%s: %s = %g%s%s is refused, it must be finite", function, cc_name(vr),
                         value, CC_UNIT(v));
    int strict_low = v->above > v->min, strict_high = v->below < v->max;
    double low = cc_least(v), high = cc_greatest(v);
    if (value < low || value > high)
        return cc_refuse(instance, forbidden, "%s: %s = %g%s%s is refused, it must be %s %g%s%s", function,
                         cc_name(vr), value, CC_UNIT(v),
                         value < low ? strict_low ? "greater than" : "at least" : strict_high ? "less than" : "at most",
                         value < low ? low : high, CC_UNIT(v));
    return fmi2OK;
}

static void cc_store(Instance *instance, fmi2ValueReference vr, double value)
{
    double *stored = cc_block(instance) + vr;
    if (*stored == value)
        return;
    *stored = value;
    if (cc_variable(vr)->kind == CC_TUNABLE || cc_variable(vr)->type != CC_REAL) {
        if ((int)vr == CC_RECORD_BACK)
            return; /* nothing is computed from it */
        instance->now.changed = 1.0;
    }
    instance->now.dirty = instance->now.jumped = 1.0;
    if (CC_HAS_RATES && cc_is_far(value))
        instance->now.far = 1.0;
}

/* What an importer reads: of variables last_contact.* the record that contact_record.back chooses. */
static double cc_shown(const Instance *instance, fmi2ValueReference vr)
{
    const double *block = (const double *)&instance->now.element;
#if CC_RECORDS
    if (block[CC_RECORD_BACK] != 0.0 && cc_variable(vr)->recorded)
        return cc_kept_value(&instance->now.records, vr, (int)block[CC_RECORD_BACK]);
#endif
    return block[vr];
}

#define CC_DEFINE_GET(Type, TYPE)                                                                                      \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##Type value[])           \
    {                                                                                                                  \
        CC_ENTER(CC_READABLE);                                                                                         \
        CC_NEED(nvr, vr);                                                                                              \
        CC_NEED(nvr, value);                                                                                           \
        fmi2Status status = cc_prepare_get(instance, "fmi2Get" #Type, TYPE, vr, nvr);                                  \
        if (status != fmi2OK)                                                                                          \
            return status;                                                                                             \
        for (size_t k = 0; k < nvr; k++)                                                                               \
            value[k] = (fmi2##Type)cc_shown(instance, vr[k]);                                                          \
        return fmi2OK;                                                                                                 \
    }

static double cc_given(int type, const void *values, size_t k)
{
    return type == CC_REAL      ? ((const fmi2Real *)values)[k]
           : type == CC_INTEGER ? (double)((const fmi2Integer *)values)[k]
           : ((const fmi2Boolean *)values)[k] != fmi2False ? 1.0
                                                           : 0.0;
}

/* Checked first and stored afterwards, so that a refused call has set nothing. */
static __attribute__((noinline)) fmi2Status cc_set(Instance *instance, const char *function, int type,
                                                   const fmi2ValueReference vr[], size_t n, const void *values)
{
    fmi2Status status = cc_check_references(instance, function, type, vr, n);
    if (status != fmi2OK)
        return status;
    for (size_t k = 0; k < n; k++) {
        fmi2Status one = cc_check_value(instance, function, vr[k], cc_given(type, values, k));
        status = one > status ? one : status;
    }
    for (size_t k = 0; k < n && status == fmi2OK; k++)
        cc_store(instance, vr[k], cc_given(type, values, k));
    return status;
}

#define CC_DEFINE_SET(Type, TYPE, MODES)                                                                               \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##Type value[])     \
    {                                                                                                                  \
        CC_ENTER(MODES);                                                                                               \
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

CC_RARE fmi2Status cc_no_strings(Instance *instance, const char *function, size_t n)
{
    return n ? cc_refuse(instance, fmi2Error, "%s: this FMU has no String variables", function) : fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    CC_ENTER(CC_READABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_no_strings(instance, "fmi2GetString", nvr);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    CC_ENTER(CC_WRITABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_no_strings(instance, "fmi2SetString", nvr);
}

#endif
