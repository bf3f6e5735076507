/* An element called at many points (element_points.h): whether its values keep to what it declares.
 *
 * Unassigned     computed values are NaN before each evaluation; one that still has these bits was never assigned, one
 *                that another filling changes follows what was there before
 * Dependencies   duals: all that a list leaves out has a random direction, and what the list belongs to must have none;
 *                bits: all that a list leaves out has other values, and what the list belongs to must keep its bits.
 *                Duals show what is continuous near a point; bits what is switched, rounded or read by re()
 * Canaries       values behind every array, and behind what indicators get, that must keep their bits */
#include "element_points.h"

#define WORK 4e6 /* values computed at most, beyond the points that every element gets */
#define LEAST_POINTS 4
#define LEAST_SETS 8

/* ---- what is compared -------------------------------------------------------------------------------------------- */

/* Evaluates the point with NaN where values are computed, and with numbers there; its values are then in `bits`. */
static void try_evaluation(ElementProbe *p, const double *point)
{
    Probe *q = &p->probe;
    int size = q->plan.size;
    for (int i = 0; i < size; i++)
        p->other[i] = cc_has(q, i, COMPUTED) ? 0.7 : point[i];
    cc_copy(p->bits, cc_evaluated(q, point, 1), size);
    const double *again = cc_evaluated(q, p->other, 1);
    for (int i = 0; i < size; i++) {
        Bits bits = cc_bits(p->bits[i]);
        if (cc_has(q, i, COMPUTED)) {
            if (bits == cc_mark(UNASSIGNED_MARK, i))
                cc_note_finding(q, (Finding){.what = UNASSIGNED, .value = i});
            else if (bits != cc_bits(again[i]))
                cc_note_finding(q, (Finding){.what = STALE, .value = i});
            else if (bits >> 40 == cc_mark(CANARY_MARK, 0) >> 40 && (int)(unsigned)bits < size)
                cc_note_finding(q, (Finding){.what = READ_BEHIND, .value = i, .known = q->plan.behind[(unsigned)bits]});
        } else if (cc_has(q, i, KNOWN | MEMORY) && bits != cc_bits(point[i]))
            cc_note_finding(q, (Finding){.what = CHANGED, .value = i, .known = OUTPUTS});
    }
    if (!q->has_on_demand)
        return;
    const double *rates = cc_evaluated(q, point, 0);
    for (int i = 0; i < size; i++)
        if (cc_has(q, i, COMPUTED) && !cc_has(q, i, ON_DEMAND) && cc_bits(rates[i]) == cc_mark(UNASSIGNED_MARK, i) &&
            cc_bits(p->bits[i]) != cc_bits(rates[i]))
            cc_note_finding(q, (Finding){.what = UNASSIGNED, .value = i});
}

static int is_enough(const Probe *p)
{
    int count = 0;
    for (int i = 0; i < p->found; i++)
        count += p->findings[i].what <= STALE;
    return count >= ENOUGH;
}

static void undeclared(ElementProbe *p, int value, int known, Finding one)
{
    Probe *q = &p->probe;
    for (int i = 0; i < q->found; i++)
        if (q->findings[i].what == UNDECLARED && q->findings[i].value == value && q->findings[i].known == known)
            return;
    one.what = UNDECLARED, one.value = value, one.known = known;
    if (!is_enough(q))
        cc_note_finding(q, one);
}

/* Which of the knowns the set, which rises, leaves out. */
static void leave_out(ElementProbe *p, const Declared *set)
{
    const Probe *q = &p->probe;
    p->left = 0;
    for (int j = 0, k = 0; j < q->known; j++) {
        while (k < set->known.count && set->known.of[k] < q->knowns[j])
            k++;
        if (k == set->known.count || set->known.of[k] != q->knowns[j])
            p->left_out[p->left++] = q->knowns[j];
    }
}

static void try_duals(ElementProbe *p, const double *point, const Declared *set)
{
    Probe *q = &p->probe;
    int count = 0;
    cc_no_directions(p);
    for (int j = 0; j < p->left; j++)
        if (cc_has(q, p->left_out[j], REAL))
            p->duals[2 * p->left_out[j] + 1] = cc_uniform(q, 0.5, 2.0) * CC_DUAL_STEP;
    cc_duals_at(p, point);
    for (int k = 0; k < set->values.count; k++)
        if (cc_slope_of(p, (int)set->values.of[k]) != 0.0)
            p->suspects[count++] = (int)set->values.of[k];
    for (int j = 0; j < p->left && count; j++) {
        int known = p->left_out[j];
        if (!cc_has(q, known, REAL))
            continue;
        cc_no_directions(p);
        p->duals[2 * known + 1] = CC_DUAL_STEP;
        cc_duals_at(p, point);
        for (int k = 0; k < count; k++)
            if (cc_slope_of(p, p->suspects[k]) != 0.0)
                undeclared(p, p->suspects[k], known, (Finding){.how = DERIVATIVE, .a = cc_slope_of(p, p->suspects[k])});
    }
}

/* A value beside x that the variable may have. */
static double value_beside(Probe *p, int i, double x)
{
    double step = cc_size(p, i, x) * cc_power(p, -6.0, -2.0);
    if (x + step >= p->plan.greatest[i])
        step = -step;
    return x + step <= p->plan.least[i] ? x : x + step;
}

/* Which values of the set are others with the point `other` than in `bits`, and by which of what the set leaves out:
 * replaced one after the other; the one with which a value changes is the cause.  `call` computes them. */
static void name_undeclared(ElementProbe *p, const double *point, const Declared *set, int how,
                            const double *(*call)(Probe *, const double *))
{
    Probe *q = &p->probe;
    int count = 0;
    const double *block = call(q, p->other);
    for (int k = 0; k < set->values.count; k++) {
        int i = (int)set->values.of[k];
        if (cc_differs(p->bits[i], block[i]))
            p->suspects[count++] = i;
    }
    if (!count)
        return;
    cc_copy(p->moving, point, q->plan.size);
    cc_copy(p->before, p->bits, q->plan.size);
    for (int j = 0; j < p->left; j++) {
        int known = p->left_out[j];
        if (p->moving[known] == p->other[known])
            continue;
        p->moving[known] = p->other[known];
        block = call(q, p->moving);
        for (int k = 0; k < count; k++) {
            int i = p->suspects[k];
            if (cc_differs(p->before[i], block[i]))
                undeclared(p, i, known, (Finding){.how = how, .a = p->before[i], .b = block[i], .x = p->other[known]});
        }
        cc_copy(p->before, block, q->plan.size);
    }
}

static const double *evaluated(Probe *p, const double *point) { return cc_evaluated(p, point, 1); }

static void try_bits(ElementProbe *p, const double *point, const Declared *set)
{
    Probe *q = &p->probe;
    for (int is_near = 1; is_near >= 0; is_near--) {
        cc_copy(p->other, point, q->plan.size);
        for (int j = 0; j < p->left; j++) {
            int i = p->left_out[j];
            p->other[i] = is_near && cc_has(q, i, REAL) ? value_beside(q, i, point[i]) : cc_value(q, i, 0.2);
        }
        if (!cc_breaks_rules(q, p->other))
            name_undeclared(p, point, set, CHANGE, evaluated);
    }
}

/* What the initial value of memory follows: parameters and inputs, before any evaluation. */
static void try_memories(ElementProbe *p)
{
    Probe *q = &p->probe;
    for (int n = 0; n < LEAST_POINTS && q->plan.memories; n++) {
        double *point = q->points + (long)q->tried * q->plan.size;
        cc_random_point(q, point);
        q->point_is = q->tried++;
        cc_copy(p->bits, cc_started(q, point), q->plan.size);
        for (int k = 0; k < q->plan.memories; k++) {
            const Declared *set = &p->memories[k];
            int count = 0;
            leave_out(p, set);
            cc_copy(p->other, point, q->plan.size);
            for (int j = 0; j < p->left; j++)
                if (!cc_has(q, p->left_out[j], STATE))
                    p->other[p->left_out[j]] = cc_value(q, p->left_out[j], 0.2), count++;
            if (count && !cc_breaks_rules(q, p->other))
                name_undeclared(p, point, set, BEGIN, cc_started);
        }
    }
}

/* Where in the set's list, which rises, the value is; -1 if it is not there. */
static int place_in(const List *list, int value)
{
    int low = 0, high = list->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list->of[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->of[low] == value ? low : -1;
}

/* Which of the declared dependencies show at the point. */
static void note_shown(ElementProbe *p, const double *point)
{
    Probe *q = &p->probe;
    for (int n = 0; n < q->known; n++) {
        int known = q->knowns[n];
        long first = 0;
        cc_no_directions(p);
        if (cc_has(q, known, REAL)) {
            p->duals[2 * known + 1] = CC_DUAL_STEP;
            cc_duals_at(p, point);
        }
        cc_copy(p->other, point, q->plan.size);
        p->other[known] = cc_value(q, known, 0.0);
        const double *block = cc_breaks_rules(q, p->other) ? p->bits : cc_evaluated(q, p->other, 1);
        for (int k = 0; k < q->plan.sets; k++) {
            const Declared *set = &p->sets[k];
            int place = place_in(&set->known, known);
            for (int j = 0; j < set->values.count && place >= 0; j++) {
                int i = (int)set->values.of[j];
                if (cc_slope_of(p, i) != 0.0 || cc_differs(p->bits[i], block[i]))
                    p->shown[first + (long)j * set->known.count + place] = 1;
            }
            first += (long)set->values.count * set->known.count;
        }
    }
}

static void find_unshown(ElementProbe *p)
{
    Probe *q = &p->probe;
    long pair = 0;
    q->point_is = -1;
    for (int k = 0; k < q->plan.sets; k++)
        for (int j = 0; j < p->sets[k].values.count; j++)
            for (int i = 0; i < p->sets[k].known.count; i++)
                if (!p->shown[pair++]) {
                    double value = p->sets[k].values.of[j], known = p->sets[k].known.of[i];
                    cc_note_finding(q, (Finding){.what = UNSHOWN, .value = value, .known = known});
                }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static long lay_out(ElementProbe *p, const double *plan, double *memory)
{
    *p = (ElementProbe){0};
    Probe *q = &p->probe;
    long used = cc_set_up(q, plan, memory), pairs = 0;
    int size = q->plan.size, indicator_count = q->plan.indicators;
    double **blocks[] = {&p->bits, &p->other, &p->moving, &p->before};
    for (int i = 0; i < 4; i++)
        *blocks[i] = cc_reserve(memory, &used, size);
    p->duals = cc_reserve(memory, &used, 2l * size);
    p->z = cc_reserve(memory, &used, indicator_count + FENCE);
    p->pool = (Pooled *)cc_reserve(memory, &used, q->plan.points + SPARE);
    p->sides = (unsigned char *)cc_reserve(memory, &used, indicator_count / 8 + 1);
    p->left_out = (int *)cc_reserve(memory, &used, size);
    p->suspects = (int *)cc_reserve(memory, &used, size);
    p->order = (int *)cc_reserve(memory, &used, size + indicator_count);
    p->narrow = (int *)cc_reserve(memory, &used, q->plan.sets);
    p->sets = (Declared *)cc_reserve(memory, &used, q->plan.sets * (long)(sizeof(Declared) / sizeof(double)));
    p->memories = (Declared *)cc_reserve(memory, &used, q->plan.memories * (long)(sizeof(Declared) / sizeof(double)));
    const double *at = q->plan.set_at;
    for (int k = 0; k < q->plan.sets; k++) {
        Declared set = cc_declared(&at);
        pairs += (long)set.known.count * set.values.count;
        if (memory)
            p->sets[k] = set;
    }
    at = q->plan.memory_at;
    for (int k = 0; k < q->plan.memories && memory; k++)
        p->memories[k] = cc_declared(&at);
    p->shown = (unsigned char *)cc_reserve(memory, &used, q->plan.every ? pairs / 8 + 1 : 0);
    return used;
}

/* Sets that leave something out, and how many points and sets the work allows. */
static void plan_work(ElementProbe *p)
{
    Probe *q = &p->probe;
    for (int k = 0; k < q->plan.sets; k++) {
        leave_out(p, &p->sets[k]);
        if (p->left)
            p->narrow[p->narrow_sets++] = k;
    }
    double each = cc_min(p->narrow_sets, LEAST_SETS);
    p->points = (int)cc_clamp(WORK / (q->plan.size * (4.0 + 3.0 * each)), LEAST_POINTS, q->plan.points);
    p->sets_each = (int)cc_clamp(WORK / (3.0 * q->plan.size * p->points), LEAST_SETS, p->narrow_sets);
}

CC_EXPORT long cc_check_memory(const double *plan)
{
    ElementProbe p;
    return lay_out(&p, plan, 0);
}

/* Fills the memory, which holds zeros: findings, and behind them the points they were made at. */
CC_EXPORT void cc_check_run(const double *plan, double *memory, Counts *counts)
{
    ElementProbe probe, *p = &probe;
    Probe *q = &p->probe;
    lay_out(p, plan, memory);
    plan_work(p);
    try_memories(p);
    for (int k = 0; k <= p->points && !is_enough(q); k++) {
        const double *point = cc_next_point(p, k);
        if (!point)
            continue;
        counts->tried++;
        if (cc_breaks_rules(q, point))
            continue;
        try_evaluation(p, point);
        for (int n = 0; n < p->sets_each && n < p->narrow_sets; n++) {
            int drawn = n + cc_draw(q, p->narrow_sets - n), which = p->narrow[drawn];
            p->narrow[drawn] = p->narrow[n], p->narrow[n] = which;
            leave_out(p, &p->sets[which]);
            try_duals(p, point, &p->sets[which]);
            try_bits(p, point, &p->sets[which]);
        }
        if (q->plan.every)
            note_shown(p, point);
    }
    if (q->plan.every)
        find_unshown(p);
    cc_count_findings(q, counts);
}
