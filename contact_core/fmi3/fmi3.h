/* FMI 3.0.2 for co-simulation and model exchange, around the functions of FMI 2.0 (fmi2/fmi2.h).
 *
 * Here are creation, initialization and events, the rest is in fmi3_*.h.
 *
 * A function that is not listed there does the same as its neighbour in FMI 2.0.  What differs:
 *
 * Values       Arrays; Int32 for integers, Int64 for enumerations; event indicators are variables (fmi3_variables.h).
 * Derivatives  Of vectors, and adjoint ones (fmi3_derivatives.h).  Those of inputs are gone: inputs are held.
 * Steps        Intermediate update, early return (fmi3_step.h).
 * Event mode   of co-simulation, if the importer uses it: discrete inputs and tunable parameters change there only.
 *              fmi3UpdateDiscreteStates accepts the point with what was set, so outputs that follow the memory of the
 *              element are those behind the event.
 * Clocks       of elements that declare some (fmi3_clocks.h).
 * Absent       Types, configuration and scheduled execution, which these FMUs do not have, and clocks of those that
 *              declare none (fmi3_absent.h). */
#ifndef CC_FMI3_H
#define CC_FMI3_H

#include "../fmi2/fmi2_model_exchange.h"
#if CC_CLOCKS
#include "fmi3_clocks.h"
#endif

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    return fmi2SetDebugLogging(c, loggingOn, nCategories, categories);
}

/* ---- creation --------------------------------------------------------------------------------------------------- */

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                          fmi3LogMessageCallback logMessage)
{
    const CcImporter importer = {.log = logMessage, .environment = instanceEnvironment};
    (void)visible;
    return cc_instantiate("fmi3InstantiateModelExchange", instanceName, fmi2ModelExchange, instantiationToken,
                          resourcePath, &importer, loggingOn);
}

/* All continuous outputs and locals can be read in intermediate updates, so it does not matter which are required. */
fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment,
                                         fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate)
{
    const CcImporter importer = {
        .log = logMessage,
        .update = intermediateUpdate,
        .environment = instanceEnvironment,
        .uses_events = eventModeUsed,
        .takes_early_return = earlyReturnAllowed,
    };
    (void)visible, (void)requiredIntermediateVariables, (void)nRequiredIntermediateVariables;
    return cc_instantiate("fmi3InstantiateCoSimulation", instanceName, fmi2CoSimulation, instantiationToken,
                          resourcePath, &importer, loggingOn);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage,
                                               fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    const CcImporter importer = {.log = logMessage, .environment = instanceEnvironment};
    (void)instantiationToken, (void)resourcePath, (void)visible, (void)loggingOn, (void)clockUpdate;
    (void)lockPreemption, (void)unlockPreemption;
    return cc_no_instance(&importer, instanceName,
                          "fmi3InstantiateScheduledExecution: this FMU is for co-simulation and model exchange");
}

void fmi3FreeInstance(fmi3Instance c) { fmi2FreeInstance(c); }

/* ---- initialization, end ---------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    fmi3Status status = fmi2SetupExperiment(c, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime);
    return status == fmi3OK ? fmi2EnterInitializationMode(c) : status;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    fmi3Status status = fmi2ExitInitializationMode(c);
    Instance *instance = c;
    if (status == fmi3OK && instance->now.type == fmi2CoSimulation && instance->importer.uses_events)
        instance->now.mode = CC_EVENT;
    return status;
}

fmi3Status fmi3Terminate(fmi3Instance c) { return fmi2Terminate(c); }

fmi3Status fmi3Reset(fmi3Instance c)
{
    fmi3Status status = fmi2Reset(c);
    if (status == fmi3OK)
        ((Instance *)c)->importer.substeps = 0;
    return status;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static int cc_is_co_simulation(fmi3Instance c) { return c && ((Instance *)c)->now.type == fmi2CoSimulation; }

CC_RARE fmi3Status cc_refuse_events(Instance *instance, const char *function)
{
    return cc_refuse(instance, fmi3Error, "%s: the instance was made with eventModeUsed = false", function);
}

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    if (!cc_is_co_simulation(c))
        return fmi2EnterEventMode(c);
    CC_ENTER_AS("fmi3EnterEventMode", CC_STEP_COMPLETE);
    if (!instance->importer.uses_events)
        return cc_refuse_events(instance, function);
    instance->now.mode = CC_EVENT;
    return fmi3OK;
}

/* Accept the point of an event of co-simulation.  It has no length: what accumulates over time does not move. */
static fmi3Status cc_accept_event(Instance *instance, const char *function)
{
    int jumped;
    instance->now.accepted = cc_block(instance)[0];
    fmi3Status status = cc_accept_point(instance, function, &jumped);
    instance->now.thrown = 0.0;
    return status;
}

/* Accept the point at which input clocks tick, if any do, and deactivate them: the instant behind the tick, which is
 * accepted next, is a point of its own. */
static fmi3Status cc_end_ticks(Instance *instance, const char *function)
{
#if CC_CLOCKS
    int any = 0, jumped;
    for (int i = 0; i < CC_CLOCKS; i++)
        any |= cc_is_ticking(instance, i);
    if (!any)
        return fmi3OK;
    fmi3Status status = instance->now.type == fmi2CoSimulation ? cc_accept_event(instance, function)
                                                               : cc_accept_point(instance, function, &jumped);
    for (int i = 0; i < CC_CLOCKS && status == fmi3OK; i++)
        cc_deactivate(instance, i);
    return status;
#else
    (void)instance, (void)function;
    return fmi3OK;
#endif
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    CC_ENTER_AS("fmi3UpdateDiscreteStates", CC_EVENT);
    CC_NEED(1, discreteStatesNeedUpdate);
    CC_NEED(1, terminateSimulation);
    CC_NEED(1, nominalsOfContinuousStatesChanged);
    CC_NEED(1, valuesOfContinuousStatesChanged);
    CC_NEED(1, nextEventTimeDefined);
    CC_NEED(1, nextEventTime);
    fmi2EventInfo info = {0};
    fmi3Status status = cc_end_ticks(instance, function);
    if (status == fmi3OK)
        status = cc_is_co_simulation(c) ? cc_accept_event(instance, function) : fmi2NewDiscreteStates(c, &info);
    if (status != fmi3OK)
        return status;
    if (cc_is_co_simulation(c))
        info.terminateSimulation = instance->now.ended != 0.0; /* a step, or this event, has asked for the end */
    *discreteStatesNeedUpdate = info.newDiscreteStatesNeeded;
    *terminateSimulation = info.terminateSimulation;
    *nominalsOfContinuousStatesChanged = info.nominalsOfContinuousStatesChanged;
    *valuesOfContinuousStatesChanged = info.valuesOfContinuousStatesChanged;
    *nextEventTimeDefined = info.nextEventTimeDefined;
    *nextEventTime = info.nextEventTime;
    return fmi3OK;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    CC_ENTER_OF_AS("fmi3EnterContinuousTimeMode", fmi2ModelExchange, CC_EVENT);
    fmi3Status status = cc_end_ticks(instance, function);
    return status == fmi3OK ? fmi2EnterContinuousTimeMode(c) : status;
}

/* What was set after fmi3UpdateDiscreteStates still belongs to the event. */
fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    CC_ENTER_OF_AS("fmi3EnterStepMode", fmi2CoSimulation, CC_EVENT);
    fmi3Status status = cc_end_ticks(instance, function);
    if (status == fmi3OK)
        status = cc_accept_event(instance, function);
    instance->importer.substeps = 0;
    if (status == fmi3OK)
        instance->now.mode = CC_STEP_COMPLETE;
    return status;
}

/* ---- model exchange --------------------------------------------------------------------------------------------- */

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation)
{
    return fmi2CompletedIntegratorStep(c, noSetFMUStatePriorToCurrentPoint, enterEventMode, terminateSimulation);
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) { return fmi2SetTime(c, time); }

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return fmi2SetContinuousStates(c, continuousStates, nContinuousStates);
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return fmi2GetContinuousStates(c, continuousStates, nContinuousStates);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nContinuousStates)
{
    return fmi2GetDerivatives(c, derivatives, nContinuousStates);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 eventIndicators[], size_t nEventIndicators)
{
    return fmi2GetEventIndicators(c, eventIndicators, nEventIndicators);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nContinuousStates)
{
    return fmi2GetNominalsOfContinuousStates(c, nominals, nContinuousStates);
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *nEventIndicators)
{
    CC_ENTER_OF_AS("fmi3GetNumberOfEventIndicators", fmi2ModelExchange, CC_ANY);
    CC_NEED(1, nEventIndicators);
    *nEventIndicators = CC_INDICATORS;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *nContinuousStates)
{
    CC_ENTER_OF_AS("fmi3GetNumberOfContinuousStates", fmi2ModelExchange, CC_ANY);
    CC_NEED(1, nContinuousStates);
    *nContinuousStates = CC_STATES;
    return fmi3OK;
}

#endif
