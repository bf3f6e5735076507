/* An assembly called at some points: its order of evaluation has to give the bits of an evaluation in any order.
 *
 * The order follows from what its parts declare; an evaluation in it begins with NaN wherever something is computed. */
#include "probe.h"

CC_HIDDEN int cc_check_settle(double *block, double *before);

static long lay_out(Probe *p, const double *plan, double *memory, double **scheduled, double **before)
{
    long used = cc_set_up(p, plan, memory);
    *scheduled = cc_reserve(memory, &used, p->plan.size);
    *before = cc_reserve(memory, &used, p->plan.size);
    return used;
}

CC_EXPORT long cc_check_memory(const double *plan)
{
    Probe p;
    double *scheduled, *before;
    return lay_out(&p, plan, 0, &scheduled, &before);
}

/* Fills the memory, which holds zeros: findings, and behind them the points they were made at. */
CC_EXPORT void cc_check_run(const double *plan, double *memory, Counts *counts)
{
    Probe p;
    double *scheduled, *before;
    lay_out(&p, plan, memory, &scheduled, &before);
    for (int k = 0; k < p.plan.points; k++) {
        double *point = p.points + (long)k * p.plan.size;
        if (k)
            cc_random_point(&p, point);
        else
            cc_start_point(&p, point);
        p.point_is = p.tried++;
        cc_copy(scheduled, cc_evaluated(&p, point, 1), p.plan.size);
        cc_copy(p.block, point, p.plan.size);
        cc_check_settle(p.block, before);
        for (int i = 0; i < p.plan.size; i++) {
            double a = scheduled[i], b = p.block[i];
            if (cc_has(&p, i, COMPUTED) && cc_bits(a) != cc_bits(b) && (a == a || b == b))
                cc_note_finding(&p, (Finding){.what = DISORDERED, .value = i});
        }
    }
    cc_count_findings(&p, counts);
    counts->tried = p.tried;
}
