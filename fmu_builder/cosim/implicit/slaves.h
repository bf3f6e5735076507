/* Calls of the slaves of a group.  One that fails ends the step of the group: what failed stands in its Fault, of which
 * compiled.py makes the same error as the calls in Python do. */
#ifndef SLAVES_H
#define SLAVES_H

#include "../loop/operations.h"
#include "arithmetic.h"

/* compiled.py has the same numbers */
typedef enum {
    GET_FAILED, SET_FAILED, DERIVATIVE_FAILED, KEEP_FAILED, RESTORE_FAILED, SLOPES_FAILED, COUNTS_FAILED, TRIAL_FAILED,
    STEP_FAILED, OPERATION_FAILED, FORCES_NOT_FINITE, NO_STEP_IS_SHORT_ENOUGH, TRIAL_NOT_FINITE
} Failure;

typedef struct {
    uint64_t kind, member, operation, is_read; /* numbers of the slave, and of its operation that failed */
    int64_t status, outcome;                   /* of the function; of the operation */
    double time, step, error, unsolved;
} Fault;

typedef int Derivative(void *component, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m,
                       const double *seed, double *answer);
typedef int SetSlopes(void *component, const uint32_t *references, size_t n, const int32_t *orders,
                      const double *slopes);
typedef int RestoreState(void *component, void *state);
typedef int StepToEvent(void *component, double time, double step, double *end); /* of adaptor.c */

/* writes, reads: operations that set its inputs and get its outputs */
typedef struct {
    void *component;
    Access *get, *set;
    DoStep *step;
    Derivative *derivative;
    SetSlopes *set_slopes;
    KeepState *keep;
    RestoreState *restore;
    void **state;
    Operation *writes, *reads;
    uint64_t write_count, read_count, number;
    Fault *fault;
} Member;

typedef struct {
    const uint32_t *references;
    double *values;
    uint64_t size;
} Values;

/* Contacts that an element counts, as in counts.py.   before: as many as values, after the step before */
typedef struct {
    Access *get;
    const uint32_t *references;
    int32_t *values, *before;
    Values speeds;
    uint64_t size;
    int64_t fresh, passed;
} Counts;

/* Driven.cubics of driven.py: in each row, a communication step of a block, coefficients of so many inputs. */
typedef struct {
    const double *cubics;
    uint64_t size;
} Driven;

static void drive(const Driven *d, uint64_t row, double share, double *values)
{
    const double *c = d->cubics + 4 * row * d->size;
    for (uint64_t i = 0; i < d->size; i++) {
        double c0 = c[i], c1 = c[d->size + i], c2 = c[2 * d->size + i], c3 = c[3 * d->size + i];
        values[i] = c0 + share * (c1 + share * (c2 + share * c3));
    }
}

enum { OK, WARNING };

#define TRY(call) \
    do { \
        if (call) \
            return 1; \
    } while (0)

static int failed(const Member *m, Failure kind, int status, double time, double step)
{
    if (status == OK || status == WARNING)
        return 0;
    *m->fault = (Fault){.kind = kind, .member = m->number, .status = status, .time = time, .step = step};
    return 1;
}

static int get(const Member *m, const Values *v)
{
    return v->size && failed(m, GET_FAILED, m->get(m->component, v->references, v->size, v->values), 0.0, 0.0);
}

static int get_counts(const Member *m, const Counts *c)
{
    return failed(m, COUNTS_FAILED, c->get(m->component, c->references, c->size, c->values), 0.0, 0.0);
}

static int set(const Member *m, const Values *v)
{
    return v->size && failed(m, SET_FAILED, m->set(m->component, v->references, v->size, v->values), 0.0, 0.0);
}

static int set_slopes(const Member *m, const Values *v, const int32_t *orders)
{
    int status = m->set_slopes(m->component, v->references, v->size, orders, v->values);
    return failed(m, SLOPES_FAILED, status, 0.0, 0.0);
}

static int keep_state(const Member *m)
{
    return failed(m, KEEP_FAILED, m->keep(m->component, m->state), 0.0, 0.0);
}

static int restore_state(const Member *m)
{
    return failed(m, RESTORE_FAILED, m->restore(m->component, *m->state), 0.0, 0.0);
}

static int do_step(const Member *m, double time, double step, int for_good)
{
    int status = m->step(m->component, time, step, for_good);
    return failed(m, for_good ? STEP_FAILED : TRIAL_FAILED, status, time, step);
}

static int exchange(const Member *m, Loop *loop, Operation *operations, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        Outcome outcome = operate(loop, operations + i);
        if (outcome == DONE || (outcome == ANSWERED && loop->status == WARNING))
            continue;
        *m->fault = (Fault){.kind = OPERATION_FAILED, .member = m->number, .operation = i,
                            .is_read = operations == m->reads, .status = loop->status, .outcome = outcome};
        return 1;
    }
    return 0;
}

#endif
