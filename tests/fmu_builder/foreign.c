/* FMUs that are not ours, for tests: one library, whose behaviour the GUID selects.
 *
 * guid[0]  'b' a mass on a spring, semi-implicit Euler of its own:  v += h (f - k r) / m,  r += h v
 *          'g' direct feedthrough:  y = a u + b
 *          'r' a rigid body with one contact point on the arm d from its centre, the same inertia J about every axis:
 *              v' = g + f/m,  w' = d x f / J,  d' = w x d, or 0 where the point stays the lowest (turns = 0);
 *              by semi-implicit Euler (rule = 1) or Runge-Kutta 4 (rule = 4), in substeps.  If k_2 > 0 a mass m_2 hangs
 *              on it, free along z:  z_2'' = -k_2 (z_2 - z) / m_2
 *          '0' gives no instance
 * guid[1]  status digit that steps from 5 ms on answer
 * guid[2]  't' ends the simulation when it answers fmi2Discard;  a digit is the status that fmi2Reset answers, which
 *          resets nothing from fmi2Error on
 * guid[3]  'n' answers fmi2OK with r[1] or y not a number, from 5 ms on;  'i' the same from the start on
 *          'c' crashes in a step from 5 ms on;  's' crashes in any step if k > 1e6 N/m
 *          'h' hangs, 'x' ends the process, 'm' fills the memory in a step from 5 ms on;  'l' crashes as it is made,
 *          'f' starts another process then, which sleeps
 * k = -1 N/m is answered with fmi2Error when the initialization ends.
 * Strict where masters are sloppy: inputs cannot be set before initialization mode. */
#include "fmi2Functions.h"

/* of the C library, which the process has loaded */
void exit(int status);
#ifndef _WIN32
int fork(void);
unsigned sleep(unsigned seconds);
#endif

enum { R = 0, V = 3, F = 6, M = 9, K = 10, R0 = 11, A = 14, B = 15, U = 16, Y = 17,
       J = 18, ARM = 19, V0 = 22, W0 = 25, G = 28, M_2 = 31, K_2 = 32, BODY = 33 };
enum { BODY_R = 0, BODY_V = 3, BODY_D = 6, BODY_W = 9, BODY_Z_2 = 12, BODY_V_2 = 13, BODY_SIZE = 14 };
enum { REALS = BODY + BODY_SIZE };
enum { STEPS, COUNT, MODE, STATE, RULE, SUBSTEPS, TURNS, INTEGERS };
enum { ON, MOVING, BOOLEANS };
enum { LABEL_SIZE = 64 };

typedef struct {
    fmi2CallbackLogger log;
    fmi2CallbackAllocateMemory allocate;
    fmi2CallbackFreeMemory release;
    fmi2ComponentEnvironment environment;
    char name[LABEL_SIZE], guid[8], label[LABEL_SIZE];
    double real[REALS], time;
    int integer[INTEGERS], boolean[BOOLEANS], started;
} Instance;

static void copy(char *to, const char *from, int size)
{
    int i = 0;
    for (; from[i] && i < size - 1; i++)
        to[i] = from[i];
    to[i] = 0;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Rates of the rigid body: of the speeds first, with which those of the places are found. */
static void body_rates(const Instance *s, const double x[BODY_SIZE], double rate[BODY_SIZE])
{
    const double *real = s->real;
    double moment[3], turned[3], spring = real[K_2] * (x[BODY_Z_2] - x[BODY_R + 2]);
    cross(x + BODY_D, real + F, moment);
    cross(x + BODY_W, x + BODY_D, turned);
    for (int i = 0; i < 3; i++) {
        rate[BODY_R + i] = x[BODY_V + i];
        rate[BODY_V + i] = real[G + i] + (real[F + i] + (i == 2 ? spring : 0.0)) / real[M];
        rate[BODY_D + i] = s->integer[TURNS] ? turned[i] : 0.0;
        rate[BODY_W + i] = moment[i] / real[J];
    }
    rate[BODY_Z_2] = x[BODY_V_2];
    rate[BODY_V_2] = -spring / real[M_2];
}

static int is_speed(int i) { return (i >= BODY_V && i < BODY_D) || (i >= BODY_W && i < BODY_Z_2) || i == BODY_V_2; }

static void body_step(Instance *s, double h)
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *x = s->real + BODY, rate[BODY_SIZE] = {0.0}, y[BODY_SIZE], sum[BODY_SIZE];
    if (s->integer[RULE] == 1) {
        for (int speeds = 1; speeds >= 0; speeds--) {
            body_rates(s, x, rate);
            for (int i = 0; i < BODY_SIZE; i++)
                x[i] += is_speed(i) == speeds ? h * rate[i] : 0.0;
        }
        return;
    }
    for (int i = 0; i < BODY_SIZE; i++)
        sum[i] = x[i];
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < BODY_SIZE; i++)
            y[i] = x[i] + at[stage] * h * rate[i];
        body_rates(s, y, rate);
        for (int i = 0; i < BODY_SIZE; i++)
            sum[i] += weight[stage] * h * rate[i];
    }
    for (int i = 0; i < BODY_SIZE; i++)
        x[i] = sum[i];
}

/* Motion of the contact point. */
static void body_point(Instance *s)
{
    const double *x = s->real + BODY;
    double turned[3];
    cross(x + BODY_W, x + BODY_D, turned);
    for (int i = 0; i < 3; i++) {
        s->real[R + i] = x[BODY_R + i] + x[BODY_D + i];
        s->real[V + i] = x[BODY_V + i] + turned[i];
    }
}

static void body_start(Instance *s)
{
    double *x = s->real + BODY;
    for (int i = 0; i < 3; i++) {
        x[BODY_R + i] = s->real[R0 + i];
        x[BODY_V + i] = s->real[V0 + i];
        x[BODY_D + i] = s->real[ARM + i];
        x[BODY_W + i] = s->real[W0 + i];
    }
    x[BODY_Z_2] = s->real[R0 + 2];
    x[BODY_V_2] = s->real[V0 + 2];
    body_point(s);
}

static void defaults(Instance *s)
{
    s->started = 0;
    for (int i = 0; i < REALS; i++)
        s->real[i] = 0.0;
    for (int i = 0; i < INTEGERS; i++)
        s->integer[i] = 0;
    s->real[M] = s->real[A] = s->real[J] = s->real[M_2] = 1.0;
    s->integer[RULE] = s->integer[SUBSTEPS] = 1;
    s->boolean[ON] = 1;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)type, (void)resources, (void)visible, (void)logging;
    if (guid[0] == '0') {
        functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatus",
                          "no licence: %d seats of %d are taken by %s", 3, 3, "others");
        return 0;
    }
    if (guid[3] == 'l')
        __builtin_trap();
#ifndef _WIN32
    if (guid[3] == 'f' && fork() == 0)
        for (;;)
            sleep(1000);
#endif
    Instance *s = functions->allocateMemory(1, sizeof *s);
    s->log = functions->logger;
    s->allocate = functions->allocateMemory;
    s->release = functions->freeMemory;
    s->environment = functions->componentEnvironment;
    copy(s->name, name, LABEL_SIZE);
    copy(s->guid, guid, 8);
    defaults(s);
    return s;
}

void fmi2FreeInstance(fmi2Component c) { ((Instance *)c)->release(c); }
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    ((Instance *)c)->time = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    Instance *s = c;
    s->started = 1;
    for (int i = 0; i < 3; i++)
        s->real[R + i] = s->real[R0 + i];
    if (s->guid[0] == 'r')
        body_start(s);
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return ((Instance *)c)->real[K] == -1 ? fmi2Error : fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }

fmi2Status fmi2Reset(fmi2Component c)
{
    char answer = ((Instance *)c)->guid[2];
    fmi2Status status = answer >= '0' && answer <= '5' ? (fmi2Status)(answer - '0') : fmi2OK;
    if (status < fmi2Error)
        defaults(c);
    return status;
}

static int is_broken(const Instance *s) { return s->time >= 0.005 - 1e-9; }

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Instance *s = c;
    s->real[Y] = s->real[A] * s->real[U] + s->real[B];
    for (size_t i = 0; i < n; i++) {
        int bad = (vr[i] == Y || vr[i] == R) && (s->guid[3] == 'i' || (s->guid[3] == 'n' && is_broken(s)));
        value[i] = bad ? __builtin_nan("") : s->real[vr[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    Instance *s = c;
    for (size_t i = 0; i < n; i++) {
        if (!s->started && ((vr[i] >= F && vr[i] < F + 3) || vr[i] == U)) {
            s->log(s->environment, s->name, fmi2Error, "logStatus", "#r%u# is an input; initialization mode is needed",
                   vr[i]);
            return fmi2Error;
        }
        if (vr[i] == M && value[i] <= 0.0) {
            s->log(s->environment, s->name, fmi2Discard, "logStatus", "#r%u# = %g kg must be above 0", vr[i], value[i]);
            return fmi2Discard;
        }
        s->real[vr[i]] = value[i];
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    Instance *s = c;
    s->integer[STATE] = s->integer[MODE];
    for (size_t i = 0; i < n; i++)
        value[i] = s->integer[vr[i]];
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    for (size_t i = 0; i < n; i++)
        ((Instance *)c)->integer[vr[i]] = value[i];
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    Instance *s = c;
    s->boolean[MOVING] = s->boolean[ON] && s->integer[STEPS] > 0;
    for (size_t i = 0; i < n; i++)
        value[i] = s->boolean[vr[i]];
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[])
{
    for (size_t i = 0; i < n; i++)
        ((Instance *)c)->boolean[vr[i]] = value[i];
    return fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[])
{
    (void)vr;
    for (size_t i = 0; i < n; i++)
        value[i] = ((Instance *)c)->label;
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[])
{
    (void)vr;
    Instance *s = c;
    for (size_t i = 0; i < n; i++)
        copy(s->label, value[i], LABEL_SIZE);
    s->log(s->environment, 0, fmi2OK, "logAll", "the label is now %s", s->label);
    return fmi2OK;
}

enum { BLOCK = 16 << 20 };

static void misbehave(Instance *s, char how)
{
    volatile int forever = 1;
    while (how == 'h' && forever)
        ;
    if (how == 'x')
        exit(7);
    while (how == 'm') {
        volatile char *block = s->allocate(1, BLOCK);
        for (int i = 0; i < BLOCK; i += 4096)
            block[i] = 1; /* also where there is none */
    }
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean no_set_state)
{
    (void)no_set_state;
    Instance *s = c;
    s->time = time;
    if ((is_broken(s) && s->guid[3] == 'c') || (s->guid[3] == 's' && s->real[K] > 1e6))
        __builtin_trap();
    if (is_broken(s))
        misbehave(s, s->guid[3]);
    int status = is_broken(s) ? s->guid[1] - '0' : 0;
    if (status) {
        s->log(s->environment, s->name, status > 5 ? fmi2Error : (fmi2Status)status, "logStatus",
               "step %d from %g s: the %s is stuck", s->integer[STEPS], time, "valve");
        if (status != fmi2Warning)
            return (fmi2Status)status;
    }
    for (int k = 0; s->guid[0] == 'r' && k < s->integer[SUBSTEPS]; k++)
        body_step(s, h / s->integer[SUBSTEPS]);
    if (s->guid[0] == 'r')
        body_point(s);
    for (int i = 0; s->guid[0] != 'r' && i < 3; i++) {
        s->real[V + i] += h * (s->real[F + i] - s->real[K] * s->real[R + i]) / s->real[M];
        s->real[R + i] += h * s->real[V + i];
    }
    s->integer[STEPS]++;
    s->time = time + h;
    return (fmi2Status)status;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime)
        return fmi2Discard;
    *value = ((Instance *)c)->time;
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind != fmi2Terminated)
        return fmi2Discard;
    *value = ((Instance *)c)->guid[2] == 't';
    return fmi2OK;
}

/* The rest of the interface, which no test needs. */
#define UNUSED(name, arguments) fmi2Status name arguments { return fmi2Error; }
#pragma GCC diagnostic ignored "-Wunused-parameter"
UNUSED(fmi2SetDebugLogging, (fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]))
UNUSED(fmi2GetFMUstate, (fmi2Component c, fmi2FMUstate *state))
UNUSED(fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate state))
UNUSED(fmi2FreeFMUstate, (fmi2Component c, fmi2FMUstate *state))
UNUSED(fmi2SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t *size))
UNUSED(fmi2SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size))
UNUSED(fmi2DeSerializeFMUstate, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state))
UNUSED(fmi2GetDirectionalDerivative, (fmi2Component c, const fmi2ValueReference of[], size_t m,
       const fmi2ValueReference by[], size_t n, const fmi2Real seed[], fmi2Real value[]))
UNUSED(fmi2SetRealInputDerivatives, (fmi2Component c, const fmi2ValueReference vr[], size_t n,
       const fmi2Integer order[], const fmi2Real value[]))
UNUSED(fmi2GetRealOutputDerivatives, (fmi2Component c, const fmi2ValueReference vr[], size_t n,
       const fmi2Integer order[], fmi2Real value[]))
UNUSED(fmi2CancelStep, (fmi2Component c))
UNUSED(fmi2GetStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Status *value))
UNUSED(fmi2GetIntegerStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value))
UNUSED(fmi2GetStringStatus, (fmi2Component c, const fmi2StatusKind kind, fmi2String *value))
