/* An FMU for FMI 3.0 with a variable of each type of whole numbers: what it reads is what was set.
 *
 * It opens a file in its resources, by the path that it is given, and dies if there is none. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

static int64_t values[16]; /* by value reference */

#define ACCESS(Name, Type)                                                                                             \
    EXPORT int fmi3Get##Name(void *c, const uint32_t *vr, size_t n, Type *value, size_t size)                          \
    {                                                                                                                  \
        for (size_t k = 0; k < n && k < size && c; k++)                                                                \
            value[k] = (Type)values[vr[k]];                                                                            \
        return 0;                                                                                                      \
    }                                                                                                                  \
    EXPORT int fmi3Set##Name(void *c, const uint32_t *vr, size_t n, const Type *value, size_t size)                    \
    {                                                                                                                  \
        for (size_t k = 0; k < n && k < size && c; k++)                                                                \
            values[vr[k]] = (int64_t)value[k];                                                                         \
        return 0;                                                                                                      \
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

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources)
{
    char path[4096];
    snprintf(path, sizeof path, "%stable.txt", resources);
    FILE *file = fopen(path, "r");
    if (!file || !name || !token)
        abort();
    fclose(file);
    return values;
}

EXPORT void fmi3FreeInstance(void *c) { (void)c; }

EXPORT int fmi3DoStep(void *c, double time, double step, bool prior, bool *event, bool *end, bool *early,
                      double *last)
{
    (void)c, (void)prior;
    *event = *end = *early = false;
    *last = time + step;
    return 0;
}

#define GOOD(Name) EXPORT int fmi3##Name(void) { return 0; }
GOOD(GetString)
GOOD(SetString)
GOOD(SetDebugLogging)
GOOD(EnterInitializationMode)
GOOD(ExitInitializationMode)
GOOD(Terminate)
GOOD(Reset)
GOOD(GetFMUState)
GOOD(SetFMUState)
GOOD(FreeFMUState)
GOOD(SerializedFMUStateSize)
GOOD(SerializeFMUState)
GOOD(DeserializeFMUState)
GOOD(GetDirectionalDerivative)
GOOD(GetOutputDerivatives)
