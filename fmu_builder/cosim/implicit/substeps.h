/* Substeps of the solution within a step: as substeps.py, whose first text has the equations, to the bit. */
#ifndef SUBSTEPS_H
#define SUBSTEPS_H

#include "solution.h"

/* square: raised to that of the frequency of the element at one end of the step
 * changed: raised to the change of velocities that the change of its force makes, over the step */
static int raise_frequency(Group *g, const Element *e, const End *end, double step, double *square, double *changed)
{
    if (!(end->energy > 0.0))
        return 0;
    clear(g->summed, g->rows);
    add_forces(e, end->elastic, g->summed);
    TRY(accelerate(g, g->summed));
    double power = 0.0;
    for (uint64_t i = 0; i < e->size; i++)
        power += end->elastic[i] * g->moved[e->rows[i]];
    *square = larger(*square, power / (2.0 * end->energy));
    double rate = size_of(dot(end->elastic, end->motion, e->size)) / (2.0 * end->energy);
    *changed = larger(*changed, largest_of(g->moved, g->rows) * step * rate);
    return 0;
}

/* Of the trial of a whole step, whose motion is not kept. */
static int count_substeps(Group *g, double step, int64_t *count)
{
    uint64_t n = g->rows;
    double square = 0.0, changed = 0.0, fastest = larger(largest_of(g->velocity, n), largest_of(g->next, n));
    *count = 1;
    for (uint64_t k = 0; k < g->element_count; k++) {
        const Element *e = g->elements + k;
        if (!e->is_gradient)
            continue;
        TRY(raise_frequency(g, e, &e->start, step, &square, &changed));
        TRY(raise_frequency(g, e, &e->answers[1 - g->tried].end, step, &square, &changed));
    }
    if (!(0.0 < square && square < __builtin_inf()))
        return 0;
    double angle = __builtin_sqrt(square) * step;
    clear(g->total, n);
    clear(g->moment, n);
    for (uint64_t k = 0; k < g->element_count; k++) {
        const Element *e = g->elements + k;
        add_forces(e, e->answers[1 - g->tried].end.force, g->total);
        add_forces(e, e->start.force, g->moment);
    }
    for (uint64_t i = 0; i < n; i++)
        g->total[i] -= g->moment[i];
    TRY(accelerate(g, g->total));
    changed = step * larger(changed, largest_of(g->moved, n));
    TRY(accelerate(g, g->force));
    double largest = larger(fastest, step * largest_of(g->moved, n));
    double share = largest > 0.0 ? g->constants.margin * changed / (angle * largest) : 0.0;
    double wanted = angle / g->constants.angle * __builtin_sqrt(smaller(1.0, share));
    *count = rounded_up(smaller(g->constants.most_substeps, wanted));
    *count = *count > 1 ? *count : 1;
    return 0;
}

/* The first guess of the next substep, from the last one, two or three (substeps.py). */
static void extrapolate_forces(Group *g, int64_t done)
{
    const double *p0 = g->recent[0], *p1 = g->recent[1], *p2 = g->recent[2];
    for (uint64_t i = 0; i < g->rows; i++)
        g->guess[i] = done == 1 ? p2[i] : done == 2 ? 2.0 * p2[i] - p1[i] : 3.0 * (p2[i] - p1[i]) + p0[i];
}

/* The trial that is solved for becomes the beginning of the next substep, so much later. */
static void pass_substep(Group *g, int64_t number, double weight, double length)
{
    uint64_t n = g->rows;
    for (uint64_t i = 0; i < n; i++) {
        g->total[i] += g->force[i];
        g->moment[i] += g->force[i] * weight;
    }
    count_work(g);
    for (uint64_t k = 0; k < g->element_count; k++) {
        Element *e = g->elements + k;
        copy_end(e, &e->start, &e->answers[1 - g->tried].end);
        if (e->path)
            copy(e->path + (uint64_t)number * e->inputs.size, e->start.motion, e->inputs.size);
        e->debt = e->answers[1 - g->tried].debt;
    }
    g->elapsed = g->elapsed + length;
    copy(g->velocity, g->next, n);
    copy(g->recent[0], g->recent[1], n);
    copy(g->recent[1], g->recent[2], n);
    copy(g->recent[2], g->force, n);
}

/* Solves again in as many substeps as the trial of the whole step needs.  The forces of the step are then their mean,
 * in g->force, and the slope in g->slope. */
static int divide(Group *g, double step)
{
    uint64_t n = g->rows;
    int64_t count;
    g->substep_count = 0;
    TRY(count_substeps(g, step, &count));
    if (count == 1)
        return move_bodies(g, g->force, step);
    double length = step / (double)count, unsolved = 0.0;
    clear(g->total, n);
    clear(g->moment, n);
    for (int64_t k = 0; k < count; k++) {
        TRY(solve_group(g, length, g->constants.accuracy_within));
        unsolved = larger(unsolved, g->unsolved);
        pass_substep(g, k, (double)(count - k) - 0.5, length);
        extrapolate_forces(g, k + 1);
    }
    for (uint64_t i = 0; i < n; i++) {
        g->force[i] = g->total[i] / (double)count;
        g->slope[i] = 12.0 / step * (g->force[i] / 2.0 - g->moment[i] / (double)(count * count));
    }
    g->step = step;
    g->unsolved = unsolved;
    g->substep_count = (uint64_t)count;
    return 0;
}

#endif
