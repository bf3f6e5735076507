/* Force elements of a group: what they answer to a trial, and their true step, as elements.py to the bit. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "slaves.h"

/* An end of a step, as in forces.py.   motion: velocities, then places, in the order of the inputs */
typedef struct {
    double *motion, *force, *elastic, energy;
} End;

/* What an element answers to a trial: its mean force over the step, its debt, and the end of the step. */
typedef struct {
    double *force, debt;
    End end;
} Answer;

/* inputs          velocities, then places
 * answer          forces, one on each row of `rows`, then stored energies
 * place_rows      rows that move the places: one for a number, three for the four of a quaternion (sizes: 1 or 3)
 * driven          of those inputs that a drive moves; driven_at: their places among the inputs; row: of the
 *                 communication step; now: their values at the end of a trial
 * work            of each bond: its number in the works of the group
 * metric          as in forces.py     orders: ones, as many as inputs
 * path            motion at the end of each substep, where its true step follows them
 * impulse         of the forces, where they are shown, else of size 0; pushed: at the beginning of the step
 * is_gradient     else its force is the mean of the impulse, or the trapezoid
 * is_kept         its state is restored after a trial
 * is_midpoint     its force is that of the mean inputs of its step
 * interpolates    its inputs may have slopes     proportional: as in forces.py, -1 where it is not known yet
 * begun           motion at the beginning of the true step     given: energy that it gave along each bond in it
 * answers         the one that is tried and the best one so far, by number */
typedef struct {
    Member member;
    Values inputs, answer, impulse;
    const uint64_t *rows, *place_rows, *sizes, *work;
    const double *metric;
    const int32_t *orders;
    Driven driven;
    const uint64_t *driven_at;
    double *path;
    Counts counts;
    uint64_t row, size, place_count, is_gradient, is_kept, is_midpoint, interpolates, evaluations;
    int64_t proportional;
    double debt;
    End start, end, across; /* across and what follows: for forces.h */
    Answer answers[2];
    double *mean, *looked, *place, *other, *zero, *begun, *given, *aside, *pushed, *now;
} Element;

/* At the beginning of a step, at its first force. */
static void begin_counts(Counts *c, int acts)
{
    c->passed += acts ? 0 : c->fresh;
    c->fresh = 0;
}

/* After a true step.   acts: whether there was a force in it; least: speed of an impact that counts */
static int count_contacts(Element *e, int acts, double least)
{
    Counts *c = &e->counts;
    int rose = 0;
    for (uint64_t i = 0; i < c->size; i++)
        c->before[i] = c->values[i];
    if (c->size)
        TRY(get_counts(&e->member, c));
    for (uint64_t i = 0; i < c->size; i++)
        rose |= c->values[i] > c->before[i];
    if (acts || !rose)
        return 0;
    TRY(get(&e->member, &c->speeds));
    for (uint64_t i = 0; i < c->size; i++)
        c->fresh += c->values[i] > c->before[i] && c->speeds.values[i] > least;
    return 0;
}

static void copy_end(const Element *e, End *to, const End *from)
{
    copy(to->motion, from->motion, e->inputs.size);
    copy(to->force, from->force, e->size);
    copy(to->elastic, from->elastic, e->size);
    to->energy = from->energy;
}

static int answered(Element *e, double *force, double *energy)
{
    e->evaluations++;
    TRY(get(&e->member, &e->answer));
    copy(force, e->answer.values, e->size);
    *energy = 0.0;
    for (uint64_t i = e->size; i < e->answer.size; i++)
        *energy += e->answer.values[i];
    return 0;
}

/* Force and stored energy at a place with velocities. */
static int look(Element *e, const double *place, const double *velocity, double *force, double *energy)
{
    copy(e->inputs.values, velocity, e->size);
    copy(e->inputs.values + e->size, place, e->inputs.size - e->size);
    TRY(set(&e->member, &e->inputs));
    return answered(e, force, energy);
}

static int see(Element *e, End *end)
{
    const double *velocity = end->motion, *place = end->motion + e->size;
    double energy;
    TRY(look(e, place, e->zero, end->elastic, &end->energy));
    return look(e, place, velocity, end->force, &energy);
}

/* Driven inputs after a share of the communication step, into a motion. */
static void put_driven(const Element *e, double share, double *motion)
{
    drive(&e->driven, e->row, share, e->now);
    for (uint64_t i = 0; i < e->driven.size; i++)
        motion[e->driven_at[i]] = e->now[i];
}

/* At the beginning of a step, after its inputs are set.   is_first: in the communication step */
static int begin_element(Element *e, uint64_t row, int is_first)
{
    e->row = row;
    TRY(get(&e->member, &e->inputs));
    if (is_first && e->driven.size) {
        put_driven(e, 0.0, e->inputs.values);
        TRY(set(&e->member, &e->inputs));
    }
    copy(e->start.motion, e->inputs.values, e->inputs.size);
    copy(e->begun, e->inputs.values, e->inputs.size);
    clear(e->given, e->size);
    if (e->is_gradient) {
        TRY(see(e, &e->start));
    } else {
        TRY(answered(e, e->start.force, &e->start.energy));
        copy(e->start.elastic, e->start.force, e->size);
    }
    begin_counts(&e->counts, any(e->start.force, e->size));
    TRY(get(&e->member, &e->impulse));
    copy(e->pushed, e->impulse.values, e->impulse.size);
    return e->is_kept && keep_state(&e->member);
}

/* The motion at the end of a step in which the rows of the bodies go this way and have this velocity then, after this
 * share of the communication step. */
static void move(const Element *e, const double *way, const double *velocity, double share, double *motion)
{
    const uint64_t *row = e->place_rows;
    copy(motion, e->start.motion, e->inputs.size);
    for (uint64_t i = 0; i < e->size; i++)
        motion[i] = velocity[e->rows[i]];
    double *place = motion + e->size;
    for (uint64_t k = 0; k < e->place_count; row += e->sizes[k], k++) {
        if (e->sizes[k] == 3) {
            turn(place, (const double[]){way[row[0]], way[row[1]], way[row[2]]});
            place += 4;
        } else {
            *place++ += way[*row];
        }
    }
    put_driven(e, share, motion);
}

static int step_inputs(Element *e, const double *start, const double *end, double time, double step, int for_good)
{
    const Member *m = &e->member;
    for (uint64_t i = 0; i < e->inputs.size; i++)
        e->inputs.values[i] = e->interpolates ? (end[i] - start[i]) / step : (start[i] + end[i]) / 2.0;
    if (e->interpolates) {
        TRY(set_slopes(m, &e->inputs, e->orders));
    } else {
        TRY(set(m, &e->inputs));
    }
    return do_step(m, time, step, for_good);
}

/* The true step, to the motion that the inputs have now, through those at the ends of the substeps.
 * tried: where driven inputs go */
static int step_element(Element *e, double time, double step, uint64_t substeps, const double *tried)
{
    uint64_t n = e->inputs.size, count = e->path && substeps ? substeps : 1;
    double *end = e->end.motion, length = step / (double)count;
    const double *start = e->begun;
    TRY(get(&e->member, &e->inputs));
    copy(end, e->inputs.values, n);
    for (uint64_t i = 0; i < e->driven.size; i++)
        end[e->driven_at[i]] = tried[e->driven_at[i]];
    for (uint64_t k = 0; k < count; k++) {
        double *to = k + 1 < count ? e->path + k * n : end;
        const double *last = count > 1 ? e->path + (count - 1) * n : end;
        for (uint64_t i = 0; k + 1 < count && i < n; i++)
            to[i] += (end[i] - last[i]) * ((double)(k + 1) / (double)count);
        copy(e->inputs.values, start, n);
        TRY(set(&e->member, &e->inputs));
        TRY(step_inputs(e, start, to, time + (double)k * length, length, 1));
        start = to;
    }
    copy(e->inputs.values, end, n);
    return set(&e->member, &e->inputs);
}

#endif
