/* The fixed point of the forces of a group: as iqn.py and GroupRun.solve of group.py, to the bit. */
#ifndef IQN_H
#define IQN_H

#include "model.h"

static int find_inertia(Group *g)
{
    uint64_t n = g->rows;
    if (g->has_inertia)
        return 0;
    clear(g->W, n * n);
    for (uint64_t k = 0; k < g->body_count; k++)
        TRY(inverse_inertia(g->bodies + k, g->model_time, g->model_step, g->W, n));
    g->has_inertia = 1;
    return 0;
}

/* W force, in g->moved */
static int accelerate(Group *g, const double *force)
{
    uint64_t n = g->rows;
    clear(g->moved, n);
    if (any(force, n)) {
        TRY(find_inertia(g));
        for (uint64_t k = 0; k < g->body_count; k++) {
            uint64_t first = g->bodies[k].first, size = g->bodies[k].velocity.size;
            for (uint64_t i = first; i < first + size; i++)
                g->moved[i] = dot(g->W + i * n + first, force + first, size);
        }
    }
    return 0;
}

/* Of the communication step that is over after a step from the beginning of the model. */
static double share_after(const Group *g, double step)
{
    return (g->elapsed + step) / g->controller.step;
}

/* The velocities at the end of the step under these forces on the rows, and the way until then. */
static int move_bodies(Group *g, const double *force, double step)
{
    TRY(accelerate(g, force));
    for (uint64_t i = 0; i < g->rows; i++)
        g->next[i] = g->velocity[i] + step * (g->a[i] + g->moved[i]);
    drive(&g->driven, g->row, share_after(g, step), g->next + (g->rows - g->driven.size));
    for (uint64_t i = 0; i < g->rows; i++)
        g->way[i] = step * (g->velocity[i] + g->next[i]) / 2.0;
    return 0;
}

/* Adds forces of an element to those on the rows. */
static void add_forces(const Element *e, const double *force, double *sum)
{
    for (uint64_t i = 0; i < e->size; i++)
        sum[e->rows[i]] += force[i];
}

/* The forces on the rows that the elements answer to these. */
static int answer_forces(Group *g, const double *force, double time, double step, double *sum)
{
    TRY(move_bodies(g, force, step));
    clear(sum, g->rows);
    for (uint64_t k = 0; k < g->element_count; k++) {
        Element *e = g->elements + k;
        Answer *answer = e->answers + g->tried;
        TRY(try_element(e, &g->constants, g->way, g->next, time, step, share_after(g, step), answer));
        add_forces(e, answer->force, sum);
    }
    return 0;
}

/* value = G(x), residual r = scale (value - x), and its size */
static int find_residual(Group *g, const double *x, double *value, double *r, double *size)
{
    TRY(answer_forces(g, x, g->model_time, g->step, value));
    double largest = 0.0;
    int finite = 1;
    for (uint64_t i = 0; i < g->rows; i++) {
        r[i] = g->scale[i] * (value[i] - x[i]);
        largest = larger(largest, size_of(r[i]));
        finite &= is_number(r[i]);
    }
    *size = finite ? largest : __builtin_inf();
    return 0;
}

static void keep_best(Group *g, const double *x, const double *value, double size)
{
    History *h = &g->history;
    if (x != h->best_x)
        copy(h->best_x, x, g->rows);
    copy(h->best_value, value, g->rows);
    h->best = size;
    g->tried = 1 - g->tried;
}

static void remember(Group *g)
{
    History *h = &g->history;
    uint64_t n = g->rows, m = columns_of(n);
    if (h->size == m) {
        copy(h->values, h->values + n, (m - 1) * n);
        copy(h->residuals, h->residuals + n, (m - 1) * n);
        h->size--;
    }
    copy(h->values + h->size * n, h->value, n);
    copy(h->residuals + h->size * n, h->residual, n);
    h->size++;
}

static void differences(const double *values, uint64_t size, uint64_t n, double *changes)
{
    for (uint64_t k = size; k-- > 1; changes += n)
        for (uint64_t i = 0; i < n; i++)
            changes[i] = values[k * n + i] - values[(k - 1) * n + i];
}

/* The next iterate, in h->x. */
static void extrapolate(Group *g)
{
    History *h = &g->history;
    uint64_t n = g->rows, count = h->size - 1;
    const double *value = h->values + count * n, *residual = h->residuals + count * n;
    copy(h->x, value, n);
    if (!count)
        return;
    differences(h->residuals, h->size, n, h->residual_changes);
    differences(h->values, h->size, n, h->value_changes);
    for (uint64_t i = 0; i < n; i++)
        h->at[i] = -residual[i];
    least_squares(&g->least_squares, h->residual_changes, count, h->at, n, h->c);
    for (uint64_t k = 0; k < count; k++)
        for (uint64_t i = 0; i < n; i++)
            h->x[i] = h->x[i] + h->c[k] * h->value_changes[k * n + i];
}

static int newton(Group *g, double tolerance)
{
    History *h = &g->history;
    const Constants *c = &g->constants;
    uint64_t n = g->rows;
    double size, *r = h->residuals, *slopes = h->residual_changes; /* memory of the iterations before */
    for (int k = 0; is_number(h->best) && k < (int)c->most_newton; k++) {
        TRY(find_residual(g, h->best_x, h->value, r, &size));
        int finite = 1;
        for (uint64_t j = 0; j < n; j++) {
            double least = size / larger(g->scale[j], 1e-300);
            double width = larger(size_of(h->best_x[j]), least) * 1e-6 + 1e-300, unused;
            copy(h->x, h->best_x, n);
            h->x[j] = h->best_x[j] + width;
            TRY(find_residual(g, h->x, h->value, h->residual, &unused));
            for (uint64_t i = 0; i < n; i++) {
                slopes[j * n + i] = (h->residual[i] - r[i]) / width;
                finite &= is_number(slopes[j * n + i]);
            }
        }
        if (!finite)
            return 0;
        for (uint64_t i = 0; i < n; i++)
            h->at[i] = -r[i];
        least_squares(&g->least_squares, slopes, n, h->at, n, h->direction);
        double share = 1.0;
        for (; share >= c->smallest_share; share *= 0.4) {
            for (uint64_t i = 0; i < n; i++)
                h->x[i] = h->best_x[i] + share * h->direction[i];
            TRY(find_residual(g, h->x, h->value, h->residual, &size));
            if (size < h->best)
                break;
        }
        if (share < c->smallest_share)
            return 0;
        keep_best(g, h->x, h->value, size);
        if (h->best <= tolerance)
            return 0;
    }
    return 0;
}

/* From h->x on.   solved: whether the residual of the best forces is small enough */
static int find_fixed_point(Group *g, double tolerance, double enough, int *solved)
{
    History *h = &g->history;
    double size;
    h->size = 0;
    TRY(find_residual(g, h->x, h->value, h->residual, &size));
    keep_best(g, h->x, h->value, size);
    remember(g);
    *solved = h->best <= tolerance;
    for (int k = 0; !*solved && is_number(size) && k < (int)g->constants.most; k++) {
        extrapolate(g);
        TRY(find_residual(g, h->x, h->value, h->residual, &size));
        if (size < h->best) {
            keep_best(g, h->x, h->value, size);
            *solved = h->best <= tolerance;
        }
        remember(g);
    }
    if (!*solved && h->best > enough)
        TRY(newton(g, enough));
    *solved = *solved || h->best <= enough;
    return 0;
}

#endif
