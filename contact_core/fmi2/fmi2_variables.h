/* Getting and setting variables. */
#ifndef CC_FMI2_VARIABLES_H
#define CC_FMI2_VARIABLES_H

#include "fmi2.h"

#define CC_READABLE                                                                                                    \
    (CC_INITIALIZATION | CC_STEP_COMPLETE | CC_EVENT | CC_CONTINUOUS | CC_UPDATE | CC_ERROR | CC_TERMINATED)
/* discrete and tunable values */
#define CC_WRITABLE (CC_INSTANTIATED | CC_INITIALIZATION | CC_STEP_COMPLETE | CC_EVENT)

static const char *const cc_type_names[] = CC_TYPE_NAMES;

/* A loop over the scalars of n variables: `index` of each, and its number, `at`, among all of them. */
#define CC_EACH_SCALAR(vr, n)                                                                                          \
    for (size_t k = 0, at = 0; k < (n); k++)                                                                           \
        for (size_t index = (vr)[k]; index < (vr)[k] + CC_LENGTH((vr)[k]); index++, at++)

/* The visible variable of a reference; NULL, with a message, if there is none. */
static const CcVariable *cc_known_reference(Instance *instance, const char *function, fmi2ValueReference vr)
{
    if (vr < CC_VARIABLES && !cc_variable(vr)->hidden && CC_LENGTH(vr) > 0)
        return cc_variable(vr);
#ifdef CC_HAS_INDICATOR_VARIABLES /* of FMI 3.0 */
    if (vr >= CC_VARIABLES && (long long)vr - CC_VARIABLES < CC_INDICATORS) {
        cc_refuse(instance, fmi2Error, "%s: event_indicators.%s is an event indicator, which fmi3GetFloat64 reads "
                  "alone", function, cc_name(vr));
        return NULL;
    }
#endif
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
static inline fmi2Status cc_not_finite(const Instance *instance)
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
    if (instance->now.mode == CC_STEP_COMPLETE && instance->now.jumped != 0.0)
        for (size_t k = 0; k < n; k++)
            instance->now.shown = cc_variable(vr[k])->kind == CC_OUTPUT ? 1.0 : instance->now.shown;
    cc_refresh(instance, on_demand);
    CC_EACH_SCALAR (vr, n)
        if (!cc_is_finite(cc_block(instance)[index])) {
            cc_log_origin(instance, cc_not_finite(instance), cc_block(instance)[index]);
            return cc_refuse(instance, cc_not_finite(instance), "%s: %s is not finite", function, cc_name(index));
        }
    return fmi2OK;
}

/* fmi2Error if a variable may not be set now, or a parameter not to this value, which must be finite and in its range:
 * an importer that continues after fmi2Discard would use the value before.  An input is answered with fmi2Discard: the
 * solver of an importer may try another value. */
static inline fmi2Status cc_check_value(Instance *instance, const char *function, fmi2ValueReference vr, double value)
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

static inline void cc_store(Instance *instance, fmi2ValueReference vr, double value)
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
static inline double cc_shown(const Instance *instance, fmi2ValueReference vr)
{
    const double *block = (const double *)&instance->now.element;
#if CC_RECORDS
    if (block[CC_RECORD_BACK] != 0.0 && cc_variable(vr)->recorded)
        return cc_kept_value(&instance->now.records, vr, (int)block[CC_RECORD_BACK]);
#endif
    return block[vr];
}

/* Checked first and stored afterwards, so that a refused call has set nothing. */
static __attribute__((noinline)) fmi2Status cc_set(Instance *instance, const char *function, int type,
                                                   const fmi2ValueReference vr[], size_t n, const void *values)
{
    fmi2Status status = cc_check_references(instance, function, type, vr, n);
    if (status != fmi2OK)
        return status;
    CC_EACH_SCALAR (vr, n) {
        fmi2Status one = cc_check_value(instance, function, (fmi2ValueReference)index, cc_given(type, values, at));
        status = one > status ? one : status;
    }
    if (status == fmi2OK)
        CC_EACH_SCALAR (vr, n)
            cc_store(instance, (fmi2ValueReference)index, cc_given(type, values, at));
    return status;
}

#endif
