/* Sensitivities: derivatives of all variables by start values and parameters that are followed along a run.
 *
 * A column is the block over dual numbers (real.h), whose direction is the derivative by one start value.  It begins
 *     parameters, inputs   1 for the start value itself, else 0
 *     states               1 where it is their start, else as memory
 *     memory               differences of the element's `start`, which is compiled over double only
 * and follows every substep through the stages that the solver made (solver/variation.h), which are differentiated
 * exactly.  The error control of substeps sees the columns as well.
 *
 * What `accept` changes has no derivative there: memory of past points, and states that jump.  One more column finds
 * what depends on it: its directions are 0 but for the entries that were changed so, and where it is not 0 the
 * derivative of a variable is unknown.  Where states that others depend on jump, or slopes without a zero of an
 * indicator, all derivatives are unknown from there on.
 *
 * Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, I.14 and II.6; Bock (1987), Randwert-
 * problemmethoden zur Parameteridentifizierung: internal numerical differentiation. */
#ifndef CC_SENSITIVITY_H
#define CC_SENSITIVITY_H

#include "instance.h"

#define CC_START_SHARE 1e-4 /* of a start value, as the step of differences of `start` */
#define CC_START_STEP 1e-5  /* that step for a value of 0 */
#define CC_FAINT 1e-9       /* of a value: a derivative by what is unknown that is none, as a search has by its start */
#define CC_LEAP 1e-9        /* of a slope: a change by what is accepted that is none */
#define CC_START_NOISE 1e-6 /* relative difference of two quotients that rounding and curvature explain */

typedef struct {
    int start;    /* value reference of what it is the derivative by, -1 of the column for what is unknown */
    int fresh;    /* 1 while it is evaluated at the last accepted point, as stages are */
    double value; /* of the start */
    double dual[2 * CC_VARIABLES];
    double x_0[CC_STATES + 1], slopes[CC_STAGES][CC_STATES + 1]; /* directions in a substep */
} CcColumn;

enum { CC_RESTORED = 1, CC_LEAPT }; /* lost: by fmi2SetFMUstate, by a jump whose derivative is unknown */

struct CcFollowed {
    int count;                  /* of start values; the column behind theirs is that of what is unknown */
    int lost;                   /* 0, or why these columns do not belong to the run any more */
    int crosses;                /* 1 while the point behind a zero of an indicator is accepted */
    int settled;                /* 1 while no slope is unknown, and what is shows in the last column: until the next
                                 * event, and until more is unknown */
    double point[CC_VARIABLES]; /* the block before it is accepted */
    double aside[CC_VARIABLES]; /* a block to evaluate other points with */
    double near[CC_VARIABLES], far[CC_VARIABLES], direction[CC_VARIABLES], z[CC_INDICATORS + 1];
    CcColumn columns[];
};

/* 1 if a variable does not follow what is unknown; direction: its own in the last column.  Unused, as
 * cc_evaluate_column is, where FMI 3.0 has no function for sensitivities. */
__attribute__((unused)) static int cc_is_faint(double direction, double value)
{
    return cc_abs(direction) <= CC_FAINT * CC_DUAL_STEP * (1.0 + cc_abs(value));
}

/* 1 of what the element keeps or is given, 0 of what it computes from it, and of what has no derivatives. */
static int cc_is_kept(int i)
{
    const CcVariable *v = cc_variable((size_t)i);
    return v->type == CC_REAL && v->kind != CC_OUTPUT && v->kind != CC_DERIVATIVE;
}

CC_RARE void cc_release_followed(Instance *instance)
{
    if (instance->followed)
        cc_release(&instance->importer, instance->followed);
    instance->followed = NULL;
}

/* The value of entry i of the block is a new one, of unknown derivative. */
CC_RARE void cc_set_unknown(CcFollowed *f, int i)
{
    double unknown = CC_DUAL_STEP * (1.0 + 1e-3 * i); /* so that no two cancel */
    if (f->columns[f->count].dual[2 * i + 1] == unknown)
        return;
    for (int c = 0; c < f->count; c++)
        f->columns[c].dual[2 * i + 1] = 0.0;
    f->columns[f->count].dual[2 * i + 1] = unknown;
    f->settled = 0;
}

/* f->near and f->far: quotients of `start` over one and two steps of this start value to both sides. */
CC_RARE void cc_start_quotients(Instance *instance, CcFollowed *f, int start, double step)
{
    __builtin_memset(f->near, 0, sizeof f->near);
    __builtin_memset(f->far, 0, sizeof f->far);
    for (int k = -2; k <= 2; k++) {
        double *sum = k == 1 || k == -1 ? f->near : f->far, weight = 1.0 / (k ? 2.0 * k * step : 1.0);
        if (k == 0)
            continue;
        __builtin_memcpy(f->aside, cc_block(instance), sizeof f->aside);
        f->aside[start] += k * step;
        CC_ENTRY(start)((Element *)f->aside);
        for (int i = 0; i < CC_VARIABLES; i++)
            sum[i] += weight * f->aside[i];
    }
}

/* The columns at the initial point, which is evaluated and not yet accepted. */
CC_RARE void cc_begin_following(Instance *instance)
{
    CcFollowed *f = instance->followed;
    const double *block = cc_block(instance);
    for (int c = 0; c <= f->count; c++)
        __builtin_memset(f->columns[c].dual, 0, sizeof f->columns[c].dual);
    for (int c = 0; c < f->count; c++) {
        CcColumn *column = f->columns + c;
        int start = column->start;
        column->value = block[start];
        double step = column->value != 0.0 ? CC_START_SHARE * cc_abs(column->value) : CC_START_STEP;
        cc_start_quotients(instance, f, start, step);
        for (int i = 0; i < CC_VARIABLES; i++) {
            int kind = cc_variable((size_t)i)->kind;
            if (i == start || (kind != CC_MEMORY && kind != CC_STATE) || !cc_is_kept(i))
                continue;
            double apart = cc_abs(f->near[i] - f->far[i]), size = cc_abs(f->near[i]);
            if (apart <= CC_START_NOISE * size + 0x1p-40 * cc_abs(block[i]) / step)
                column->dual[2 * i + 1] = CC_DUAL_STEP * ((4.0 * f->near[i] - f->far[i]) / 3.0);
            else
                f->columns[f->count].dual[2 * i + 1] = CC_DUAL_STEP;
        }
        column->dual[2 * start + 1] = CC_DUAL_STEP;
        for (int i = 0; i < CC_STATES; i++)
            if (cc_state_starts[i] >= 0)
                column->dual[2 * cc_states[i] + 1] = column->dual[2 * cc_state_starts[i] + 1];
    }
}

/* The element accepts the point, `step` after the one before; columns lose what it changes. */
CC_RARE void cc_accept_followed(Instance *instance, double step)
{
    CcFollowed *f = instance->followed;
    double *block = cc_block(instance);
    __builtin_memcpy(f->point, block, sizeof f->point);
    int changed = CC_ENTRY(accept)(&instance->now.element, instance, step);
    if (changed)
        f->settled = 0;
    if (step > 0.0 && (changed & CC_JUMPED) == CC_JUMPED)
        f->lost = CC_LEAPT;
    for (int i = 0; i < CC_STATES && step > 0.0 && changed && !f->crosses; i++) {
        double before = f->point[cc_state_derivatives[i]], behind = block[cc_state_derivatives[i]];
        if (cc_abs(before - behind) > CC_LEAP * (cc_abs(before) + cc_abs(behind)))
            f->lost = CC_LEAPT;
    }
    for (int c = 0; c <= f->count; c++)
        f->columns[c].fresh &= !changed && c < f->count;
    for (int i = 0; i < CC_VARIABLES; i++) {
        if (block[i] == f->point[i] || !cc_is_kept(i))
            continue;
        cc_set_unknown(f, i);
    }
}

static inline void cc_accept_point_of(Instance *instance, double step)
{
    if (instance->followed)
        cc_accept_followed(instance, step);
    else
        CC_ENTRY(accept)(&instance->now.element, instance, step);
}

/* The column at the point of the block, evaluated. */
__attribute__((unused)) static void cc_evaluate_column(Instance *instance, CcColumn *column, int on_demand)
{
    const double *block = cc_block(instance);
    if (column->fresh && !on_demand)
        return;
    for (int i = 0; i < CC_VARIABLES; i++)
        column->dual[2 * i] = block[i];
    CC_ENTRY(dual)(column->dual, on_demand);
    column->fresh = 1;
}

#endif
