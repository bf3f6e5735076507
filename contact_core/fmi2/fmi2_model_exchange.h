/* Model exchange: the importer integrates the states and locates the events, the FMU evaluates.
 *
 * Evaluation  Setting time, states or inputs only marks the outputs as old; the next read computes them.
 * Acceptance  The memory of the element (counts, peaks, switched energy) follows the accepted points: completed
 *             integrator steps, and events, at which inputs and parameters may have jumped.  A derivative that
 *             follows the memory may jump with it, and so may states, as in an impact: that needs an event.  States
 *             that element.toml declares `reinit` may; a change of any other is an error.
 * Indicators  An indicator that rounding moves about zero would cause a chain of events.  Each event remembers the side
 *             s = z > 0 ? +1 : -1, and until the next one
 *                 z / z_nominal + s * tolerance
 *             is returned: of the order of one, not zero where the importer restarts, with a change of sign when z lies
 *             tolerance * z_nominal behind zero.
 * Not finite  Derivatives, indicators and values of a trial point are answered with fmi2Discard: a shorter step may
 *             help.  An accepted point has to be finite.
 *
 * Solvers look beyond the stop time to interpolate, so times are not compared with it.
 *
 * Source: FMI 2.0.5, sections 3.2.1 to 3.2.3. */
#ifndef CC_FMI2_MODEL_EXCHANGE_H
#define CC_FMI2_MODEL_EXCHANGE_H

#include "fmi2_variables.h"

CC_RARE fmi2Status cc_refuse_size(Instance *instance, const char *function, size_t n, const char *what,
                                  int size)
{
    return cc_refuse(instance, fmi2Error, "%s: %g %s are given, this FMU has %d", function, (double)n,
                     what, size);
}

/* Leave the function with fmi2Error unless the importer's array has the right size. */
#define CC_NEED_SIZE(n, size, what)                                                                                    \
    if ((n) != (size_t)(size))                                                                                         \
    return cc_refuse_size(instance, function, n, what, size)

/* ---- accepted points ------------------------------------------------------------------------------------------- */

/* Report states that the element changed although element.toml does not declare them `reinit`: by modelDescription.xml
 * only the importer changes them. */
static void cc_check_jumps(Instance *instance, const char *function)
{
    const double *block = cc_block(instance), *before = (const double *)&instance->before.element;
    for (int i = 0; i < CC_STATES; i++) {
        int k = cc_states[i];
        if (!cc_state_reinits[i] && block[k] != before[k])
            cc_fail(instance, "%s: the element changes the state %s from %g to %g at %g s, but its element.toml does "
                    "not declare the state with reinit = true", function, cc_name((size_t)k), before[k], block[k],
                    block[0]);
    }
}

/* Accept the point as it is set, unless that was done before; *jumped is set to 1 if that changed a derivative.  Where
 * a rule is broken or a value is not finite, the instance ends up in error, with the point not accepted. */
static fmi2Status cc_accept_point(Instance *instance, const char *function, int *jumped)
{
    *jumped = 0;
    if (instance->now.jumped == 0.0)
        return fmi2OK;
    double *block = cc_block(instance), step = block[0] - instance->now.accepted;
    cc_save(instance);
    int failures = cc_check_quaternions(instance);
    if (instance->now.changed != 0.0)
        failures += cc_check(instance);
    if (!failures) {
        cc_refresh(instance, 0);
        if (step > 0.0)
            instance->now.last_step = step;
        for (int i = 0; i < CC_STATES; i++)
            instance->x_0[i] = block[cc_state_derivatives[i]];
        int changed = CC_ENTRY(accept)(&instance->now.element, instance, instance->now.last_step);
        cc_check_jumps(instance, function);
        for (int i = 0; i < CC_STATES && changed; i++)
            *jumped |= block[cc_state_derivatives[i]] != instance->x_0[i];
        if ((changed & CC_JUMPED) == CC_JUMPED)
            *jumped = 1, instance->now.thrown = 1.0;
        else /* states that move without a word are the importer's */
            for (int i = 0; i < CC_STATES; i++)
                block[cc_states[i]] = ((const double *)&instance->before.element)[cc_states[i]];
        instance->now.behind = 1.0;
        failures = instance->failures;
        int bad = failures ? -1 : cc_first_not_finite(instance, 0);
        if (bad >= 0) {
            failures = 1;
            cc_log_origin(instance, fmi2Error, block[bad]);
            cc_refuse(instance, fmi2Error, "%s: %s is not finite at the accepted point of %g s", function,
                      cc_name(bad), block[0]);
        }
    }
    if (failures) {
        cc_return(instance);
        return CC_FAILURE;
    }
    instance->now.accepted = block[0];
    instance->now.changed = instance->now.jumped = 0.0;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                                   fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    CC_ENTER_OF(CompletedIntegratorStep, fmi2ModelExchange, CC_CONTINUOUS);
    CC_NEED(1, enterEventMode);
    CC_NEED(1, terminateSimulation);
    (void)noSetFMUStatePriorToCurrentPoint;
    int jumped;
    if (cc_accept_point(instance, CC_CALLED(CompletedIntegratorStep), &jumped) != fmi2OK)
        return CC_FAILURE;
    *enterEventMode = jumped ? fmi2True : fmi2False;
    *terminateSimulation = instance->now.ended != 0.0 ? fmi2True : fmi2False;
    return fmi2OK;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

CC_FUNCTION fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    CC_ENTER_OF(EnterEventMode, fmi2ModelExchange, CC_EVENT | CC_CONTINUOUS);
    instance->now.mode = CC_EVENT;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *eventInfo)
{
    CC_ENTER_OF(NewDiscreteStates, fmi2ModelExchange, CC_EVENT);
    CC_NEED(1, eventInfo);
    int jumped; /* the importer restarts after an event anyway */
    if (cc_accept_point(instance, CC_CALLED(NewDiscreteStates), &jumped) != fmi2OK)
        return CC_FAILURE;
    cc_remember_sides(instance);
    eventInfo->newDiscreteStatesNeeded = fmi2False;
    eventInfo->terminateSimulation = instance->now.ended != 0.0 ? fmi2True : fmi2False;
    eventInfo->nominalsOfContinuousStatesChanged = fmi2False;
    eventInfo->valuesOfContinuousStatesChanged = instance->now.thrown != 0.0 ? fmi2True : fmi2False;
    instance->now.thrown = 0.0;
    eventInfo->nextEventTimeDefined = fmi2False;
    eventInfo->nextEventTime = 0.0;
    return fmi2OK;
}

/* What was set after fmi2NewDiscreteStates still belongs to the event. */
CC_FUNCTION fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    CC_ENTER_OF(EnterContinuousTimeMode, fmi2ModelExchange, CC_EVENT);
    int jumped;
    if (cc_accept_point(instance, CC_CALLED(EnterContinuousTimeMode), &jumped) != fmi2OK)
        return CC_FAILURE;
    cc_remember_sides(instance);
    instance->now.mode = CC_CONTINUOUS;
    return fmi2OK;
}

/* ---- the point ------------------------------------------------------------------------------------------------- */

CC_FUNCTION fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    CC_ENTER_OF(SetTime, fmi2ModelExchange, CC_EVENT | CC_CONTINUOUS);
    if (!cc_is_finite(time))
        return cc_refuse(instance, fmi2Error, CC_CALLED(SetTime) ": the time %g s must be finite", time);
    cc_store(instance, 0, time);
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    CC_ENTER_OF(SetContinuousStates, fmi2ModelExchange, CC_CONTINUOUS);
    CC_NEED_SIZE(nx, CC_STATES, "states");
    CC_NEED(nx, x);
    for (size_t i = 0; i < nx; i++)
        if (!cc_is_finite(x[i]))
            return cc_refuse(instance, fmi2Discard,
                             CC_CALLED(SetContinuousStates) ": %s = %g%s%s is refused, it must be "
                             "finite",
                             cc_name(cc_states[i]), x[i], CC_UNIT(cc_variable(cc_states[i])));
    for (size_t i = 0; i < nx; i++)
        cc_store(instance, (fmi2ValueReference)cc_states[i], x[i]);
    return fmi2OK;
}

#define CC_FAR 1e300 /* largest indicator returned; without an edge the element gives the largest double */
#define CC_ASKED (CC_INITIALIZATION | CC_EVENT | CC_CONTINUOUS | CC_ERROR | CC_TERMINATED)

CC_FUNCTION fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    CC_ENTER_OF(GetContinuousStates, fmi2ModelExchange, CC_ASKED);
    CC_NEED_SIZE(nx, CC_STATES, "states");
    CC_NEED(nx, x);
    cc_refresh(instance, 0); /* in initialization mode they follow the parameters */
    for (size_t i = 0; i < nx; i++)
        x[i] = cc_block(instance)[cc_states[i]];
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    CC_ENTER_OF(GetDerivatives, fmi2ModelExchange, CC_ASKED);
    CC_NEED_SIZE(nx, CC_STATES, "states");
    CC_NEED(nx, derivatives);
    cc_refresh(instance, 0);
    const double *block = cc_block(instance);
    for (size_t i = 0; i < nx; i++)
        if (!cc_is_finite(block[cc_state_derivatives[i]])) {
            cc_log_origin(instance, cc_not_finite(instance), block[cc_state_derivatives[i]]);
            return cc_refuse(instance, cc_not_finite(instance), CC_CALLED(GetDerivatives) ": %s is not finite at %g s",
                             cc_name(cc_state_derivatives[i]), block[0]);
        }
    for (size_t i = 0; i < nx; i++)
        derivatives[i] = block[cc_state_derivatives[i]];
    return fmi2OK;
}

/* Compute the indicators of the point; fmi2OK if all are finite. */
static inline fmi2Status cc_find_indicators(Instance *instance, const char *function)
{
    cc_refresh(instance, 0);
    if (instance->now.mode == CC_INITIALIZATION)
        cc_remember_sides(instance);
    double *z = instance->z_0;
    for (int i = 0; i < CC_INDICATORS; i += 2) /* shows what the element does not write; the array has one more */
        *(CcTwo *)(z + i) = (CcTwo){__builtin_nan(""), __builtin_nan("")};
    CC_ENTRY(indicators)(&instance->now.element, z);
    for (int i = 0; i < CC_INDICATORS; i++)
        if (!cc_is_finite(z[i])) {
            cc_log_origin(instance, cc_not_finite(instance), z[i]);
            return cc_refuse(instance, cc_not_finite(instance), "%s: the indicator %s is not finite at %g s, or not "
                             "computed", function, cc_name((size_t)(CC_VARIABLES + i)), cc_block(instance)[0]);
        }
    return fmi2OK;
}

/* An indicator that was computed, as the importer sees it. */
static inline double cc_shown_indicator(const Instance *instance, size_t i)
{
    return cc_clamp(instance->z_0[i] / cc_indicator_nominals[i], -CC_FAR, CC_FAR)
           + instance->now.sides[i] * cc_tolerance(instance);
}

CC_FUNCTION fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni)
{
    CC_ENTER_OF(GetEventIndicators, fmi2ModelExchange, CC_ASKED);
    CC_NEED_SIZE(ni, CC_INDICATORS, "indicators");
    CC_NEED(ni, eventIndicators);
    fmi2Status status = cc_find_indicators(instance, function);
    for (size_t i = 0; i < ni && status == fmi2OK; i++)
        eventIndicators[i] = cc_shown_indicator(instance, i);
    return status;
}

CC_FUNCTION fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx)
{
    CC_ENTER_OF(GetNominalsOfContinuousStates, fmi2ModelExchange,
                CC_INSTANTIATED | CC_EVENT | CC_CONTINUOUS | CC_ERROR | CC_TERMINATED);
    CC_NEED_SIZE(nx, CC_STATES, "states");
    CC_NEED(nx, x_nominal);
    for (size_t i = 0; i < nx; i++)
        x_nominal[i] = cc_state_nominals[i];
    return fmi2OK;
}

#endif
