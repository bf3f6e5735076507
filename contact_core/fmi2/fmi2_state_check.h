/* Checks of a deserialized state: its checksum is right, but anybody can compute one.
 *
 * Numbers of the instance   each within its range (CC_STATE_NUMBERS), the mode one of the type
 * Variables                 time, parameters and inputs finite and as fmi2Set... takes them; states finite; memory
 *                           finite, whole where it is an Integer, 0 or 1 where it is a Boolean, and within the min and
 *                           max that element.toml declares, or the header of a struct (CC_IN), of hidden memory too;
 *                           parameters keep the rules that a step requires
 * Before the start          up to the end of the initialization, and after one that failed, memory and states follow
 *                           from the parameters: those out of range get their start values
 * Outputs, derivatives      follow from the rest and are computed anew, to the same bits if they are those of the state
 */
#ifndef CC_FMI2_STATE_CHECK_H
#define CC_FMI2_STATE_CHECK_H

#include "fmi2.h"

typedef struct {
    const char *name;
    int is_whole;
    double least, greatest;
} CcNumber;

#define CC_NUMBER(name, is_whole, least, greatest) {#name, is_whole, least, greatest},
static const CcNumber cc_state_numbers[] = {CC_STATE_NUMBERS(CC_NUMBER)}; /* in the order of CcState */

static int cc_is_whole(double value)
{
    return value >= -2147483648.0 && value <= 4294967295.0 && value == (double)(long long)value;
}

CC_RARE int cc_refuse_number(Instance *instance, const char *name, double value)
{
    cc_refuse(instance, fmi2Error,
              CC_CALLED(DeSerializeFMUstate) ": the state is refused: %s = %g is none of its values", name,
              value);
    return 0;
}

/* Whether a variable can have the value. */
CC_RARE int cc_is_value(const CcVariable *v, double value)
{
    if (!cc_is_finite(value) || ((v->type == CC_BOOLEAN || v->type == CC_CLOCK) && value != 0.0 && value != 1.0)
        || ((v->type == CC_INTEGER || v->type == CC_ENUMERATION)
            && !(cc_is_whole(value) && value <= 2147483647.0)))
        return 0;
    return v->kind == CC_STATE || (value >= cc_least(v) && value <= cc_greatest(v));
}

/* The numbers in front of the element: 1 if all are possible, together too. */
CC_RARE int cc_check_state_numbers(Instance *instance, const CcState *state)
{
    for (size_t i = 0; i < sizeof cc_state_numbers / sizeof cc_state_numbers[0]; i++) {
        const CcNumber *number = &cc_state_numbers[i];
        double value = ((const double *)state)[i];
        if (!(value >= number->least && value <= number->greatest) || (number->is_whole && !cc_is_whole(value)))
            return cc_refuse_number(instance, number->name, value);
    }
    int mode = (int)state->mode;
    int of_type = state->type == fmi2CoSimulation ? CC_STEP_MODES : CC_EVENT | CC_CONTINUOUS;
    if ((mode & (mode - 1)) || !(mode & (of_type | CC_INSTANTIATED | CC_INITIALIZATION | CC_ERROR | CC_TERMINATED)))
        return cc_refuse_number(instance, "mode", mode);
    if (state->dirty != 0.0 && state->jumped == 0.0 && (mode & (CC_STEP_COMPLETE | CC_EVENT | CC_CONTINUOUS)))
        return cc_refuse_number(instance, "dirty", state->dirty); /* old outputs would pass for those of a point */
#if CC_TEXTS
    for (int i = 0; i < CC_TEXTS; i++)
        if (((const char *)state->texts[i])[8 * CC_TEXT_WORDS - 1])
            return cc_refuse_number(instance, cc_texts[i].name, 0.0);
#endif
#if CC_CLOCKS
    for (int i = 0; i < CC_CLOCKS; i++) {
        const CcReadInterval *one = &state->read_intervals[i];
        if (!(one->is_read == 0.0 || one->is_read == 1.0) || !cc_is_finite(one->moment)
            || !(one->interval >= 0.0 && one->interval <= CC_HUGE))
            return cc_refuse_number(instance, "interval", one->interval);
    }
#endif
#if CC_RECORDS
    if (!cc_are_records(&state->records, CC_VARIABLES))
        return cc_refuse_number(instance, "contact_record", state->records.next);
#endif
    for (int i = 0; i < CC_INPUTS; i++)
        if (!cc_is_finite(state->input_rates[i]))
            return cc_refuse_number(instance, "input_rates", state->input_rates[i]);
    for (int i = 0; i < CC_INPUTS; i++)
        if (state->given_rates[i] != 0.0 && state->given_rates[i] != 1.0)
            return cc_refuse_number(instance, "given_rates", state->given_rates[i]);
    for (int i = 0; i < CC_INDICATORS; i++)
        if (state->sides[i] != 0.0 && state->sides[i] != 1.0 && state->sides[i] != -1.0)
            return cc_refuse_number(instance, "sides", state->sides[i]);
    return 1;
}

/* 1 if the state is possible, made consistent; else 0, with a message.  What `state` holds is written to. */
CC_RARE int cc_check_state(Instance *instance, CcState *state)
{
    if (!cc_check_state_numbers(instance, state))
        return 0;
    int mode = (int)state->mode, follows = mode & (CC_INSTANTIATED | CC_INITIALIZATION | CC_ERROR);
    double *block = (double *)&state->element;
    for (size_t i = 0; i < CC_VARIABLES; i++) {
        const CcVariable *v = cc_variable(i);
        int follows_start = v->kind == CC_MEMORY || v->kind == CC_STATE;
        if (v->kind == CC_OUTPUT || v->kind == CC_DERIVATIVE)
            continue;
        if (!cc_is_value(v, block[i])) {
            if (!(follows && follows_start))
                return cc_refuse_number(instance, cc_name(i), block[i]);
            block[i] = cc_start(i);
        }
        if (CC_HAS_RATES && cc_is_far(block[i]) && block[i] != cc_start(i))
            state->far = 1.0;
    }
    if (!follows && state->changed == 0.0 && cc_check_element(instance, &state->element)) {
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DeSerializeFMUstate) ": the state is refused: its parameters break a rule");
        return 0;
    }
    if (state->dirty == 0.0 && mode == CC_INITIALIZATION)
        CC_ENTRY(start)(&state->element);
    if (state->dirty == 0.0 && mode != CC_INSTANTIATED)
        CC_ENTRY(evaluate)(&state->element, 0);
    state->behind = 1.0; /* as fmi2GetFMUstate leaves it */
    for (size_t i = 0; i < CC_VARIABLES && CC_HAS_RATES; i++)
        if (cc_variable(i)->on_demand)
            block[i] = 0.0;
    return 1;
}

#endif
