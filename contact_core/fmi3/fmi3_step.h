/* The communication step of FMI 3.0: intermediate update, early return.
 *
 * Every accepted substep of the solver is shown to the importer, which may read the values there and ask for the step
 * to end, at that time or later.  If it takes early return, a step also ends where a Boolean variable that the FMU
 * computes changes: at touch-down and release, and where friction begins to hold or to slip.  Other events, such as
 * kinks of laws, end no step.  Where values were set before the step, a variable that has changed at the end of the
 * first substep did so by them.  Else it is compared with the end of the step before, so that an event right behind
 * the beginning of a step is one of it, no step ends after 0 s and none ends twice at one event.  One that changes in
 * the last substep needs no early end: the step reports its event as well.
 *
 * A force that is held over the step (group `coupling`) belongs to the whole of it: such steps do not end early. */
#ifndef CC_FMI3_STEP_H
#define CC_FMI3_STEP_H

#include "../fmi2/fmi2_step.h"

/* The values of the switches as one number.  Two sets of up to 40 values never have the same: differences of -1, 0 and
 * 1 have one representation in powers of 3. */
static unsigned long long cc_switches_now(const Instance *instance)
{
    const double *block = (const double *)&instance->now.element;
    unsigned long long number = 0;
    for (int i = 0; i < CC_SWITCHES; i++)
        number = 3 * number + (block[cc_switches[i]] != 0.0);
    return number;
}

/* Show the accepted point to the importer.  Returns the time at which the importer wants the step to end. */
CC_RARE double cc_update(Instance *instance, double time, int may_end)
{
    fmi3Boolean is_wanted = fmi3False;
    fmi3Float64 wanted = time;
    instance->now.mode = CC_UPDATE;
    instance->importer.update(instance->importer.environment, time, fmi3False, fmi3True, fmi3True, may_end != 0,
                              &is_wanted, &wanted);
    instance->now.mode = CC_STEP_COMPLETE;
    instance->now.behind = 1.0; /* values on demand are those of this point */
    return !is_wanted || !may_end ? __builtin_inf() : wanted > time ? wanted : time;
}

static void cc_show_substep(Instance *instance, double t_c, double tau, double *length, double *t_end)
{
    CcImporter *importer = &instance->importer;
    int may_end = importer->takes_early_return && !CC_HAS_SAMPLE;
    int finds_events = may_end || (importer->uses_events && !CC_HAS_SAMPLE);
    if ((!importer->update && !finds_events) || instance->failures)
        return;
    double time = cc_block(instance)[0], wanted = __builtin_inf();
    unsigned long long switches = cc_switches_now(instance);
    importer->substeps++;
    importer->has_turned = finds_events && importer->substeps > 1 && switches != importer->switches;
    importer->switches = switches;
    if (importer->update)
        wanted = cc_update(instance, time, may_end);
    if (!may_end || !(tau < *length))
        return;
    if (importer->has_turned)
        wanted = time;
    if (wanted < *t_end) {
        importer->is_early = 1;
        *length = wanted > time ? wanted - t_c : tau;
        *t_end = wanted;
    }
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
                      fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    CC_ENTER_OF_AS("fmi3DoStep", fmi2CoSimulation, CC_STEP_COMPLETE);
    CC_NEED(1, eventHandlingNeeded);
    CC_NEED(1, terminateSimulation);
    CC_NEED(1, earlyReturn);
    CC_NEED(1, lastSuccessfulTime);
    CcImporter *importer = &instance->importer;
    const CcState *now = &instance->now;
    importer->is_early = importer->has_turned = 0;
    importer->substeps = importer->substeps > 0 && now->changed == 0.0 && now->jumped == 0.0;
    fmi3Status status = fmi2DoStep(c, currentCommunicationPoint, communicationStepSize,
                                   noSetFMUStatePriorToCurrentPoint);
    double time = cc_block(instance)[0];
    int has_ended = instance->now.ended != 0.0;
    if (status == fmi3Discard && (has_ended || importer->takes_early_return)) {
        status = fmi3OK; /* the part of the step up to cc_stop is a step */
        importer->is_early = 1;
    }
    int is_early = status == fmi3OK && importer->is_early;
    if (is_early)
        instance->now.last_step = time - currentCommunicationPoint;
    *eventHandlingNeeded = status == fmi3OK && importer->has_turned && importer->uses_events;
    *terminateSimulation = has_ended;
    *earlyReturn = is_early && importer->takes_early_return;
    *lastSuccessfulTime = time;
    return status;
}

#endif
