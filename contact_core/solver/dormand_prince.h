/* One substep with the explicit Runge-Kutta pair of order 5(4) by Dormand and Prince, and its dense output.
 *
 * Stages      x_s = x_0 + h sum_{j<s} a_sj k_j,   k_s = f(t_0 + c_s h, x_s);   the last stage is the end of the substep
 * Error       h sum_s e_s k_s, of order h^5
 * Between     x(theta) = x_0 + theta (d + (1-theta) (b + theta (d - h k_7 - b + (1-theta) h sum_s p_s k_s))),
 *             d = x_1 - x_0,  b = h k_1 - d;  of order h^4, 0 <= theta <= 1
 * Stiffness   h |k_7 - k_6| / |x_7 - x_6|, an estimate of h times the largest rate: stages 6 and 7 both belong to t_1
 *
 * Sources: Dormand & Prince, J. Comp. Appl. Math. 6 (1980) 19; dense output and stiffness: Hairer, Norsett & Wanner,
 * Solving Ordinary Differential Equations I, II.6 and IV.2. */
#ifndef CC_DORMAND_PRINCE_H
#define CC_DORMAND_PRINCE_H

#include "substep.h"

static const double cc_nodes[CC_STAGES] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};
static const double cc_stage_weights[CC_STAGES][CC_STAGES - 1] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double cc_error_weights[CC_STAGES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
static const double cc_dense_weights[CC_STAGES] = {
    -12715105075.0 / 11282082432.0, 0.0, 87487479700.0 / 32700410799.0, -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0};

/* x_1 = the states of a stage.  One loop over the states for each stage, in which the weights are numbers. */
static inline void cc_stage_states(Instance *instance, int stage, double h)
{
    const double *a = cc_stage_weights[stage], *x_0 = instance->x_0, *k_1 = instance->slopes[0];
    const double *k_2 = instance->slopes[1], *k_3 = instance->slopes[2], *k_4 = instance->slopes[3];
    const double *k_5 = instance->slopes[4], *k_6 = instance->slopes[5];
    double *restrict x = instance->x_1;
    switch (stage) {
    case 1:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i]);
        break;
    case 2:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i] + a[1] * k_2[i]);
        break;
    case 3:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i] + a[1] * k_2[i] + a[2] * k_3[i]);
        break;
    case 4:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i] + a[1] * k_2[i] + a[2] * k_3[i] + a[3] * k_4[i]);
        break;
    case 5:
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i] + a[1] * k_2[i] + a[2] * k_3[i] + a[3] * k_4[i] + a[4] * k_5[i]);
        break;
    default: /* a[1] is zero */
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            x[i] = x_0[i] + h * (a[0] * k_1[i] + a[2] * k_3[i] + a[3] * k_4[i] + a[4] * k_5[i] + a[5] * k_6[i]);
    }
}

/* The stages behind the first, from x_0 at tau to `end`, where the block is left evaluated; broken off at the first
 * state behind a zero of an indicator.  Returns the share of the substep at which that zero is expected, CC_NO_ZERO if
 * there is none. */
static double cc_explicit_stages(Instance *instance, CcStep *step, double tau, double end)
{
    double *block = cc_block(instance), h = end - tau;
    for (int stage = 1; stage < CC_STAGES; stage++) {
        cc_stage_states(instance, stage, h);
        cc_evaluate_at(instance, step, cc_nodes[stage] < 1.0 ? tau + cc_nodes[stage] * h : end);
        double zero = cc_expected_zero(instance, step, cc_nodes[stage], stage == 1 ? 5.0 : 0.0);
        if (zero < CC_NO_ZERO)
            return zero;
        CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
            instance->slopes[stage][i] = block[cc_state_derivatives[i]];
        if (stage == CC_STAGES - 2)
            CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
                instance->x_late[i] = instance->x_1[i];
    }
    return CC_NO_ZERO;
}

/* The largest estimated error as a multiple of what is allowed, and the estimate of h times the largest rate. */
static double cc_explicit_error(Instance *instance, CcStep *step, double h, double *stiffness)
{
    const double *e = cc_error_weights, *k_1 = instance->slopes[0], *k_3 = instance->slopes[2];
    const double *k_4 = instance->slopes[3], *k_5 = instance->slopes[4], *k_6 = instance->slopes[5];
    const double *k_7 = instance->slopes[6];
    double worst = 0.0, far = 0.0, fast = 0.0;
    for (int i = 0; i < CC_STATES; i++) { /* e[1] is zero */
        double sum = e[0] * k_1[i] + e[2] * k_3[i] + e[3] * k_4[i] + e[4] * k_5[i] + e[5] * k_6[i] + e[6] * k_7[i];
        double steepest = cc_max(cc_abs(k_1[i]), cc_max(cc_abs(k_4[i]), cc_abs(k_7[i])));
        double scale = 1.0 / cc_allowed(instance, step, i, h * steepest), error = h * cc_abs(sum) * scale;
        if (!(error <= worst) && cc_is_finite(worst)) {
            worst = error;
            step->worst_state = i;
        }
        double apart = (instance->x_1[i] - instance->x_late[i]) * scale, turned = (k_7[i] - k_6[i]) * scale;
        far += apart * apart;
        fast += turned * turned;
    }
    *stiffness = far > 0.0 ? h * cc_sqrt(fast / far) : 0.0;
    return worst;
}

/* States between the ends of a finished substep, into x_between; of a short one without the term p, of order h^3. */
static void cc_dense_output(Instance *instance, const CcStep *step, double h, double theta)
{
    for (int i = 0; i < CC_STATES; i++) {
        double d = instance->x_1[i] - instance->x_0[i], b = h * instance->slopes[0][i] - d, p = 0.0;
        for (int s = 0; s < CC_STAGES && !step->is_short; s++)
            p += cc_dense_weights[s] * instance->slopes[s][i];
        double inner = d - h * instance->slopes[CC_STAGES - 1][i] - b + (1.0 - theta) * h * p;
        instance->x_between[i] = instance->x_0[i] + theta * (d + (1.0 - theta) * (b + theta * inner));
    }
}

#endif
