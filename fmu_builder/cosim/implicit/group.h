/* One step of a group, and the steps within a communication step: as group.py and control.py, to the bit. */
#ifndef GROUP_H
#define GROUP_H

#include "substeps.h"

/* Gives bodies that follow the time alone the a of a step of another length than that of begin_group. */
static int take_time(Group *g, double step)
{
    for (uint64_t k = 0; k < g->body_count; k++) {
        Body *b = g->bodies + k;
        if (b->is_timed)
            TRY(acceleration(b, g->model_time, step, g->other + b->first, g->a + b->first));
    }
    return 0;
}

/* elapsed: s, since the communication step began */
static int begin_group(Group *g, Loop *loop, double time, double step, double elapsed)
{
    g->model_time = time;
    g->model_step = step;
    g->has_inertia = 0;
    for (uint64_t k = 0; k < g->body_count; k++)
        TRY(exchange(&g->bodies[k].member, loop, g->bodies[k].member.writes, g->bodies[k].member.write_count));
    for (uint64_t k = 0; k < g->element_count; k++)
        TRY(exchange(&g->elements[k].member, loop, g->elements[k].member.writes, g->elements[k].member.write_count));
    combine(g->others, g->other_count, g->other, (uint32_t)g->rows);
    for (uint64_t k = 0; k < g->body_count; k++) {
        Body *b = g->bodies + k;
        TRY(acceleration(b, time, step, g->other + b->first, g->a + b->first));
        TRY(get(&b->member, &b->velocity));
        copy(g->velocity + b->first, b->velocity.values, b->velocity.size);
    }
    g->row = loop->tick % g->block;
    g->elapsed = elapsed;
    drive(&g->driven, g->row, elapsed / g->controller.step, g->velocity + (g->rows - g->driven.size));
    for (uint64_t k = 0; k < g->element_count; k++)
        TRY(begin_element(g->elements + k, g->row, elapsed == 0.0));
    copy(g->guess, g->last, g->rows);
    return 0;
}

/* The true step of every slave; `loop` for the exchange of their values. */
static int make_step(Group *g, Loop *loop, double time)
{
    double step = g->step, drift = 0.0;
    if (!g->substep_count)
        count_work(g);
    for (uint64_t k = 0; k < g->body_count; k++) {
        Body *b = g->bodies + k;
        uint64_t n = b->velocity.size;
        for (uint64_t i = 0; i < n; i++)
            b->slope[i] = g->force[b->first + i] + g->other[b->first + i];
        TRY(act(b, b->slope, g->substep_count ? g->slope + b->first : 0, step));
        TRY(do_step(&b->member, time, step, 1));
        if (g->substep_count)
            TRY(set_forces(b, b->slope));
        TRY(exchange(&b->member, loop, b->member.reads, b->member.read_count));
        TRY(get(&b->member, &b->velocity));
        double off = 0.0;
        for (uint64_t i = 0; i < n; i++) {
            off = larger(off, size_of(b->velocity.values[i] - g->next[b->first + i]));
            g->largest_speed = larger(g->largest_speed, size_of(b->velocity.values[i]));
        }
        drift = larger(drift, off);
        if (any(g->force + b->first, n))
            b->drift = larger(b->drift, off);
    }
    g->drift = drift;
    for (uint64_t k = 0; k < g->element_count; k++) {
        Element *e = g->elements + k;
        TRY(exchange(&e->member, loop, e->member.writes, e->member.write_count));
        TRY(step_element(e, time, step, g->substep_count, e->answers[1 - g->tried].end.motion));
        TRY(exchange(&e->member, loop, e->member.reads, e->member.read_count));
        const Answer *answer = e->answers + (1 - g->tried);
        int acts = any(e->start.force, e->size) || any(answer->force, e->size) || any(answer->end.force, e->size);
        TRY(count_contacts(e, acts || any(e->given, e->size), g->constants.slowest * g->largest_speed));
        e->debt = answer->debt;
        for (uint64_t i = 0; i < e->size; i++)
            g->works[e->work[i]] += e->given[i];
    }
    copy(g->last, g->substep_count ? g->recent[2] : g->force, g->rows);
    g->steps++;
    g->substeps += g->substep_count ? g->substep_count : 1;
    g->unsolved_steps += g->unsolved > 0.0;
    g->largest_miss = larger(g->largest_miss, g->unsolved);
    return 0;
}

/* W force, in g->moved; its largest number */
static int largest_moved(Group *g, const double *force, double *largest)
{
    uint64_t n = g->rows;
    TRY(accelerate(g, force));
    *largest = largest_of(g->moved, n);
    return 0;
}

/* Forces on the rows at both ends of a trial. */
static void sum_ends(Group *g, double *first, double *last)
{
    clear(first, g->rows);
    clear(last, g->rows);
    for (uint64_t k = 0; k < g->element_count; k++) {
        const Element *e = g->elements + k;
        add_forces(e, e->start.force, first);
        add_forces(e, e->answers[1 - g->tried].end.force, last);
    }
}

/* The error of the trial, in controller.error, and the forces at both ends: the equations stand in control.py. */
static int find_error(Group *g)
{
    Controller *c = &g->controller;
    uint64_t n = g->rows;
    double H = g->step, Hp = c->step_before, missing, curved;
    sum_ends(g, c->first, c->last);
    for (uint64_t i = 0; i < n; i++)
        c->bend[i] = g->force[i] - (c->first[i] + c->last[i]) / 2.0;
    TRY(largest_moved(g, c->bend, &missing));
    missing = H * missing;
    for (uint64_t i = 0; i < n; i++) {
        double first = c->first[i], last = c->last[i], before = c->before[i];
        if (c->has_before)
            c->bend[i] = 2.0 * ((last - first) / H - (first - before) / Hp) / (H + Hp) * H * H;
        else
            c->bend[i] = 4.0 * (first - 2.0 * before + last);
    }
    TRY(largest_moved(g, c->bend, &curved));
    curved = H * curved / 12.0 * smaller(larger(c->elapsed / H, 1.0), g->constants.added);
    c->error = larger(missing, curved);
    return 0;
}

/* Velocity that forces make in the trial which come and go within it. */
static int find_within(Group *g, double *within)
{
    clear(g->summed, g->rows);
    for (uint64_t k = 0; k < g->element_count; k++) {
        const Element *e = g->elements + k;
        const Answer *answer = e->answers + (1 - g->tried);
        if (e->impulse.size && !any(e->start.force, e->size) && !any(answer->end.force, e->size))
            add_forces(e, answer->force, g->summed);
    }
    TRY(largest_moved(g, g->summed, within));
    *within = g->step * *within;
    return 0;
}

static double factor_of(const Group *g, double error)
{
    if (!(error > 0.0))
        return error == 0.0 ? g->constants.grow : g->constants.shrink; /* no number: beyond all numbers */
    return g->constants.safety * power_of_two_fifths(g->controller.tolerance / error);
}

/* The first event of the bodies in the trial, and how far the velocities of those without one leave the affine model:
 * as GroupRun.look_ahead. */
static int look_at_bodies(Group *g, double time, double *event, double *drift)
{
    *event = __builtin_inf();
    *drift = 0.0;
    for (uint64_t k = 0; k < g->body_count; k++) {
        Body *b = g->bodies + k;
        double end;
        if (!b->step_to_event)
            continue;
        for (uint64_t i = 0; i < b->velocity.size; i++)
            b->slope[i] = g->force[b->first + i] + g->other[b->first + i];
        TRY(look_ahead(b, time, g->step, b->slope, &end));
        if (end < time + g->step) {
            *event = smaller(*event, end);
            continue;
        }
        for (uint64_t i = 0; i < b->velocity.size; i++)
            *drift = larger(*drift, size_of(b->velocity.values[i] - g->next[b->first + i]));
    }
    return 0;
}

/* Units of a step of about the length, so many of which fill those that are left. */
static int64_t taken_of(const Controller *c, int64_t most)
{
    double wanted = c->length / c->step * (double)c->units;
    int64_t count = rounded_up((double)most / larger(wanted, 1.0) * (1.0 - 1e-9));
    count = count > 1 ? count : 1;
    return most / count > 1 ? most / count : 1;
}

/* One step that the error allows, of the communication step from `time` on. */
static int make_controlled_step(Group *g, Loop *loop, double time)
{
    Controller *c = &g->controller;
    const Constants *k = &g->constants;
    double units = (double)c->units, begin = time + (double)c->done / units * c->step;
    int64_t left = c->units - c->done, most = left, taken = taken_of(c, most);
    double length = (double)taken / units * c->step;
    TRY(begin_group(g, loop, begin, length, (double)c->done / units * c->step));
    for (;;) {
        taken = taken_of(c, most);
        if ((double)taken / units * c->step != length) {
            length = (double)taken / units * c->step;
            TRY(take_time(g, length));
        }
        if (!c->has_before) {
            TRY(solve_group(g, length / 2.0, k->accuracy));
            sum_ends(g, c->first, c->before);
        }
        TRY(solve_group(g, length, k->accuracy));
        TRY(find_error(g));
        if (c->error <= c->tolerance && g->unsolved == 0.0) {
            double event = __builtin_inf(), drift = 0.0;
            if (g->looks_ahead)
                TRY(look_at_bodies(g, begin, &event, &drift));
            if (event < begin + g->step) {
                int64_t before = rounded_up((event - begin) / c->step * units);
                before = before > 1 ? before : 1;
                if (before < taken) {
                    most = before;
                    continue;
                }
            } else if (drift > c->tolerance && taken > 1) {
                g->refused++;
                c->length = larger(k->shrink, factor_of(g, drift)) * g->step;
                continue;
            }
            break;
        }
        g->refused++;
        if (taken == 1) {
            g->fault = (Fault){.kind = NO_STEP_IS_SHORT_ENOUGH, .time = begin, .step = g->step, .error = c->error,
                               .unsolved = g->unsolved};
            return 1;
        }
        c->length = (g->unsolved != 0.0 ? k->unsolved : larger(k->shrink, factor_of(g, c->error))) * g->step;
    }
    c->length = smaller(c->step, larger(c->length, g->step * smaller(k->grow, factor_of(g, c->error))));
    if (c->error > 0.0)
        c->length = smaller(c->length, g->step * larger(factor_of(g, c->error), k->shrink));
    TRY(make_step(g, loop, begin));
    if (g->drift > c->tolerance || (g->looks_ahead && g->drift > 0.0))
        c->length = smaller(c->length, g->step * larger(factor_of(g, g->drift), k->shrink));
    c->elapsed = any(c->first, g->rows) || any(c->last, g->rows) ? c->elapsed + g->step : 0.0;
    copy(c->before, c->first, g->rows);
    c->step_before = g->step;
    c->has_before = 1;
    g->events += taken == most && most < left;
    c->done += taken;
    return 0;
}

static Outcome advance_group(Group *g, Loop *loop)
{
    Controller *c = &g->controller;
    double time = loop->start + (double)loop->tick * loop->step;
    if (!c->is_adaptive) {
        double within;
        int ended = begin_group(g, loop, time, c->step, 0.0) ||
                    solve_group(g, c->step, g->constants.accuracy) || find_within(g, &within);
        if (ended)
            return GROUP_ENDED;
        g->largest_within = larger(g->largest_within, within);
        ended = (g->is_divided && divide(g, c->step)) || make_step(g, loop, time);
        return ended ? GROUP_ENDED : DONE;
    }
    if (!c->is_within)
        c->done = 0;
    c->is_within = 1;
    while (c->done < c->units) {
        if (atomic_load_explicit(&loop->pause, memory_order_relaxed))
            return PAUSED;
        if (make_controlled_step(g, loop, time))
            return GROUP_ENDED;
    }
    c->is_within = 0;
    return DONE;
}

#endif
