/* Getting, setting and serializing the state: as FMI 2.0 (fmi2/fmi2_state.h). */
#ifndef CC_FMI3_STATE_H
#define CC_FMI3_STATE_H

#include "../fmi2/fmi2_state.h"

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *FMUState) { return fmi2GetFMUstate(c, FMUState); }

/* A state of event mode is none of an instance that does not use it. */
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState FMUState)
{
    CC_ENTER_AS("fmi3SetFMUState", CC_ANY);
    CC_NEED(1, FMUState);
    const CcState *state = FMUState;
    if (cc_is_co_simulation(c) && state->mode == CC_EVENT && !instance->importer.uses_events)
        return cc_refuse(instance, fmi3Error, "%s: the state is one of event mode, but the instance was made with "
                         "eventModeUsed = false", function);
    instance->importer.substeps = 0;
    return fmi2SetFMUstate(c, FMUState);
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *FMUState) { return fmi2FreeFMUstate(c, FMUState); }

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState FMUState, size_t *size)
{
    return fmi2SerializedFMUstateSize(c, FMUState, size);
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
{
    return fmi2SerializeFMUstate(c, FMUState, serializedState, size);
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState)
{
    return fmi2DeSerializeFMUstate(c, serializedState, size, FMUState);
}

#endif
