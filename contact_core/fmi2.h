/* FMI 2.0.5 for co-simulation, once for all elements.
 *
 * A call that is not legal now, or has a wrong argument, is told, answered with fmi2Error, and changes nothing; a
 * rejected value is answered with fmi2Discard and kept out.  Only a step or an initialization that fails puts the
 * instance into the mode CC_ERROR, with its state as before the call; fmi2SetFMUstate or fmi2Reset bring it back. */
#ifndef CC_FMI2_H
#define CC_FMI2_H

#include "instance.h"
#include "solver.h"

static const char *cc_mode_name(double mode)
{
    return mode == CC_INSTANTIATED     ? "instantiated"
           : mode == CC_INITIALIZATION ? "initialization mode"
           : mode == CC_STEP_COMPLETE  ? "step complete"
           : mode == CC_ERROR          ? "error"
                                       : "terminated";
}

/* Leave the function with fmi2Error unless there is an instance in one of the modes. */
#define CC_ENTER(modes)                                                                                                \
    Instance *instance = (Instance *)c;                                                                                \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (!((int)instance->now.mode & (modes)))                                                                          \
        return cc_refuse(instance, fmi2Error, "%s is not allowed in the mode '%s'", __func__ + CC_PREFIX_LENGTH,       \
                         cc_mode_name(instance->now.mode))

/* Leave the function with fmi2Error if there are n elements but no array. */
#define CC_NEED(n, pointer)                                                                                            \
    if ((n) > 0 && !(pointer))                                                                                         \
    return cc_refuse(instance, fmi2Error, "%s: the argument %s is NULL", __func__ + CC_PREFIX_LENGTH, #pointer)

/* With FMI2_FUNCTION_PREFIX (static linking) __func__ carries the prefix; messages name the function of the standard. */
#ifdef FMI2_FUNCTION_PREFIX
#define CC_TEXT_OF_(x) #x
#define CC_TEXT_OF(x) CC_TEXT_OF_(x)
#define CC_PREFIX_LENGTH (sizeof(CC_TEXT_OF(FMI2_FUNCTION_PREFIX)) - 1)
#else
#define CC_PREFIX_LENGTH 0
#endif

/* ---- version, log ---------------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories, const fmi2String categories[])
{
    CC_ENTER(CC_ANY);
    CC_NEED(nCategories, categories);
    fmi2Status status = fmi2OK;
    unsigned wanted = nCategories ? 0u : ~0u;
    instance->now.logging = loggingOn != fmi2False;
    instance->now.categories = ~0u; /* a misspelt category is told even where it leaves no category switched on */
    for (size_t k = 0; k < nCategories; k++) {
        int found = 0;
        for (int i = 0; i < CC_LOG_CATEGORIES && categories[k]; i++)
            if (cc_same(categories[k], cc_log_categories[i]) || cc_same(categories[k], "logAll")) {
                wanted |= 1u << i;
                found = 1;
            }
        if (!found)
            status = cc_refuse(instance, fmi2Warning, "fmi2SetDebugLogging: the log category '%s' is unknown",
                               categories[k] ? categories[k] : "(NULL)");
    }
    instance->now.categories = wanted;
    return status;
}

/* ---- creation -------------------------------------------------------------------------------------------------- */

static void cc_set_starts(Instance *instance)
{
    double logging = instance->now.logging, categories = instance->now.categories;
    double *block = cc_block(instance);
    __builtin_memset(&instance->now, 0, sizeof instance->now);
    instance->now.logging = logging;
    instance->now.categories = categories;
    for (int i = 0; i < CC_VARIABLES; i++)
        block[i] = cc_variables[i].start;
    instance->now.mode = CC_INSTANTIATED;
    instance->now.last_status = fmi2OK;
    instance->now.dirty = 1.0;
}

__attribute__((format(printf, 3, 4))) static fmi2Component cc_no_instance(const fmi2CallbackFunctions *callbacks,
                                                                          const char *name, const char *format, ...)
{
    CcText text;
    va_list arguments;
    text.length = 0;
    va_start(arguments, format);
    cc_text_format(&text, format, arguments);
    va_end(arguments);
    if (callbacks)
        cc_send(callbacks, name ? name : "", fmi2Error, "logStatusError", &text);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {0};
    (void)fmuResourceLocation; /* everything is compiled in, so any form of the address will do */
    (void)visible;
    if (!functions)
        functions = &none;
    if (!instanceName || !*instanceName)
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: the instance name is empty");
    if (fmuType != fmi2CoSimulation)
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: this FMU is for co-simulation only");
    if (!fmuGUID || !cc_same(fmuGUID, CC_GUID))
        return cc_no_instance(functions, instanceName,
                              "fmi2Instantiate: the GUID is '%s', but this binary belongs to '%s': modelDescription.xml "
                              "and binary are from different builds",
                              fmuGUID ? fmuGUID : "(NULL)", CC_GUID);
    Instance *instance = cc_allocate(functions, sizeof(Instance));
    if (!instance)
        return cc_no_instance(functions, instanceName, "fmi2Instantiate: no memory for one more instance");
    instance->callbacks = *functions;
    for (int i = 0; i + 1 < CC_NAME_SIZE && instanceName[i]; i++)
        instance->name[i] = instanceName[i];
    if (instance->name[CC_NAME_SIZE - 2])
        instance->name[cc_whole_characters(instance->name, CC_NAME_SIZE - 1)] = '\0';
    instance->now.logging = loggingOn != fmi2False;
    instance->now.categories = ~0u;
    cc_set_starts(instance);
    return instance;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c) {
        fmi2CallbackFunctions callbacks = ((Instance *)c)->callbacks;
        cc_release(&callbacks, c);
    }
}

/* ---- initialization, end --------------------------------------------------------------------------------------- */

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    CC_ENTER(CC_INSTANTIATED);
    if (!cc_is_finite(startTime))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: startTime = %g s must be finite", startTime);
    if (stopTimeDefined && !(stopTime >= startTime && cc_is_finite(stopTime)))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: stopTime = %g s must be finite and not before "
                         "startTime = %g s", stopTime, startTime);
    if (toleranceDefined && !(tolerance > 0.0 && cc_is_finite(tolerance)))
        return cc_refuse(instance, fmi2Error, "fmi2SetupExperiment: tolerance = %g must be greater than 0", tolerance);
    instance->now.experiment = 1.0;
    instance->now.tolerance = toleranceDefined ? tolerance : 0.0;
    instance->now.stop_defined = stopTimeDefined != fmi2False;
    instance->now.stop_time = stopTimeDefined ? stopTime : 0.0;
    cc_block(instance)[0] = startTime;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    CC_ENTER(CC_INSTANTIATED);
    if (instance->now.experiment == 0.0)
        return cc_refuse(instance, fmi2Error, "fmi2EnterInitializationMode: fmi2SetupExperiment has to be called first");
    instance->now.mode = CC_INITIALIZATION;
    instance->now.dirty = 1.0;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    CC_ENTER(CC_INITIALIZATION);
    instance->before = instance->now;
    int failures = cc_check(instance) + cc_check_quaternions(instance);
    if (!failures) {
        instance->now.dirty = 1.0;
        cc_refresh(instance);
        CC_ENTRY(accept)(&instance->now.element, instance, 0.0);
        int bad = cc_first_not_finite(cc_block(instance));
        if (bad >= 0) {
            failures = 1;
            cc_refuse(instance, fmi2Error, "initialization: %s is not finite", cc_variables[bad].name);
        }
    }
    if (failures) {
        instance->now = instance->before;
        instance->now.mode = CC_ERROR;
        return fmi2Error;
    }
    instance->now.mode = CC_STEP_COMPLETE;
    instance->now.changed = instance->now.jumped = 0.0;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    CC_ENTER(CC_STEP_COMPLETE);
    cc_refresh(instance);
    instance->now.mode = CC_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    CC_ENTER(CC_ANY);
    cc_set_starts(instance);
    return fmi2OK;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

#define CC_READABLE (CC_INITIALIZATION | CC_STEP_COMPLETE | CC_ERROR | CC_TERMINATED)
#define CC_WRITABLE (CC_INSTANTIATED | CC_INITIALIZATION | CC_STEP_COMPLETE)

static const char *const cc_type_names[] = {"Real", "Integer", "Boolean"};

/* fmi2Error unless every reference is a variable of this type. */
static fmi2Status cc_check_references(Instance *instance, const char *function, int type, const fmi2ValueReference vr[],
                                      size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= CC_VARIABLES || cc_variables[vr[k]].hidden)
            return cc_refuse(instance, fmi2Error, "%s: there is no variable with the value reference %g", function,
                             (double)vr[k]);
        if (cc_variables[vr[k]].type != type)
            return cc_refuse(instance, fmi2Error, "%s: %s is of type %s, not %s", function, cc_variables[vr[k]].name,
                             cc_type_names[cc_variables[vr[k]].type], cc_type_names[type]);
    }
    return fmi2OK;
}

/* Before a get: references right, outputs current, and nothing that would be handed out is NaN or infinite. */
static fmi2Status cc_prepare_get(Instance *instance, const char *function, int type, const fmi2ValueReference vr[],
                                 size_t n)
{
    if (cc_check_references(instance, function, type, vr, n) != fmi2OK)
        return fmi2Error;
    cc_refresh(instance);
    for (size_t k = 0; k < n; k++)
        if (!cc_is_finite(cc_block(instance)[vr[k]]))
            return cc_refuse(instance, fmi2Error, "%s: %s is not finite", function, cc_variables[vr[k]].name);
    return fmi2OK;
}

/* fmi2Error if a variable may not be set now, fmi2Discard if a value is not finite or outside [min, max]. */
static fmi2Status cc_check_value(Instance *instance, const char *function, fmi2ValueReference vr, double value)
{
    const CcVariable *v = &cc_variables[vr];
    int legal = v->kind == CC_INPUT || v->kind == CC_TUNABLE
                    ? CC_WRITABLE
                    : v->kind == CC_FIXED ? CC_INSTANTIATED | CC_INITIALIZATION : 0;
    if (!((int)instance->now.mode & legal))
        return cc_refuse(instance, fmi2Error, "%s: %s cannot be set %s", function, v->name,
                         legal ? "after the initialization: it is a fixed parameter" : "at all: the FMU computes it");
    if (!cc_is_finite(value))
        return cc_refuse(instance, fmi2Discard, "%s: %s = %g%s%s is refused, it must be finite", function, v->name, value,
                         CC_UNIT(v));
    /* The bound itself of a strict one is let through, as modelDescription.xml does; cc_check refuses it. */
    int strict_low = v->above > v->min, strict_high = v->below < v->max;
    double low = strict_low ? v->above : v->min, high = strict_high ? v->below : v->max;
    if (value < low)
        return cc_refuse(instance, fmi2Discard, "%s: %s = %g%s%s is refused, it must be %s %g%s%s", function, v->name,
                         value, CC_UNIT(v), strict_low ? "greater than" : "at least", low, CC_UNIT(v));
    if (value > high)
        return cc_refuse(instance, fmi2Discard, "%s: %s = %g%s%s is refused, it must be %s %g%s%s", function, v->name,
                         value, CC_UNIT(v), strict_high ? "less than" : "at most", high, CC_UNIT(v));
    return fmi2OK;
}

static void cc_store(Instance *instance, fmi2ValueReference vr, double value)
{
    double *stored = cc_block(instance) + vr;
    if (*stored == value)
        return;
    *stored = value;
    instance->now.dirty = instance->now.jumped = 1.0;
    if (cc_variables[vr].kind == CC_TUNABLE || cc_variables[vr].type != CC_REAL)
        instance->now.changed = 1.0;
}

#define CC_DEFINE_GET(Type, TYPE)                                                                                      \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##Type value[])           \
    {                                                                                                                  \
        CC_ENTER(CC_READABLE);                                                                                         \
        CC_NEED(nvr, vr);                                                                                              \
        CC_NEED(nvr, value);                                                                                           \
        if (cc_prepare_get(instance, "fmi2Get" #Type, TYPE, vr, nvr) != fmi2OK)                                        \
            return fmi2Error;                                                                                          \
        for (size_t k = 0; k < nvr; k++)                                                                               \
            value[k] = (fmi2##Type)cc_block(instance)[vr[k]];                                                          \
        return fmi2OK;                                                                                                 \
    }

/* Checked first and stored afterwards, so that a refused call has set nothing. */
#define CC_DEFINE_SET(Type, TYPE, STORED)                                                                              \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##Type value[])     \
    {                                                                                                                  \
        CC_ENTER(CC_WRITABLE);                                                                                         \
        CC_NEED(nvr, vr);                                                                                              \
        CC_NEED(nvr, value);                                                                                           \
        fmi2Status status = cc_check_references(instance, "fmi2Set" #Type, TYPE, vr, nvr);                             \
        for (size_t k = 0; k < nvr && status != fmi2Error; k++) {                                                      \
            fmi2Status one = cc_check_value(instance, "fmi2Set" #Type, vr[k], STORED);                                 \
            status = one > status ? one : status;                                                                      \
        }                                                                                                              \
        for (size_t k = 0; k < nvr && status == fmi2OK; k++)                                                           \
            cc_store(instance, vr[k], STORED);                                                                         \
        return status;                                                                                                 \
    }

CC_DEFINE_GET(Real, CC_REAL)
CC_DEFINE_GET(Integer, CC_INTEGER)
CC_DEFINE_GET(Boolean, CC_BOOLEAN)
CC_DEFINE_SET(Real, CC_REAL, value[k])
CC_DEFINE_SET(Integer, CC_INTEGER, (double)value[k])
CC_DEFINE_SET(Boolean, CC_BOOLEAN, value[k] != fmi2False ? 1.0 : 0.0)

static fmi2Status cc_no_strings(Instance *instance, const char *function, size_t n)
{
    return n ? cc_refuse(instance, fmi2Error, "%s: this FMU has no String variables", function) : fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    CC_ENTER(CC_READABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_no_strings(instance, "fmi2GetString", nvr);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    CC_ENTER(CC_WRITABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    return cc_no_strings(instance, "fmi2SetString", nvr);
}

/* ---- state ----------------------------------------------------------------------------------------------------- */

/* Serialized state: magic, version, GUID, number of doubles, the doubles, FNV-1a checksum of all before it; every
 * number in little-endian bytes, so that a state moves between platforms. */
#define CC_STATE_VERSION 1u
#define CC_STATE_DOUBLES (sizeof(CcState) / sizeof(double))
#define CC_STATE_HEADER (8u + 4u + (sizeof CC_GUID - 1u) + 8u)
#define CC_STATE_SIZE (CC_STATE_HEADER + 8u * CC_STATE_DOUBLES + 8u)

static const char cc_state_magic[9] = "FMUBSTAT";

static void cc_put(unsigned char *to, unsigned long long bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static unsigned long long cc_take(const unsigned char *from, int bytes)
{
    unsigned long long bits = 0;
    for (int i = 0; i < bytes; i++)
        bits |= (unsigned long long)from[i] << 8 * i;
    return bits;
}

static unsigned long long cc_checksum(const unsigned char *bytes, size_t n)
{
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    CC_ENTER(CC_ANY);
    CC_NEED(1, FMUstate);
    if (!*FMUstate)
        *FMUstate = cc_allocate(&instance->callbacks, sizeof(CcState));
    if (!*FMUstate)
        return cc_refuse(instance, fmi2Error, "fmi2GetFMUstate: no memory for one more state");
    *(CcState *)*FMUstate = instance->now;
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    CC_ENTER(CC_ANY);
    CC_NEED(1, FMUstate);
    instance->now = *(const CcState *)FMUstate;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    CC_ENTER(CC_ANY);
    if (FMUstate && *FMUstate) {
        cc_release(&instance->callbacks, *FMUstate);
        *FMUstate = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    CC_ENTER(CC_ANY);
    CC_NEED(1, FMUstate);
    CC_NEED(1, size);
    *size = CC_STATE_SIZE;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size)
{
    CC_ENTER(CC_ANY);
    CC_NEED(1, FMUstate);
    CC_NEED(1, serializedState);
    if (size < CC_STATE_SIZE)
        return cc_refuse(instance, fmi2Error, "fmi2SerializeFMUstate: %g bytes are given, %g are needed", (double)size,
                         (double)CC_STATE_SIZE);
    unsigned char *to = (unsigned char *)serializedState;
    const double *from = FMUstate;
    __builtin_memcpy(to, cc_state_magic, 8);
    cc_put(to + 8, CC_STATE_VERSION, 4);
    __builtin_memcpy(to + 12, CC_GUID, sizeof CC_GUID - 1);
    cc_put(to + CC_STATE_HEADER - 8, CC_STATE_DOUBLES, 8);
    for (size_t i = 0; i < CC_STATE_DOUBLES; i++) {
        unsigned long long bits;
        __builtin_memcpy(&bits, from + i, 8);
        cc_put(to + CC_STATE_HEADER + 8 * i, bits, 8);
    }
    cc_put(to + CC_STATE_SIZE - 8, cc_checksum(to, CC_STATE_SIZE - 8), 8);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    CC_ENTER(CC_ANY);
    CC_NEED(1, serializedState);
    CC_NEED(1, FMUstate);
    const unsigned char *from = (const unsigned char *)serializedState;
    const char *fault = NULL;
    /* Undamaged first, so that a GUID that differs is one of another model. */
    if (size < 12 || cc_take(from, 8) != cc_take((const unsigned char *)cc_state_magic, 8))
        fault = "it is no state of an FMU of this kind";
    else if (cc_take(from + 8, 4) != CC_STATE_VERSION)
        fault = "it has another version of the state format";
    else if (size < CC_STATE_HEADER + 8 || cc_take(from + size - 8, 8) != cc_checksum(from, size - 8))
        fault = "its checksum is wrong, so it was damaged or cut short";
    if (fault)
        return cc_refuse(instance, fmi2Error, "fmi2DeSerializeFMUstate: the state is refused: %s", fault);
    char guid[sizeof CC_GUID];
    __builtin_memcpy(guid, from + 12, sizeof guid - 1);
    guid[sizeof guid - 1] = '\0';
    if (!cc_same(guid, CC_GUID))
        return cc_refuse(instance, fmi2Error, "fmi2DeSerializeFMUstate: the state is refused: it belongs to the GUID '%s', "
                         "but this binary to '%s': it comes from another model, or from another build of this one",
                         guid, CC_GUID);
    if (size != CC_STATE_SIZE || cc_take(from + CC_STATE_HEADER - 8, 8) != CC_STATE_DOUBLES)
        return cc_refuse(instance, fmi2Error, "fmi2DeSerializeFMUstate: the state is refused: it has %g bytes instead of "
                         "%g", (double)size, (double)CC_STATE_SIZE);
    if (!*FMUstate)
        *FMUstate = cc_allocate(&instance->callbacks, sizeof(CcState));
    if (!*FMUstate)
        return cc_refuse(instance, fmi2Error, "fmi2DeSerializeFMUstate: no memory for one more state");
    double *to = *FMUstate;
    for (size_t i = 0; i < CC_STATE_DOUBLES; i++) {
        unsigned long long bits = cc_take(from + CC_STATE_HEADER + 8 * i, 8);
        __builtin_memcpy(to + i, &bits, 8);
    }
    return fmi2OK;
}

/* ---- derivatives ----------------------------------------------------------------------------------------------- */

/* The block as dual numbers with all directions zero. */
static void cc_make_dual(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_VARIABLES; i++) {
        instance->dual[2 * i] = block[i];
        instance->dual[2 * i + 1] = 0.0;
    }
}

static int cc_is_continuous_input(const CcVariable *v) { return v->kind == CC_INPUT && v->type == CC_REAL; }

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    CC_ENTER(CC_READABLE);
    CC_NEED(nUnknown, vUnknown_ref);
    CC_NEED(nUnknown, dvUnknown);
    CC_NEED(nKnown, vKnown_ref);
    CC_NEED(nKnown, dvKnown);
    if (cc_check_references(instance, "fmi2GetDirectionalDerivative", CC_REAL, vUnknown_ref, nUnknown) != fmi2OK ||
        cc_check_references(instance, "fmi2GetDirectionalDerivative", CC_REAL, vKnown_ref, nKnown) != fmi2OK)
        return fmi2Error;
    for (size_t k = 0; k < nUnknown; k++) {
        int kind = cc_variables[vUnknown_ref[k]].kind;
        if (kind != CC_OUTPUT && kind != CC_STATE && kind != CC_DERIVATIVE)
            return cc_refuse(instance, fmi2Error, "fmi2GetDirectionalDerivative: the unknown %s is neither a continuous "
                             "output nor a state derivative", cc_variables[vUnknown_ref[k]].name);
    }
    cc_refresh(instance);
    cc_make_dual(instance);
    for (size_t k = 0; k < nKnown; k++) {
        const CcVariable *v = &cc_variables[vKnown_ref[k]];
        if (!cc_is_continuous_input(v) && v->kind != CC_STATE)
            return cc_refuse(instance, fmi2Error, "fmi2GetDirectionalDerivative: the known %s is neither a continuous "
                             "input nor a state", v->name);
        instance->dual[2 * vKnown_ref[k] + 1] += dvKnown[k] * CC_DUAL_STEP;
    }
    CC_ENTRY(dual)(instance->dual);
    for (size_t k = 0; k < nUnknown; k++)
        if (!cc_is_finite(instance->dual[2 * vUnknown_ref[k] + 1] / CC_DUAL_STEP))
            return cc_refuse(instance, fmi2Error, "fmi2GetDirectionalDerivative: the derivative of %s is not finite",
                             cc_variables[vUnknown_ref[k]].name);
    for (size_t k = 0; k < nUnknown; k++)
        dvUnknown[k] = instance->dual[2 * vUnknown_ref[k] + 1] / CC_DUAL_STEP;
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    CC_ENTER(CC_WRITABLE);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, order);
    CC_NEED(nvr, value);
    if (cc_check_references(instance, "fmi2SetRealInputDerivatives", CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    fmi2Status status = fmi2OK;
    for (size_t k = 0; k < nvr; k++) {
        const CcVariable *v = &cc_variables[vr[k]];
        if (!cc_is_continuous_input(v))
            return cc_refuse(instance, fmi2Error, "fmi2SetRealInputDerivatives: %s is no continuous input", v->name);
        if (order[k] < 1)
            return cc_refuse(instance, fmi2Error, "fmi2SetRealInputDerivatives: order %d of %s: the order must be at "
                             "least 1", order[k], v->name);
        if (!cc_is_finite(value[k]))
            status = cc_refuse(instance, fmi2Discard, "fmi2SetRealInputDerivatives: the derivative %g of %s is refused, "
                               "it must be finite", value[k], v->name);
    }
    if (status != fmi2OK)
        return status;
    for (size_t k = 0; k < nvr; k++) {
        if (order[k] > 1) {
            status = cc_refuse(instance, fmi2Warning, "fmi2SetRealInputDerivatives: order %d of %s is ignored, inputs "
                               "are extrapolated with order 1", order[k], cc_variables[vr[k]].name);
            continue;
        }
        instance->now.input_rates[cc_variables[vr[k]].input] = value[k];
        instance->now.extrapolate = 1.0;
    }
    return status;
}

/* Directions of d/dt: time itself, states, inputs whose derivative is known (r' = v, q' = (0, w) q / 2), and inputs for
 * which fmi2SetRealInputDerivatives gave one. */
static void cc_set_time_directions(Instance *instance)
{
    const double *block = cc_block(instance);
    double *dual = instance->dual;
    dual[1] = CC_DUAL_STEP;
    for (int i = 0; i < CC_INPUTS; i++) {
        int rate = cc_input_rates[i];
        dual[2 * cc_inputs[i] + 1] = (rate >= 0 ? block[rate] : instance->now.input_rates[i]) * CC_DUAL_STEP;
    }
    for (int i = 0; i < CC_QUATERNIONS; i++) {
        const double *q = block + cc_quaternions[i][0], *w = block + cc_quaternions[i][1];
        double *direction = dual + 2 * cc_quaternions[i][0] + 1;
        direction[0] = 0.5 * (-w[0] * q[1] - w[1] * q[2] - w[2] * q[3]) * CC_DUAL_STEP;
        direction[2] = 0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]) * CC_DUAL_STEP;
        direction[4] = 0.5 * (w[1] * q[0] + w[2] * q[1] - w[0] * q[3]) * CC_DUAL_STEP;
        direction[6] = 0.5 * (w[2] * q[0] + w[0] * q[2] - w[1] * q[1]) * CC_DUAL_STEP;
    }
    for (int i = 0; i < CC_STATES; i++)
        dual[2 * cc_states[i] + 1] = block[cc_state_derivatives[i]] * CC_DUAL_STEP;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    CC_ENTER(CC_STEP_COMPLETE | CC_ERROR | CC_TERMINATED);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, order);
    CC_NEED(nvr, value);
    if (cc_check_references(instance, "fmi2GetRealOutputDerivatives", CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    for (size_t k = 0; k < nvr; k++) {
        if (!cc_variables[vr[k]].is_output)
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: %s is no output",
                             cc_variables[vr[k]].name);
        if (order[k] < 1)
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: order %d of %s: the order must be at "
                             "least 1", order[k], cc_variables[vr[k]].name);
    }
    cc_refresh(instance);
    cc_make_dual(instance);
    cc_set_time_directions(instance);
    CC_ENTRY(dual)(instance->dual);
    for (size_t k = 0; k < nvr; k++)
        if (!cc_is_finite(instance->dual[2 * vr[k] + 1] / CC_DUAL_STEP))
            return cc_refuse(instance, fmi2Error, "fmi2GetRealOutputDerivatives: the derivative of %s is not finite",
                             cc_variables[vr[k]].name);
    for (size_t k = 0; k < nvr; k++)
        value[k] = order[k] == 1 ? instance->dual[2 * vr[k] + 1] / CC_DUAL_STEP : 0.0;
    return fmi2OK;
}

/* ---- the step -------------------------------------------------------------------------------------------------- */

static double cc_larger(double a, double b) { return a > b ? a : b; }
static double cc_magnitude(double a) { return a < 0.0 ? -a : a; }

/* What must hold before a step; 1 if it does. */
static int cc_may_step(Instance *instance, double t_c, double h)
{
    double t = cc_block(instance)[0];
    if (!cc_is_finite(t_c) || !cc_is_finite(h) || !(h > 0.0)) {
        cc_refuse(instance, fmi2Error, "fmi2DoStep: a step of %g s from %g s; the step must be greater than 0 and both "
                  "finite", h, t_c);
        return 0;
    }
    /* Rounding of the importer's clock is allowed for, up to half a step. */
    double slack = 1e-9 * cc_larger(cc_larger(cc_magnitude(t), cc_magnitude(t_c)), h);
    slack = slack < 0.5 * h ? slack : 0.5 * h;
    if (cc_magnitude(t_c - t) > slack) {
        cc_refuse(instance, fmi2Error, "fmi2DoStep: the step begins at %g s, but the last one ended at %g s", t_c, t);
        return 0;
    }
    double end = t_c + h, stop = instance->now.stop_time;
    if (!(end > t)) {
        cc_refuse(instance, fmi2Error, "fmi2DoStep: a step of %g s from %g s does not move the clock", h, t_c);
        return 0;
    }
    slack = 1e-9 * cc_larger(cc_magnitude(stop), h);
    slack = slack < 0.5 * h ? slack : 0.5 * h;
    if (instance->now.stop_defined != 0.0 && end > stop + slack) {
        cc_refuse(instance, fmi2Error, "fmi2DoStep: the step ends at %g s, after the stop time %g s that "
                  "fmi2SetupExperiment announced", end, stop);
        return 0;
    }
    return 1;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    CC_ENTER(CC_STEP_COMPLETE);
    (void)noSetFMUStatePriorToCurrentPoint;
    double t_c = currentCommunicationPoint, h = communicationStepSize;
    if (!cc_may_step(instance, t_c, h))
        return fmi2Error;
    instance->before = instance->now;
    int failures = cc_check_quaternions(instance);
    if (instance->now.changed != 0.0)
        failures += cc_check(instance);
    if (!failures) {
        if (instance->now.jumped != 0.0) {
            CC_ENTRY(evaluate)(&instance->now.element);
            CC_ENTRY(accept)(&instance->now.element, instance, cc_larger(instance->now.last_step, h));
        }
        (void)cc_integrate(instance, t_c, t_c + h);
        int bad = cc_first_not_finite(cc_block(instance));
        if (bad >= 0) {
            failures = 1;
            cc_refuse(instance, fmi2Error, "fmi2DoStep: %s is not finite after the step from %g s to %g s",
                      cc_variables[bad].name, t_c, t_c + h);
        }
    }
    if (failures) {
        instance->now = instance->before;
        instance->now.mode = CC_ERROR;
        instance->now.last_status = fmi2Error;
        return fmi2Error;
    }
    if (instance->now.extrapolate != 0.0)
        for (int i = 0; i < CC_INPUTS; i++)
            instance->now.input_rates[i] = 0.0;
    instance->now.extrapolate = 0.0;
    instance->now.changed = instance->now.jumped = instance->now.dirty = 0.0;
    instance->now.last_step = h;
    instance->now.last_status = fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    CC_ENTER(CC_ANY);
    return cc_refuse(instance, fmi2Error, "fmi2CancelStep: steps are never pending here");
}

#define CC_ASKABLE (CC_STEP_COMPLETE | CC_ERROR | CC_TERMINATED)

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
{
    CC_ENTER(CC_ASKABLE);
    CC_NEED(1, value);
    if (s != fmi2DoStepStatus)
        return cc_refuse(instance, fmi2Discard, "fmi2GetStatus: the kind %d is not offered", (int)s);
    *value = (fmi2Status)instance->now.last_status;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    CC_ENTER(CC_ASKABLE);
    CC_NEED(1, value);
    if (s != fmi2LastSuccessfulTime)
        return cc_refuse(instance, fmi2Discard, "fmi2GetRealStatus: the kind %d is not offered", (int)s);
    *value = cc_block(instance)[0];
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value)
{
    CC_ENTER(CC_ASKABLE);
    CC_NEED(1, value);
    return cc_refuse(instance, fmi2Discard, "fmi2GetIntegerStatus: the kind %d is not offered", (int)s);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    CC_ENTER(CC_ASKABLE);
    CC_NEED(1, value);
    if (s != fmi2Terminated)
        return cc_refuse(instance, fmi2Discard, "fmi2GetBooleanStatus: the kind %d is not offered", (int)s);
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value)
{
    CC_ENTER(CC_ASKABLE);
    CC_NEED(1, value);
    if (s != fmi2PendingStatus)
        return cc_refuse(instance, fmi2Discard, "fmi2GetStringStatus: the kind %d is not offered", (int)s);
    *value = "";
    return fmi2OK;
}

/* ---- model exchange: not offered by this FMU, but every FMU exports all names ----------------------------------- */

#define CC_NOT_OFFERED(...)                                                                                            \
    {                                                                                                                  \
        CC_ENTER(CC_ANY);                                                                                              \
        __VA_ARGS__;                                                                                                   \
        return cc_refuse(instance, fmi2Error, "%s: this FMU is for co-simulation only", __func__ + CC_PREFIX_LENGTH);  \
    }

fmi2Status fmi2EnterEventMode(fmi2Component c) CC_NOT_OFFERED((void)0)
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) CC_NOT_OFFERED((void)info)
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) CC_NOT_OFFERED((void)0)
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean final, fmi2Boolean *enterEventMode,
                                       fmi2Boolean *terminateSimulation)
    CC_NOT_OFFERED((void)final, (void)enterEventMode, (void)terminateSimulation)
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) CC_NOT_OFFERED((void)time)
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) CC_NOT_OFFERED((void)x, (void)nx)
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
    CC_NOT_OFFERED((void)derivatives, (void)nx)
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t ni)
    CC_NOT_OFFERED((void)indicators, (void)ni)
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) CC_NOT_OFFERED((void)x, (void)nx)
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
    CC_NOT_OFFERED((void)x, (void)nx)

#endif
