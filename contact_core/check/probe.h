/* Calling an element, or an assembly of some, at points that a build draws.
 *
 * Here is what is declared of it, where findings go, and how points are drawn.  probe_element.c and probe_assembly.c
 * define what is compared there.
 *
 * A point is one number for each value of the struct Element: time, parameters, inputs, states and memory with numbers
 * of their ranges, computed values with a NaN that means "not assigned", canaries with one that means "behind an
 * array".  Random numbers are the same at every build. */
#ifndef CC_PROBE_H
#define CC_PROBE_H

#include "../base/elementary.h"

#ifdef _WIN32
#define CC_EXPORT __attribute__((dllexport))
#else
#define CC_EXPORT __attribute__((visibility("default")))
#endif
#define CC_HIDDEN __attribute__((visibility("hidden")))

/* check.c and check_assembly.c. */
CC_HIDDEN void cc_check_evaluate(double *block, int on_demand);
CC_HIDDEN void cc_check_start(double *block);
CC_HIDDEN int cc_check_rules(const double *block);

/* ---- what is declared: fmu_builder/export/probe_plan.py packs it, in this order ------------------------------ */

enum { /* flags of a value */
    KNOWN = 1, /* time, a parameter, an input or a state */
    PARAMETER = 2,
    STATE = 4,
    COMPUTED = 8,
    MEMORY = 16,
    REAL = 32,
    BOOLEAN = 64,
    ABOVE = 128, /* the least value is excluded */
    BELOW = 256, /* the greatest value is excluded */
    ON_DEMAND = 512,
};

typedef struct {
    int count;
    const double *of;
} List;

typedef struct {
    List known;  /* what is declared */
    List values; /* of these values */
} Declared;

typedef struct {
    int every, points;    /* look for what never shows too; points to try at most */
    int size, indicators; /* values, zero-crossing functions with their canaries */
    const double *flags_at, *starts, *least, *greatest, *nominals;
    const double *behind;            /* number of the array that a value is a canary of, or 0 */
    const double *z_nominals;        /* of the zero-crossing functions */
    const double *z_behind;          /* as behind, of the zero-crossing functions */
    List quaternions;                /* the first of four components */
    int sets, memories;              /* of computed values and of memory that declare the same */
    const double *set_at, *memory_at;
} Plan;

static List cc_list(const double **at)
{
    List list = {(int)(*at)[0], *at + 1};
    *at += 1 + list.count;
    return list;
}

static Declared cc_declared(const double **at)
{
    List known = cc_list(at), values = cc_list(at);
    return (Declared){known, values};
}

static Plan cc_plan(const double *at)
{
    Plan plan = {0};
    List options = cc_list(&at);
    plan.every = (int)options.of[0], plan.points = (int)options.of[1];
    List flags = cc_list(&at);
    plan.size = flags.count, plan.flags_at = flags.of;
    plan.starts = cc_list(&at).of, plan.least = cc_list(&at).of, plan.greatest = cc_list(&at).of;
    plan.nominals = cc_list(&at).of, plan.behind = cc_list(&at).of;
    List z = cc_list(&at);
    plan.indicators = z.count, plan.z_nominals = z.of, plan.z_behind = cc_list(&at).of;
    plan.quaternions = cc_list(&at);
    plan.sets = (int)*at++, plan.set_at = at;
    for (int i = 0; i < plan.sets; i++)
        cc_declared(&at);
    plan.memories = (int)*at++, plan.memory_at = at;
    return plan;
}

/* ---- what is found: fmu_builder/export/probe.py passes it on --------------------------------------------------- */

/* value and known of each:
 *   UNDECLARED    value follows known; how: its derivative is a; with known at x it changes from a to b, or begins so
 *   UNASSIGNED, STALE, DISORDERED          value
 *   READ_BEHIND   value is computed from values behind the array `known`
 *   OVERWRITTEN   the function `known` writes behind the array `value`
 *   CHANGED       the function `known` changes value
 *   UNWRITTEN     the indicator `value` is never assigned
 *   UNSHOWN       value was never seen to follow known */
enum { UNDECLARED, UNASSIGNED, STALE, DISORDERED, READ_BEHIND, OVERWRITTEN, CHANGED, UNWRITTEN, UNSHOWN };
enum { DERIVATIVE, CHANGE, BEGIN };
enum { OUTPUTS, RATES, START, ACCEPT, SAMPLE, INDICATORS }; /* functions of the element */
enum { ENOUGH = 20 }; /* findings that end the search */
enum { SPARE = 8 };   /* points beyond those of the plan */

typedef struct {
    double what, value, known, how, a, b, x, point; /* point: its number among those tried, or -1 */
} Finding;

typedef struct {
    Plan plan;
    unsigned long long random;
    int *flags;              /* of each value */
    int *canaries, guards;   /* values that are canaries */
    int *knowns, known;      /* values that are known */
    double *block, *blank;   /* what the element works on; a point with start values and marks */
    double *points;          /* those tried */
    long points_at;          /* where they begin in the memory */
    int tried;
    Finding *findings;
    int found, most_found;
    unsigned char *seen;     /* what was found of which value */
    double point_is;         /* number of the point that is being tried */
    int has_on_demand;       /* whether some values are */
} Probe;

/* Keeps a finding; of all kinds but UNDECLARED and UNSHOWN the first of each value. */
static void cc_note_finding(Probe *p, Finding one)
{
    if (one.what > UNDECLARED && one.what <= UNWRITTEN) {
        unsigned char *seen = &p->seen[(int)one.what * (p->plan.size + p->plan.indicators + 2) + (int)one.value];
        if (*seen)
            return;
        *seen = 1;
    }
    one.point = p->point_is;
    if (p->found < p->most_found)
        p->findings[p->found++] = one;
}

/* What the memory holds after a run. */
typedef struct {
    long points_at, points, findings, tried;
} Counts;

static void cc_count_findings(const Probe *p, Counts *counts)
{
    counts->points_at = p->points_at, counts->points = p->tried, counts->findings = p->found;
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

typedef unsigned long long Bits;
#define UNASSIGNED_MARK 0xAull
#define CANARY_MARK 0xCull

static Bits cc_mark(Bits kind, int number) { return 0x7FF8ull << 48 | kind << 40 | (unsigned)number; } /* a NaN */

static double cc_marked(Bits kind, int number)
{
    return cc_from_bits(cc_mark(kind, number));
}

static int cc_has(const Probe *p, int i, int flag) { return (p->flags[i] & flag) != 0; }

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void cc_copy(double *to, const double *from, int count) { __builtin_memcpy(to, from, count * sizeof *to); }

/* After a function: canaries must be as before. */
static void cc_watch(Probe *p, int function)
{
    for (const int *at = p->canaries, *end = at + p->guards; at < end; at++) {
        int i = *at;
        if (cc_bits(p->block[i]) != (0x7FF8ull << 48 | CANARY_MARK << 40 | (unsigned)i)) {
            cc_note_finding(p, (Finding){.what = OVERWRITTEN, .value = p->plan.behind[i], .known = function});
            p->block[i] = cc_marked(CANARY_MARK, i);
        }
    }
}

/* The block after an evaluation of the point. */
static const double *cc_evaluated(Probe *p, const double *point, int on_demand)
{
    cc_copy(p->block, point, p->plan.size);
    cc_check_evaluate(p->block, on_demand);
    cc_watch(p, p->has_on_demand && !on_demand ? RATES : OUTPUTS);
    return p->block;
}

static const double *cc_started(Probe *p, const double *point)
{
    cc_copy(p->block, point, p->plan.size);
    cc_check_start(p->block);
    cc_watch(p, START);
    return p->block;
}

static int cc_breaks_rules(Probe *p, const double *point)
{
    cc_copy(p->block, point, p->plan.size);
    return cc_check_rules(p->block);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* xorshift64*: Vigna, ACM Transactions on Mathematical Software 42 (2016) 30. */
static double cc_uniform(Probe *p, double low, double high)
{
    p->random ^= p->random >> 12, p->random ^= p->random << 25, p->random ^= p->random >> 27;
    return low + (high - low) * (double)(p->random * 2685821657736338717ull >> 11) * 0x1p-53;
}

static int cc_draw(Probe *p, int count) { return (int)cc_uniform(p, 0.0, count); }

/* A number whose power of ten is between these. */
static double cc_power(Probe *p, double low, double high)
{
    return cc_exp(2.302585092994046 * cc_uniform(p, low, high)); /* ln 10 */
}

static double cc_size(const Probe *p, int i, double x)
{
    double nominal = p->plan.nominals[i];
    return x != 0.0 ? cc_abs(x) : nominal != 0.0 ? nominal : 1.0;
}

/* A value that the variable may have; the share of start values is given. */
static double cc_value(Probe *p, int i, double share_of_starts)
{
    double start = p->plan.starts[i], low = p->plan.least[i], high = p->plan.greatest[i], x;
    int has_low = cc_is_finite(low), has_high = cc_is_finite(high);
    if (cc_has(p, i, BOOLEAN))
        return cc_draw(p, 2);
    if (!cc_has(p, i, REAL)) {
        double least = has_low ? low : start - 3.0, most = has_high ? high : start + 3.0;
        return least + cc_draw(p, (int)cc_min(most - least, 100.0) + 1);
    }
    double choice = cc_uniform(p, 0.0, 1.0);
    if (choice < share_of_starts)
        return start;
    if (choice < 0.6 + 0.4 * share_of_starts)
        x = start + cc_size(p, i, start) * cc_power(p, -3.0, 0.3) * cc_uniform(p, -1.0, 1.0);
    else if (low == 0.0 && start > 0.0 && cc_draw(p, 2))
        x = start * cc_power(p, -4.0, 1.0); /* what cannot be negative differs by powers */
    else if (has_low && has_high)
        x = (const double[]){low, high, cc_uniform(p, low, high)}[cc_draw(p, 3)];
    else
        x = (has_low ? low : 0.0) + (cc_draw(p, 3) - 1) * cc_power(p, -3.0, 2.0);
    if (x < low || (cc_has(p, i, ABOVE) && x == low))
        x = low + (x < low ? low - x : cc_power(p, -3.0, 0.0) * (start != low ? cc_abs(start - low) : 1.0));
    if (x > high || (cc_has(p, i, BELOW) && x == high))
        x = high - cc_power(p, -3.0, 0.0) * (high - (has_low ? low : start));
    return x;
}

static void cc_normalize(const Probe *p, double *point)
{
    for (int k = 0; k < p->plan.quaternions.count; k++) {
        double *q = point + (int)p->plan.quaternions.of[k], square = 0.0;
        for (int i = 0; i < 4; i++)
            square += q[i] * q[i];
        for (int i = 0; i < 4 && square > 0.0; i++)
            q[i] /= cc_sqrt(square);
    }
}

/* Gives the point what the element begins with there, of the values with these flags. */
static void cc_begin(Probe *p, double *point, int flags)
{
    const double *begun = cc_started(p, point);
    for (int i = 0; i < p->plan.size; i++)
        if (cc_has(p, i, flags) && cc_is_finite(begun[i]))
            point[i] = begun[i];
}

static void cc_start_point(Probe *p, double *point)
{
    cc_copy(point, p->blank, p->plan.size);
    cc_begin(p, point, MEMORY | STATE);
}

/* Random knowns, with the memory and, of every other point, the states that the element begins with there. */
static void cc_random_point(Probe *p, double *point)
{
    const double shares[] = {(const double[]){0.1, 0.5, 0.9}[cc_draw(p, 3)], 0.9, 1.0};
    for (int k = 0; k < 3; k++) {
        cc_copy(point, p->blank, p->plan.size);
        for (int j = 0; j < p->known; j++)
            point[p->knowns[j]] = cc_value(p, p->knowns[j], shares[k]);
        cc_normalize(p, point);
        if (!cc_breaks_rules(p, point)) {
            cc_begin(p, point, cc_draw(p, 2) ? MEMORY | STATE : MEMORY);
            return;
        }
    }
    cc_start_point(p, point);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static double *cc_reserve(double *memory, long *used, long count)
{
    long begin = *used;
    *used += count;
    return memory ? memory + begin : 0;
}

/* Lays the probe out in memory, zeros, of as many numbers as it returns; without memory it only counts. */
static long cc_set_up(Probe *p, const double *plan, double *memory)
{
    long used = 0;
    *p = (Probe){.plan = cc_plan(plan), .random = 88172645463325252ull};
    int size = p->plan.size, marks = UNSHOWN * (size + p->plan.indicators + 2);
    p->most_found = 4 * size + (p->plan.every ? 1000000 : 1000);
    p->findings = (Finding *)cc_reserve(memory, &used, p->most_found * (long)(sizeof(Finding) / sizeof(double)));
    p->points_at = used;
    p->points = cc_reserve(memory, &used, (long)(p->plan.points + SPARE) * size);
    p->flags = (int *)cc_reserve(memory, &used, size);
    p->canaries = (int *)cc_reserve(memory, &used, size);
    p->knowns = (int *)cc_reserve(memory, &used, size);
    p->block = cc_reserve(memory, &used, size);
    p->blank = cc_reserve(memory, &used, size);
    p->seen = (unsigned char *)cc_reserve(memory, &used, marks / 8 + 1);
    if (!memory)
        return used;
    for (int i = 0; i < size; i++) {
        p->flags[i] = (int)p->plan.flags_at[i];
        if (p->plan.behind[i] != 0.0)
            p->canaries[p->guards++] = i;
        if (cc_has(p, i, KNOWN))
            p->knowns[p->known++] = i;
        p->has_on_demand |= cc_has(p, i, ON_DEMAND);
        p->blank[i] = p->plan.behind[i] != 0.0 ? cc_marked(CANARY_MARK, i)
                    : cc_has(p, i, COMPUTED) ? cc_marked(UNASSIGNED_MARK, i) : p->plan.starts[i];
    }
    return used;
}

#endif
