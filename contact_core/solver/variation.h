/* Sensitivities over one substep: its stages once more, over dual numbers, for each column (../sensitivity.h).
 *
 * Substep     X_s = x_0 + h sum_j a_sj k_j with the slopes k_j that the solver has kept, and in the direction of a
 *             column D_s = D_0 + h sum_j a_sj K_j,  K_s = f_x(X_s) D_s + f_p,  exact to rounding.  The length h and the
 *             time of an event do not vary.
 * Error       That of a column is estimated as that of the states, and a substep whose columns err by too much is
 *             refused: a motion may be unstable, or stiff, beside one whose states rest.  An error that moves no state
 *             is none: the derivative of a sum that does not depend on the start value is rounding, which differs from
 *             stage to stage by as much as it is, in substeps of any length.
 * Crossing    Where the right-hand side jumps from f- to f+ at a zero of the indicator z, whose time varies with the
 *             start value, states behind vary by (saltation)
 *                 D+ = D- + (f- - f+) t',   t' = -(z_x D- + z_p)/(z_x f- + z_t)
 *             Slopes of z are one-sided quotients on the side before the zero.  Where the right-hand side is
 *             continuous, as at a touch-down or where restitution begins, the term is zero.  The short step across the
 *             zero counts with K_s before and behind it.
 *
 * Sources: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.6; Muller, Int. J. Bif. Chaos 5
 * (1995) 1671: saltation. */
#ifndef CC_VARIATION_H
#define CC_VARIATION_H

#include "../sensitivity.h"
#include "bogacki_shampine.h"
#include "dormand_prince.h"

#define CC_SMALL_JUMP 1e-9 /* of a slope, that is none */
#define CC_BESIDE_SHARE 1e-5 /* of the values of a point, for the slope of an indicator */
#define CC_VARIED_TOLERANCE 1e3    /* times that of the states: the error allowed in a substep of a column */
#define CC_VARIED_ROUNDING 1e-12   /* nominal values of a state, by the value of what is followed or 1: no error */
#define CC_SHORTEST_VARIED 0x1p-40 /* of the communication step: substeps this short are not refused for it */
#define CC_TOGETHER 1e-6    /* relative difference of t' of zeros that are crossed together */

/* The stages that a substep evaluates, the weights of its end behind theirs, and those of its error, with the slope at
 * the end. */
typedef struct {
    int stages, estimates;
    double nodes[CC_STAGES - 1], weights[CC_STAGES][CC_STAGES - 1], errors[CC_STAGES];
} CcMethod;

static const CcMethod cc_euler = {1, 0, {0.0}, {{0.0}, {1.0}}, {0.0}};
static const CcMethod cc_short_pair = {3,
                                       1,
                                       {0.0, 0.5, 0.75},
                                       {{0.0}, {0.5}, {0.0, 0.75}, {2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0}},
                                       {-5.0 / 72.0, 6.0 / 72.0, 8.0 / 72.0, -9.0 / 72.0}};

/* The states x_0 and their directions, moved by the slopes of the stages before, into the column. */
static void cc_move_column(Instance *instance, CcColumn *column, const double weights[], int stages, double h)
{
    for (int i = 0; i < CC_STATES; i++) {
        double x = 0.0, direction = 0.0;
        for (int j = 0; j < stages; j++) {
            x += weights[j] * instance->slopes[j][i];
            direction += weights[j] * column->slopes[j][i];
        }
        column->dual[2 * cc_states[i]] = instance->x_0[i] + h * x;
        column->dual[2 * cc_states[i] + 1] = column->x_0[i] + h * direction;
    }
}

/* The largest estimated error of a column, over what is allowed of its largest entry; both in nominal values.  A change
 * of the start value by itself, or by 1, may move states by rounding. */
static double cc_column_error(const CcStep *step, const CcColumn *column, double h, const CcMethod *method)
{
    double worst = 0.0, largest = 0.0, rounding = CC_VARIED_ROUNDING / cc_max(1.0, cc_abs(column->value));
    for (int i = 0; i < CC_STATES; i++) {
        double sum = 0.0, scale = 1.0 / (cc_state_nominals[i] * CC_DUAL_STEP);
        for (int s = 0; s <= method->stages; s++)
            sum += method->errors[s] * column->slopes[s][i];
        worst = cc_max(worst, cc_abs(h * sum) * scale);
        largest = cc_max(largest, cc_abs(column->dual[2 * cc_states[i] + 1]) * scale);
        largest = cc_max(largest, cc_abs(h * column->slopes[0][i]) * scale);
    }
    return worst / cc_max(CC_VARIED_TOLERANCE * step->tolerance * largest, rounding);
}

/* A column from the beginning of a substep, at tau, by its length h.  Returns the error of a method that estimates it,
 * as a multiple of what is allowed. */
static double cc_follow_column(Instance *instance, const CcStep *step, CcColumn *column, double tau, double h,
                             const CcMethod *method)
{
    const double *block = cc_block(instance);
    double *dual = column->dual;
    for (int i = 0; i < CC_STATES; i++)
        column->x_0[i] = dual[2 * cc_states[i] + 1];
    for (int stage = 0; stage < method->stages; stage++) {
        double at = tau + method->nodes[stage] * h;
        if (stage > 0 || !column->fresh) {
            for (int i = 0; i < CC_VARIABLES && !column->fresh; i++)
                dual[2 * i] = block[i];
            column->fresh = 1;
            dual[0] = step->t_c + at;
            for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
                dual[2 * cc_inputs[i]] = instance->input_starts[i] + instance->now.input_rates[i] * at;
            cc_move_column(instance, column, method->weights[stage], stage, h);
            CC_ENTRY(dual)(dual, 0);
        }
        for (int i = 0; i < CC_STATES; i++)
            column->slopes[stage][i] = dual[2 * cc_state_derivatives[i] + 1];
    }
    cc_move_column(instance, column, method->weights[method->stages], method->stages, h);
    if (!method->estimates)
        return 0.0;
    dual[0] = block[0];
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        dual[2 * cc_inputs[i]] = block[cc_inputs[i]];
    CC_ENTRY(dual)(dual, 0);
    for (int i = 0; i < CC_STATES; i++)
        column->slopes[method->stages][i] = dual[2 * cc_state_derivatives[i] + 1];
    return cc_column_error(step, column, h, method);
}

/* Of what is unknown it counts only where it gets to: one stage shows that, and until the next event it stays so. */
static void cc_follow_unknown(Instance *instance, const CcStep *step, double tau, double h)
{
    CcFollowed *f = instance->followed;
    CcColumn *column = f->columns + f->count;
    if (f->settled)
        return;
    cc_follow_column(instance, step, column, tau, h, &cc_euler);
    f->settled = 1;
    for (int i = 0; i < CC_STATES; i++) {
        if (cc_is_faint(column->slopes[0][i], instance->slopes[0][i]))
            column->dual[2 * cc_states[i] + 1] = column->x_0[i];
        else
            f->settled = 0;
    }
}

/* The columns to the end of a substep from tau, where the block is.  Returns the largest error; above 1 they stay at
 * its beginning, unless `shortest`. */
__attribute__((noinline)) static double cc_follow_by(Instance *instance, const CcStep *step, double tau, double end,
                                                     const CcMethod *method, int shortest)
{
    CcFollowed *f = instance->followed;
    double error = 0.0;
    int followed = 0;
    while (followed < f->count && (error <= 1.0 || shortest)) {
        error = cc_max(error, cc_follow_column(instance, step, f->columns + followed, tau, end - tau, method));
        followed++;
    }
    if (error <= 1.0 || shortest) {
        cc_follow_unknown(instance, step, tau, end - tau);
        return cc_min(error, 1.0);
    }
    for (int c = 0; c < followed; c++) {
        f->columns[c].fresh = 0;
        for (int i = 0; i < CC_STATES; i++)
            f->columns[c].dual[2 * cc_states[i] + 1] = f->columns[c].x_0[i];
    }
    return error;
}

/* That of dormand_prince.h. */
static CcMethod cc_long_pair(void)
{
    CcMethod method = {CC_STAGES - 1, 1, {0.0}, {{0.0}}, {0.0}};
    __builtin_memcpy(method.errors, cc_error_weights, sizeof method.errors);
    __builtin_memcpy(method.nodes, cc_nodes, sizeof method.nodes);
    __builtin_memcpy(method.weights, cc_stage_weights, sizeof method.weights);
    return method;
}

/* After a substep of one of the pairs, before its end is accepted.  Returns as cc_follow_by. */
static double cc_follow_substep(Instance *instance, CcStep *step, double tau, double end)
{
    CcMethod method = step->is_short ? cc_short_pair : cc_long_pair();
    int shortest = !(end - tau > CC_SHORTEST_VARIED * step->length);
    return cc_follow_by(instance, step, tau, end, &method, shortest);
}

/* Indicator k at the beginning of the substep before a crossing, moved by `by` in the direction. */
static double cc_indicator_beside(Instance *instance, int k, double by)
{
    CcFollowed *f = instance->followed;
    for (int i = 0; i < CC_VARIABLES; i++)
        f->aside[i] = f->near[i] + by * f->direction[i];
    CC_ENTRY(evaluate)((Element *)f->aside, 0);
    CC_ENTRY(indicators)((const Element *)f->aside, f->z);
    return f->z[k];
}

/* The slope of indicator k in f->direction at the point f->near, on the side of that point. */
static double cc_indicator_slope(Instance *instance, int k)
{
    const CcFollowed *f = instance->followed;
    double by = __builtin_inf();
    for (int i = 0; i < CC_VARIABLES; i++)
        if (f->direction[i] != 0.0)
            by = cc_min(by, CC_BESIDE_SHARE * cc_max(cc_abs(f->near[i]), 1e-3) / cc_abs(f->direction[i]));
    if (!cc_is_finite(by))
        return 0.0;
    double here = cc_indicator_beside(instance, k, 0.0), beside = cc_indicator_beside(instance, k, by);
    if ((here > 0.0) != (beside > 0.0)) {
        by = -by;
        beside = cc_indicator_beside(instance, k, by);
    }
    return (4.0 * beside - 3.0 * here - cc_indicator_beside(instance, k, 2.0 * by)) / (2.0 * by);
}

/* How the time at which indicator k is zero varies with the start value of a column, times CC_DUAL_STEP. */
static double cc_time_variation(Instance *instance, const CcColumn *column, int k)
{
    CcFollowed *f = instance->followed;
    __builtin_memset(f->direction, 0, sizeof f->direction);
    f->direction[0] = 1.0;
    for (int i = 0; i < CC_STATES; i++)
        f->direction[cc_states[i]] = instance->slopes[0][i];
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        f->direction[cc_inputs[i]] = instance->now.input_rates[i];
    double by_time = cc_indicator_slope(instance, k);
    for (int i = 0; i < CC_VARIABLES; i++)
        f->direction[i] = cc_is_kept(i) ? column->dual[2 * i + 1] / CC_DUAL_STEP : 0.0;
    for (int i = 0; i < CC_STATES; i++)
        f->direction[cc_states[i]] = column->x_0[i] / CC_DUAL_STEP;
    return -CC_DUAL_STEP * cc_indicator_slope(instance, k) / by_time;
}

/* Derivatives by time of the slopes x', in place of them, where the block `point` moves with them. */
static void cc_turn_of_slopes(Instance *instance, const double point[], double slopes[])
{
    double *dual = instance->dual;
    for (int i = 0; i < CC_VARIABLES; i++) {
        dual[2 * i] = point[i];
        dual[2 * i + 1] = 0.0;
    }
    dual[1] = CC_DUAL_STEP;
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        dual[2 * cc_inputs[i] + 1] = CC_DUAL_STEP * instance->now.input_rates[i];
    for (int i = 0; i < CC_STATES; i++)
        dual[2 * cc_states[i] + 1] = CC_DUAL_STEP * slopes[i];
    CC_ENTRY(dual)(dual, 0);
    for (int i = 0; i < CC_STATES; i++)
        slopes[i] = dual[2 * cc_state_derivatives[i] + 1] / CC_DUAL_STEP;
}

/* The share of a step across zeros at which the first one lies; 1 if there is none. */
static double cc_share_before(const Instance *instance)
{
    double share = 1.0;
    for (int k = 0; k < CC_INDICATORS; k++)
        if (cc_has_turned(instance, k))
            share = cc_min(share, cc_clamp(instance->z_0[k] / (instance->z_0[k] - instance->z_1[k]), 0.0, 1.0));
    return share;
}

/* The point before the step across a zero: the states x_0 at tau, and the memory that was not yet accepted. */
static void cc_point_before(Instance *instance, CcStep *step, double tau, double end)
{
    CcFollowed *f = instance->followed;
    const double *block = cc_block(instance);
    cc_place(instance, step, tau);
    __builtin_memcpy(f->near, f->point, sizeof f->near);
    f->near[0] = block[0];
    for (int i = 0; i < CC_INPUTS; i++)
        f->near[cc_inputs[i]] = block[cc_inputs[i]];
    for (int i = 0; i < CC_STATES; i++)
        f->near[cc_states[i]] = instance->x_0[i];
    cc_place(instance, step, end);
}

/* What a column gains where slopes jump, f- - f+ in `jumps`, at the zeros that were crossed. */
static void cc_add_saltation(Instance *instance, CcColumn *column, const double jumps[])
{
    double varies = 0.0;
    int seen = 0, apart = 0;
    for (int k = 0; k < CC_INDICATORS; k++) {
        if (!cc_has_turned(instance, k))
            continue;
        double now = cc_time_variation(instance, column, k);
        apart |= seen && !(cc_abs(now - varies) <= CC_TOGETHER * (cc_abs(now) + cc_abs(varies)));
        varies = now;
        seen = 1;
    }
    for (int i = 0; i < CC_STATES; i++) {
        if (jumps[i] == 0.0)
            continue;
        if (apart || !cc_is_finite(varies))
            cc_set_unknown(instance->followed, cc_states[i]);
        else
            column->dual[2 * cc_states[i] + 1] += jumps[i] * varies;
    }
}

/* After the step across a zero from x_0 at tau, which is accepted: what its slopes, those before the zero, leave out.
 * Jumps of slopes count without what the slopes change by on the way. */
__attribute__((noinline)) static void cc_follow_crossing(Instance *instance, CcStep *step, double tau, double end)
{
    CcFollowed *f = instance->followed;
    const double *block = cc_block(instance);
    double h = end - tau, share = cc_share_before(instance);
    double before[CC_STATES + 1], behind[CC_STATES + 1], jumps[CC_STATES + 1];
    int jumped = 0;
    f->settled = f->crosses = 0;
    cc_point_before(instance, step, tau, end);
    for (int i = 0; i < CC_STATES; i++) {
        before[i] = instance->slopes[0][i];
        behind[i] = block[cc_state_derivatives[i]];
    }
    cc_turn_of_slopes(instance, f->near, before);
    cc_turn_of_slopes(instance, block, behind);
    for (int i = 0; i < CC_STATES; i++) {
        double from = instance->slopes[0][i], to = block[cc_state_derivatives[i]];
        double size = cc_max(cc_abs(instance->x_0[i]), cc_state_nominals[i]);
        double jump = from - to + h * (share * before[i] + (1.0 - share) * behind[i]);
        int is_small = cc_abs(jump) <= CC_SMALL_JUMP * (cc_abs(from) + cc_abs(to))
                       || cc_abs(jump) * step->length <= 1e-3 * step->tolerance * size;
        jumps[i] = is_small ? 0.0 : jump;
        jumped |= !is_small;
    }
    for (int c = 0; c <= f->count; c++) {
        CcColumn *column = f->columns + c;
        if (jumped)
            cc_add_saltation(instance, column, jumps);
        if (c == f->count)
            break;
        cc_evaluate_column(instance, column, 0);
        for (int i = 0; i < CC_STATES; i++) {
            double slope = column->dual[2 * cc_state_derivatives[i] + 1];
            column->dual[2 * cc_states[i] + 1] += (1.0 - share) * h * (slope - column->slopes[0][i]);
        }
        column->fresh = 0;
    }
}

#endif
