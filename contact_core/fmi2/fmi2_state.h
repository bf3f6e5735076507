/* Getting, setting and serializing the whole state of an instance. */
#ifndef CC_FMI2_STATE_H
#define CC_FMI2_STATE_H

#include "fmi2_state_check.h"

/* Serialized state: 8 zero bytes, magic, version, GUID, number of doubles, the doubles, FNV-1a checksum of all before
 * it; every number in little-endian bytes, so that a state moves between platforms. */
#define CC_STATE_VERSION 2u
#define CC_STATE_MAGIC 8u /* where the magic is, the version behind it */
#define CC_STATE_DOUBLES (sizeof(CcState) / sizeof(double))
#define CC_STATE_HEADER (CC_STATE_MAGIC + 8u + 4u + (sizeof CC_GUID - 1u) + 8u)
#define CC_STATE_SIZE (CC_STATE_HEADER + 8u * CC_STATE_DOUBLES + 8u)

static const char cc_state_magic[9] = "FMUBSTAT";

CC_RARE void cc_put(unsigned char *to, unsigned long long bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

CC_RARE unsigned long long cc_read_number(const unsigned char *from, int bytes)
{
    unsigned long long bits = 0;
    for (int i = 0; i < bytes; i++)
        bits |= (unsigned long long)from[i] << 8 * i;
    return bits;
}

CC_RARE unsigned long long cc_checksum(const unsigned char *bytes, size_t n)
{
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

CC_FUNCTION fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    CC_ENTER(GetFMUstate, CC_ANY);
    CC_NEED_CAPABILITY("canGetAndSetFMUstate");
    CC_NEED(1, FMUstate);
    instance->keeps = 1;
    if (!*FMUstate)
        *FMUstate = cc_allocate(&instance->importer, sizeof(CcState));
    if (!*FMUstate)
        return cc_refuse(instance, fmi2Error, CC_CALLED(GetFMUstate) ": no memory for one more state");
    CcState *state = *FMUstate;
    *state = instance->now;
    state->behind = 1.0; /* the state does not depend on what was read before */
    for (size_t i = 0; i < CC_VARIABLES && CC_HAS_RATES; i++)
        if (cc_variable(i)->on_demand)
            ((double *)&state->element)[i] = 0.0;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    CC_ENTER(SetFMUstate, CC_ANY);
    CC_NEED_CAPABILITY("canGetAndSetFMUstate");
    CC_NEED(1, FMUstate);
    const CcState *state = FMUstate;
    if (state->type != instance->now.type)
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(SetFMUstate) ": the state is one of %s, but this instance was made for "
                         "%s",
                         cc_type_name((int)state->type), cc_type_name((int)instance->now.type));
    instance->now = *state;
    instance->keeps = 1;
    if (instance->followed)
        instance->followed->lost = CC_RESTORED;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    CC_ENTER(FreeFMUstate, CC_ANY);
    CC_NEED_CAPABILITY("canGetAndSetFMUstate");
    if (FMUstate && *FMUstate) {
        cc_release(&instance->importer, *FMUstate);
        *FMUstate = NULL;
    }
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    CC_ENTER(SerializedFMUstateSize, CC_ANY);
    CC_NEED_CAPABILITY("canSerializeFMUstate");
    CC_NEED(1, FMUstate);
    CC_NEED(1, size);
    *size = CC_STATE_SIZE;
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[],
                                             size_t size)
{
    CC_ENTER(SerializeFMUstate, CC_ANY);
    CC_NEED_CAPABILITY("canSerializeFMUstate");
    CC_NEED(1, FMUstate);
    CC_NEED(1, serializedState);
    if (size < CC_STATE_SIZE)
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(SerializeFMUstate) ": %g bytes are given, %g are needed", (double)size,
                         (double)CC_STATE_SIZE);
    unsigned char *to = (unsigned char *)serializedState;
    const double *from = FMUstate;
    cc_put(to, 0, CC_STATE_MAGIC);
    __builtin_memcpy(to + CC_STATE_MAGIC, cc_state_magic, 8);
    cc_put(to + CC_STATE_MAGIC + 8, CC_STATE_VERSION, 4);
    __builtin_memcpy(to + CC_STATE_MAGIC + 12, CC_GUID, sizeof CC_GUID - 1);
    cc_put(to + CC_STATE_HEADER - 8, CC_STATE_DOUBLES, 8);
    for (size_t i = 0; i < CC_STATE_DOUBLES; i++) {
        unsigned long long bits;
        __builtin_memcpy(&bits, from + i, 8);
        cc_put(to + CC_STATE_HEADER + 8 * i, bits, 8);
    }
    cc_put(to + CC_STATE_SIZE - 8, cc_checksum(to, CC_STATE_SIZE - 8), 8);
    return fmi2OK;
}

CC_FUNCTION fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                               fmi2FMUstate *FMUstate)
{
    CC_ENTER(DeSerializeFMUstate, CC_ANY);
    CC_NEED_CAPABILITY("canSerializeFMUstate");
    CC_NEED(1, serializedState);
    CC_NEED(1, FMUstate);
    const unsigned char *from = (const unsigned char *)serializedState;
    const char *fault = NULL;
    /* The checksum first: then a different GUID means another model. */
    const unsigned char *magic = from + CC_STATE_MAGIC;
    if (size < CC_STATE_MAGIC + 12 || cc_read_number(from, CC_STATE_MAGIC) != 0
        || cc_read_number(magic, 8) != cc_read_number((const unsigned char *)cc_state_magic, 8))
        fault = "it is no state of an FMU of this kind";
    else if (cc_read_number(magic + 8, 4) != CC_STATE_VERSION)
        fault = "it has another version of the state format";
    else if (size < CC_STATE_HEADER + 8 || cc_read_number(from + size - 8, 8) != cc_checksum(from, size - 8))
        fault = "its checksum is wrong, so it was damaged or cut short";
    if (fault)
        return cc_refuse(instance, fmi2Error, CC_CALLED(DeSerializeFMUstate) ": the state is refused: %s", fault);
    char guid[sizeof CC_GUID];
    __builtin_memcpy(guid, magic + 12, sizeof guid - 1);
    guid[sizeof guid - 1] = '\0';
    if (!cc_same(guid, CC_GUID))
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(DeSerializeFMUstate) ": the state is refused: it belongs to the GUID "
                         "'%s', but this binary to '%s': it comes from another model, or from another build of this "
                         "one",
                         guid, CC_GUID);
    if (size != CC_STATE_SIZE || cc_read_number(from + CC_STATE_HEADER - 8, 8) != CC_STATE_DOUBLES)
        return cc_refuse(instance, fmi2Error,
                         CC_CALLED(DeSerializeFMUstate) ": the state is refused: it has %g bytes instead "
                         "of %g", (double)size, (double)CC_STATE_SIZE);
    CcState *state = &instance->before; /* free between calls */
    for (size_t i = 0; i < CC_STATE_DOUBLES; i++) {
        unsigned long long bits = cc_read_number(from + CC_STATE_HEADER + 8 * i, 8);
        __builtin_memcpy((double *)state + i, &bits, 8);
    }
    if (!cc_check_state(instance, state))
        return fmi2Error;
    if (!*FMUstate)
        *FMUstate = cc_allocate(&instance->importer, sizeof(CcState));
    if (!*FMUstate)
        return cc_refuse(instance, fmi2Error, CC_CALLED(DeSerializeFMUstate) ": no memory for one more state");
    __builtin_memcpy(*FMUstate, state, sizeof(CcState));
    return fmi2OK;
}

#endif
