/* Values of an FMU for FMI 3.0, in the types that FMI 2.0 has.  Part of adaptor.c.
 *
 * The master has the scalars of an array under references of its own.  What is set is kept, for an FMU takes an array
 * whole: from its start values on; where a state was restored, from the values that it answers. */
#ifndef VALUES_H
#define VALUES_H

typedef union {
    double float64;
    float float32;
    int8_t int8;
    uint8_t uint8;
    int16_t int16;
    uint16_t uint16;
    int32_t int32;
    uint32_t uint32;
    int64_t int64;
    uint64_t uint64;
    const char *text;
} Value;

static double number_of(Kind kind, const Value *v)
{
    switch (kind) {
    case FLOAT64: return v->float64;
    case FLOAT32: return (double)v->float32;
    case INT8: return v->int8;
    case UINT8: return v->uint8;
    case INT16: return v->int16;
    case UINT16: return v->uint16;
    case INT32: return v->int32;
    case UINT32: return v->uint32;
    case INT64: return (double)v->int64;
    case UINT64: return (double)v->uint64;
    case BOOLEAN: return v->uint8 != 0;
    default: return 0.0;
    }
}

static Value value_of(Kind kind, double number)
{
    Value v = {.uint64 = 0};
    switch (kind) {
    case FLOAT64: v.float64 = number; break;
    case FLOAT32: v.float32 = (float)number; break;
    case INT8: v.int8 = (int8_t)number; break;
    case UINT8: v.uint8 = (uint8_t)number; break;
    case INT16: v.int16 = (int16_t)number; break;
    case UINT16: v.uint16 = (uint16_t)number; break;
    case INT32: v.int32 = (int32_t)number; break;
    case UINT32: v.uint32 = (uint32_t)number; break;
    case INT64: v.int64 = (int64_t)number; break;
    case UINT64: v.uint64 = (uint64_t)number; break;
    case BOOLEAN: v.uint8 = number != 0.0; break;
    default: break;
    }
    return v;
}

static const size_t sizes[KINDS] = {[FLOAT64] = 8, [FLOAT32] = 4, [INT8] = 1,  [UINT8] = 1, [INT16] = 2,  [UINT16] = 2,
                                    [INT32] = 4,   [UINT32] = 4,  [INT64] = 8, [UINT64] = 8, [BOOLEAN] = 1};

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* The array that holds the scalar, NULL if none does. */
static const Array *array_of(uint32_t reference)
{
    if (!fmu.n_arrays || reference < fmu.arrays[0].first)
        return NULL;
    size_t low = 0, high = fmu.n_arrays;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (fmu.arrays[middle].first <= reference)
            low = middle;
        else
            high = middle;
    }
    return fmu.arrays + low;
}

static void set_to_starts(Component *c)
{
    if (fmu.n_arrays)
        __builtin_memcpy(c->kept, fmu.starts, fmu.kept_size);
    for (size_t i = 0; i < fmu.n_arrays; i++)
        c->is_kept[i] = fmu.arrays[i].has_starts != 0;
}

static void forget_arrays(Component *c)
{
    for (size_t i = 0; i < fmu.n_arrays; i++)
        c->is_kept[i] = 0;
}

/* Memory for the arrays; 1 if there is some. */
static int keep_arrays(Component *c)
{
    size_t answer = (fmu.longest + 1) * sizeof(double);
    if (!fmu.n_arrays)
        return 1;
    c->kept = c->callbacks.allocateMemory(1, fmu.kept_size + answer + fmu.n_arrays);
    if (!c->kept)
        return 0;
    c->answer = (double *)(c->kept + fmu.kept_size);
    c->is_kept = c->kept + fmu.kept_size + answer;
    set_to_starts(c);
    return 1;
}

/* Read a scalar of an array, which *read says is in `answer` already. */
static int get_from(const Component *c, const Array *array, uint32_t reference, const Array **read, double *number)
{
    int status = 0;
    if (array != *read)
        status = fmu.f.get[array->kind](c->instance, &array->reference, 1, c->answer, array->size);
    *read = status <= fmi2Warning ? array : NULL;
    Value v = {.uint64 = 0};
    const size_t size = sizes[array->kind];
    __builtin_memcpy(&v, (const unsigned char *)c->answer + (reference - array->first) * size, size);
    *number = number_of((Kind)array->kind, &v);
    return status;
}

/* Change a scalar of an array, and give the FMU all of it, unless another scalar of it follows. */
static int set_in(const Component *c, const Array *array, uint32_t reference, const Value *v, const Array *following)
{
    unsigned char *kept = c->kept + array->place, *is_kept = c->is_kept + (array - fmu.arrays);
    int status = 0;
    if (!*is_kept)
        status = fmu.f.get[array->kind](c->instance, &array->reference, 1, kept, array->size);
    if (status > fmi2Warning)
        return status;
    *is_kept = 1;
    __builtin_memcpy(kept + (reference - array->first) * sizes[array->kind], v, sizes[array->kind]);
    if (array == following)
        return status;
    status = fmu.f.set[array->kind](c->instance, &array->reference, 1, kept, array->size);
    *is_kept = status <= fmi2Warning; /* of what was refused the FMU has kept the values before */
    return status;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* *read: the array in `answer`, NULL at first. */
static int get_number(const Component *c, uint32_t reference, const Array **read, double *number)
{
    Kind kind = kind_of(reference);
    const Array *array = array_of(reference);
    if (array)
        return get_from(c, array, reference, read, number);
    Value v = {.uint64 = 0};
    int status = fmu.f.get[kind](c->instance, &reference, 1, &v, 1);
    *number = number_of(kind, &v);
    return status;
}

/* The limits of whole numbers by type: the smallest one, and the first that is too large. */
static const struct {
    const char *name;
    double low, end;
} ranges[KINDS] = {
    [INT8] = {"Int8", -0x1p7, 0x1p7},     [UINT8] = {"UInt8", 0.0, 0x1p8},
    [INT16] = {"Int16", -0x1p15, 0x1p15}, [UINT16] = {"UInt16", 0.0, 0x1p16},
    [INT32] = {"Int32", -0x1p31, 0x1p31}, [UINT32] = {"UInt32", 0.0, 0x1p32},
    [INT64] = {"Int64", -0x1p63, 0x1p63}, [UINT64] = {"UInt64", 0.0, 0x1p64},
};

static int fits(double number, Kind kind) { return number >= ranges[kind].low && number < ranges[kind].end; }

static int refuse(const Component *c, uint32_t reference, double number, const char *whose, Kind kind)
{
    if (c->callbacks.logger)
        c->callbacks.logger(c->callbacks.componentEnvironment, c->name, fmi2Error, "logStatusError",
                            "#i%u#: %.17g is outside the range of %s, %.17g ... %.17g", reference, number, whose,
                            ranges[kind].low, ranges[kind].end - 1.0);
    return fmi2Error;
}

/* following: the array of the scalar that is set next, NULL if it is in none */
static int set_number(const Component *c, uint32_t reference, double number, const Array *following)
{
    Kind kind = kind_of(reference);
    if (ranges[kind].name && !fits(number, kind))
        return refuse(c, reference, number, ranges[kind].name, kind);
    Value v = value_of(kind, number);
    const Array *array = array_of(reference);
    if (array)
        return set_in(c, array, reference, &v, following);
    return fmu.f.set[kind](c->instance, &reference, 1, &v, 1);
}

/* How many of the first references are scalars of 64 bits, which one call reads or sets. */
static size_t count_plain(const uint32_t *references, size_t n)
{
    size_t count = 0;
    while (fmu.is_plain && count < n && !array_of(references[count]))
        count++;
    return count;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Component *c = component;
    const Array *read = NULL;
    int worst = 0;
    for (size_t k = 0, count; k < n; k += count ? count : 1) {
        count = count_plain(vr + k, n - k);
        int status = count ? fmu.f.get[FLOAT64](c->instance, vr + k, count, value + k, count)
                           : get_number(c, vr[k], &read, value + k);
        worst = status > worst ? status : worst;
    }
    return worst;
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    Component *c = component;
    int worst = 0;
    for (size_t k = 0, count; k < n; k += count ? count : 1) {
        count = count_plain(vr + k, n - k);
        int status = count ? fmu.f.set[FLOAT64](c->instance, vr + k, count, (void *)(value + k), count)
                           : set_number(c, vr[k], value[k], k + 1 < n ? array_of(vr[k + 1]) : NULL);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static fmi2Status get_whole(Component *c, const fmi2ValueReference vr[], size_t n, int value[])
{
    const Array *read = NULL;
    int worst = 0;
    for (size_t k = 0; k < n; k++) {
        double number = 0.0;
        int status = get_number(c, vr[k], &read, &number);
        if (fits(number, INT32))
            value[k] = (int)number;
        else if (status <= fmi2Warning)
            status = refuse(c, vr[k], number, "the master, Int32", INT32);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static fmi2Status set_whole(Component *c, const fmi2ValueReference vr[], size_t n, const int value[])
{
    int worst = 0;
    for (size_t k = 0; k < n; k++) {
        int status = set_number(c, vr[k], value[k], k + 1 < n ? array_of(vr[k + 1]) : NULL);
        worst = status > worst ? status : worst;
    }
    return worst;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    return get_whole(c, vr, n, value);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    return set_whole(c, vr, n, value);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    return get_whole(c, vr, n, value);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[])
{
    return set_whole(c, vr, n, value);
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2String value[])
{
    return fmu.f.get[STRING](((Component *)component)->instance, vr, n, value, n);
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[], size_t n, const fmi2String value[])
{
    return fmu.f.set[STRING](((Component *)component)->instance, vr, n, (void *)value, n);
}

#endif
