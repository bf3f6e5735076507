/* String variables, which the FMI layer keeps: parameters, inputs, and outputs that show one of these.
 *
 * No number depends on them.  Their references follow those of the variables and the event indicators. */
#ifndef CC_FMI2_TEXTS_H
#define CC_FMI2_TEXTS_H

#include "fmi2_variables.h"

#if CC_TEXTS

#define CC_FIRST_TEXT (CC_VARIABLES + CC_INDICATORS)
#define CC_TEXT_BYTES (8 * CC_TEXT_WORDS) /* of a text, with the zero at its end */

static const char *cc_text(const Instance *instance, size_t i) { return (const char *)instance->now.texts[i]; }

/* The number of a text; -1, with a message, if the reference is none of a text. */
static int cc_known_text(Instance *instance, const char *function, fmi2ValueReference vr)
{
    if (vr >= CC_FIRST_TEXT && vr - CC_FIRST_TEXT < CC_TEXTS)
        return (int)(vr - CC_FIRST_TEXT);
    if (vr < CC_VARIABLES && !cc_variable(vr)->hidden)
        cc_refuse(instance, fmi2Error, "%s: %s is no String", function, cc_name(vr));
    else
        cc_refuse(instance, fmi2Error, "%s: there is no String with the value reference %g", function, (double)vr);
    return -1;
}

static size_t cc_text_length(const char *text)
{
    size_t n = 0;
    while (n < CC_TEXT_BYTES && text[n])
        n++;
    return n;
}

CC_FUNCTION fmi2Status cc_get_texts(Instance *instance, const char *function, const fmi2ValueReference vr[], size_t n,
                                    fmi2String value[])
{
    for (size_t k = 0; k < n; k++)
        if (cc_known_text(instance, function, vr[k]) < 0)
            return fmi2Error;
    for (size_t k = 0; k < n; k++)
        value[k] = cc_text(instance, (size_t)cc_texts[vr[k] - CC_FIRST_TEXT].shows);
    return fmi2OK;
}

static fmi2Status cc_check_text(Instance *instance, const char *function, fmi2ValueReference vr, fmi2String value,
                                int is_held)
{
    int i = cc_known_text(instance, function, vr);
    if (i < 0)
        return fmi2Error;
    const CcStringVariable *text = &cc_texts[i];
    if (text->shows != i)
        return cc_refuse(instance, fmi2Error, "%s: %s cannot be set at all: the FMU computes it", function, text->name);
    if (!value)
        return cc_refuse(instance, fmi2Error, "%s: the value of %s is NULL", function, text->name);
    if (cc_text_length(value) == CC_TEXT_BYTES)
        return cc_refuse(instance, fmi2Error, "%s: the value of %s is longer than %d bytes", function, text->name,
                         CC_TEXT_BYTES - 1);
    if (is_held && !cc_same(value, cc_text(instance, (size_t)i)))
        return cc_refuse(instance, fmi2Error, "%s: %s changes in event mode only, which this instance uses", function,
                         text->name);
    return fmi2OK;
}

/* All checked first.   is_held: 1 where discrete variables keep their values, in step mode beside event mode */
CC_FUNCTION fmi2Status cc_set_texts(Instance *instance, const char *function, const fmi2ValueReference vr[], size_t n,
                                    const fmi2String value[], int is_held)
{
    for (size_t k = 0; k < n; k++)
        if (cc_check_text(instance, function, vr[k], value[k], is_held) != fmi2OK)
            return fmi2Error;
    for (size_t k = 0; k < n; k++) {
        double *to = instance->now.texts[vr[k] - CC_FIRST_TEXT];
        size_t length = cc_text_length(value[k]);
        __builtin_memset(to, 0, CC_TEXT_BYTES);
        __builtin_memcpy(to, value[k], length);
    }
    return fmi2OK;
}

#else

CC_RARE fmi2Status cc_no_strings(Instance *instance, const char *function, size_t n)
{
    return n ? cc_refuse(instance, fmi2Error, "%s: this FMU has no String variables", function) : fmi2OK;
}

#define cc_get_texts(instance, function, vr, n, value) cc_no_strings(instance, function, n)
#define cc_set_texts(instance, function, vr, n, value, is_held) cc_no_strings(instance, function, n)

#endif
#endif
