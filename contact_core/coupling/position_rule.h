/* The position rule of a body's integrator, from its motion.
 *
 * A body that steps from r, v to r_1, v_1 in the interval H moves by
 *
 *     r_1 - r = H v + beta H (v_1 - v)        beta: exact 1/2, explicit Euler 0, semi-implicit Euler in n substeps
 *                                             (1 + 1/n)/2
 *
 * beta is the least-squares slope of rest = r_1 - r - H v over turn = H (v_1 - v), with sums that forget.  A body that
 * bends leaves the parabola too, by no multiple of the turn: where that matters another beta than 1/2 is taken only if
 * it leaves less than 1/20 of the squares that 1/2 leaves.  One that meets a rigid stop, or is set to another speed,
 * turns at once, at any time of the interval: that one interval looks like any beta.  So an interval counts no more
 * than if its turn were the sum of the largest of the three before, with which what swings is not limited as it grows,
 * and of what the force of this element may have made.
 *
 * Where steps vary the way shows the length of the interval too: that of the step before, H_0, or of the step to come,
 * H_1, where a master steps the bodies first: they are then at its end already.  |r_1 - r - H (v + v_1)/2| is summed
 * for both lengths over intervals in which they differ; for beta = 1/2 the sum with the right length is 0.
 *
 * A speed in a wrong unit, as mm/s, is a multiple of that of the way D = r_1 - r: D = s Q with the same s in each
 * interval, Q = H v, H v_1 or their mean, which is that of beta 0, 1, 1/2.  What swings with omega has s =
 * tan(omega H/2)/(omega H/2), above 1 for more than two samples a period; a body that is stepped less often, or that
 * something hits, has no such s twice; and where H_1 is the length, s = H_1/H_0 of few intervals.  A velocity of the
 * wrong sign has s = -1; where v turns round s has both signs, and shows nothing. */
#ifndef CC_POSITION_RULE_H
#define CC_POSITION_RULE_H

#include "../base/vector.h"
#include "lag.h"

#define CC_RULE_FORGETS 0.8  /* share that the sums keep from interval to interval */
#define CC_RULE_LEAST 1e-3   /* of H times the speeds: a smaller turn shows the rounding of the positions */
#define CC_RULE_SURE 0.05    /* squares that beta leaves over those that 1/2 leaves, to take it */
#define CC_RULE_BETA_LEAST -0.1 /* values of beta that an integrator can have, with a margin */
#define CC_RULE_BETA_MOST 1.1
#define CC_RULE_EXACT 1e-9      /* of beta: nearer to 1/2 is 1/2 */
#define CC_RULE_LASTS 0.98      /* share that the sums of the lengths keep: a master remains what it is */
#define CC_RULE_LENGTH 0.5      /* sum of H_1 over that of H_0, below which H_1 is taken */
#define CC_RULE_ROUNDING 1e-9   /* of a place: a gap that is less is rounding */
#define CC_RULE_MARGIN 1.1      /* of H times the speeds: what a velocity of the wrong sign leaves is close to that */
#define CC_RULE_SLOW 0.4        /* s, below which the speeds are too large for the way; km/h: 0.28, */
#define CC_RULE_RIGHT 0.5       /* and from which to its inverse they are not */
#define CC_RULE_ALIKE 0.05      /* by how much of it s may differ from that of the first of such intervals */
#define CC_RULE_STRAIGHT 1e-2   /* squares that s may leave of D */
#define CC_RULE_PATIENT 0.5     /* what such a sample counts of one whose v does not belong to r */
#define CC_MOST_MISMATCHED 3.0  /* samples in a row whose v does not belong to r, from which on the law itself acts */

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

/* All that an element remembers of it: doubles only, part of the FMU state. */
typedef struct {
    double sum[2], rest CC_FROM(0), beta CC_IN(-0.1, 1.1); /* sums of rest turn and turn^2; of rest^2 */
    double turned[3] CC_FROM(0), began CC_IN(0, 1); /* turns of the intervals before, m; 1 after the first one */
    double fastest CC_FROM(0);    /* sum of the speeds at both ends of a recent interval, fading, m/s */
    double mismatched CC_FROM(0); /* samples in a row whose v did not belong to r */
    double stale CC_FROM(0);      /* s: how long r has been shown unchanged, though v moves it */
    double left[2] CC_FROM(0);    /* sums of what H_0 and H_1 leave of the way */
    double paces[3];              /* s of the first of the intervals that are alike; 0 where v is not too large */
    double reported CC_IN(0, 1);  /* 1 after cc_is_newly_mismatched */
} CcPositionRule;

/* (beta - 1/2) H, s: of the speed, by which the place at a sample is off the parabola on which a body of the rule beta
 * has the kinetic energy of its speed. */
CC_SMALL double cc_rule_shift(double beta, double H) { return (beta - 0.5) * H; }

/* x on that parabola, or a way, of the change v of the speed. */
CC_SMALL double cc_rule_place(double beta, double H, double x, double v) { return x - cc_rule_shift(beta, H) * v; }

/* The mean speed of an interval by the rule beta, in which v_0 became v. */
CC_SMALL double cc_rule_speed(double beta, double v_0, double v) { return v_0 + beta * (v - v_0); }

/* Add an interval with a turn of the size `turn`, if that is above `least`; own: turn that the force of this element
 * may have made. */
CC_API void cc_rule_add(CcPositionRule *p, double turn, double own, double least, double rest_turn, double rest_rest)
{
    double before = cc_max(cc_max(p->turned[0], p->turned[1]), p->turned[2]), most = before + own;
    double share = p->began == 0.0 || turn < most ? 1.0 : most / turn, weight = share * share;
    cc_put_first(p->turned, 3, 1, &turn);
    p->began = 1.0;
    if (!(turn > least))
        return;
    p->sum[0] = cc_faded(CC_RULE_FORGETS, p->sum[0]) + weight * rest_turn;
    p->sum[1] = cc_faded(CC_RULE_FORGETS, p->sum[1]) + weight * turn * turn;
    p->rest = cc_faded(CC_RULE_FORGETS, p->rest) + weight * rest_rest;
}

/* The length of the interval in which r went the way `way` to a place of the distance `far` from the origin, and v_0
 * became v: H_0 or H_1. */
CC_API double cc_rule_length(CcPositionRule *p, double H_0, double H_1, const double way[3], const double v_0[3],
                             const double v[3], double far)
{
    double gap[2][3], mean[3];
    for (int i = 0; i < 3; i++) {
        mean[i] = 0.5 * (v_0[i] + v[i]);
        gap[0][i] = way[i] - H_0 * mean[i];
        gap[1][i] = way[i] - H_1 * mean[i];
    }
    double apart = cc_abs(H_1 - H_0);
    if (apart > CC_RULE_LEAST * H_1 && apart * cc_norm(mean) > CC_RULE_ROUNDING * far)
        for (int j = 0; j < 2; j++)
            p->left[j] = cc_faded(CC_RULE_LASTS, p->left[j]) + cc_norm(gap[j]);
    return p->left[1] < CC_RULE_LENGTH * p->left[0] ? H_1 : H_0;
}

/* What the speeds at both ends of the interval H, of the sum `speed`, explain of a way at most.  What bends may pass
 * several samples hardly moving, and move between them; `far`: distance from the origin. */
CC_API double cc_rule_explains(const CcPositionRule *p, double speed, double H, double far)
{
    return CC_RULE_MARGIN * H * cc_max(speed, cc_faded(CC_RULE_FORGETS, p->fastest)) + CC_RULE_ROUNDING * far;
}

enum { CC_PACE_UNKNOWN, CC_PACE_RIGHT, CC_PACE_TURNS, CC_PACE_TOO_FAST };

/* What the speeds v_0 and v at both ends of the interval H, in n directions, are for its way, and s by v_0, by their
 * mean and by v. */
CC_API int cc_rule_paces(int n, const double *way, const double *v_0, const double *v, double H, double far,
                         double s[3])
{
    double DQ[3] = {0.0}, QQ[3] = {0.0}, DD = 0.0, least = CC_RULE_ROUNDING * far;
    int slow = 1, along = 0, against = 0, right = 0;
    for (int i = 0; i < n; i++) {
        double Q[3] = {H * v_0[i], 0.5 * H * (v_0[i] + v[i]), H * v[i]};
        for (int j = 0; j < 3; j++)
            DQ[j] += way[i] * Q[j], QQ[j] += Q[j] * Q[j];
        DD += way[i] * way[i];
    }
    for (int j = 0; j < 3; j++) {
        int shown = QQ[j] > least * least && QQ[j] * DD - DQ[j] * DQ[j] < CC_RULE_STRAIGHT * QQ[j] * DD;
        s[j] = shown ? DQ[j] / QQ[j] : 0.0;
        slow &= s[j] < CC_RULE_SLOW, along |= s[j] > 0.0, against |= s[j] < 0.0;
        right |= s[j] > CC_RULE_RIGHT && s[j] < 1.0 / CC_RULE_RIGHT;
    }
    if (slow && (along || against))
        return along && against ? CC_PACE_TURNS : CC_PACE_TOO_FAST;
    return right ? CC_PACE_RIGHT : CC_PACE_UNKNOWN;
}

/* How many times too large for the way the speeds are, below 0 where they point the other way; 0 where that is no one
 * number. */
CC_API double cc_rule_ratio(const CcPositionRule *p)
{
    double s = cc_abs(p->paces[0]) > cc_abs(p->paces[2]) ? p->paces[0] : p->paces[2];
    s = p->paces[1] != 0.0 ? p->paces[1] : s;
    return s != 0.0 ? 1.0 / s : 0.0;
}

/* The interval H whose way was off by `gap`, with what cc_rule_paces gives.  Speeds that are found too large stay so
 * until four intervals more show right ones: where v turns round one of them may. */
CC_API void cc_rule_meets_gap(CcPositionRule *p, double gap, double speed, double H, double far, int pace,
                              const double s[3])
{
    int same[3], alike = pace == CC_PACE_TURNS, fast = pace == CC_PACE_TOO_FAST, stays = alike;
    int found = cc_rule_ratio(p) != 0.0 && p->mismatched >= CC_MOST_MISMATCHED;
    for (int j = 0; j < 3; j++) {
        same[j] = fast && cc_abs(s[j] - p->paces[j]) < CC_RULE_ALIKE * cc_abs(p->paces[j]);
        alike |= same[j];
    }
    int broken = !alike && gap > cc_rule_explains(p, speed, H, far);
    for (int j = 0; j < 3; j++) {
        double now = fast ? s[j] : found || stays ? p->paces[j] : 0.0;
        p->paces[j] = broken ? 0.0 : same[j] ? p->paces[j] : now;
    }
    double before = alike || found ? p->mismatched - (pace == CC_PACE_RIGHT) : 0.0;
    double patient = cc_min(before + fast * CC_RULE_PATIENT, 2.0 * CC_MOST_MISMATCHED);
    p->mismatched = broken ? p->mismatched + 1.0 : patient;
    p->fastest = cc_max(speed, cc_faded(CC_RULE_FORGETS, p->fastest));
}

/* 1 if neither the speeds nor the own force, whose turn is at most `own`, explain the way of that interval: whoever
 * moves the bodies has put them elsewhere.  Not where speeds explain none, and not in the first interval, whose inputs
 * may have been wired late.  Bodies that are stepped less often go in one interval the way of several. */
CC_API int cc_rule_is_broken(const CcPositionRule *p, double gap, double speed, double H, double own, double far)
{
    int comparable = p->began != 0.0 && p->mismatched < CC_MOST_MISMATCHED;
    return comparable && gap > cc_rule_explains(p, speed, H + p->stale, far) + own;
}

/* 1 where v is not connected: the law at the inputs acts. */
CC_API int cc_is_mismatched(const CcPositionRule *p) { return p->mismatched >= CC_MOST_MISMATCHED; }

/* 1 there, and where speeds seem to be a multiple of those of the way, in more than `patient` of intervals that are
 * alike and count CC_RULE_PATIENT each: a wrong velocity can throw a body off before it is found. */
CC_API int cc_rule_doubts(const CcPositionRule *p, double patient)
{
    return cc_is_mismatched(p) || (p->mismatched > patient && cc_rule_ratio(p) != 0.0);
}

/* 1 the first time that v is found not to belong to r. */
CC_API int cc_is_newly_mismatched(CcPositionRule *p)
{
    int first = cc_is_mismatched(p) && p->reported == 0.0;
    p->reported = first ? 1.0 : p->reported;
    return first;
}

/* The interval H in which r went the way `way` to a place of the distance `far` from the origin, and v_0 became v; own:
 * acceleration that the force of this element may have made, m/s^2. */
CC_API void cc_rule_see(CcPositionRule *p, const double way[3], const double v_0[3], const double v[3], double H,
                        double own, double far)
{
    double gap[3], s[3], rest_turn = 0.0, turn_turn = 0.0, rest_rest = 0.0, speed = cc_norm(v) + cc_norm(v_0);
    double least = CC_RULE_LEAST * H * speed;
    for (int i = 0; i < 3; i++) {
        double turn = H * (v[i] - v_0[i]), rest = way[i] - H * v_0[i];
        gap[i] = rest - p->beta * turn;
        rest_turn += rest * turn, turn_turn += turn * turn, rest_rest += rest * rest;
    }
    p->stale = cc_norm(way) == 0.0 && H * speed > CC_RULE_ROUNDING * far ? p->stale + H : 0.0;
    int pace = cc_rule_paces(3, way, v_0, v, H, far, s);
    cc_rule_meets_gap(p, cc_norm(gap), speed, H, far, pace, s);
    cc_rule_add(p, cc_sqrt(turn_turn), H * H * own, least, rest_turn, rest_rest);
    double beta = cc_rule_sure_beta(p->sum, p->rest);
    p->beta = cc_abs(beta - 0.5) > CC_RULE_EXACT ? beta : 0.5;
}

#endif
