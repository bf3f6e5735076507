/* The force of an element over a step: forces.py has the equations, the letters and their meaning, which are the same
 * here, in the same order of operations. */
#ifndef FORCES_H
#define FORCES_H

#include "elements.h"

/* Constants of the Python modules, which compiled.py writes here. */
typedef struct {
    double points[3], weights[3];                                    /* Gauss */
    double largest, smallest_ratio, made_up, same, nothing, rounding; /* forces.py */
    double accuracy, enough;                                         /* group.py */
    double most, most_newton, smallest_share;                        /* iqn.py */
    double added, safety, shrink, grow, unsolved;                    /* control.py */
    double angle, margin, most_substeps, accuracy_within;            /* substeps.py */
    double slowest;                                                  /* counts.py */
} Constants;

enum { POINTS = 3 };

static double metric_dot(const Element *e, const double *a, const double *b)
{
    double total = 0.0;
    for (uint64_t i = 0; i < e->size; i++)
        total += a[i] * e->metric[i] * b[i];
    return total;
}

static int is_lossless(const Element *e, const double *force, const double *elastic)
{
    for (uint64_t i = 0; i < e->size; i++)
        if (force[i] != elastic[i])
            return 0;
    return 1;
}

/* The end with the larger elastic force, and the other one. */
static void in_order(const Element *e, const End **deep, const End **other)
{
    const End *start = &e->start, *end = &e->end;
    int deeper = metric_dot(e, end->elastic, end->elastic) >= metric_dot(e, start->elastic, start->elastic);
    *deep = deeper ? end : start;
    *other = deeper ? start : end;
}

static int is_proportional(Element *e, const Constants *c, int *answer)
{
    *answer = (int)e->proportional;
    if (e->proportional >= 0)
        return 0;
    const End *deep, *other;
    in_order(e, &deep, &other);
    uint64_t n = e->size;
    double *between = e->place, *elastic = e->mean, *force = e->looked, energy;
    for (uint64_t i = n; i < e->inputs.size; i++)
        between[i - n] = (deep->motion[i] + other->motion[i]) / 2.0;
    TRY(look(e, between, e->zero, elastic, &energy));
    TRY(look(e, between, deep->motion, force, &energy));
    double *known = e->other;
    for (uint64_t i = 0; i < n; i++)
        known[i] = deep->force[i] - deep->elastic[i];
    double size = metric_dot(e, deep->elastic, deep->elastic);
    double along = metric_dot(e, known, deep->elastic) / size, at = metric_dot(e, elastic, elastic);
    *answer = 1;
    if (at == 0.0 || !any(known, n))
        return 0;
    for (uint64_t i = 0; i < n; i++)
        force[i] = force[i] - elastic[i];
    double here = metric_dot(e, force, elastic) / at;
    *answer = size_of(here - along) <= c->same * (size_of(along) + 1.0);
    e->proportional = *answer;
    return 0;
}

static int with_losses(Element *e, const Constants *c, double s, const double *mean, double w0, double w1,
                       double turning, double stored, double step, Answer *found)
{
    const End *start = &e->start, *end = &e->end, *deep, *other;
    in_order(e, &deep, &other);
    uint64_t n = e->size;
    const double *E = deep->elastic, size = metric_dot(e, E, E);
    double shares[3] = {0.0, 1.0, 1.0}, turn_at = w0 / (w0 - w1);
    int parts = w0 * w1 < 0.0 ? 2 : 1; /* the law has a kink where the motion turns */
    if (parts == 2)
        shares[1] = turn_at;
    double plain = 0.0, weighted = 0.0, sum_of_weights = 0.0, elastic_share = 0.0;
    double *across = e->across.force, *velocity = e->other, *force = e->looked, energy;
    clear(across, n);
    for (int part = 0; part < parts; part++)
        for (int k = 0; k < POINTS; k++) {
            double length = shares[part + 1] - shares[part];
            double t = shares[part] + length * c->points[k], q = length * c->weights[k];
            for (uint64_t i = 0; i < n; i++)
                velocity[i] = start->motion[i] + t * (end->motion[i] - start->motion[i]);
            TRY(look(e, deep->motion + n, velocity, force, &energy));
            double ratio = larger(metric_dot(e, force, E) / size, c->smallest_ratio);
            double inverse = 1.0 / ratio, w = w0 + t * (w1 - w0), weight = q * size_of(w);
            for (uint64_t i = 0; i < n; i++)
                across[i] += q * ((force[i] - ratio * E[i]) / ratio);
            plain += q * inverse;
            weighted += weight * inverse;
            sum_of_weights += weight;
            elastic_share += q * w * inverse;
        }
    weighted = sum_of_weights != 0.0 ? weighted / sum_of_weights : plain;
    double rho = (1.0 - turning) * weighted + turning * plain;
    double root = __builtin_sqrt(metric_dot(e, mean, mean) / size);
    for (uint64_t i = 0; i < n; i++)
        found->force[i] = s / rho * (mean[i] + root * across[i]);
    double elastic_work = s / rho * step * elastic_share;
    found->debt = end->energy != 0.0 ? elastic_work + stored + e->debt : 0.0;
    return 0;
}

static void trapezoid(const Element *e, Answer *found)
{
    for (uint64_t i = 0; i < e->size; i++)
        found->force[i] = (e->start.force[i] + e->end.force[i]) / 2.0;
    found->debt = 0.0;
}

static void mean_of_impulse(const Element *e, double step, Answer *found)
{
    for (uint64_t i = 0; i < e->size; i++)
        found->force[i] = (e->impulse.values[i] - e->pushed[i]) / step;
    found->debt = 0.0;
}

/* A and B, with work = mean . D x, and |D x|^2. */
static int works_of(Element *e, const Constants *c, double step, double work, double *A, double *B, double *ways)
{
    const End *start = &e->start, *end = &e->end;
    uint64_t n = e->size;
    *A = *B = start->energy - end->energy;
    *ways = 0.0;
    if (size_of(*A - work) <= c->nothing * larger(size_of(start->energy), size_of(end->energy)))
        return 0;
    double *between = e->place, *elastic = e->looked, energy, simpson = 0.0;
    for (uint64_t i = n; i < e->inputs.size; i++)
        between[i - n] = (start->motion[i] + end->motion[i]) / 2.0;
    TRY(look(e, between, e->zero, elastic, &energy));
    double size0 = metric_dot(e, start->elastic, start->elastic), size1 = metric_dot(e, end->elastic, end->elastic);
    double turned = 0.0, root0 = __builtin_sqrt(size0), root1 = __builtin_sqrt(size1);
    for (uint64_t i = 0; i < n; i++) {
        double E0 = start->elastic[i], E1 = end->elastic[i];
        double way = step * (start->motion[i] + end->motion[i]) / 2.0, turn = E0 / root0 - E1 / root1;
        simpson += (E0 + 4.0 * elastic[i] + E1) * way;
        turned += turn * e->metric[i] * turn;
        *ways += way * e->metric[i] * way;
    }
    simpson = simpson / 6.0;
    double band = size_of(simpson - work);
    *A = *B = smaller(larger(*A, simpson - band), simpson + band);
    if (size0 == 0.0 || size1 == 0.0)
        return 0;
    double across = turned * metric_dot(e, e->mean, e->mean) * *ways;
    if (across != 0.0)
        *B = work + (*A - work) * (work * work / (work * work + across));
    return 0;
}

/* Of the ends e->start and e->end. */
static int gradient(Element *e, const Constants *c, double step, Answer *found)
{
    const End *start = &e->start, *end = &e->end, *deep, *other;
    const double *V0 = start->motion, *V1 = end->motion;
    uint64_t n = e->size;
    double *mean = e->mean;
    for (uint64_t i = 0; i < n; i++)
        mean[i] = (start->elastic[i] + end->elastic[i]) / 2.0;
    if (metric_dot(e, mean, mean) == 0.0) {
        trapezoid(e, found);
        return 0;
    }
    double A, B, ways, work = 0.0, w0 = 0.0, w1 = 0.0, moved = 0.0;
    for (uint64_t i = 0; i < n; i++) {
        work += mean[i] * (step * (V0[i] + V1[i]) / 2.0);
        w0 += mean[i] * V0[i];
        w1 += mean[i] * V1[i];
        moved += size_of(mean[i]) * (size_of(V0[i]) + size_of(V1[i]));
    }
    TRY(works_of(e, c, step, work, &A, &B, &ways));
    double stored = -A, *aside = e->aside;
    for (uint64_t i = 0; i < n; i++)
        aside[i] = A != B ? (A - B) / ways * e->metric[i] * (step * (V0[i] + V1[i]) / 2.0) : 0.0;
    double turning = 1.0;
    if (w0 != 0.0 || w1 != 0.0)
        turning = 1.0 - size_of(w0 + w1) / (size_of(w0) + size_of(w1));
    double s = 1.0, largest = larger(size_of(start->energy), size_of(end->energy));
    double least = c->nothing * step * moved;
    if (size_of(work) > larger(least, c->rounding * largest)) {
        double share = largest != 0.0 ? smaller(size_of(stored) / largest, 1.0) : 0.0;
        double most = c->made_up * size_of(stored) * share;
        double made_up = smaller(larger(e->debt, -most), most) * (1.0 - turning);
        s = smaller(larger(B / work, 0.0), c->largest) * (1.0 + (stored != 0.0 ? made_up / stored : 0.0));
    }
    double debt = s * work + (A - B) + stored + e->debt;
    for (uint64_t i = 0; i < n; i++)
        found->force[i] = s * mean[i] + aside[i];
    if (is_lossless(e, start->force, start->elastic) && is_lossless(e, end->force, end->elastic)) {
        double energy;
        in_order(e, &deep, &other); /* the deeper end with the velocity of the other one, which may show no loss */
        TRY(look(e, deep->motion + n, other->motion, e->looked, &energy));
        if (is_lossless(e, e->looked, deep->elastic)) {
            found->debt = end->energy != 0.0 ? debt : 0.0;
            return 0;
        }
    }
    double *kept = e->across.elastic; /* is_proportional needs the memory of the mean */
    copy(kept, mean, n);
    int proportional;
    TRY(is_proportional(e, c, &proportional));
    if (proportional) {
        TRY(with_losses(e, c, s, kept, w0, w1, turning, stored + (A - B), step, found));
        for (uint64_t i = 0; i < n; i++)
            found->force[i] = found->force[i] + aside[i];
        return 0;
    }
    for (uint64_t i = 0; i < n; i++) {
        double losses = (start->force[i] - start->elastic[i] + end->force[i] - end->elastic[i]) / 2.0;
        found->force[i] = s * kept[i] + losses + aside[i];
    }
    found->debt = debt;
    return 0;
}

/* The force over a step after which the rows of the bodies have gone this way and have this velocity, and after which
 * this share of the communication step is over. */
static int try_element(Element *e, const Constants *c, const double *way, const double *velocity, double time,
                       double step, double share, Answer *found)
{
    End *end = &e->end;
    move(e, way, velocity, share, end->motion);
    if (e->is_gradient) {
        TRY(see(e, end));
        TRY(gradient(e, c, step, found));
    } else {
        if (e->is_kept) {
            TRY(restore_state(&e->member));
            TRY(step_inputs(e, e->begun, end->motion, time, step, 0));
        }
        TRY(get(&e->member, &e->impulse));
        TRY(look(e, end->motion + e->size, end->motion, end->force, &end->energy));
        if (e->is_kept)
            TRY(restore_state(&e->member));
        if (e->impulse.size)
            mean_of_impulse(e, step, found);
        else
            trapezoid(e, found);
        if (e->is_midpoint) /* the debt stays 0 */
            copy(found->force, end->force, e->size);
    }
    copy_end(e, &found->end, end);
    return 0;
}

#endif
