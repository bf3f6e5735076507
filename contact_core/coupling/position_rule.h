/* The position rule of a body's integrator, from its motion.
 *
 * A body that steps from r, v to r_1, v_1 in the interval H moves by
 *
 *     r_1 - r = H v + beta H (v_1 - v)        beta: exact 1/2, explicit Euler 0, semi-implicit Euler in n substeps
 *                                             (1 + 1/n)/2
 *
 * beta is the least-squares slope of rest = r_1 - r - H v over turn = H (v_1 - v), with sums that forget.  A body that
 * bends leaves the parabola too, by no multiple of the turn: where that matters another beta than 1/2 is taken only if
 * it leaves next to nothing of what 1/2 leaves. */
#ifndef CC_POSITION_RULE_H
#define CC_POSITION_RULE_H

#include "../base/real.h"

#define CC_RULE_FORGETS 0.8  /* share that the sums keep from interval to interval */
#define CC_RULE_LEAST 1e-3   /* of H times the speeds: a smaller turn shows the rounding of the positions */
#define CC_RULE_SURE 0.05    /* squares that beta leaves over those that 1/2 leaves, to take it */
#define CC_RULE_BETA_LEAST -0.1 /* values of beta that an integrator can have, with a margin */
#define CC_RULE_BETA_MOST 1.1

/* Add one interval: sum[0] of rest times turn, sum[1] of turn squared. */
CC_API void cc_rule_add(double sum[2], double rest_turn, double turn_turn)
{
    sum[0] = CC_RULE_FORGETS * sum[0] + rest_turn;
    sum[1] = CC_RULE_FORGETS * sum[1] + turn_turn;
}

/* beta; 1/2 where nothing or nonsense is seen. */
CC_API double cc_rule_beta(const double sum[2])
{
    double beta = sum[1] > 0.0 ? sum[0] / sum[1] : 0.5;
    return beta > CC_RULE_BETA_LEAST && beta < CC_RULE_BETA_MOST ? beta : 0.5;
}

/* Likewise where it explains the motion; rest_rest: the sum of rest squared. */
CC_API double cc_rule_sure_beta(const double sum[2], double rest_rest)
{
    double beta = cc_rule_beta(sum), left = rest_rest - beta * (2.0 * sum[0] - beta * sum[1]);
    return left < CC_RULE_SURE * (rest_rest - sum[0] + 0.25 * sum[1]) ? beta : 0.5;
}

#endif
