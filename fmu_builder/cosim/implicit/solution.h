/* The forces of a group over one step: as GroupRun.solve of group.py, to the bit. */
#ifndef SOLUTION_H
#define SOLUTION_H

#include "iqn.h"

/* scale: step times the largest of each column of |W| */
static int find_scale(Group *g, double step)
{
    uint64_t n = g->rows;
    TRY(find_inertia(g));
    for (uint64_t j = 0; j < n; j++) {
        double largest = 0.0;
        for (uint64_t i = 0; i < n; i++)
            largest = larger(largest, size_of(g->W[i * n + j]));
        g->scale[j] = step * largest;
    }
    return 0;
}

/* Forces over a step from the beginning of the model: in g->force, with velocities in g->next;
 * the first guess is g->guess. */
static int solve_group(Group *g, double step, double accuracy)
{
    History *h = &g->history;
    uint64_t n = g->rows;
    g->step = step;
    g->unsolved = 0.0;
    clear(g->force, n);
    TRY(move_bodies(g, g->force, step));
    double largest = larger(largest_of(g->velocity, n), largest_of(g->next, n));
    if (!any(g->guess, n)) { /* in free flight */
        TRY(answer_forces(g, g->guess, g->model_time, step, g->summed));
        if (!any(g->summed, n)) {
            copy(g->force, g->guess, n);
            g->tried = 1 - g->tried;
            return 0;
        }
    }
    TRY(find_scale(g, step));
    for (uint64_t i = 0; i < n; i++)
        largest = larger(largest, g->scale[i] * size_of(g->guess[i]));
    int solved;
    copy(h->x, g->guess, n);
    TRY(find_fixed_point(g, accuracy * largest, g->constants.enough * largest, &solved));
    if (!is_number(h->best)) {
        g->fault = (Fault){.kind = FORCES_NOT_FINITE, .time = g->model_time, .step = step};
        return 1;
    }
    for (uint64_t i = 0; i < n; i++)
        g->force[i] = g->scale[i] > 0.0 ? h->best_x[i] : h->best_value[i];
    g->unsolved = solved ? 0.0 : h->best;
    return move_bodies(g, g->force, step);
}

/* The energy that elements gave in the trial. */
static void count_work(Group *g)
{
    for (uint64_t k = 0; k < g->element_count; k++) {
        Element *e = g->elements + k;
        const Answer *answer = e->answers + (1 - g->tried);
        for (uint64_t i = 0; i < e->size; i++)
            e->given[i] += answer->force[i] * g->way[e->rows[i]];
    }
}

static int64_t rounded_up(double x)
{
    int64_t whole = (int64_t)x;
    return (double)whole < x ? whole + 1 : whole;
}

#endif
