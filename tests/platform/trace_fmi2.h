/* An FMU for FMI 2.0 under trace_driver.c, which includes this text. */
#ifndef TRACE_FMI2_H
#define TRACE_FMI2_H

#define FUNCTIONS(X)                                                                                                   \
    X(Instantiate) X(SetupExperiment) X(EnterInitializationMode) X(ExitInitializationMode) X(SetReal) X(GetReal)       \
    X(GetInteger) X(GetBoolean) X(DoStep) X(Terminate) X(FreeInstance)
#define POINTER(name) static fmi2##name##TYPE *call##name;
#define FIND(name) call##name = (fmi2##name##TYPE *)require_function(library, "fmi2" #name);
FUNCTIONS(POINTER)

static fmi2Component fmu;

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    (void)environment, (void)instance, (void)status, (void)category;
    keep_message(message);
}

/* An instance that is initialized. */
static void begin(void *library)
{
    static fmi2CallbackFunctions callbacks = {logger, allocate, release, NULL, NULL};
    FUNCTIONS(FIND)
    fmu = callInstantiate("trace", fmi2CoSimulation, MODEL_GUID, RESOURCES, &callbacks, fmi2False, fmi2False);
    if (!fmu) fail("fmi2Instantiate", " returned NULL");
    require_ok(callSetupExperiment(fmu, fmi2False, 0.0, 0.0, fmi2False, 0.0), "fmi2SetupExperiment");
    require_ok(callEnterInitializationMode(fmu), "fmi2EnterInitializationMode");
    require_ok(callExitInitializationMode(fmu), "fmi2ExitInitializationMode");
}

static void make_step(void)
{
    if (REAL_INPUTS_COUNT > 0) require_ok(callSetReal(fmu, REAL_INPUTS, REAL_INPUTS_COUNT, inputs), "fmi2SetReal");
    require_ok(callDoStep(fmu, (double)step * STEP_SIZE, STEP_SIZE, fmi2True), "fmi2DoStep");
}

static void get_values(void)
{
    if (REALS_COUNT > 0) require_ok(callGetReal(fmu, REALS, REALS_COUNT, reals), GET_REALS);
    if (INTEGERS_COUNT > 0) require_ok(callGetInteger(fmu, INTEGERS, INTEGERS_COUNT, integers), "fmi2GetInteger");
    if (BOOLEANS_COUNT > 0) require_ok(callGetBoolean(fmu, BOOLEANS, BOOLEANS_COUNT, booleans), "fmi2GetBoolean");
}

static void end(void)
{
    require_ok(callTerminate(fmu), "fmi2Terminate");
    callFreeInstance(fmu);
}

#endif
