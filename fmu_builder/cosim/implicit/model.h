/* What a group of bodies and elements is: compiled.py writes it, and lay_out gives it its memory. */
#ifndef MODEL_H
#define MODEL_H

#include "bodies.h"
#include "forces.h"

/* Steps of control.py.   units: in a communication step; done: of these     before: forces at the beginning of the last
 * step, and its length; in the first one those in its middle     of the trial: error, and the forces at both ends */
typedef struct {
    double tolerance, step, length, elapsed, step_before, error;
    int64_t units, done;
    uint64_t is_adaptive, is_within, has_before;
    double *before, *first, *last, *bend;
} Controller;

/* History of a solve, the newest one last: values and residuals of so many forces, and differences, the newest first */
typedef struct {
    double *values, *residuals, *value_changes, *residual_changes;
    double *x, *value, *residual, *c, *best_x, *best_value, *at, *direction;
    double best;
    uint64_t size;
} History;

/* All arrays of forces and velocities have the rows of the bodies.
 *
 * others          Terms: forces on the rows from outside of the group     works: of bonds, J
 * velocity, a, W  of the affine model at the beginning of a step, over model_step from model_time; W when it is needed
 * driven          of the last rows     row: of the communication step among the `block` ones of driven.cubics
 * elapsed         s, from the beginning of the communication step to that of the model
 * next, way       velocities at the end of a trial, and what the rows go until then
 * force, next     of the trial that is made     tried: number of the answers of the last trial, 1 - tried the best ones
 * events          steps that ended at an event of a body; looks_ahead: 1 if a body shows them
 * unsolved        velocity by which the forces miss their law     largest_within: by those within a step
 * is_divided      whether steps may have substeps     substep_count: of the last step, 0 if it was not divided
 * total, moment   sums of substeps.py     slope: of the force of a divided step     guess: first guess of a solution
 * recent          forces of the last substeps, the newest one last */
typedef struct {
    Constants constants;
    Fault fault;
    Body *bodies;
    Element *elements;
    const Term *others;
    Driven driven;
    double *works, *last;
    uint64_t body_count, element_count, other_count, rows, row, block;
    uint64_t steps, unsolved_steps, refused, events, looks_ahead, tried, has_inertia;
    uint64_t is_divided, substeps, substep_count;
    double largest_miss, largest_within, largest_speed, drift, unsolved;
    double model_time, model_step, elapsed, step;
    Controller controller;
    double *other, *velocity, *a, *W, *moved, *next, *way, *force, *scale, *summed;
    double *total, *moment, *slope, *guess, *recent[3];
    History history;
    LeastSquares least_squares;
} Group;

/* compiled.py writes these structs */
_Static_assert(sizeof(Member) == 120 && sizeof(Fault) == 80 && sizeof(Body) == 336 && sizeof(Element) == 704 &&
               sizeof(Controller) == 120 && sizeof(Group) == 976, "compiled.py has other sizes");

typedef struct {
    double *memory;
    uint64_t used;
} Arena;

static double *take(Arena *arena, uint64_t count)
{
    double *memory = arena->memory ? arena->memory + arena->used : 0;
    arena->used += count;
    return memory;
}

static void lay_out_end(const Element *e, End *end, Arena *arena)
{
    end->motion = take(arena, e->inputs.size);
    end->force = take(arena, e->size);
    end->elastic = take(arena, e->size);
}

static void lay_out_element(Element *e, Arena *arena)
{
    End *ends[] = {&e->start, &e->end, &e->across};
    for (int k = 0; k < 3; k++)
        lay_out_end(e, ends[k], arena);
    for (int k = 0; k < 2; k++) {
        e->answers[k].force = take(arena, e->size);
        lay_out_end(e, &e->answers[k].end, arena);
    }
    double **of_size[] = {&e->mean, &e->looked, &e->other, &e->zero, &e->given, &e->aside, &e->pushed};
    for (int k = 0; k < 7; k++)
        *of_size[k] = take(arena, e->size);
    e->now = take(arena, e->driven.size);
    e->place = take(arena, e->inputs.size);
    e->begun = take(arena, e->inputs.size);
}

static void lay_out_body(Body *b, Arena *arena)
{
    b->seed = take(arena, b->rate.size);
    b->slope = take(arena, b->velocity.size);
    b->given = take(arena, b->velocity.size);
    b->free = take(arena, b->velocity.size);
    b->before = take(arena, b->velocity.size);
}

static uint64_t columns_of(uint64_t rows)
{
    return rows + 3;
}

/* Gives the arrays their places in memory, which is zero, and returns how many doubles they take. */
static uint64_t lay_out(Group *g, double *memory)
{
    Arena arena = {memory, 0};
    uint64_t n = g->rows, m = columns_of(n);
    for (uint64_t k = 0; k < g->body_count; k++)
        lay_out_body(g->bodies + k, &arena);
    for (uint64_t k = 0; k < g->element_count; k++)
        lay_out_element(g->elements + k, &arena);
    History *h = &g->history;
    LeastSquares *w = &g->least_squares;
    Controller *c = &g->controller;
    double **rows[] = {&g->other, &g->velocity, &g->a, &g->moved, &g->next, &g->way, &g->force, &g->scale, &g->summed,
                       &g->total, &g->moment, &g->slope, &g->guess, &g->recent[0], &g->recent[1],
                       &g->recent[2],
                       &h->x, &h->value, &h->residual, &h->best_x, &h->best_value, &h->at, &h->direction,
                       &w->length, &w->part, &w->rest, &w->left, &c->before, &c->first, &c->last, &c->bend};
    for (uint64_t k = 0; k < sizeof rows / sizeof *rows; k++)
        *rows[k] = take(&arena, n);
    double **tables[] = {&h->values, &h->residuals, &h->value_changes, &h->residual_changes};
    for (uint64_t k = 0; k < sizeof tables / sizeof *tables; k++)
        *tables[k] = take(&arena, m * n);
    double **squares[] = {&g->W, &w->direction, &w->along};
    for (uint64_t k = 0; k < sizeof squares / sizeof *squares; k++)
        *squares[k] = take(&arena, n * n);
    h->c = take(&arena, m);
    w->number = (uint64_t *)take(&arena, n);
    return arena.used;
}

#endif
