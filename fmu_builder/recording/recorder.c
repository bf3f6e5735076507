/* A library in the place of that of an FMI 2.0 FMU: each call is recorded, with arguments, answer and times, and passed
 * on to the FMU's own library, NAME.original with the same ending beside this one.  Component pointers, states and
 * texts are those of the FMU.  Nothing of it depends on the FMU, so one library serves all. */
#include "fmi2Functions.h"

#include "callbacks.h"

/* In the order of their numbers in records (functions.py). */
#define ALL_FUNCTIONS(X)                                                                                               \
    X(GetTypesPlatform) X(GetVersion) X(SetDebugLogging) X(Instantiate) X(FreeInstance) X(SetupExperiment)             \
    X(EnterInitializationMode) X(ExitInitializationMode) X(Terminate) X(Reset) X(GetReal) X(GetInteger) X(GetBoolean)  \
    X(GetString) X(SetReal) X(SetInteger) X(SetBoolean) X(SetString) X(GetFMUstate) X(SetFMUstate) X(FreeFMUstate)     \
    X(SerializedFMUstateSize) X(SerializeFMUstate) X(DeSerializeFMUstate) X(GetDirectionalDerivative)                  \
    X(EnterEventMode) X(NewDiscreteStates) X(EnterContinuousTimeMode) X(CompletedIntegratorStep) X(SetTime)            \
    X(SetContinuousStates) X(GetDerivatives) X(GetEventIndicators) X(GetContinuousStates)                              \
    X(GetNominalsOfContinuousStates) X(SetRealInputDerivatives) X(GetRealOutputDerivatives) X(DoStep) X(CancelStep)    \
    X(GetStatus) X(GetRealStatus) X(GetIntegerStatus) X(GetBooleanStatus) X(GetStringStatus)

#define NUMBER_OF(name) NUMBER_##name,
#define NAME_OF(name) "fmi2" #name,
enum { ALL_FUNCTIONS(NUMBER_OF) FUNCTIONS };
static const char *const names[] = {ALL_FUNCTIONS(NAME_OF)};

static void *library, *functions[FUNCTIONS]; /* the FMU's own; NULL for what it does not export */
static char own[PATH_SIZE], original[PATH_SIZE], why[PATH_SIZE];

/* ---- start, end ------------------------------------------------------------------------------------------------ */

/* Splits the path of this library into folder and name, and makes the paths of the two files beside it. */
static int find_neighbours(char configuration[PATH_SIZE])
{
    if (!system_own_path(own))
        return 0;
    size_t name = 0, end = 0;
    for (size_t i = 0; own[i]; i++) {
        if (is_one_of(own[i], SEPARATORS))
            name = i + 1;
        else if (own[i] == '.')
            end = i;
    }
    if (end <= name)
        return 0;
    for (char *paths[2] = {original, configuration}, **path = paths; path < paths + 2; path++) {
        __builtin_memcpy(*path, own, end);
        (*path)[end] = 0;
    }
    __builtin_memcpy(recorder.name, own + name, end - name);
    recorder.name[end - name] = 0;
    return append(original, ".original") && append(original, own + end) && append(configuration, CONFIGURATION);
}

static void load_original(void)
{
    library = system_load(original, why);
    for (int i = 0; library && i < FUNCTIONS; i++)
        functions[i] = system_symbol(library, names[i]);
}

/* Begins a recording where the configuration says, or the environment; 0 if that fails. */
static int begin_recording(const char *configuration)
{
    static char text[PATH_SIZE];
    File file = file_open(configuration, 0);
    if (file == NO_FILE)
        return 0;
    const uint64_t size = file_size(file), first = size < PATH_SIZE ? size : PATH_SIZE;
    uint64_t line = 0;
    int is_good = file_read(file, text, (size_t)first, 0);
    while (is_good && line < first && text[line] != '\n')
        line++;
    if ((is_good = is_good && line < first)) {
        text[line] = 0;
        if (!system_environment(ENVIRONMENT, recorder.folder))
            copy_path(recorder.folder, text);
        recorder.is_off = is_same(recorder.folder, NOWHERE);
        is_good = recorder.is_off
                  || (system_make_absolute(recorder.folder) && create_file()
                      && record_description(file, line + 1, size - line - 1));
    }
    file_close(file);
    return is_good;
}

/* Under the lock.  A recording that could not be begun is tried again with the next instance; a process that was forked
 * off begins one of its own with its first call: a store into the map of the other one would be lost, or a crash. */
static void start(int again)
{
    static char configuration[PATH_SIZE];
    const int is_forked = recorder.is_recording && recorder.process != system_process();
    if (!recorder.is_started) {
        recorder.is_started = 1;
        if (find_neighbours(configuration))
            load_original();
        again = 1;
    }
    if (is_forked) {
        if (recorder.window)
            file_close(recorder.file);
        close_window();
        recorder.is_recording = 0;
        again = 1;
    }
    if (again && !recorder.is_recording && !recorder.is_off)
        begin_recording(configuration);
}

#if defined __ELF__
__attribute__((destructor)) static void unload(void)
{
    if (recorder.live == 0 && library) {
        close_file();
        system_unload(library);
        __builtin_memset(functions, 0, sizeof functions);
    }
}
#elif defined _WIN32
/* Files of a library that is loaded cannot be removed, and importers remove what they have unpacked.  `reserved` is not
 * NULL when the process ends. */
int __stdcall DllMainCRTStartup(void *module, unsigned long reason, void *reserved);
int __stdcall _DllMainCRTStartup(void *module, unsigned long reason, void *reserved);
int __stdcall DllMainCRTStartup(void *module, unsigned long reason, void *reserved)
{
    (void)module;
    if (reason == 0 && !reserved) {
        close_file();
        if (library)
            system_unload(library);
    }
    return 1;
}
int __stdcall _DllMainCRTStartup(void *module, unsigned long reason, void *reserved)
{
    return DllMainCRTStartup(module, reason, reserved);
}
#endif

/* ---- a call ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t number;
    int function;
} Call;

static Call begin(int function, fmi2Component c, const Field *inputs)
{
    lock();
    start(function == NUMBER_Instantiate);
    const Call call = {++recorder.calls, function};
    record((Head){.kind = BEGIN,
                  .function = (uint8_t)function,
                  .call = call.number,
                  .component = (uint64_t)(uintptr_t)c},
           inputs);
    unlock();
    return call;
}

static void end(Call call, fmi2Component c, fmi2Status status, const Field *outputs, int change_of_live)
{
    static const Field nothing = {NOTHING, 0, NULL};
    const uint64_t tick = system_ticks();
    lock();
    record((Head){.kind = END_OF_CALL,
                  .function = (uint8_t)call.function,
                  .status = (int32_t)status,
                  .call = call.number,
                  .component = (uint64_t)(uintptr_t)c,
                  .tick = tick},
           status == fmi2OK || status == fmi2Warning ? outputs : &nothing);
    recorder.live += change_of_live;
    if (recorder.live <= 0)
        close_file();
    unlock();
}

#define NONE {NOTHING, 0, NULL}
#define INTEGERS_OF(values, count) {INTEGERS, count, values}
#define REFERENCES_OF(values, count) {REFERENCES, count, values}
#define REALS_OF(values, count) {REALS, count, values}
#define TEXTS_OF(values, count) {TEXTS, count, values}
#define BYTES_OF(values, count) {BYTES, count, values}
#define NUMBERS_OF(values, count) {NUMBERS, count, values}
#define INTEGER(value) {INTEGERS, 1, (const fmi2Integer[]){(fmi2Integer)(value)}}
#define REAL(value) {REALS, 1, (const fmi2Real[]){value}}
#define TEXT(value) {TEXTS, 1, (const fmi2String[]){value}}
#define NUMBER(value) {NUMBERS, 1, (const uint64_t[]){(uint64_t)(uintptr_t)(value)}}
#define FIELDS(...) ((const Field[]){__VA_ARGS__, NONE})

/* The rest of a function: its inputs, the arguments it passes on, its outputs. */
#define PASS_ON(name, inputs, arguments, outputs)                                                                      \
    const Call call = begin(NUMBER_##name, c, FIELDS inputs);                                                          \
    fmi2##name##TYPE *function = (fmi2##name##TYPE *)(uintptr_t)functions[NUMBER_##name];                              \
    const fmi2Status status = function ? function arguments : fmi2Error;                                               \
    end(call, c, status, FIELDS outputs, 0);                                                                           \
    return status

static const char *text_of(int number, const char *otherwise)
{
    const Call call = begin(number, NULL, FIELDS(NONE));
    fmi2GetVersionTYPE *function = (fmi2GetVersionTYPE *)(uintptr_t)functions[number];
    const char *text = function ? function() : otherwise;
    end(call, NULL, fmi2OK, FIELDS(TEXT(text)), 0);
    return text;
}

const char *fmi2GetTypesPlatform(void) { return text_of(NUMBER_GetTypesPlatform, fmi2TypesPlatform); }
const char *fmi2GetVersion(void) { return text_of(NUMBER_GetVersion, fmi2Version); }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    PASS_ON(SetDebugLogging, (INTEGER(loggingOn), TEXTS_OF(categories, nCategories)),
            (c, loggingOn, nCategories, categories), (NONE));
}

/* ---- instances ------------------------------------------------------------------------------------------------- */

/* Why the FMU cannot be called, or its calls not be recorded; an instance without a recording would be of no use. */
static int refuses(const fmi2CallbackFunctions *callbacks, fmi2String name)
{
    if (functions[NUMBER_Instantiate] && (recorder.is_recording || recorder.is_off))
        return 0;
    if (!callbacks || !callbacks->logger)
        return 1;
    if (!functions[NUMBER_Instantiate])
        callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError",
                          "recorder: %s cannot be loaded: %s", original[0] ? original : own, why);
    else
        callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError",
                          "recorder: %s cannot be written: set the variable " ENVIRONMENT " to another folder",
                          recorder.path[0] ? recorder.path : recorder.folder);
    return 1;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *given, fmi2Boolean visible,
                              fmi2Boolean loggingOn)
{
    const int has[4] = {given && given->logger, given && given->allocateMemory, given && given->freeMemory,
                        given && given->stepFinished};
    const Call call = begin(NUMBER_Instantiate, NULL,
                            FIELDS(TEXT(instanceName), INTEGER(fmuType), TEXT(fmuGUID), TEXT(fmuResourceLocation),
                                   INTEGERS_OF(given ? has : NULL, 4), INTEGER(visible), INTEGER(loggingOn)));
    fmi2Component c = NULL;
    if (!refuses(given, instanceName)) {
        int slot;
        const fmi2CallbackFunctions *callbacks = take_slot(given, &slot);
        c = ((fmi2InstantiateTYPE *)(uintptr_t)functions[NUMBER_Instantiate])(
            instanceName, fmuType, fmuGUID, fmuResourceLocation, callbacks, visible, loggingOn);
        if (slot >= 0) {
            slots[slot].component = c;
            slots[slot].is_taken = c != NULL;
        }
    }
    end(call, c, fmi2OK, FIELDS(NONE), c != NULL);
    return c;
}

void fmi2FreeInstance(fmi2Component c)
{
    const Call call = begin(NUMBER_FreeInstance, c, FIELDS(NONE));
    fmi2FreeInstanceTYPE *function = (fmi2FreeInstanceTYPE *)(uintptr_t)functions[NUMBER_FreeInstance];
    free_slot_of(c); /* before another thread is given an instance of the same address */
    if (function)
        function(c);
    end(call, c, fmi2OK, FIELDS(NONE), c ? -1 : 0);
}

/* ---- initialization, end --------------------------------------------------------------------------------------- */

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    PASS_ON(SetupExperiment,
            (INTEGER(toleranceDefined), REAL(tolerance), REAL(startTime), INTEGER(stopTimeDefined), REAL(stopTime)),
            (c, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime), (NONE));
}

#define PLAIN(name)                                                                                                    \
    fmi2Status fmi2##name(fmi2Component c) { PASS_ON(name, (NONE), (c), (NONE)); }
PLAIN(EnterInitializationMode)
PLAIN(ExitInitializationMode)
PLAIN(Terminate)
PLAIN(Reset)
PLAIN(EnterEventMode)
PLAIN(EnterContinuousTimeMode)
PLAIN(CancelStep)

/* ---- values ---------------------------------------------------------------------------------------------------- */

#define VALUES(type, fields)                                                                                           \
    fmi2Status fmi2Get##type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##type value[])           \
    {                                                                                                                  \
        PASS_ON(Get##type, (REFERENCES_OF(vr, nvr)), (c, vr, nvr, value), (fields(value, nvr)));                       \
    }                                                                                                                  \
    fmi2Status fmi2Set##type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##type value[])     \
    {                                                                                                                  \
        PASS_ON(Set##type, (REFERENCES_OF(vr, nvr), fields(value, nvr)), (c, vr, nvr, value), (NONE));                 \
    }
VALUES(Real, REALS_OF)
VALUES(Integer, INTEGERS_OF)
VALUES(Boolean, INTEGERS_OF)
VALUES(String, TEXTS_OF)

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    PASS_ON(GetDirectionalDerivative,
            (REFERENCES_OF(vUnknown_ref, nUnknown), REFERENCES_OF(vKnown_ref, nKnown), REALS_OF(dvKnown, nKnown)),
            (c, vUnknown_ref, nUnknown, vKnown_ref, nKnown, dvKnown, dvUnknown), (REALS_OF(dvUnknown, nUnknown)));
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    PASS_ON(SetRealInputDerivatives, (REFERENCES_OF(vr, nvr), INTEGERS_OF(order, nvr), REALS_OF(value, nvr)),
            (c, vr, nvr, order, value), (NONE));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    PASS_ON(GetRealOutputDerivatives, (REFERENCES_OF(vr, nvr), INTEGERS_OF(order, nvr)), (c, vr, nvr, order, value),
            (REALS_OF(value, nvr)));
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    PASS_ON(GetFMUstate, (NUMBERS_OF(state, 1)), (c, state), (NUMBERS_OF(state, 1)));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    PASS_ON(SetFMUstate, (NUMBER(state)), (c, state), (NONE));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    PASS_ON(FreeFMUstate, (NUMBERS_OF(state, 1)), (c, state), (NUMBERS_OF(state, 1)));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    PASS_ON(SerializedFMUstateSize, (NUMBER(state)), (c, state, size), (NUMBERS_OF(size, 1)));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    PASS_ON(SerializeFMUstate, (NUMBER(state), NUMBER(size)), (c, state, bytes, size), (BYTES_OF(bytes, size)));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    PASS_ON(DeSerializeFMUstate, (BYTES_OF(bytes, size), NUMBERS_OF(state, 1)), (c, bytes, size, state),
            (NUMBERS_OF(state, 1)));
}

/* ---- model exchange -------------------------------------------------------------------------------------------- */

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    PASS_ON(NewDiscreteStates, (NONE), (c, info),
            (INTEGERS_OF(&info->newDiscreteStatesNeeded, 5), REALS_OF(&info->nextEventTime, 1)));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    PASS_ON(CompletedIntegratorStep, (INTEGER(noSetFMUStatePriorToCurrentPoint)),
            (c, noSetFMUStatePriorToCurrentPoint, enterEventMode, terminateSimulation),
            (INTEGERS_OF(enterEventMode, 1), INTEGERS_OF(terminateSimulation, 1)));
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) { PASS_ON(SetTime, (REAL(time)), (c, time), (NONE)); }

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    PASS_ON(SetContinuousStates, (REALS_OF(x, nx)), (c, x, nx), (NONE));
}

#define VECTOR(name)                                                                                                   \
    fmi2Status fmi2##name(fmi2Component c, fmi2Real value[], size_t n)                                                 \
    {                                                                                                                  \
        PASS_ON(name, (NUMBER(n)), (c, value, n), (REALS_OF(value, n)));                                               \
    }
VECTOR(GetDerivatives)
VECTOR(GetEventIndicators)
VECTOR(GetContinuousStates)
VECTOR(GetNominalsOfContinuousStates)

/* ---- co-simulation --------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    PASS_ON(DoStep,
            (REAL(currentCommunicationPoint), REAL(communicationStepSize), INTEGER(noSetFMUStatePriorToCurrentPoint)),
            (c, currentCommunicationPoint, communicationStepSize, noSetFMUStatePriorToCurrentPoint), (NONE));
}

#define STATUS(name, type, fields)                                                                                     \
    fmi2Status fmi2##name(fmi2Component c, const fmi2StatusKind kind, type *value)                                     \
    {                                                                                                                  \
        PASS_ON(name, (INTEGER(kind)), (c, kind, value), (fields(value, 1)));                                          \
    }
STATUS(GetStatus, fmi2Status, INTEGERS_OF)
STATUS(GetRealStatus, fmi2Real, REALS_OF)
STATUS(GetIntegerStatus, fmi2Integer, INTEGERS_OF)
STATUS(GetBooleanStatus, fmi2Boolean, INTEGERS_OF)
STATUS(GetStringStatus, fmi2String, TEXTS_OF)

/* The memory functions that compilers call; its entry points are those of a library that does nothing at its end. */
#define DllMainCRTStartup recorder_no_entry
#define _DllMainCRTStartup recorder_no_entry_either
#include "freestanding.c"
