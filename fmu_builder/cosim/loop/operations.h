/* The operations of a tick that call one slave or none. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* compiled.py has the same numbers */
typedef enum { ACCESS, STEP, COMBINE, FINITE, WATCH, WORK, COPY, KEEP, GROUP } Kind;
typedef enum { DONE, PAUSED, ANSWERED, CHANGED, NOT_FINITE, GROUP_ENDED } Outcome;

/* fmi2Get... and fmi2Set... of Real, Integer and Boolean have one signature. */
typedef int Access(void *component, const uint32_t *references, size_t count, void *values);
typedef int KeepState(void *component, void **state);
typedef int DoStep(void *component, double time, double step, int no_set_state_before);

/* target += factor*source + offset; an offset of -0.0 changes no value. */
typedef struct {
    const double *source;
    double factor, offset;
    uint64_t target; /* its number */
} Term;

/* kind      ACCESS    function(component, table: value references, count, values of the row)
 *           STEP      function(component, time of the tick `back` before this one, step)
 *           COMBINE   `values` are `count` sums of the `terms` Terms in `table`
 *           FINITE    `count` doubles in `values` must be finite
 *           WATCH     as ACCESS, of 32-bit values; returns CHANGED if they differ from those in `seen`
 *           WORK      of `count` forces and velocities over the step: see `work`
 *           COPY      `count` doubles from `table` to `values`
 *           KEEP      function(component, values: where the state is)
 *           GROUP     the Group in `values`, of group.h, makes its steps
 * every     the operation runs in one of so many ticks, `wait` ticks from now
 * is_held   of WORK; of STEP: its state before the step is kept
 * checks    of ACCESS: the values must be finite, as of a FINITE
 * is_passed of WORK
 * stride    bytes from one row of values to the next; the row after the last one of `rows` is the first one
 *
 * One line of the cache: of many slaves all of them are fetched from memory in each tick.  Only those that have several
 * rows, or rest in some ticks, are written to. */
typedef struct {
    union {
        void *function;
        uint64_t terms;
    };
    void *component;
    union {
        const void *table;
        double step;
    };
    char *values;
    union {
        struct {
            uint32_t stride, row;
        };
        int32_t *seen;
    };
    uint32_t rows, count, every, wait, back;
    uint8_t kind, is_held, checks, is_passed;
} Operation;

typedef struct {
    double start, step;
    uint64_t tick, end; /* the loop returns DONE when tick == end */
    Operation *operations;
    uint32_t size, next; /* the operation of this tick to begin with */
    int32_t status;      /* of the function that made the loop return ANSWERED */
    _Atomic int32_t pause;
} Loop;

/* compiled.py writes these structs */
_Static_assert(sizeof(Term) == 32 && sizeof(Operation) == 64 && sizeof(Loop) == 56, "compiled.py has other sizes");

static void combine(const Term *terms, uint64_t size, double *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sums[i] = 0.0;
    for (uint64_t i = 0; i < size; i++)
        sums[terms[i].target] += terms[i].factor * *terms[i].source + terms[i].offset;
}

static int is_finite(const double *values, uint32_t count)
{
    int is_bad = 0; /* no value waits for the one before, as it would in a sum */
    for (uint32_t i = 0; i < count; i++)
        is_bad |= values[i] - values[i] != 0.0;
    return !is_bad;
}

static int has_changed(const int32_t *values, int32_t *seen, uint32_t count)
{
    int32_t difference = 0;
    for (uint32_t i = 0; i < count; i++)
        difference |= values[i] ^ seen[i];
    for (uint32_t i = 0; difference && i < count; i++)
        seen[i] = values[i];
    return difference != 0;
}

/* Mean power and work over a step.  `values` are
 *
 *     force[n], velocity[n], those of the step before, power, work
 *
 * and the mean of a force that is held over the step is its value, as is that of a velocity that is passed on. */
static void work(double *values, uint32_t n, int is_held, int is_passed, double step)
{
    double *force = values, *velocity = values + n, *force_before = values + 2 * n, *velocity_before = values + 3 * n;
    double power = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double mean_force = is_held ? force[i] : 0.5 * (force[i] + force_before[i]);
        power += mean_force * (is_passed ? velocity[i] : 0.5 * (velocity[i] + velocity_before[i]));
        force_before[i] = force[i];
        velocity_before[i] = velocity[i];
    }
    values[4 * n] = power;
    values[4 * n + 1] += power * step;
}

static Outcome operate(Loop *loop, Operation *o)
{
    void *values = o->values;
    if (o->rows > 1) {
        values = o->values + (uint64_t)o->row * o->stride;
        o->row = o->row + 1 < o->rows ? o->row + 1 : 0;
    }
    switch ((Kind)o->kind) {
    case ACCESS:
        loop->status = ((Access *)o->function)(o->component, o->table, o->count, values);
        if (loop->status)
            return ANSWERED;
        return !o->checks || is_finite(values, o->count) ? DONE : NOT_FINITE;
    case STEP:
        loop->status = ((DoStep *)o->function)(o->component, loop->start + (double)(loop->tick - o->back) * loop->step,
                                               o->step, !o->is_held);
        return loop->status ? ANSWERED : DONE;
    case COMBINE:
        combine(o->table, o->terms, values, o->count);
        return DONE;
    case FINITE:
        return is_finite(values, o->count) ? DONE : NOT_FINITE;
    case WATCH:
        loop->status = ((Access *)o->function)(o->component, o->table, o->count, values);
        if (loop->status)
            return ANSWERED;
        return has_changed(values, o->seen, o->count) ? CHANGED : DONE;
    case WORK:
        work(values, o->count, o->is_held, o->is_passed, o->step);
        return DONE;
    case COPY:
        for (uint32_t i = 0; i < o->count; i++)
            ((double *)values)[i] = ((const double *)o->table)[i];
        return DONE;
    case KEEP:
        loop->status = ((KeepState *)o->function)(o->component, values);
        return loop->status ? ANSWERED : DONE;
    case GROUP:
        break;
    }
    return DONE;
}

#endif
