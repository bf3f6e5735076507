/* Points at which the build calls an element.
 *
 * The start values; random ones, over the ranges that the variables declare; and from these across zeros of the
 * indicators, so that contact and no contact, stick and slip are all met. */
#ifndef CC_ELEMENT_POINTS_H
#define CC_ELEMENT_POINTS_H

#include "probe.h"

CC_HIDDEN void cc_check_dual(double *block, int on_demand);
CC_HIDDEN void cc_check_accept(double *block, double step);
CC_HIDDEN void cc_check_sample(double *block, double step);
CC_HIDDEN void cc_check_indicators(const double *block, double z[]);

#define FENCE 8             /* values behind what indicators get */
#define STEP 1e-3           /* s, an argument of accept and sample */
#define MOST_FREE 12        /* values along which a zero of an indicator is looked for */

typedef struct {
    int busy, place;
} Pooled;

/* The probe of an element, and what it works with. */
typedef struct {
    Probe probe;
    Declared *sets, *memories;
    int *narrow, narrow_sets; /* those that leave something out */
    int points, sets_each;    /* to try; sets tried at each point */
    double *bits, *other, *moving, *before, *duals, *z;
    Pooled *pool;    /* points tried, those where most is at work first */
    int pooled;
    unsigned char *sides; /* of each indicator: 1 below, 2 above zero was met */
    int *left_out, left;  /* knowns that a set does not declare */
    int *suspects, *order;
    unsigned char *shown; /* of each pair of all sets */
} ElementProbe;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Whether a value that both evaluations computed is another one. */
static int cc_differs(double a, double b) { return a != b && cc_is_finite(a) && cc_is_finite(b); }

/* Derivatives of all values, times CC_DUAL_STEP, are duals[2 i + 1]; the directions are there. */
static void cc_duals_at(ElementProbe *p, const double *point)
{
    for (int i = 0; i < p->probe.plan.size; i++)
        p->duals[2 * i] = point[i];
    cc_check_dual(p->duals, 1);
}

static void cc_no_directions(ElementProbe *p)
{
    for (int i = 0; i < p->probe.plan.size; i++)
        p->duals[2 * i + 1] = 0.0;
}

static double cc_slope_of(const ElementProbe *p, int i)
{
    double found = p->duals[2 * i + 1] / CC_DUAL_STEP;
    return cc_is_finite(found) ? found : 0.0;
}

/* Gives the point the memory that the element has after its bookkeeping there. */
static void cc_with_memory(ElementProbe *p, double *point, void (*keep)(double *, double), int function)
{
    Probe *q = &p->probe;
    cc_copy(p->before, cc_evaluated(q, point, 1), q->plan.size);
    keep(q->block, STEP);
    cc_watch(q, function);
    for (int i = 0; i < q->plan.size; i++) {
        if (cc_has(q, i, KNOWN) && !cc_has(q, i, STATE) && cc_bits(q->block[i]) != cc_bits(p->before[i]))
            cc_note_finding(q, (Finding){.what = CHANGED, .value = i, .known = function});
        if (cc_has(q, i, MEMORY) && cc_is_finite(q->block[i]))
            point[i] = q->block[i];
    }
}

/* The zero-crossing functions at the point, in z. */
static void cc_indicators_at(ElementProbe *p, const double *point)
{
    Probe *q = &p->probe;
    int count = q->plan.indicators;
    cc_evaluated(q, point, 0);
    for (int i = 0; i < count + FENCE; i++)
        p->z[i] = cc_marked(UNASSIGNED_MARK, i);
    cc_check_indicators(q->block, p->z);
    cc_watch(q, INDICATORS);
    for (int i = 0; i < count + FENCE; i++) {
        int behind = i < count ? (int)q->plan.z_behind[i] : q->plan.size + count;
        int kept = cc_bits(p->z[i]) == cc_mark(UNASSIGNED_MARK, i);
        if (behind && !kept)
            cc_note_finding(q, (Finding){.what = OVERWRITTEN, .value = behind, .known = INDICATORS});
        if (!behind && kept)
            cc_note_finding(q, (Finding){.what = UNWRITTEN, .value = i});
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* A point near this one, with some parameters that are far from its own. */
static void cc_point_beside(ElementProbe *p, const double *point, double *there)
{
    Probe *q = &p->probe;
    double reach = cc_power(q, -4.0, 0.0);
    cc_copy(there, point, q->plan.size);
    for (int j = 0; j < q->known; j++) {
        int i = q->knowns[j];
        if (!cc_has(q, i, PARAMETER) && cc_has(q, i, REAL))
            there[i] += cc_size(q, i, there[i]) * reach * cc_uniform(q, -1.0, 1.0);
        else if (cc_uniform(q, 0.0, 1.0) < 0.3)
            there[i] = cc_value(q, i, 0.3);
    }
    cc_normalize(q, there);
}

/* Some of the continuous inputs and states, at random; returns how many. */
static int cc_free_values(ElementProbe *p, int *chosen)
{
    Probe *q = &p->probe;
    int count = 0;
    for (int i = 1; i < q->plan.size; i++)
        if (cc_has(q, i, KNOWN) && !cc_has(q, i, PARAMETER) && cc_has(q, i, REAL))
            p->order[count++] = i;
    int taken = count < MOST_FREE ? count : MOST_FREE;
    for (int k = 0; k < taken; k++) {
        int other = k + cc_draw(q, count - k);
        chosen[k] = p->order[other], p->order[other] = p->order[k], p->order[k] = chosen[k];
    }
    return taken;
}

/* An indicator, of every other draw one that was met on one side of its zero alone. */
static int cc_some_indicator(ElementProbe *p)
{
    Probe *q = &p->probe;
    int count = 0, alone = 0;
    for (int i = 0; i < q->plan.indicators; i++)
        if (q->plan.z_behind[i] == 0.0)
            p->order[count++] = i;
    for (int i = 0; i < count; i++)
        alone += p->sides[p->order[i]] != 3;
    if (alone && cc_draw(q, 2)) {
        int wanted = cc_draw(q, alone);
        for (int i = 0; i < count; i++)
            if (p->sides[p->order[i]] != 3 && wanted-- == 0)
                return p->order[i];
    }
    return p->order[cc_draw(q, count)];
}

/* A point near this one where an indicator has the other sign: along its gradient over some of the continuous inputs
 * and states, by Newton's method.  1 if that leads there. */
static int cc_point_across(ElementProbe *p, const double *point, double *here)
{
    Probe *q = &p->probe;
    int which = cc_some_indicator(p), chosen[MOST_FREE];
    int count = cc_free_values(p, chosen);
    cc_indicators_at(p, point);
    double before = p->z[which], slopes[MOST_FREE], z = before;
    double target = q->plan.z_nominals[which] * cc_power(q, -3.0, 0.0) * (before > 0.0 ? -1.0 : 1.0);
    cc_copy(here, point, q->plan.size);
    for (int k = 0; k < 4; k++) {
        double square = 0.0;
        for (int j = 0; j < count; j++) {
            int i = chosen[j];
            double x = here[i], step = 1e-6 * (x != 0.0 ? cc_abs(x) : 1.0);
            here[i] = x + step;
            cc_indicators_at(p, here);
            here[i] = x;
            slopes[j] = (p->z[which] - z) / step;
            square += slopes[j] * slopes[j];
        }
        if (!(cc_is_finite(square) && square > 0.0))
            return 0;
        for (int j = 0; j < count; j++)
            here[chosen[j]] += (target - z) * slopes[j] / square;
        cc_indicators_at(p, here);
        z = p->z[which];
        if (!cc_is_finite(z))
            return 0;
        if ((z > 0.0) != (before > 0.0))
            return 1;
    }
    return 0;
}

/* One of the points tried, one where much is at work rather than little. */
static const double *cc_busy_point(ElementProbe *p)
{
    double u = cc_uniform(&p->probe, 0.0, 1.0);
    return p->probe.points + (long)p->pool[(int)(p->pooled * u * u * u)].place * p->probe.plan.size;
}

/* Keeps the last point for others to begin at, and notes the sides of the indicators there. */
static void cc_into_pool(ElementProbe *p, const double *point)
{
    Probe *q = &p->probe;
    if (q->plan.indicators) {
        cc_indicators_at(p, point);
        for (int i = 0; i < q->plan.indicators; i++)
            p->sides[i] |= p->z[i] > 0.0 ? 2 : 1;
    }
    const double *block = cc_evaluated(q, point, 1);
    Pooled one = {0, q->tried - 1};
    for (int i = 0; i < q->plan.size; i++)
        one.busy += cc_has(q, i, COMPUTED) && block[i] != 0.0;
    int k = p->pooled++;
    for (; k > 0 && p->pool[k - 1].busy <= one.busy; k--)
        p->pool[k] = p->pool[k - 1];
    p->pool[k] = one;
}

/* The number k of the points to try: the start, some at random, and what can be reached from those where most is at
 * work.  0 where there is none. */
static double *cc_next_point(ElementProbe *p, int k)
{
    Probe *q = &p->probe;
    double *point = q->points + (long)q->tried * q->plan.size;
    if (k == 0)
        cc_start_point(q, point);
    else if (k <= p->points / 4)
        cc_random_point(q, point);
    else if (q->plan.indicators && k % 2 == 0) {
        const double *from = k % 4 == 2 ? cc_busy_point(p) : q->points + (long)cc_draw(q, q->tried) * q->plan.size;
        if (!cc_point_across(p, from, point))
            return 0;
    } else {
        cc_point_beside(p, cc_busy_point(p), point);
        if (cc_breaks_rules(q, point))
            return 0;
    }
    if (k && k % 4 == 0) { /* with the memory of one that has been there */
        cc_with_memory(p, point, cc_check_sample, SAMPLE);
        cc_with_memory(p, point, cc_check_accept, ACCEPT);
    }
    q->point_is = q->tried++;
    cc_into_pool(p, point);
    return point;
}

#endif
