/* An FMU for tests of the recorder: every function answers fmi2OK with values that follow from its arguments, and sends
 * messages with arguments of all kinds.
 *
 * guid[0] 'u' fmi2DoStep logs a message with a % that means itself, and no arguments
 *         'p' fmi2DoStep answers fmi2Pending and calls stepFinished first
 *         'c' fmi2DoStep crashes from 5 ms on */
#include "fmi2Functions.h"

typedef struct {
    const fmi2CallbackFunctions *functions; /* the pointer, as some FMUs do */
    fmi2ComponentEnvironment environment;
    char name[32], guid;
    double last;
} Echo;

static fmi2CallbackFunctions kept;
static Echo echoes[8];
static int count;

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)type, (void)resources, (void)visible, (void)logging;
    Echo *echo = &echoes[count++ % 8];
    if (guid[0] == '0') {
        functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s: no", name);
        return NULL;
    }
    kept = *functions;
    echo->functions = functions;
    echo->environment = functions->componentEnvironment;
    for (int i = 0; i < 31 && (echo->name[i] = name[i]); i++)
        ;
    echo->guid = guid[0];
    echo->last = 0.0;
    return echo;
}

void fmi2FreeInstance(fmi2Component c) { (void)c; }
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define OK(name, arguments) fmi2Status name arguments { return fmi2OK; }
OK(fmi2SetDebugLogging, (fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]))
OK(fmi2SetupExperiment, (fmi2Component c, fmi2Boolean a, fmi2Real b, fmi2Real d, fmi2Boolean e, fmi2Real f))
OK(fmi2EnterInitializationMode, (fmi2Component c))
OK(fmi2ExitInitializationMode, (fmi2Component c))
OK(fmi2Terminate, (fmi2Component c))
OK(fmi2Reset, (fmi2Component c))
OK(fmi2SetReal, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]))
OK(fmi2SetInteger, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]))
OK(fmi2SetBoolean, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]))
OK(fmi2SetString, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]))
OK(fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate state))
OK(fmi2SetRealInputDerivatives, (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                 const fmi2Real value[]))
OK(fmi2CancelStep, (fmi2Component c))
OK(fmi2EnterEventMode, (fmi2Component c))
OK(fmi2EnterContinuousTimeMode, (fmi2Component c))
OK(fmi2SetTime, (fmi2Component c, fmi2Real time))
OK(fmi2SetContinuousStates, (fmi2Component c, const fmi2Real x[], size_t n))

#define EACH(name, arguments, what)                                                                                    \
    fmi2Status name arguments                                                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            value[i] = what;                                                                                           \
        return fmi2OK;                                                                                                 \
    }
#define REFERENCES fmi2Component c, const fmi2ValueReference vr[], size_t n
EACH(fmi2GetReal, (REFERENCES, fmi2Real value[]), vr[i] + 0.1)
EACH(fmi2GetInteger, (REFERENCES, fmi2Integer value[]), -(fmi2Integer)vr[i])
EACH(fmi2GetBoolean, (REFERENCES, fmi2Boolean value[]), vr[i] % 2)
EACH(fmi2GetString, (REFERENCES, fmi2String value[]), vr[i] ? "caf\xc3\xa9" : NULL)
EACH(fmi2GetRealOutputDerivatives, (REFERENCES, const fmi2Integer order[], fmi2Real value[]), order[i] / 3.0)
EACH(fmi2GetDerivatives, (fmi2Component c, fmi2Real value[], size_t n), -0.0)
EACH(fmi2GetEventIndicators, (fmi2Component c, fmi2Real value[], size_t n), i + 1e300)
EACH(fmi2GetContinuousStates, (fmi2Component c, fmi2Real value[], size_t n), 5e-324)
EACH(fmi2GetNominalsOfContinuousStates, (fmi2Component c, fmi2Real value[], size_t n), 1.0)
EACH(fmi2GetDirectionalDerivative, (REFERENCES, const fmi2ValueReference known[], size_t m, const fmi2Real seed[],
                                    fmi2Real value[]), seed[0] * vr[i])
EACH(fmi2SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte value[], size_t n), (fmi2Byte)i)
#define ONE(name, type, what)                                                                                          \
    fmi2Status name(fmi2Component c, const fmi2StatusKind kind, type *value) { return *value = what, fmi2OK; }
ONE(fmi2GetStatus, fmi2Status, fmi2Discard)
ONE(fmi2GetRealStatus, fmi2Real, 0.3)
ONE(fmi2GetIntegerStatus, fmi2Integer, 7)
ONE(fmi2GetBooleanStatus, fmi2Boolean, 1)
ONE(fmi2GetStringStatus, fmi2String, "pending")

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) { return *state = &kept, fmi2OK; }
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) { return *state = NULL, fmi2OK; }
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate s, size_t *size) { return *size = 5, fmi2OK; }
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    return *state = &kept, fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    *info = (fmi2EventInfo){0, 1, 0, 0, 1, 0.25};
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no, fmi2Boolean *event, fmi2Boolean *end)
{
    *event = 1;
    *end = 0;
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean no)
{
    Echo *echo = c;
    fmi2CallbackLogger log = echo->functions->logger;
    if (echo->guid == 'u') /* what a register or the stack holds is no text */
        log(echo->environment, echo->name, fmi2OK, "logAll", "100 % sure, %s, %d");
    else if (echo->guid == 'c' && time > 0.004505)
        __builtin_trap();
    else
        log(echo->environment, echo->name, fmi2Warning, "logAll",
            "%d %u %lld %5.2f %*d %s %g %g %g %g %g %g %g %g %s %c %zu%%", -1, 7u, -(1ll << 40), time, 4, 2, echo->name,
            1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, h, "end", 'x', (size_t)9);
    if (echo->guid == 'p') {
        if (echo->functions->stepFinished)
            echo->functions->stepFinished(echo->environment, fmi2Discard);
        return fmi2Pending;
    }
    return time > echo->last ? fmi2OK : fmi2Warning;
}
