/* An FMU for FMI 3.0 under trace_driver.c, which includes this text.  Its memory is of its own, by system calls or of
 * the platform: many instances are made and freed, and a state is kept, serialized and put back once. */
#ifndef TRACE_FMI3_H
#define TRACE_FMI3_H

#include "fmi3FunctionTypes.h"

#define FUNCTIONS(X)                                                                                                   \
    X(InstantiateCoSimulation) X(EnterInitializationMode) X(ExitInitializationMode) X(SetFloat64) X(GetFloat64)        \
    X(GetInt32) X(GetInt64) X(GetBoolean) X(DoStep) X(Terminate) X(FreeInstance) X(GetFMUState) X(SetFMUState)         \
    X(FreeFMUState) X(SerializedFMUStateSize) X(SerializeFMUState) X(DeserializeFMUState)
#define POINTER(name) static fmi3##name##TYPE *call##name;
#define FIND(name) call##name = (fmi3##name##TYPE *)require_function(library, "fmi3" #name);
FUNCTIONS(POINTER)

#define MANY 50

static fmi3Instance fmu;

static void logger(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    (void)environment, (void)status, (void)category;
    keep_message(message);
}

static fmi3Instance make_instance(void)
{
    fmi3Instance made = callInstantiateCoSimulation("trace", MODEL_GUID, RESOURCES, fmi3False, fmi3False, fmi3False,
                                                    fmi3False, NULL, 0, NULL, logger, NULL);
    if (!made) fail("fmi3InstantiateCoSimulation", " returned NULL");
    return made;
}

/* An instance that is initialized, after many others. */
static void begin(void *library)
{
    static fmi3Instance others[MANY];
    FUNCTIONS(FIND)
    for (int i = 0; i < MANY; i++) others[i] = make_instance();
    fmu = make_instance();
    for (int i = 0; i < MANY; i++) callFreeInstance(others[i]);
    require_ok(callEnterInitializationMode(fmu, fmi3False, 0.0, 0.0, fmi3False, 0.0), "fmi3EnterInitializationMode");
    require_ok(callExitInitializationMode(fmu), "fmi3ExitInitializationMode");
}

/* To a new state, by bytes, and back from it. */
static void put_back_state(void)
{
    fmi3FMUState state = NULL, copy = NULL;
    size_t size;
    require_ok(callGetFMUState(fmu, &state), "fmi3GetFMUState");
    require_ok(callSerializedFMUStateSize(fmu, state, &size), "fmi3SerializedFMUStateSize");
    fmi3Byte *bytes = allocate(size, 1);
    if (!bytes) fail("allocate", " has no memory");
    require_ok(callSerializeFMUState(fmu, state, bytes, size), "fmi3SerializeFMUState");
    require_ok(callDeserializeFMUState(fmu, bytes, size, &copy), "fmi3DeserializeFMUState");
    release(bytes);
    require_ok(callSetFMUState(fmu, copy), "fmi3SetFMUState");
    require_ok(callFreeFMUState(fmu, &state), "fmi3FreeFMUState");
    require_ok(callFreeFMUState(fmu, &copy), "fmi3FreeFMUState");
    if (state || copy) fail("fmi3FreeFMUState", " leaves the pointer");
}

static void make_step(void)
{
    fmi3Boolean event, ends, early;
    fmi3Float64 last;
    if (step == STEP_COUNT / 2) put_back_state();
    if (REAL_INPUTS_COUNT > 0)
        require_ok(callSetFloat64(fmu, REAL_INPUTS, REAL_INPUTS_COUNT, inputs, REAL_INPUTS_COUNT), "fmi3SetFloat64");
    require_ok(callDoStep(fmu, (double)step * STEP_SIZE, STEP_SIZE, fmi3True, &event, &ends, &early, &last),
               "fmi3DoStep");
}

static int is_enumeration(fmi3ValueReference reference)
{
    for (size_t i = 0; i < ENUMERATIONS_COUNT; i++)
        if (ENUMERATIONS[i] == reference) return 1;
    return 0;
}

static void get_values(void)
{
    if (REALS_COUNT > 0) require_ok(callGetFloat64(fmu, REALS, REALS_COUNT, reals, REALS_COUNT), GET_REALS);
    for (size_t i = 0; i < INTEGERS_COUNT; i++) {
        fmi3Int32 whole = 0;
        fmi3Int64 item = 0;
        if (is_enumeration(INTEGERS[i]))
            require_ok(callGetInt64(fmu, INTEGERS + i, 1, &item, 1), "fmi3GetInt64");
        else
            require_ok(callGetInt32(fmu, INTEGERS + i, 1, &whole, 1), "fmi3GetInt32");
        integers[i] = whole + (int)item;
    }
    for (size_t i = 0; i < BOOLEANS_COUNT; i++) {
        fmi3Boolean value;
        require_ok(callGetBoolean(fmu, BOOLEANS + i, 1, &value, 1), "fmi3GetBoolean");
        booleans[i] = value;
    }
}

static void end(void)
{
    require_ok(callTerminate(fmu), "fmi3Terminate");
    callFreeInstance(fmu);
}

#endif
