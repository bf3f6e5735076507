/* An FMU for FMI 3.0 as one for FMI 2.0: the master calls these functions, and these call its functions.
 *
 * Co-simulation only, without event mode.  Inputs have no derivatives in FMI 3.0.  A step that ends early is completed
 * by further ones: step_to_event shows where.  The master has arrays as scalars (values.h).
 * Whole numbers that the other side cannot hold are refused.
 * One copy of this library belongs to one FMU: adaptor.py gives it the addresses of the functions and the types of the
 * variables, once, by `connect_fmu`. */
#include <stddef.h>
#include <stdint.h>

#include <fmi2Functions.h>

#if defined _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef uint8_t Flag; /* bool of FMI 3.0 */
typedef void LogMessage(void *environment, fmi2Status status, const char *category, const char *message);
typedef int Access(void *instance, const uint32_t *references, size_t n, void *values, size_t n_values);
typedef int Simple(void *instance);

/* The types of FMI 3.0, and the functions, both in the order of adaptor.py. */
typedef enum {
    FLOAT64, FLOAT32, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOLEAN, STRING, KINDS
} Kind;
typedef struct {
    Access *get[KINDS], *set[KINDS];
    void *(*instantiate)(const char *, const char *, const char *, Flag, Flag, Flag, Flag, const uint32_t *, size_t,
                         void *, LogMessage *, void *);
    void (*free_instance)(void *);
    int (*set_logging)(void *, Flag, size_t, const char *const *);
    int (*enter_initialization)(void *, Flag, double, double, Flag, double);
    Simple *exit_initialization, *terminate, *reset;
    int (*do_step)(void *, double, double, Flag, Flag *, Flag *, Flag *, double *);
    int (*get_state)(void *, void **), (*set_state)(void *, void *), (*free_state)(void *, void **);
    int (*state_size)(void *, void *, size_t *), (*serialize)(void *, void *, unsigned char *, size_t);
    int (*deserialize)(void *, const unsigned char *, size_t, void **);
    int (*directional)(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t, double *,
                       size_t);
    int (*output_derivatives)(void *, const uint32_t *, size_t, const int32_t *, double *, size_t);
} Functions;

/* An array.   first: the reference that the master has for its first scalar; those of the others follow
 * place: of its values in `kept` of a component, bytes     has_starts: 1 if modelDescription.xml has start values */
typedef struct {
    uint32_t reference, first, size, kind;
    size_t place, has_starts;
} Array;

typedef struct {
    Functions f;
    const char *resources;       /* path of the folder */
    const uint32_t *references;  /* of all scalars, ascending, */
    const uint8_t *kinds;        /* and their types */
    size_t size;
    const Array *arrays;         /* by `first`, which lies behind the references of all other variables */
    size_t n_arrays;
    const unsigned char *starts; /* as `kept` of a new component */
    size_t kept_size, longest;   /* bytes of `kept`; values of the longest array */
    uint32_t is_plain;           /* 1 if all reals are of 64 bits */
} Fmu;

static Fmu fmu;
static Flag early_return; /* 1 if instances may end steps early */

EXPORT void connect_fmu(const Fmu *given);
void connect_fmu(const Fmu *given) { fmu = *given; }

EXPORT void take_early_return(int takes);
void take_early_return(int takes) { early_return = takes != 0; }

typedef struct {
    void *instance;
    fmi2CallbackFunctions callbacks;
    char name[256];
    int has_tolerance, has_stop, has_ended, takes_early_return;
    double tolerance, start, stop, last;
    unsigned char *kept;    /* values of all arrays as they were set last, */
    unsigned char *is_kept; /* for those whose flag is 1; others have to be read first */
    double *answer;         /* room for the values of one array */
} Component;

static Kind kind_of(uint32_t reference)
{
    size_t low = 0, high = fmu.size;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (fmu.references[middle] <= reference)
            low = middle;
        else
            high = middle;
    }
    return fmu.kinds[low];
}

/* The text of FMI 3.0 as a format of printf, in which #r1# would be a variable. */
static void take_log(void *environment, fmi2Status status, const char *category, const char *message)
{
    Component *c = environment;
    char text[4096];
    size_t n = 0;
    for (; *message && n + 3 < sizeof text; message++) {
        if (*message == '%' || *message == '#')
            text[n++] = *message;
        text[n++] = *message;
    }
    text[n] = '\0';
    if (c->callbacks.logger)
        c->callbacks.logger(c->callbacks.componentEnvironment, c->name, status, category, text);
}

#include "values.h"

/* ---- the life of an instance ------------------------------------------------------------------------------------ */

const char *fmi2GetVersion(void) { return fmi2Version; }
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources; /* a URI, where FMI 3.0 has a path */
    if (type != fmi2CoSimulation || !callbacks || !callbacks->allocateMemory)
        return NULL;
    Component *c = callbacks->allocateMemory(1, sizeof *c);
    if (!c)
        return NULL;
    c->callbacks = *callbacks;
    for (size_t i = 0; i + 1 < sizeof c->name && name[i]; i++)
        c->name[i] = name[i];
    c->takes_early_return = early_return;
    c->instance = fmu.f.instantiate(name, guid, fmu.resources, visible != 0, logging != 0, 0, early_return, NULL, 0, c,
                                    take_log, NULL);
    if (c->instance && keep_arrays(c))
        return c;
    if (c->instance)
        fmu.f.free_instance(c->instance);
    callbacks->freeMemory(c);
    return NULL;
}

void fmi2FreeInstance(fmi2Component component)
{
    Component *c = component;
    if (!c)
        return;
    fmi2CallbackFreeMemory free_memory = c->callbacks.freeMemory;
    fmu.f.free_instance(c->instance);
    if (c->kept)
        free_memory(c->kept);
    free_memory(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    return fmu.f.set_logging(((Component *)c)->instance, on != 0, n, categories);
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    Component *c = component;
    c->has_tolerance = has_tolerance;
    c->tolerance = tolerance;
    c->start = c->last = start;
    c->has_stop = has_stop;
    c->stop = stop;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    Component *c = component;
    return fmu.f.enter_initialization(c->instance, c->has_tolerance != 0, c->tolerance, c->start, c->has_stop != 0,
                                      c->stop);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmu.f.exit_initialization(((Component *)c)->instance); }
fmi2Status fmi2Terminate(fmi2Component c) { return fmu.f.terminate(((Component *)c)->instance); }

fmi2Status fmi2Reset(fmi2Component component)
{
    Component *c = component;
    set_to_starts(c);
    return fmu.f.reset(c->instance);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static int do_step(Component *c, double time, double step, int no_set_state_before, Flag *is_early)
{
    Flag has_event = 0, ends = 0;
    c->last = time;
    int status =
        fmu.f.do_step(c->instance, time, step, no_set_state_before != 0, &has_event, &ends, is_early, &c->last);
    c->has_ended = ends;
    return status <= fmi2Warning && ends ? fmi2Discard : status;
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state_before)
{
    Component *c = component;
    double end = time + step;
    int worst = fmi2OK;
    for (;;) {
        Flag is_early = 0;
        int status = do_step(c, time, step, no_set_state_before, &is_early);
        worst = status > worst ? status : worst;
        if (worst > fmi2Warning || !is_early)
            return worst;
        if (!c->takes_early_return || !(c->last > time))
            return fmi2Discard;
        time = c->last;
        step = end - time;
        if (!(step > 0.0))
            return worst;
    }
}

/* A step up to the first event at most, at which the FMU ends it early; *end: the time that it came to. */
EXPORT fmi2Status step_to_event(fmi2Component component, double time, double step, double *end);
fmi2Status step_to_event(fmi2Component component, double time, double step, double *end)
{
    Component *c = component;
    Flag is_early = 0;
    int status = do_step(c, time, step, 0, &is_early);
    int ends = status == fmi2Discard && c->has_ended;
    *end = is_early || ends ? c->last : time + step;
    return ends ? fmi2OK : status;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    (void)c;
    return fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    *value = ((Component *)c)->last;
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = ((Component *)c)->has_ended;
    return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

/* ---- state, derivatives ----------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    return fmu.f.get_state(((Component *)c)->instance, state);
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    Component *c = component;
    forget_arrays(c);
    return fmu.f.set_state(c->instance, state);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    return fmu.f.free_state(((Component *)c)->instance, state);
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    return fmu.f.state_size(((Component *)c)->instance, state, size);
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    return fmu.f.serialize(((Component *)c)->instance, state, (unsigned char *)bytes, size);
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    return fmu.f.deserialize(((Component *)c)->instance, (const unsigned char *)bytes, size, state);
}

/* References as the FMU has them, each array once, and the place of the value of each scalar among all values. */
typedef struct {
    uint32_t *references;
    size_t *places, n, size;
} Expanded;

/* O(n^2) for n scalars of arrays: those of one connection are few. */
static void expand(Expanded *to, const uint32_t *references, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const Array *array = array_of(references[k]);
        size_t before = 0;
        while (array && before < k && array_of(references[before]) != array)
            before++;
        if (array && before < k) {
            to->places[k] = to->places[before] + references[k] - references[before];
            continue;
        }
        to->references[to->n++] = array ? array->reference : references[k];
        to->places[k] = to->size + (array ? references[k] - array->first : 0);
        to->size += array ? array->size : 1;
    }
}

static size_t most_values(const uint32_t *references, size_t n)
{
    size_t most = 0;
    for (size_t k = 0; k < n; k++)
        most += array_of(references[k]) ? array_of(references[k])->size : 1;
    return most;
}

static fmi2Status expanded_derivative(Component *c, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                      size_t n_knowns, const double *seed, double *answer)
{
    size_t n = n_unknowns + n_knowns, most = most_values(unknowns, n_unknowns) + most_values(knowns, n_knowns);
    double *values = c->callbacks.allocateMemory(1, most * sizeof(double) + n * (sizeof(size_t) + sizeof(uint32_t)));
    if (!values)
        return fmi2Error;
    size_t *places = (size_t *)(values + most);
    uint32_t *references = (uint32_t *)(places + n);
    Expanded to = {.references = references, .places = places};
    Expanded from = {.references = references + n_unknowns, .places = places + n_unknowns};
    expand(&to, unknowns, n_unknowns);
    expand(&from, knowns, n_knowns);
    for (size_t k = 0; k < n_knowns; k++)
        values[to.size + from.places[k]] += seed[k];
    int status = fmu.f.directional(c->instance, to.references, to.n, from.references, from.n, values + to.size,
                                   from.size, values, to.size);
    for (size_t k = 0; k < n_unknowns; k++)
        answer[k] = values[to.places[k]];
    c->callbacks.freeMemory(values);
    return status;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[], size_t n_unknowns,
                                        const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real answer[])
{
    Component *c = component;
    if (fmu.n_arrays)
        return expanded_derivative(c, unknowns, n_unknowns, knowns, n_knowns, seed, answer);
    return fmu.f.directional(c->instance, unknowns, n_unknowns, knowns, n_knowns, seed, n_knowns, answer, n_unknowns);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    Component *c = component;
    if (!fmu.n_arrays)
        return fmu.f.output_derivatives(c->instance, vr, n, order, value, n);
    int worst = 0;
    for (size_t k = 0; k < n; k++) {
        const Array *array = array_of(vr[k]);
        uint32_t reference = array ? array->reference : vr[k];
        size_t size = array ? array->size : 1;
        int status = fmu.f.output_derivatives(c->instance, &reference, 1, order + k, c->answer, size);
        value[k] = c->answer[array ? vr[k] - array->first : 0];
        worst = status > worst ? status : worst;
    }
    return worst;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)c, (void)vr, (void)n, (void)order, (void)value;
    return fmi2Error;
}
