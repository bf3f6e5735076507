/* What FMI 3.0 gives the instances.
 *
 * Its types under the names of FMI 2.0, memory, log, the names of functions in messages, and accepted substeps
 * (intermediate update, early return). */
#ifndef CC_IMPORTER_H
#define CC_IMPORTER_H

#include "fmi3Functions.h"

#include "memory.h"

/* ---- types ------------------------------------------------------------------------------------------------------ */

typedef fmi3Status fmi2Status;
#define fmi2OK fmi3OK
#define fmi2Warning fmi3Warning
#define fmi2Discard fmi3Discard
#define fmi2Error fmi3Error
#define fmi2Fatal fmi3Fatal

typedef fmi3Instance fmi2Component;
typedef fmi3FMUState fmi2FMUstate;
typedef fmi3ValueReference fmi2ValueReference;
typedef fmi3Float64 fmi2Real;
typedef fmi3Int32 fmi2Integer;
typedef fmi3Boolean fmi2Boolean;
typedef fmi3String fmi2String;
typedef fmi3Byte fmi2Byte;
#define fmi2True fmi3True
#define fmi2False fmi3False

typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;

typedef struct {
    fmi3Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi3Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi3Float64 nextEventTime;
} fmi2EventInfo;

/* What an importer gives an instance, and how far the step is that it makes. */
typedef struct {
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback update;
    fmi3InstanceEnvironment environment;
    int uses_events, takes_early_return;
    int is_early, has_turned;    /* 1 if the step ends before its end, and if a switch turned in its last substep */
    int substeps;                /* accepted in this step; with the end of the one before, if nothing was set since */
    unsigned long long switches; /* at the end of the last of them */
} CcImporter;

/* ---- functions, names ------------------------------------------------------------------------------------------- */

#define CC_FUNCTION static __attribute__((unused))
#define CC_GUID_NAME "instantiationToken"
#define CC_RESOURCES_NAME "resourcePath"
#define CC_FATAL_NAME "fmi3Fatal"
#define CC_CAN_DEFER 0 /* FMI 3.0 has no fmi2Pending */
#define CC_IS_PENDING(status) 0
#define CC_TYPE_NAMES {"Float64", "Int32", "Boolean", "Enumeration", "Clock"}

#define CC_CALLED(name) CC_CALLED_##name
#define CC_CALLED_SetDebugLogging "fmi3SetDebugLogging"
#define CC_CALLED_SetupExperiment "fmi3EnterInitializationMode"
#define CC_CALLED_EnterInitializationMode "fmi3EnterInitializationMode"
#define CC_CALLED_ExitInitializationMode "fmi3ExitInitializationMode"
#define CC_CALLED_Terminate "fmi3Terminate"
#define CC_CALLED_Reset "fmi3Reset"
#define CC_CALLED_GetDirectionalDerivative "fmi3GetDirectionalDerivative"
#define CC_CALLED_GetRealOutputDerivatives "fmi3GetOutputDerivatives"
#define CC_CALLED_CompletedIntegratorStep "fmi3CompletedIntegratorStep"
#define CC_CALLED_EnterEventMode "fmi3EnterEventMode"
#define CC_CALLED_NewDiscreteStates "fmi3UpdateDiscreteStates"
#define CC_CALLED_EnterContinuousTimeMode "fmi3EnterContinuousTimeMode"
#define CC_CALLED_SetTime "fmi3SetTime"
#define CC_CALLED_SetContinuousStates "fmi3SetContinuousStates"
#define CC_CALLED_GetContinuousStates "fmi3GetContinuousStates"
#define CC_CALLED_GetDerivatives "fmi3GetContinuousStateDerivatives"
#define CC_CALLED_GetEventIndicators "fmi3GetEventIndicators"
#define CC_CALLED_GetNominalsOfContinuousStates "fmi3GetNominalsOfContinuousStates"
#define CC_CALLED_GetFMUstate "fmi3GetFMUState"
#define CC_CALLED_SetFMUstate "fmi3SetFMUState"
#define CC_CALLED_FreeFMUstate "fmi3FreeFMUState"
#define CC_CALLED_SerializedFMUstateSize "fmi3SerializedFMUStateSize"
#define CC_CALLED_SerializeFMUstate "fmi3SerializeFMUState"
#define CC_CALLED_DeSerializeFMUstate "fmi3DeserializeFMUState"
#define CC_CALLED_DoStep "fmi3DoStep"

#define CC_HAS_INDICATOR_VARIABLES 1
#define CC_STEP_MODES (CC_STEP_COMPLETE | CC_EVENT)
#define CC_SHOW(instance, t_c, tau, length, t_end) cc_show_substep(instance, t_c, tau, length, t_end)

#include "../instance.h"

/* ---- memory, log ------------------------------------------------------------------------------------------------ */

static void *cc_allocate(const CcImporter *importer, size_t size)
{
    (void)importer;
    return cc_new_block(size);
}

static void cc_release(const CcImporter *importer, void *memory)
{
    (void)importer;
    if (memory)
        cc_delete_block(memory);
}

static void cc_send(const CcImporter *importer, const char *name, fmi2Status status, const char *category,
                    const CcText *text)
{
    (void)name; /* the environment tells the importer whose message it is */
    if (importer->log && text->length)
        importer->log(importer->environment, status, category, text->chars);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Scalars of the variable with this reference: several of an array, 0 of what is inside of one. */
#if CC_ARRAYS
#define CC_LENGTH(vr) ((vr) < CC_VARIABLES ? cc_lengths[vr] : 1)
#else
#define CC_LENGTH(vr) 1
#endif

/* Value `at` of an array of the importer for variables of a type. */
static inline double cc_given(int type, const void *values, size_t at)
{
    return type == CC_REAL          ? ((const fmi3Float64 *)values)[at]
           : type == CC_INTEGER     ? (double)((const fmi3Int32 *)values)[at]
           : type == CC_ENUMERATION ? (double)((const fmi3Int64 *)values)[at]
                                    : (double)((const fmi3Boolean *)values)[at];
}

/* In the solver, at an accepted substep that ends tau after the communication point t_c: fmi3_step.h. */
static void cc_show_substep(Instance *instance, double t_c, double tau, double *length, double *t_end);

#endif
