/* A load of one frequency on a body of several ports in contact: found together with the mobility B and with the lag.
 *
 * A load hides B where no flight showed it before: a machine that rests on its feet and shakes itself.  The changes of
 * vibrated_sums.h answer q^x = B s^x, free of the load, for its x = 2 cos(omega H).  In turn, some times an interval,
 *     B   as in mobility.h from the sums for x, with the weight e of what they leave
 *     x   the one by which that B leaves least
 * Where more than 1e-4 of sum |q_i + q_i-2|^2 is left then, the next interval begins with another x: the sums have
 * several minima.  Another lag than the true one has no B that is positive, or leaves 100 times as much.  A load is
 * found from as many intervals of contact on as S has directions, and one more for a lag that is given or was found so,
 * three more else, where 1e-6 is left at most, and the squares of rho = q - B s exceed 1/100 of those of q.  Then rho
 * of the last two intervals says what the load does next (vibration.h).  As soon as 1e-4 is left the load has stopped,
 * or is another one, and is dropped.  An event spoils the sums: after 20 intervals without a load they begin anew.
 *
 * Boxes on one another move as if a very slow load pushed each, and creep to rest so.  Where others act, and of a load
 * of more than 44 samples a period, 1e-8 may be left; the two together, after 20 intervals, are no load. */
#ifndef CC_VIBRATED_BODY_H
#define CC_VIBRATED_BODY_H

#include "mobility.h"

#define CC_VIBRATED_TURNS 4
#define CC_VIBRATED_CLEARER 1e-2 /* rest of another lag over that of the present one, at most */
#define CC_VIBRATED_EXACT 1e-8   /* rest, at most, where others act, or of a larger x than */
#define CC_VIBRATED_SLOW 1.98
#define CC_VIBRATED_LASTS 20.0   /* intervals of contact without a load, and with others */

typedef struct {
    double B[6][6], rest; /* as a share of sum (q_i + q_i-2)^2; 1: there is no such B */
    CcWrenchSums at;
} CcVibratedFit;

/* B and x by the sums of a lag, from the B of `m`; more: intervals there are at least beyond the directions of S. */
CC_APART CcVibratedFit cc_fit_vibrated(const CcMobility *m, CcVibratedSums *v, double more)
{
    static const double begin[] = {2.0, 1.0, 1.7, 0.0, -1.0, -1.7};
    CcVibratedFit fit = {.rest = 1.0};
    double all = v->at[0].qq, left = 0.0;
    int directions;
    __builtin_memcpy(fit.B, m->B, sizeof fit.B);
    for (int turn = 0; turn < CC_VIBRATED_TURNS; turn++) {
        double given = 0.0, reach = 0.0;
        fit.at = cc_vibrated_at(v);
        for (int i = 0; i < 6; i++)
            given += fit.at.qs[i][i], reach += (i < 3 ? 1.0 : CC_ROTATION_GUESS) * fit.at.ss[i][i];
        if (!(given > 0.0))
            return fit;
        for (int guess = turn == 0 && !(m->count > 0.0); guess < 2; guess++) { /* 1: whatever B was */
            if (guess)
                cc_guess_mobility(fit.B, given / reach, CC_ROTATION_GUESS);
            left = cc_vibrated_rest(&fit.at, fit.B);
            if (cc_refit_mobility(fit.B, fit.at.ss, fit.at.qs, left, 0.0))
                break;
            if (guess)
                return fit;
        }
        v->x = cc_vibrated_by(v, fit.B);
    }
    cc_wrenches_rest(&fit.at, &directions);
    left = cc_vibrated_rest(&fit.at, fit.B);
    if (fit.at.samples < directions + more)
        return fit;
    fit.rest = left / all;
    if (fit.rest < CC_VIBRATION_LEFT)
        return fit;
    v->x = begin[(int)v->next];
    v->next = v->next < 5.0 ? v->next + 1.0 : 0.0;
    return fit;
}

/* rho of the last two intervals. */
CC_API void cc_vibrated_load(const CcVibratedSums *v, double B[6][6], double rho[2][6])
{
    for (int n = 0; n < 2; n++) {
        cc_times_six(B, v->s[n], rho[n]);
        for (int i = 0; i < 6; i++)
            rho[n][i] = v->q[n][i] - rho[n][i];
    }
}

/* 0 where the squares of that are at most CC_ALONE of those of q: B alone explains what happens. */
CC_API int cc_vibrated_shows(const CcVibratedSums *v, double B[6][6])
{
    double rho[2][6];
    cc_vibrated_load(v, B, rho);
    return cc_squares(rho[0]) + cc_squares(rho[1]) > CC_ALONE * (cc_squares(v->q[0]) + cc_squares(v->q[1]));
}

/* Use what was found with a lag. */
CC_API void cc_use_vibrated(CcMobility *m, const CcVibratedSums *v, const CcVibratedFit *fit)
{
    CcVibration *load = &m->flight.vibration;
    __builtin_memcpy(m->B, fit->B, sizeof m->B);
    __builtin_memcpy(m->ss, fit->at.ss, sizeof m->ss);
    __builtin_memcpy(m->qs, fit->at.qs, sizeof m->qs);
    m->known = 1.0, m->left = 0.0;
    cc_vibrated_load(v, m->B, load->rho);
    load->seen = 2.0;
    load->sums[1] = cc_squares(load->rho[1]), load->sums[0] = v->x * load->sums[1];
    load->missed[1] = v->at[0].qq, load->missed[0] = fit->rest * load->missed[1];
    m->flight.used = CC_VIBRATED;
    __builtin_memset(m->flight.sum, 0, sizeof m->flight.sum);
}

/* Find a load in the interval that ended, which changed Y by q, with the lag `now`, or another one unless that is
 * given.  Returns the lag to go on with. */
CC_APART int cc_find_vibrated(CcMobility *m, int now, int given, const double q[6], int quiet)
{
    CcVibratedFit fits[CC_LAGS];
    double s[6], rest[CC_LAGS];
    int only = given || m->together != 0.0;
    for (int L = 0; L < CC_LAGS; L++) {
        cc_wrench_change(m->S, L, s);
        cc_sum_vibrated(m->vibrated + L, s, q);
    }
    int unexplained = m->others > 0.0 || m->open[0] > CC_ALONE * m->open[1];
    if (quiet || !(unexplained || m->flight.used == CC_VIBRATED))
        return now;
    for (int L = 0; L < CC_LAGS; L++)
        if (only && L != now) {
            rest[L] = 1.0;
        } else {
            fits[L] = cc_fit_vibrated(m, m->vibrated + L, only ? 1.0 : 3.0);
            rest[L] = fits[L].rest;
        }
    int best = cc_least_lag(rest);
    best = rest[best] < CC_VIBRATED_CLEARER * rest[now] ? best : now;
    int was = m->together != 0.0, slow = m->vibrated[best].x > CC_VIBRATED_SLOW;
    int creeps = slow && m->lasted > CC_VIBRATED_LASTS;
    double least = was ? CC_VIBRATION_LEFT : slow || m->others > 0.0 ? CC_VIBRATED_EXACT : CC_WRENCHES_EXACT;
    m->together = rest[best] < least && !creeps && cc_vibrated_shows(m->vibrated + best, fits[best].B);
    if (m->together == 0.0) {
        if (was)
            cc_drop_vibration(&m->flight);
        for (int L = 0; L < CC_LAGS; L++)
            if (m->vibrated[L].at[0].samples > CC_VIBRATED_LASTS)
                __builtin_memset(m->vibrated[L].at, 0, sizeof m->vibrated[L].at);
        return now;
    }
    if (m->flight.used == CC_FREE_FLIGHT || best != now) /* what was not explained is now */
        m->others = m->open[0] = m->open[1] = m->lag.quiet_changes = 0.0;
    cc_use_vibrated(m, m->vibrated + best, fits + best);
    return best;
}

#endif
