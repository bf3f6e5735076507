/* An FMU for the rules on behaviour:  x' = -k x + u,  z' = x,  y = x + u,  by Euler's method in steps of communication.
 * Its guid is 'f' and a letter, which selects the one thing that it does wrong; '0' is nothing
 * (broken_behaviour.py). */
#include "fmi2Functions.h"

enum { X, DER_X, Z, DER_Z, U, K, Y, REALS };
enum { INSTANTIATED, INITIALIZATION, RUNNING, TERMINATED };
enum { INSTANCES = 64 };

typedef struct {
    fmi2CallbackLogger log;
    fmi2ComponentEnvironment environment;
    double real[REALS];
    int phase, logging, steps;
} Instance;

static Instance instances[INSTANCES], stored[INSTANCES];
static int made, kept;
static char fault;
static double shared_input;

static fmi2Status refuse(Instance *s, const char *why)
{
    s->log(s->environment, "broken", fmi2Error, fault == 'B' ? "other" : "logAll", why);
    return fmi2Error;
}

static void compute(Instance *s)
{
    double u = fault == 'i' ? shared_input : s->real[U];
    s->real[DER_X] = -s->real[K] * s->real[X] + u;
    s->real[DER_Z] = s->real[X];
    s->real[Y] = s->real[X] + s->real[U];
}

static void start(Instance *s, int all)
{
    double x = s->real[X];
    for (int i = 0; i < REALS; i++)
        s->real[i] = 0.0;
    s->real[X] = all ? 1.0 : x;
    s->real[Z] = 2.0;
    s->real[K] = fault == 'e' ? 2.0 : 1.0;
    s->phase = INSTANTIATED;
    s->steps = 0;
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return fault == 'a' ? "1.0" : "2.0"; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    (void)n, (void)names;
    ((Instance *)c)->logging = on;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)type, (void)resources, (void)visible;
    if (guid[0] == 'f' && guid[1] && !guid[2])
        fault = guid[1];
    else if (fault != 'c')
        return 0;
    if (fault == 'b')
        return 0;
    Instance *s = &instances[made++ % INSTANCES];
    s->log = functions->logger;
    s->environment = functions->componentEnvironment;
    s->logging = logging;
    start(s, 1);
    if (fault == 'h')
        s->real[Z] += made;
    if (logging || fault == 'A')
        s->log(s->environment, "broken", fmi2OK, fault == 'B' ? "other" : "logAll", "an instance");
    return s;
}

void fmi2FreeInstance(fmi2Component c) { (void)c; }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean a, double b, double d, fmi2Boolean e, double f)
{
    (void)c, (void)a, (void)b, (void)d, (void)e, (void)f;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (fault == 'd')
        return refuse(s, "no initialization");
    s->phase = INITIALIZATION;
    compute(s);
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (s->phase != INITIALIZATION && fault != 'v')
        return refuse(s, "not in initialization mode");
    s->phase = RUNNING;
    compute(s);
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    Instance *s = c;
    if (fault == 't')
        return refuse(s, "no end");
    s->phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    start(c, fault != 'j');
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, double value[])
{
    Instance *s = c;
    compute(s);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS && fault != 'w')
            return refuse(s, "no variable");
        value[i] = vr[i] < REALS ? s->real[vr[i]] : 0.0;
        if (fault == 'g' && vr[i] == Y && s->steps)
            value[i] = __builtin_nan("");
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const double value[])
{
    Instance *s = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS || ((vr[i] == Y || vr[i] == DER_X || vr[i] == DER_Z) && fault != 'x'))
            return refuse(s, "not a variable that can be set");
        if (vr[i] == K && s->phase == RUNNING && fault != 'y')
            return refuse(s, "a fixed parameter");
        s->real[vr[i]] = value[i];
        if (vr[i] == U)
            shared_input = value[i];
    }
    return fmi2OK;
}

#define UNUSED(get, type) \
    fmi2Status fmi2##get(fmi2Component c, const fmi2ValueReference vr[], size_t n, type value[]) \
    { \
        (void)c, (void)vr, (void)value; \
        return n ? fmi2Error : fmi2OK; \
    }
UNUSED(GetInteger, fmi2Integer)
UNUSED(GetBoolean, fmi2Boolean)
UNUSED(GetString, fmi2String)
UNUSED(SetInteger, const fmi2Integer)
UNUSED(SetBoolean, const fmi2Boolean)
UNUSED(SetString, const fmi2String)

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *s = *state ? *state : &stored[kept++ % INSTANCES];
    *s = *(Instance *)c;
    *state = s;
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    Instance *s = c;
    double x = s->real[X];
    *s = *(Instance *)state;
    if (fault == 'k')
        s->real[X] = x;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    *state = 0;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Instance);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte data[], size_t size)
{
    (void)c;
    const char *from = state;
    for (size_t i = 0; i < size; i++)
        data[i] = from[i];
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte data[], size_t size, fmi2FMUstate *state)
{
    (void)c;
    Instance *s = &stored[kept++ % INSTANCES];
    char *to = (char *)s;
    for (size_t i = 0; i < size; i++)
        to[i] = data[i];
    if (fault == 'l')
        s->real[X] += 1.0;
    *state = s;
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference z[], size_t nz,
                                        const fmi2ValueReference v[], size_t nv, const double seed[], double value[])
{
    (void)c;
    double slope = fault == 'p' ? 2.0 : fault == 'F' ? __builtin_nan("") : fault == 'G' ? __builtin_inf() : 1.0;
    for (size_t i = 0; i < nz; i++) {
        value[i] = 0.0;
        for (size_t j = 0; j < nv; j++)
            value[i] += (z[i] == Y || z[i] == DER_X) && v[j] == U ? slope * seed[j] : 0.0;
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const double value[])
{
    (void)vr, (void)n, (void)order, (void)value;
    return fault == 'n' ? refuse(c, "no derivatives") : fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], double value[])
{
    (void)vr, (void)order;
    for (size_t i = 0; i < n; i++)
        value[i] = 0.0;
    return fault == 'o' ? refuse(c, "no derivatives") : fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, double t, double h, fmi2Boolean no)
{
    Instance *s = c;
    (void)t, (void)no;
    if (s->phase != RUNNING && fault != 'u')
        return refuse(s, "not initialized");
    if (h <= 0.0 && fault != 'z')
        return refuse(s, "no length");
    if (s->steps == 2 && fault == 'f')
        return refuse(s, "no third step");
    if (fault == 'm' && h != 0.1)
        return refuse(s, "another length");
    if (fault == 'C')
        *(volatile int *)8 = 1;
    while (fault == 'D')
        *(volatile int *)&made = made;
    if (fault == 'E')
        return fmi2Fatal;
    compute(s);
    double h_x = fault == 'z' && h == 0.0 ? 0.1 : h;
    s->real[Z] += h * s->real[DER_Z];
    s->real[X] += h_x * s->real[DER_X];
    s->steps++;
    compute(s);
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c) { return refuse(c, "never pending"); }

#define STATUS(get, type) \
    fmi2Status fmi2##get(fmi2Component c, const fmi2StatusKind kind, type *value) \
    { \
        (void)c, (void)kind, (void)value; \
        return fmi2Discard; \
    }
STATUS(GetStatus, fmi2Status)
STATUS(GetRealStatus, fmi2Real)
STATUS(GetIntegerStatus, fmi2Integer)
STATUS(GetBooleanStatus, fmi2Boolean)
STATUS(GetStringStatus, fmi2String)

fmi2Status fmi2EnterEventMode(fmi2Component c) { return (void)c, fmi2OK; }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return (void)c, fmi2OK; }

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    *info = (fmi2EventInfo){0};
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no, fmi2Boolean *event, fmi2Boolean *end)
{
    (void)no;
    *event = *end = 0;
    return fault == 'q' ? refuse(c, "no step") : fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, double t) { return (void)c, (void)t, fmi2OK; }

fmi2Status fmi2SetContinuousStates(fmi2Component c, const double x[], size_t n)
{
    Instance *s = c;
    (void)n;
    s->real[X] = x[0];
    s->real[Z] = x[1];
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, double x[], size_t n)
{
    Instance *s = c;
    (void)n;
    x[0] = s->real[X];
    x[1] = s->real[Z];
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, double dx[], size_t n)
{
    Instance *s = c;
    (void)n;
    compute(s);
    dx[fault == 'r'] = s->real[DER_X];
    dx[fault != 'r'] = s->real[DER_Z];
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, double z[], size_t n)
{
    (void)c, (void)z, (void)n;
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, double x[], size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        x[i] = fault == 's' ? 0.0 : 1.0;
    return fmi2OK;
}
