/* A pendulum as a developer in C writes it by hand, for both kinds of FMI 2.0:
 *     phi' = omega,   omega' = -g/l sin(phi) - d/(m l^2) omega + tau/(m l^2),   x = l sin(phi)
 * Co-simulation by Runge-Kutta 4 in equal substeps of at most 1 ms.
 * Its guid is 'p' and a letter, which selects a mistake that is easily made; '0' is none (c_pendulum.py):
 * 'g' the guid is not compared            's' a state keeps the angle and forgets the speed
 * 'r' a reset keeps the speed             'w' the same, where the state goes through bytes
 * 'o' derivatives in another order        'i' all instances hang on one torque
 * 'd' the derivative by the torque is that of a mass at 1 m */
#include "fmi2Functions.h"

enum { TIME, PHI, DER_PHI, OMEGA, DER_OMEGA, TAU, LENGTH, MASS, DAMPING, GRAVITY, X, ALPHA, REALS };
enum { STATES = 2, LONGEST_PER_SECOND = 1000 };
static const double PI = 3.14159265358979323846;

typedef enum { INSTANTIATED, INITIALIZATION, STEPPING, EVENTS, CONTINUOUS, TERMINATED } Phase;

typedef struct {
    double real[REALS];
    Phase phase;
} State;

typedef struct {
    State now;
    fmi2Type type;
    fmi2CallbackLogger log;
    fmi2CallbackAllocateMemory allocate;
    fmi2CallbackFreeMemory release;
    fmi2ComponentEnvironment environment;
} Pendulum;

static char mistake = '0';
static double torque_of_all;

/* ---- the pendulum -------------------------------------------------------------------------------------------------*/

/* By its series, which is exact to rounding within half a turn. */
static double sine(double x)
{
    double sum, term;
    while (x > PI)
        x -= 2.0 * PI;
    while (x < -PI)
        x += 2.0 * PI;
    sum = term = x;
    for (int n = 2; n < 34; n += 2) {
        term *= -x * x / (n * (n + 1.0));
        sum += term;
    }
    return sum;
}

static double cosine(double x) { return sine(x + 0.5 * PI); }

static double inertia(const double r[]) { return r[MASS] * r[LENGTH] * r[LENGTH]; }

static void slope(const double r[], const double state[STATES], double rate[STATES])
{
    double tau = mistake == 'i' ? torque_of_all : r[TAU];
    rate[0] = state[1];
    rate[1] = -r[GRAVITY] / r[LENGTH] * sine(state[0]) + (tau - r[DAMPING] * state[1]) / inertia(r);
}

static void evaluate(double r[])
{
    double state[STATES] = {r[PHI], r[OMEGA]}, rate[STATES];
    slope(r, state, rate);
    r[DER_PHI] = rate[0];
    r[DER_OMEGA] = r[ALPHA] = rate[1];
    r[X] = r[LENGTH] * sine(r[PHI]);
}

static void substep(double r[], double h)
{
    static const double at[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double begin[STATES] = {r[PHI], r[OMEGA]}, end[STATES] = {r[PHI], r[OMEGA]}, rate[STATES] = {0.0, 0.0};
    for (int stage = 0; stage < 4; stage++) {
        double state[STATES];
        for (int i = 0; i < STATES; i++)
            state[i] = begin[i] + at[stage] * h * rate[i];
        slope(r, state, rate);
        for (int i = 0; i < STATES; i++)
            end[i] += weight[stage] * h * rate[i];
    }
    r[PHI] = end[0];
    r[OMEGA] = end[1];
}

static void start(Pendulum *p)
{
    static const double values[REALS] = {
        [PHI] = 0.5, [LENGTH] = 0.8, [MASS] = 2.0, [GRAVITY] = 9.81
    };
    double omega = p->now.real[OMEGA];
    for (int i = 0; i < REALS; i++)
        p->now.real[i] = values[i];
    if (mistake == 'r')
        p->now.real[OMEGA] = omega;
    p->now.phase = INSTANTIATED;
    torque_of_all = 0.0;
}

static fmi2Status refuse(Pendulum *p, const char *why)
{
    p->log(p->environment, "pendulum", fmi2Error, "logStatusError", why);
    return fmi2Error;
}

/* ---- its life -----------------------------------------------------------------------------------------------------*/

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    if (guid[0] == 'p' && guid[1] && !guid[2])
        mistake = guid[1];
    else if (mistake != 'g')
        return 0;
    Pendulum *p = functions->allocateMemory(1, sizeof(Pendulum));
    if (!p)
        return 0;
    p->type = type;
    p->log = functions->logger;
    p->allocate = functions->allocateMemory;
    p->release = functions->freeMemory;
    p->environment = functions->componentEnvironment;
    p->now.real[OMEGA] = 0.0;
    start(p);
    return p;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c)
        ((Pendulum *)c)->release(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    (void)c, (void)on, (void)n, (void)names;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real begin,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    ((Pendulum *)c)->now.real[TIME] = begin;
    return fmi2OK;
}

static fmi2Status change(Pendulum *p, Phase from, Phase to)
{
    if (p->now.phase != from)
        return refuse(p, "not in this mode");
    p->now.phase = to;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return change(c, INSTANTIATED, INITIALIZATION); }

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Pendulum *p = c;
    return change(p, INITIALIZATION, p->type == fmi2CoSimulation ? STEPPING : EVENTS);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    Pendulum *p = c;
    if (p->now.phase < STEPPING || p->now.phase == TERMINATED)
        return refuse(p, "nothing runs");
    p->now.phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    start(c);
    return fmi2OK;
}

/* ---- values -------------------------------------------------------------------------------------------------------*/

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Pendulum *p = c;
    evaluate(p->now.real);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS)
            return refuse(p, "no such variable");
        value[i] = p->now.real[vr[i]];
    }
    return fmi2OK;
}

static int can_be_set(const Pendulum *p, fmi2ValueReference vr)
{
    switch (vr) {
    case TAU:
        return 1;
    case PHI: case OMEGA: case LENGTH: case MASS: case DAMPING: case GRAVITY:
        return p->now.phase <= INITIALIZATION;
    default:
        return 0;
    }
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    Pendulum *p = c;
    for (size_t i = 0; i < n; i++) {
        if (!can_be_set(p, vr[i]))
            return refuse(p, "cannot be set now");
        p->now.real[vr[i]] = value[i];
        if (vr[i] == TAU)
            torque_of_all = value[i];
    }
    return fmi2OK;
}

/* There are Reals only. */
#define NONE(function, type) \
    fmi2Status fmi2##function(fmi2Component c, const fmi2ValueReference vr[], size_t n, type value[]) \
    { \
        (void)vr, (void)value; \
        return n ? refuse(c, "no such variable") : fmi2OK; \
    }
NONE(GetInteger, fmi2Integer)
NONE(GetBoolean, fmi2Boolean)
NONE(GetString, fmi2String)
NONE(SetInteger, const fmi2Integer)
NONE(SetBoolean, const fmi2Boolean)
NONE(SetString, const fmi2String)

/* Of an unknown by a known, at the present state. */
static double partial(const double r[], fmi2ValueReference unknown, fmi2ValueReference known)
{
    double by_torque = mistake == 'd' ? 1.0 / r[MASS] : 1.0 / inertia(r);
    switch (unknown) {
    case PHI: case OMEGA:
        return unknown == known;
    case DER_PHI:
        return known == OMEGA;
    case X:
        return known == PHI ? r[LENGTH] * cosine(r[PHI]) : 0.0;
    default: /* DER_OMEGA, ALPHA */
        return known == PHI     ? -r[GRAVITY] / r[LENGTH] * cosine(r[PHI])
               : known == OMEGA ? -r[DAMPING] / inertia(r)
               : known == TAU   ? by_torque
                                : 0.0;
    }
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t rows,
                                        const fmi2ValueReference knowns[], size_t columns, const fmi2Real seed[],
                                        fmi2Real value[])
{
    Pendulum *p = c;
    for (size_t i = 0; i < rows; i++) {
        value[i] = 0.0;
        for (size_t j = 0; j < columns; j++)
            value[i] += partial(p->now.real, unknowns[i], knowns[j]) * seed[j];
    }
    return fmi2OK;
}

/* ---- states of the FMU --------------------------------------------------------------------------------------------*/

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Pendulum *p = c;
    if (!*state)
        *state = p->allocate(1, sizeof(State));
    if (!*state)
        return refuse(p, "no memory");
    *(State *)*state = p->now;
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    Pendulum *p = c;
    double omega = p->now.real[OMEGA];
    p->now = *(State *)state;
    if (mistake == 's')
        p->now.real[OMEGA] = omega;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (state && *state)
        ((Pendulum *)c)->release(*state);
    if (state)
        *state = 0;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte data[], size_t size)
{
    if (size < sizeof(State))
        return refuse(c, "too few bytes");
    for (size_t i = 0; i < sizeof(State); i++)
        data[i] = ((const fmi2Byte *)state)[i];
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte data[], size_t size, fmi2FMUstate *state)
{
    Pendulum *p = c;
    if (size != sizeof(State))
        return refuse(p, "not the size of a state");
    if (!*state)
        *state = p->allocate(1, sizeof(State));
    if (!*state)
        return refuse(p, "no memory");
    for (size_t i = 0; i < size; i++)
        ((fmi2Byte *)*state)[i] = data[i];
    if (mistake == 'w')
        ((State *)*state)->real[OMEGA] = 0.0;
    return fmi2OK;
}

/* ---- co-simulation ------------------------------------------------------------------------------------------------*/

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_state_of_before)
{
    Pendulum *p = c;
    (void)no_state_of_before;
    if (p->now.phase != STEPPING)
        return refuse(p, "not initialized");
    if (h <= 0.0)
        return refuse(p, "a step has a length");
    double count = h * LONGEST_PER_SECOND;
    long n = (long)count + (count > (double)(long)count + 1e-9);
    for (long k = 0; k < n; k++)
        substep(p->now.real, h / (double)n);
    p->now.real[TIME] = t + h;
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c) { return refuse(c, "no step is under way"); }

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)n, (void)order, (void)value;
    return refuse(c, "inputs are held");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)n, (void)order, (void)value;
    return refuse(c, "outputs have no derivatives");
}

#define STATUS(function, type) \
    fmi2Status fmi2##function(fmi2Component c, const fmi2StatusKind kind, type *value) \
    { \
        (void)c, (void)kind, (void)value; \
        return fmi2Discard; \
    }
STATUS(GetStatus, fmi2Status)
STATUS(GetRealStatus, fmi2Real)
STATUS(GetIntegerStatus, fmi2Integer)
STATUS(GetBooleanStatus, fmi2Boolean)
STATUS(GetStringStatus, fmi2String)

/* ---- model exchange -----------------------------------------------------------------------------------------------*/

fmi2Status fmi2EnterEventMode(fmi2Component c) { return change(c, CONTINUOUS, EVENTS); }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return change(c, EVENTS, CONTINUOUS); }

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    *info = (fmi2EventInfo){0};
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_state_of_before, fmi2Boolean *event,
                                       fmi2Boolean *end)
{
    (void)c, (void)no_state_of_before;
    *event = *end = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t)
{
    ((Pendulum *)c)->now.real[TIME] = t;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    Pendulum *p = c;
    if (n != STATES)
        return refuse(p, "there are two states");
    p->now.real[PHI] = x[0];
    p->now.real[OMEGA] = x[1];
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    Pendulum *p = c;
    if (n != STATES)
        return refuse(p, "there are two states");
    x[0] = p->now.real[PHI];
    x[1] = p->now.real[OMEGA];
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real rate[], size_t n)
{
    Pendulum *p = c;
    if (n != STATES)
        return refuse(p, "there are two states");
    evaluate(p->now.real);
    rate[mistake == 'o'] = p->now.real[DER_PHI];
    rate[mistake != 'o'] = p->now.real[DER_OMEGA];
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n)
{
    (void)z;
    return n ? refuse(c, "there are none") : fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominal[], size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        nominal[i] = 1.0;
    return fmi2OK;
}
