/* Bodies of a group as affine models: as bodies.py, whose first text has the equations, to the bit. */
#ifndef BODIES_H
#define BODIES_H

#include "slaves.h"

#define PROBE 1.0 /* N or N.m */

/* velocity       rows first .. first + velocity.size - 1 of the group
 * force          acts on the rows `acts` of the body; given: forces that are not solved for, on its rows
 * rate, states   derivatives of the states, and references of the states
 * is_moved       by forces; else is_timed: its velocities follow from the time, else from inputs
 * gives_derivatives   else steps are tried
 * step_to_event  of an FMU that ends steps at events, else 0
 * before         velocities before the last step of length step_before, if there was one
 * drift          as in bodies.py
 * has_slope      whether its forces had slopes in the last step     orders: ones, as many as forces */
typedef struct {
    Member member;
    Values velocity, force, rate;
    StepToEvent *step_to_event;
    const uint32_t *states;
    const uint64_t *acts;
    double *seed, *slope, *given, *free, *before;
    double step_before, drift;
    uint64_t first, probes, is_moved, is_timed, gives_derivatives, has_stepped, has_slope;
    const int32_t *orders;
} Body;

/* Velocities at the end of a trial, which must be finite. */
static int get_tried(Body *b, double time, double step)
{
    const Member *m = &b->member;
    TRY(get(m, &b->velocity));
    if (is_finite(b->velocity.values, (uint32_t)b->velocity.size))
        return 0;
    *m->fault = (Fault){.kind = TRIAL_NOT_FINITE, .member = m->number, .time = time, .step = step};
    return 1;
}

static int set_forces(Body *b, const double *force)
{
    for (uint64_t i = 0; i < b->force.size; i++)
        b->force.values[i] = force[b->acts[i]];
    return set(&b->member, &b->force);
}

/* Velocities after a step under these forces, in velocity.values; the state is then as before. */
static int try_body(Body *b, double time, double step, const double *force)
{
    b->probes++;
    TRY(keep_state(&b->member));
    TRY(set_forces(b, force));
    TRY(do_step(&b->member, time, step, 0));
    TRY(get_tried(b, time, step));
    return restore_state(&b->member);
}

/* The time of the first event in a step under these forces, else of its end, and the velocities there in
 * velocity.values; the state is then as before. */
static int look_ahead(Body *b, double time, double step, const double *force, double *end)
{
    const Member *m = &b->member;
    TRY(keep_state(m));
    TRY(set_forces(b, force));
    TRY(failed(m, TRIAL_FAILED, b->step_to_event(m->component, time, step, end), time, step));
    TRY(get_tried(b, time, step));
    return restore_state(m);
}

static int velocity_slope(Body *b, const double *seed, double *answer)
{
    const Member *m = &b->member;
    int status = m->derivative(m->component, b->velocity.references, b->velocity.size, b->states, b->rate.size, seed,
                               answer);
    return failed(m, DERIVATIVE_FAILED, status, 0.0, 0.0);
}

static int rate_slope(Body *b, uint64_t force)
{
    const Member *m = &b->member;
    const double one = 1.0;
    int status = m->derivative(m->component, b->rate.references, b->rate.size, b->force.references + force, 1, &one,
                               b->seed);
    return failed(m, DERIVATIVE_FAILED, status, 0.0, 0.0);
}

/* other: forces on the rows of the body that are not solved for */
static int acceleration(Body *b, double time, double step, const double *other, double *a)
{
    uint64_t n = b->velocity.size;
    copy(b->given, other, n);
    if (!b->is_moved && !b->is_timed) {
        clear(a, n);
        if (!b->has_stepped)
            return 0;
        TRY(get(&b->member, &b->velocity));
        for (uint64_t i = 0; i < n; i++)
            a[i] = (b->velocity.values[i] - b->before[i]) / b->step_before;
        return 0;
    }
    if (b->is_moved && b->gives_derivatives) {
        TRY(set_forces(b, other));
        TRY(get(&b->member, &b->rate));
        return velocity_slope(b, b->rate.values, a);
    }
    TRY(try_body(b, time, step, other));
    copy(b->free, b->velocity.values, n);
    TRY(get(&b->member, &b->velocity));
    for (uint64_t i = 0; i < n; i++)
        a[i] = (b->free[i] - b->velocity.values[i]) / step;
    return 0;
}

/* The rows and columns of the body in W, of `width` rows and columns. */
static int inverse_inertia(Body *b, double time, double step, double *W, uint64_t width)
{
    uint64_t n = b->velocity.size;
    for (uint64_t j = 0; b->is_moved && j < b->force.size; j++) {
        uint64_t k = b->acts[j];
        if (b->gives_derivatives) {
            TRY(rate_slope(b, j));
            TRY(velocity_slope(b, b->seed, b->slope));
        } else {
            double before = b->given[k];
            b->given[k] += PROBE;
            int found = try_body(b, time, step, b->given);
            b->given[k] = before;
            TRY(found);
            for (uint64_t i = 0; i < n; i++)
                b->slope[i] = (b->velocity.values[i] - b->free[i]) / (step * PROBE);
        }
        for (uint64_t i = 0; i < n; i++)
            W[(b->first + i) * width + b->first + k] = b->slope[i];
    }
    return 0;
}

/* Sets the forces of the next step: their mean, and their slope unless they are held. */
static int act(Body *b, const double *force, const double *slope, double step)
{
    if (!b->is_moved) {
        TRY(get(&b->member, &b->velocity));
        copy(b->before, b->velocity.values, b->velocity.size);
        b->step_before = step;
        b->has_stepped = 1;
    }
    if (!slope && !b->has_slope)
        return set_forces(b, force);
    b->has_slope = slope != 0;
    for (uint64_t i = 0; i < b->force.size; i++)
        b->force.values[i] = force[b->acts[i]] - (slope ? slope[b->acts[i]] * (step / 2.0) : 0.0);
    TRY(set(&b->member, &b->force));
    for (uint64_t i = 0; i < b->force.size; i++)
        b->force.values[i] = slope ? slope[b->acts[i]] : 0.0;
    return b->force.size && set_slopes(&b->member, &b->force, b->orders);
}

#endif
