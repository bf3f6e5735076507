/* Clocks.  In the block of the element a clock is a Boolean, which is 1 while the clock is active.
 *
 * Ticks        The importer activates input clocks in event mode.  What depends on them is computed at once, output
 *              clocks too; memory follows in fmi3UpdateDiscreteStates, behind which all clocks are inactive again.
 * Clocked      Variables keep the values of the last tick, and may be read at any time.
 * Intervals    of a constant clock stand in modelDescription.xml.  A clock that counts down has a variable with the
 *              moment of its next tick, s, and one that is true while there is one.  The importer reads
 *              fmi3IntervalChanged once for each moment, relative to the time of that call, then
 *              fmi3IntervalUnchanged until the clock ticks.
 *
 * Source: FMI 3.0.2, section 2.2.9 (clocks) and table 'Allowed qualifiers for time-based Clocks'. */
#ifndef CC_FMI3_CLOCKS_H
#define CC_FMI3_CLOCKS_H

#include "../fmi2/fmi2_variables.h"

static int cc_is_ticking(Instance *instance, int i)
{
    return cc_clocks[i].kind != CC_CLOCK_OUTPUT && cc_block(instance)[cc_clocks[i].reference] != 0.0;
}

static void cc_deactivate(Instance *instance, int i)
{
    if (cc_is_ticking(instance, i)) {
        instance->now.read_intervals[i].is_read = 0.0; /* the next interval is another one */
        cc_store(instance, cc_clocks[i].reference, 0.0);
    }
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    CC_ENTER_AS("fmi3GetClock", CC_READABLE);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, values);
    fmi3Status status = cc_prepare_get(instance, function, CC_CLOCK, valueReferences, nValueReferences);
    for (size_t k = 0; k < nValueReferences && status == fmi3OK; k++)
        values[k] = cc_block(instance)[valueReferences[k]] != 0.0;
    return status;
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Clock values[])
{
    CC_ENTER_AS("fmi3SetClock", CC_EVENT);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, values);
    return cc_set(instance, function, CC_CLOCK, valueReferences, nValueReferences, values);
}

/* The number of a clock with this reference, which has one. */
static int cc_clock_of(fmi3ValueReference vr)
{
    int i = 0;
    while (i < CC_CLOCKS - 1 && cc_clocks[i].reference != vr)
        i++;
    return i;
}

enum { CC_WITH_INTERVAL = 1, CC_WITH_SHIFT = 2, CC_WITH_FRACTION = 4 };

/* fmi3OK if all references are clocks that have what is asked for, as a sum of the values above. */
static fmi3Status cc_check_clocks(Instance *instance, const char *function, const fmi3ValueReference vr[], size_t n,
                                  int asked)
{
    if (cc_check_references(instance, function, CC_CLOCK, vr, n) != fmi3OK)
        return fmi3Error;
    for (size_t k = 0; k < n; k++) {
        const CcClock *clock = &cc_clocks[cc_clock_of(vr[k])];
        const char *lacks = clock->kind == CC_CLOCK_INPUT || clock->kind == CC_CLOCK_OUTPUT
                                ? "is triggered: it has no interval and no shift"
                            : asked & CC_WITH_SHIFT && clock->kind != CC_CLOCK_CONSTANT
                                ? "is not periodic: it has no shift"
                            : asked & CC_WITH_FRACTION && clock->resolution == 0 ? "has no supportsFraction"
                                                                                 : NULL;
        if (lacks)
            return cc_refuse(instance, fmi3Error, "%s: the clock %s %s", function, cc_name(vr[k]), lacks);
    }
    return fmi3OK;
}

static fmi3IntervalQualifier cc_count_down(Instance *instance, int i, fmi3Float64 *interval)
{
    const double *block = cc_block(instance);
    CcReadInterval *one = &instance->now.read_intervals[i];
    if (block[cc_clocks[i].waits] == 0.0)
        return fmi3IntervalNotYetKnown;
    double moment = block[cc_clocks[i].moment];
    int is_new = one->is_read == 0.0 || one->moment != moment;
    if (is_new)
        *one = (CcReadInterval){1.0, moment, cc_max(moment - block[0], 0.0)};
    *interval = one->interval;
    return is_new ? fmi3IntervalChanged : fmi3IntervalUnchanged;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    CC_ENTER_AS("fmi3GetIntervalDecimal", CC_INITIALIZATION | CC_EVENT);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, intervals);
    CC_NEED(nValueReferences, qualifiers);
    if (cc_check_clocks(instance, function, valueReferences, nValueReferences, CC_WITH_INTERVAL) != fmi3OK)
        return fmi3Error;
    cc_refresh(instance, 0);
    for (size_t k = 0; k < nValueReferences; k++) {
        int i = cc_clock_of(valueReferences[k]);
        intervals[k] = cc_clocks[i].interval;
        qualifiers[k] = cc_clocks[i].kind == CC_CLOCK_COUNTDOWN ? cc_count_down(instance, i, intervals + k)
                                                                : fmi3IntervalUnchanged;
    }
    return fmi3OK;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    CC_ENTER_AS("fmi3GetIntervalFraction", CC_INITIALIZATION | CC_EVENT);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, counters);
    CC_NEED(nValueReferences, resolutions);
    CC_NEED(nValueReferences, qualifiers);
    if (cc_check_clocks(instance, function, valueReferences, nValueReferences, CC_WITH_INTERVAL | CC_WITH_FRACTION)
        != fmi3OK)
        return fmi3Error;
    for (size_t k = 0; k < nValueReferences; k++) {
        const CcClock *clock = &cc_clocks[cc_clock_of(valueReferences[k])];
        counters[k] = clock->interval_counter;
        resolutions[k] = clock->resolution;
        qualifiers[k] = fmi3IntervalUnchanged;
    }
    return fmi3OK;
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                               fmi3Float64 shifts[])
{
    CC_ENTER_AS("fmi3GetShiftDecimal", CC_INITIALIZATION | CC_EVENT);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, shifts);
    if (cc_check_clocks(instance, function, valueReferences, nValueReferences, CC_WITH_SHIFT) != fmi3OK)
        return fmi3Error;
    for (size_t k = 0; k < nValueReferences; k++)
        shifts[k] = cc_clocks[cc_clock_of(valueReferences[k])].shift;
    return fmi3OK;
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    CC_ENTER_AS("fmi3GetShiftFraction", CC_INITIALIZATION | CC_EVENT);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValueReferences, counters);
    CC_NEED(nValueReferences, resolutions);
    if (cc_check_clocks(instance, function, valueReferences, nValueReferences, CC_WITH_SHIFT | CC_WITH_FRACTION)
        != fmi3OK)
        return fmi3Error;
    for (size_t k = 0; k < nValueReferences; k++) {
        counters[k] = cc_clocks[cc_clock_of(valueReferences[k])].shift_counter;
        resolutions[k] = cc_clocks[cc_clock_of(valueReferences[k])].resolution;
    }
    return fmi3OK;
}

#endif
