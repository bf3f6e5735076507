/* An FMU for FMI 3.0 with arrays of several types: inputs and parameters, and outputs that are the inputs.
 *
 * Values are doubles, those of each reference in a row of their own.  A call with another number of values than the
 * arrays have, and reading before the initialization, is an error.  The output y is gain x, each element for itself. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { X = 1, COUNTS, FLAGS, SMALL, Y, COUNTS_OUT, FLAGS_OUT, GAIN, REFERENCES, MOST = 8, ERROR = 3 };
static const size_t sizes[REFERENCES] = {[X] = 6, [COUNTS] = 4, [FLAGS] = 2, [SMALL] = 2, [Y] = 6, [COUNTS_OUT] = 4,
                                         [FLAGS_OUT] = 2, [GAIN] = 1};

typedef struct {
    double values[REFERENCES][MOST];
    int is_initialized, calls;
} Instance;

/* start values of modelDescription.xml */
static const Instance first = {.values = {[X] = {1, 2, 3, 4, 5, 6}, [COUNTS] = {7, 7, 7, 7}, [FLAGS] = {1, 0},
                                          [SMALL] = {0.5, 0.25}, [GAIN] = {2}}};

static double *row(Instance *c, uint32_t reference)
{
    static const uint32_t shown[REFERENCES] = {[COUNTS_OUT] = COUNTS, [FLAGS_OUT] = FLAGS};
    for (size_t k = 0; k < sizes[Y]; k++)
        c->values[Y][k] = c->values[GAIN][0] * c->values[X][k];
    return c->values[reference < REFERENCES && shown[reference] ? shown[reference] : reference];
}

#define ACCESS(Name, Type)                                                                                             \
    EXPORT int fmi3Get##Name(Instance *c, const uint32_t *vr, size_t n, Type *value, size_t size)                      \
    {                                                                                                                  \
        size_t at = 0;                                                                                                 \
        for (size_t k = 0; k < n; k++)                                                                                 \
            for (size_t i = 0; vr[k] < REFERENCES && i < sizes[vr[k]] && at < size; i++)                               \
                value[at++] = (Type)row(c, vr[k])[i];                                                                  \
        return at == size && c->is_initialized ? 0 : ERROR;                                                            \
    }                                                                                                                  \
    EXPORT int fmi3Set##Name(Instance *c, const uint32_t *vr, size_t n, const Type *value, size_t size)                \
    {                                                                                                                  \
        size_t at = 0;                                                                                                 \
        c->calls++;                                                                                                    \
        for (size_t k = 0; k < n; k++)                                                                                 \
            for (size_t i = 0; vr[k] < REFERENCES && i < sizes[vr[k]] && at < size; i++)                               \
                c->values[vr[k]][i] = (double)value[at++];                                                             \
        return at == size ? 0 : ERROR;                                                                                 \
    }
ACCESS(Float64, double)
ACCESS(Float32, float)
ACCESS(Int8, int8_t)
ACCESS(UInt8, uint8_t)
ACCESS(Int16, int16_t)
ACCESS(UInt16, uint16_t)
ACCESS(Int32, int32_t)
ACCESS(UInt32, uint32_t)
ACCESS(Int64, int64_t)
ACCESS(UInt64, uint64_t)
ACCESS(Boolean, bool)

EXPORT int count_sets(Instance *c) { return c->calls; }

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token)
{
    Instance *c = malloc(sizeof *c);
    if (c && name && token)
        *c = first;
    return c;
}

EXPORT void fmi3FreeInstance(Instance *c) { free(c); }

EXPORT int fmi3EnterInitializationMode(Instance *c)
{
    c->is_initialized = 1;
    return 0;
}

EXPORT int fmi3Reset(Instance *c)
{
    *c = first;
    return 0;
}

EXPORT int fmi3DoStep(Instance *c, double time, double step, bool prior, bool *event, bool *end, bool *early,
                      double *last)
{
    (void)c, (void)prior;
    *event = *end = *early = false;
    *last = time + step;
    return 0;
}

EXPORT int fmi3GetFMUState(const Instance *c, void **state)
{
    if (!*state)
        *state = malloc(sizeof *c);
    memcpy(*state, c, sizeof *c);
    return 0;
}

EXPORT int fmi3SetFMUState(Instance *c, const void *state)
{
    memcpy(c, state, sizeof *c);
    return 0;
}

EXPORT int fmi3FreeFMUState(Instance *c, void **state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return 0;
}

/* dy[k] = gain dx[k] + x[k] dgain */
EXPORT int fmi3GetDirectionalDerivative(Instance *c, const uint32_t *unknowns, size_t n, const uint32_t *knowns,
                                        size_t n_knowns, const double *seed, size_t n_seed, double *answer,
                                        size_t n_answer)
{
    size_t needed = 0, at = 0;
    for (size_t j = 0; j < n_knowns; j++)
        needed += sizes[knowns[j]];
    if (n != 1 || unknowns[0] != Y || needed != n_seed || n_answer != sizes[Y])
        return ERROR;
    memset(answer, 0, n_answer * sizeof *answer);
    for (size_t j = 0; j < n_knowns; at += sizes[knowns[j++]])
        for (size_t k = 0; k < n_answer; k++)
            answer[k] += knowns[j] == GAIN ? seed[at] * c->values[X][k]
                         : knowns[j] == X  ? seed[at + k] * c->values[GAIN][0]
                                           : 0.0;
    return 0;
}

EXPORT int fmi3GetOutputDerivatives(Instance *c, const uint32_t *vr, size_t n, const int32_t *orders, double *values,
                                    size_t size)
{
    for (size_t k = 0; k < size; k++)
        values[k] = 10.0 * vr[0] + (double)k + orders[0];
    return c && n == 1 && size == sizes[vr[0]] ? 0 : ERROR;
}

#define GOOD(Name) EXPORT int fmi3##Name(void) { return 0; }
GOOD(GetString)
GOOD(SetString)
GOOD(SetDebugLogging)
GOOD(ExitInitializationMode)
GOOD(Terminate)
GOOD(SerializedFMUStateSize)
GOOD(SerializeFMUState)
GOOD(DeserializeFMUState)
