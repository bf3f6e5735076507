/* One substep with the linearly implicit method RODAS of order 4(3), L-stable and stiffly accurate, for stiff systems.
 *
 * With J = df/dx and f_t = df/dt at the beginning, both exact (dual numbers), and g = 1/4:
 *
 *   (I/(g h) - J) u_s = f(t_0 + c_s h, x_0 + sum_{j<s} a_sj u_j) + sum_{j<s} (b_sj/h) u_j + d_s h f_t     s = 1 .. 6
 *   x_1 = x_0 + sum_j m_j u_j;   the argument of stage 6 is that of stage 5 plus u_5, x_1 is that of stage 6 plus u_6
 *   error = u_6, of order h^4
 *
 * Only the states that some right-hand side depends on while they change (cc_core) take part in the linear system; the
 * others, the ledgers, follow by insertion: u_q = g h (r_q + sum_core J_qc u_c).  Where a right-hand side depends on
 * one that does not change there, u_q = 0, and the column that is left out meets it alone.
 *
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II, IV.7 and IV.10 (coefficients of RODAS). */
#ifndef CC_ROSENBROCK_H
#define CC_ROSENBROCK_H

#include "../base/factor.h"
#include "substep.h"

#define CC_GAMMA 0.25
#define CC_SLOPE_SHARE 1e-3 /* of a substep: where the slopes of indicators at its beginning are taken */
#define CC_POWERS 5 /* of J, to estimate its largest rate */

static const double cc_rosenbrock_nodes[CC_ROSENBROCK_STAGES] = {0.0, 0.386, 0.21, 0.63, 1.0, 1.0};
static const double cc_rosenbrock_time[CC_ROSENBROCK_STAGES] = {0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0};
static const double cc_rosenbrock_arguments[CC_ROSENBROCK_STAGES][CC_ROSENBROCK_STAGES] = {
    {0.0},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0}};
static const double cc_rosenbrock_couplings[CC_ROSENBROCK_STAGES][CC_ROSENBROCK_STAGES] = {
    {0.0},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};

/* J and f_t at the block, the beginning of the substep.  0 if they are not finite. */
static int cc_linearize(Instance *instance, CcStep *step)
{
    const double *block = cc_block(instance);
    double *dual = instance->dual, sum = 0.0;
    for (int i = 0; i < CC_VARIABLES; i++) {
        dual[2 * i] = block[i];
        dual[2 * i + 1] = 0.0;
    }
    for (int c = 0; c < CC_CORE; c++) {
        int state = cc_states[cc_core[c]];
        dual[2 * state + 1] = CC_DUAL_STEP;
        CC_ENTRY(dual)(dual, 0);
        dual[2 * state + 1] = 0.0;
        for (int i = 0; i < CC_STATES; i++) {
            instance->jacobian[i][c] = dual[2 * cc_state_derivatives[i] + 1] / CC_DUAL_STEP;
            sum += 0.0 * instance->jacobian[i][c]; /* NaN of a number that is not finite */
        }
    }
    dual[1] = CC_DUAL_STEP;
    if (instance->now.extrapolate != 0.0)
        for (int i = 0; i < CC_INPUTS; i++)
            dual[2 * cc_inputs[i] + 1] = instance->now.input_rates[i] * CC_DUAL_STEP;
    CC_ENTRY(dual)(dual, 0);
    for (int i = 0; i < CC_STATES; i++) {
        instance->time_slope[i] = dual[2 * cc_state_derivatives[i] + 1] / CC_DUAL_STEP;
        sum += 0.0 * instance->time_slope[i];
    }
    step->evaluations += CC_CORE + 1;
    return sum == 0.0;
}

/* The first state whose derivative x' has a derivative by a core state or by time that is not finite, -1 if there is
 * none; `by` is the variable of that direction. */
CC_RARE int cc_first_not_linear(const Instance *instance, int *by)
{
    for (int i = 0; i < CC_STATES; i++) {
        *by = 0;
        if (!cc_is_finite(instance->time_slope[i]))
            return i;
        for (int c = 0; c < CC_CORE; c++) {
            *by = cc_states[cc_core[c]];
            if (!cc_is_finite(instance->jacobian[i][c]))
                return i;
        }
    }
    return -1;
}

/* An estimate of the largest rate |lambda| of J: how much its last one of CC_POWERS products stretches a vector that
 * began with the allowed errors. */
static double cc_fastest_rate(Instance *instance, const CcStep *step)
{
    double size = 0.0, before = 1.0;
    double w[CC_CORE + 1], product[CC_CORE + 1];
    for (int a = 0; a < CC_CORE; a++)
        w[a] = cc_allowed(instance, step, cc_core[a], 0.0);
    for (int power = 0; power < CC_POWERS; power++) {
        before = size;
        size = 0.0;
        for (int a = 0; a < CC_CORE; a++) {
            product[a] = 0.0;
            for (int b = 0; b < CC_CORE; b++)
                product[a] += instance->jacobian[cc_core[a]][b] * w[b];
            size += cc_abs(product[a]) / cc_allowed(instance, step, cc_core[a], 0.0);
        }
        for (int a = 0; a < CC_CORE; a++)
            w[a] = product[a];
    }
    return before > 0.0 ? size / before : 0.0;
}

/* Factors of I/(g h) - J over the core states.  0 if it is singular, or not finite. */
static int cc_factorize(Instance *instance, double h)
{
    double *factors = instance->factors;
    for (int a = 0; a < CC_CORE; a++)
        for (int b = 0; b < CC_CORE; b++)
            factors[a * CC_CORE + b] = (a == b ? 1.0 / (CC_GAMMA * h) : 0.0) - instance->jacobian[cc_core[a]][b];
    cc_factor(CC_CORE, factors, instance->pivots);
    for (int a = 0; a < CC_CORE; a++) {
        double pivot = factors[a * CC_CORE + a]; /* an infinite one would hold its state */
        if (!(cc_abs(pivot) > 0.0) || !cc_is_finite(pivot))
            return 0;
    }
    return 1;
}

/* u from the right-hand side in the same place. */
static void cc_solve(Instance *instance, double h, double u[CC_STATES])
{
    double core[CC_CORE + 1];
    for (int a = 0; a < CC_CORE; a++)
        core[a] = u[cc_core[a]];
    cc_factor_solve(CC_CORE, instance->factors, instance->pivots, core);
    for (int i = 0; i < CC_STATES; i++) {
        for (int b = 0; b < CC_CORE; b++)
            u[i] += instance->jacobian[i][b] * core[b];
        u[i] *= CC_GAMMA * h;
    }
    for (int a = 0; a < CC_CORE; a++)
        u[cc_core[a]] = core[a];
}

/* The substep from x_0 at tau to `end`, where the block is left evaluated.  Returns the share at which the first zero
 * of an indicator is expected, CC_NO_ZERO if there is none. */
static double cc_implicit_stages(Instance *instance, CcStep *step, double tau, double end)
{
    double *block = cc_block(instance), h = end - tau;
    if (!cc_factorize(instance, h)) {
        for (int i = 0; i < CC_STATES; i++)
            instance->u[CC_ROSENBROCK_STAGES - 1][i] = __builtin_inf(); /* refused for its error */
        return CC_NO_ZERO;
    }
    for (int stage = 0; stage < CC_ROSENBROCK_STAGES; stage++) {
        double *u = instance->u[stage];
        if (stage > 0) {
            for (int i = 0; i < CC_STATES; i++) {
                instance->x_1[i] = instance->x_0[i];
                for (int s = 0; s < stage; s++)
                    instance->x_1[i] += cc_rosenbrock_arguments[stage][s] * instance->u[s][i];
            }
            double node = cc_rosenbrock_nodes[stage];
            cc_evaluate_at(instance, step, node < 1.0 ? tau + node * h : end);
        }
        for (int i = 0; i < CC_STATES; i++) {
            u[i] = (stage == 0 ? instance->slopes[0][i] : block[cc_state_derivatives[i]])
                   + cc_rosenbrock_time[stage] * h * instance->time_slope[i];
            for (int s = 0; s < stage; s++)
                u[i] += cc_rosenbrock_couplings[stage][s] / h * instance->u[s][i];
        }
        cc_solve(instance, h, u);
    }
    for (int i = 0; i < CC_STATES; i++)
        instance->x_1[i] += instance->u[CC_ROSENBROCK_STAGES - 1][i];
    cc_evaluate_at(instance, step, end);
    double zero = cc_expected_zero(instance, step, 1.0, 1.0);
    if (zero < CC_NO_ZERO) { /* look again with the slopes at the beginning, where the zero may be as well */
        for (int i = 0; i < CC_STATES; i++)
            instance->x_between[i] = instance->x_0[i] + CC_SLOPE_SHARE * h * instance->slopes[0][i];
        cc_evaluate_with(instance, step, instance->x_between, tau + CC_SLOPE_SHARE * h);
        zero = cc_expected_zero(instance, step, CC_SLOPE_SHARE, 1.0 / CC_SLOPE_SHARE);
        if (zero < CC_NO_ZERO)
            return zero;
        cc_evaluate_at(instance, step, end);
        zero = cc_expected_zero(instance, step, 1.0, 0.0);
    }
    return zero;
}

/* The largest estimated error as a multiple of what is allowed. */
static double cc_implicit_error(Instance *instance, CcStep *step)
{
    double worst = 0.0;
    for (int i = 0; i < CC_STATES; i++) {
        double way = cc_abs(instance->x_1[i] - instance->x_0[i]);
        double error = cc_abs(instance->u[CC_ROSENBROCK_STAGES - 1][i]) / cc_allowed(instance, step, i, way);
        if (!(error <= worst) && cc_is_finite(worst)) {
            worst = error;
            step->worst_state = i;
        }
    }
    return worst;
}

#endif
