/* What a contact port finds out about the bodies that hold its force, from nothing but their motion.
 *
 * The port gives a force f each communication step and sees, interval by interval, the relative acceleration
 * y = Delta v / H - c.  Frame: that of the surface, normal z.  f[0] is the force given last.  c is what the axes add to
 * the components of v by turning, as on a curved surface: the caller gives it, and the prediction keeps it.
 *
 * Position rule   beta of the partner's integrator, Delta r = H v + beta H Delta v: exact 1/2, semi-implicit Euler with
 *                 n substeps (1 + 1/n)/2.  In x = -r_z + (beta - 1/2) H v_z each of them moves on an exact parabola
 *                 with the true kinetic energy.
 * Lag             L: intervals between a sample and the interval on which its force acts; 0 Gauss-Seidel, 1 Jacobi,
 *                 2 Jacobi with inputs a step late.  That of the model along the normal (partner_model.h).  Where
 *                 friction changes more than N the product Delta f Delta y decides: it is positive for the true lag, as
 *                 W is, though friction drives a steep rod into the surface (W_nn < K_fr W_nt) and the normal part is
 *                 negative.
 * Model           where it is used y_n is predicted by it, and W_nn is its b_0 while N changes.  Its input is N: what
 *                 friction that slides does along the normal is part of b_0 = W_nn + W_nt f_t/N, and where the ground
 *                 holds the bodies W_nt counts as 0.  It is N + W_nt f_t/W_nn once forces along more than one line have
 *                 shown W_nt, and where friction exceeds 1.2 N while the lag is unknown: with W_nn < K_fr W_nt no lag
 *                 would show a b_0 above 0.
 *                 Along the surface likewise: slip_model.h.  That model also shows the lag, where it is exact with one
 *                 and with no other, and W of a body whose N shows none: as that of a particle.
 * Admittance      W, 1/kg, y = a + W f: by least squares of secants of f and y (admittance.h), from an anchor that
 *                 moves when there is something to learn.
 * First answers   that only bodies of (omega H)^2 > 4 would give show no lag, of (omega H)^2 > 100 no W: others move
 *                 the body
 * Steady          where N has not changed by a twentieth of its largest for twenty samples others alone move the point
 *                 along the normal: lag and W_nn stay as they are.  A slow change is none.
 * Kept            a W that is given and not to be learned is refuted where another one leaves less than 1/1000 of what
 *                 it leaves of the changes of y, and the step is so long that this matters: it is learned from then on.
 *
 * Noise           sigma, m/s, of v while no force acts: what is left of Delta v, and does not show in Delta r, so that
 *                 what others do to the bodies meanwhile is not taken for noise.  Changes of v below 10 sigma change
 *                 no estimate.
 *
 * One family of functions: what an interval shows, in the order in which it is learned. */
#ifndef CC_PARTNER_H
#define CC_PARTNER_H

#include "admittance.h"
#include "ledger.h"
#include "partner_model.h"
#include "position_rule.h"
#include "slip_model.h"
#include "two_sides.h"

#define CC_KEPT_FORCES 6
#define CC_QUIET_FORCES 5 /* of them: where they are 0 nothing acts, and nothing answers */
#define CC_FORGETS 0.8          /* share that sums of the position rule and the noise keep from interval to interval */
#define CC_NOISE_AT_MOST 1e6    /* a change of v counts at most as this many times the noise squared */
#define CC_ROUNDING 1e-9        /* changes of v below this share of v, or of what the force does to it, are rounding */
#define CC_LAG_FORGETS 0.9      /* likewise the fits of the lag */
#define CC_LAG_SURE 0.05        /* residual of the best lag as a share of that of the present one, to change it */
#define CC_LAG_CONTRADICTS 0.01 /* as CC_LAG_SURE, of a lag that is given, */
#define CC_LAG_FAILS 0.003      /* which leaves more than this share of the answer */
#define CC_LAG_MANY_SAMPLES 6.0 /* samples in a row for another one than a given one */
#define CC_LAG_SAMPLES 2.0        /* samples in a row for another lag */
#define CC_QUIET_SHARE 0.1             /* of the answer, squared: what happened before the force has to stay below it */
#define CC_EXCITATION 0.05      /* changes of the force below this share of the largest one are not learned */
#define CC_STEADY_SAMPLES 20.0  /* samples without one along the normal, after which lag and W_nn stay as they are */
#define CC_STEADY_FOLLOWS 0.02   /* share of its distance from N by which what N is compared with follows it */
#define CC_FIRST_GUESS 1.2      /* (omega H)^2 of the admittance assumed before anything is known, */
#define CC_FIRST_GUESS_TOLD 0.8 /* and where the lag is given */
#define CC_LIGHTEST_SHOWN 100.0  /* (omega H)^2 of bodies that first answers can show */
#define CC_DOUBTED 3.0               /* first forces whose answer has to exceed what happened before them */
#define CC_DRIVES 1.2                /* friction over N that may drive a steep rod into the surface */
#define CC_ASSUMED 0.5          /* `known` of a W that the model has from free flight: no force showed it */
#define CC_RUBS_ALONE 1e-2      /* squares of changes of N over those of friction, below which that alone changes */
#define CC_RESTS 3.0            /* of the way in a step: what is deeper at the start was in contact before */
#define CC_NEVER_PRESSED 1e-6   /* likewise of all secants, below which nothing is known of W along the normal */
#define CC_REFUTES 0.1               /* |W_seen - W| k H^2 of a W that is kept as given and is wrong, */
#define CC_REFUTED_BY 1e-3           /* where another one leaves less than this share of what it leaves */
#define CC_SILENT 1e3                /* answer that W would give over what shows, so that none is one */
#define CC_MOST_UNANSWERED 4         /* forces without an answer, after which the partner is driven or very heavy */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double begun CC_IN(0, 1);  /* 1 after the first sample */
    double jumped CC_IN(0, 1); /* 1 if the point was put elsewhere before the last one: there is no y before */
    double r[3], v[3], H CC_FROM(0); /* last sample: r as of coupling.h, m; v, m/s; interval before it, s */
    double turn[3];            /* c of the interval that ended, m/s^2 */
    double y[3];               /* acceleration of the last interval, m/s^2 */
    double compared CC_IN(0, 1); /* 1 after the first interval: y is one */
    double f[CC_KEPT_FORCES][3]; /* forces given, N, the newest first */
    double a[3], a_before[3];  /* free acceleration of the last interval and of the one before, m/s^2 */
    CcPositionRule rule;       /* along the normal */
    double noise CC_FROM(0);   /* sigma, m/s */
    double lag CC_IN(0, 2), fits[CC_LAGS][5];
    double settled CC_IN(0, 1);   /* 1 after the motion has shown the lag beyond doubt */
    double overruled CC_IN(0, 1); /* 1 after the motion contradicted the lag that was given */
    double confirmed;          /* samples in a row for another lag */
    double quiet_changes;      /* changes of y while no force acts, squared, summed, fading */
    double driven CC_FROM(0);  /* likewise, without that from rest to the first */
    double W[3][3], known CC_IN(0, 1), unanswered CC_FROM(0);
    double across CC_IN(0, 1); /* 1 after the forces showed W_nt: it counts in the input of the model */
    double refuted CC_IN(0, 1); /* 1 after the motion showed another W than one that was kept as given */
    CcSecants secants;
    double longest CC_FROM(0); /* of the recent steps, fading, s: for the first guess of W */
    CcPartnerModel model;      /* along the normal */
    CcSlip slip;               /* along the surface */
    CcTwoSides sides;
    double anchored CC_FROM(0), f_anchor[3], y_anchor[3], f_largest; /* intervals since then, 0 without an anchor */
    double N_anchor, steady CC_FROM(0); /* N that has not changed by CC_EXCITATION since, for so many intervals */
} CcPartner;

/* What is seen of the interval that just ended. */
typedef struct {
    double y[3];  /* m/s^2 */
    double floor; /* m/s: changes of v below it are noise, */
    double rounding; /* or rounding */
    double bend;  /* m: of the way along the normal, by a free acceleration that changes within the interval; */
    int unbent;   /* 1 if that is not known: the way shows no beta */
    int quiet;    /* no force acts */
} CcObservation;

CC_API double cc_largest(const double a[3])
{
    double largest = 0.0;
    CC_UNROLL for (int i = 0; i < 3; i++)
        largest = a[i] > largest ? a[i] : -a[i] > largest ? -a[i] : largest;
    return largest;
}

/* 1 if none of the forces given last is there. */
CC_API int cc_is_quiet(const CcPartner *p)
{
    unsigned long long any = 0, bits; /* of all of them; the first one is the sign */
    CC_UNROLL for (int k = 0; k < CC_QUIET_FORCES; k++)
        CC_UNROLL for (int i = 0; i < 3; i++) {
            __builtin_memcpy(&bits, &p->f[k][i], sizeof bits);
            any |= bits;
        }
    return any << 1 == 0;
}

/* What v at both ends leaves of the way between the last sample and (r, v), with its sign. */
CC_API double cc_signed_gap(const CcPartner *p, const double r[3], const double v[3])
{
    return r[2] - p->r[2] - p->H * cc_rule_speed(p->rule.beta, p->v[2], v[2]);
}

CC_API double cc_gap_of(const CcPartner *p, const double r[3], const double v[3])
{
    return cc_abs(cc_signed_gap(p, r, v));
}

/* The turn, m, that the forces given may have made in the last interval, whatever the lag. */
CC_API double cc_own_turn(const CcPartner *p)
{
    double f = 0.0;
    for (int L = 0; L < CC_LAGS; L++)
        f = cc_abs(p->f[L][2]) > f ? cc_abs(p->f[L][2]) : f;
    return p->H * p->H * p->W[2][2] * f;
}

/* 1 if the point was put elsewhere: neither v nor the force explains the way between the last sample and (r, v). */
CC_API int cc_is_put_elsewhere(const CcPartner *p, const double r[3], const double v[3])
{
    double speed = cc_abs(v[2]) + cc_abs(p->v[2]), gap = cc_gap_of(p, r, v);
    return p->begun != 0.0 && cc_rule_is_broken(&p->rule, gap, speed, p->H, cc_own_turn(p), cc_abs(r[2]));
}

/* The way, m, beyond that of a constant acceleration that makes the same change of v, where the acceleration changes by
 * `change` from one end of the interval H to the other: Euler's and Maclaurin's first term. */
CC_API double cc_bend(double H, double change) { return -H * H * change / 12.0; }

/* What the interval between the last sample and v shows. */
CC_API CcObservation cc_observe_interval(const CcPartner *p, const double v[3])
{
    CcObservation seen = {.quiet = cc_is_quiet(p)};
    CC_UNROLL for (int i = 0; i < 3; i++)
        seen.y[i] = (v[i] - p->v[i]) / p->H - p->turn[i];
    return seen;
}

/* The bend of the way, where it explains it better than none: forces that others hold do not bend it. */
CC_API double cc_seen_bend(const CcPartner *p, const double r[3], const double v[3], const CcObservation *seen)
{
    double gap = cc_signed_gap(p, r, v);
    return cc_abs(gap - seen->bend) < cc_abs(gap) ? seen->bend : 0.0;
}

/* Add the interval between the last sample and (r, v) to the position rule, whose beta stays. */
CC_API void cc_sum_position_rule(CcPartner *p, const double r[3], const double v[3], const CcObservation *seen)
{
    double bend = cc_seen_bend(p, r, v, seen);
    double turn = p->H * (v[2] - p->v[2]), rest = r[2] - p->r[2] - p->H * p->v[2] - bend;
    double speed = cc_abs(v[2]) + cc_abs(p->v[2]), least = CC_RULE_LEAST * p->H * speed;
    double way = r[2] - p->r[2], far = cc_abs(r[2]), s[3];
    int pace = cc_rule_paces(1, &way, p->v + 2, v + 2, p->H, far, s);
    cc_rule_meets_gap(&p->rule, cc_gap_of(p, r, v), speed, p->H, far, pace, s);
    least = seen->unbent ? cc_abs(turn) : least;
    cc_rule_add(&p->rule, cc_abs(turn), cc_own_turn(p), least, rest * turn, rest * rest);
}

/* Update the noise if it is quiet, and find what is above it.  It grows by a factor of 450 at most from one sample to
 * the next: that of a signal is soon found, and a force of another contact that moves the body meanwhile is not taken
 * for noise. */
CC_API void cc_update_noise(CcPartner *p, const double r[3], const double v[3], CcObservation *seen)
{
    double now = cc_largest(v), before = cc_largest(p->v), own = p->H * p->W[2][2] * cc_largest(p->f[0]), change = 0.0;
    double least = CC_ROUNDING * (now > before ? now > own ? now : own : before > own ? before : own);
    CC_UNROLL for (int i = 0; i < 3; i++)
        change += p->H * p->H * (seen->y[i] - p->y[i]) * (seen->y[i] - p->y[i]) / 6.0;
    double gap = cc_signed_gap(p, r, v) - cc_seen_bend(p, r, v, seen);
    double apart = 2.0 * gap * gap / (p->H * p->H); /* v off by sigma puts the way off by sigma H / sqrt(2) */
    change = apart < change ? apart : change;
    if (seen->quiet) {
        double most = p->noise > least ? p->noise : least;
        most = CC_NOISE_AT_MOST * most * most;
        p->noise = cc_sqrt(cc_faded(CC_FORGETS, p->noise * p->noise) + (1.0 - CC_FORGETS) * cc_min(change, most));
    }
    seen->rounding = least;
    seen->floor = 10.0 * p->noise + least;
}

/* Of changes of the acceleration, squared: */
typedef struct {
    double left[CC_LAGS];      /* along the normal, what each lag leaves of `answer` as one to N */
    double explained[CC_LAGS]; /* in all, what each lag explains as one along the force */
    double answer, friction_leads;       /* friction_leads > 0: friction changes more than N */
} CcLagFits;

/* 1 if the interval shows a change: there was one before it, or the body goes along with the first force of all, or
 * with what is left of one that acted at the start, unless it moved on into the surface.  Else others move it, and what
 * they did before is unknown. */
CC_API int cc_is_compared(const CcPartner *p, const CcObservation *seen)
{
    double f = p->f[0][2], before = p->f[1][2];
    int driven_on = CC_RESTS * p->H * p->v[2] < p->r[2]; /* a load does */
    int along = seen->y[2] * (f - before) > 0.0 && (before == 0.0 || (f < before && !driven_on));
    return p->jumped == 0.0 && (p->compared != 0.0 || along);
}

/* Add what one port shows. */
CC_API void cc_fit_lags(CcPartner *p, const CcObservation *seen, CcLagFits *fits)
{
    double dy[3];
    if (!cc_is_compared(p, seen))
        return;
    if (seen->quiet) {
        if (p->fits[0][2] + p->fits[0][4] + p->fits[1][4] + p->fits[2][4] != 0.0)
            __builtin_memset(p->fits, 0, sizeof p->fits);
        return;
    }
    for (int i = 0; i < 3; i++)
        dy[i] = seen->y[i] - p->y[i];
    for (int L = 0; L < CC_LAGS; L++) {
        double df[3], *fit = p->fits[L];
        for (int i = 0; i < 3; i++)
            df[i] = p->f[L][i] - p->f[L + 1][i];
        double product[5] = {df[2] * df[2], df[2] * dy[2], dy[2] * dy[2], cc_dot(df, dy), cc_dot(df, df)};
        for (int i = 0; i < 5; i++)
            fit[i] = cc_faded(CC_LAG_FORGETS, fit[i]) + product[i];
        int pushes = fit[1] > 0.0 || fit[3] > 0.0;
        double slope = pushes && fit[0] > 0.0 ? fit[1] / fit[0] : 0.0;
        fits->left[L] += fit[2] - slope * fit[1];
        fits->explained[L] += fit[3] > 0.0 && fit[4] > 0.0 ? fit[3] * fit[3] / fit[4] : 0.0;
    }
    fits->answer += p->fits[0][2];
    fits->friction_leads += p->fits[0][4] - 2.0 * p->fits[0][0];
}

/* The lag to go on with: another one than `now` if it explains much better an answer that is no noise. */
CC_API int cc_better_lag(int now, const CcLagFits *fits, double least)
{
    const double *left = fits->left, *explained = fits->explained;
    int best = cc_least_lag(left), most = 0;
    for (int L = 1; L < CC_LAGS; L++)
        most = explained[L] > explained[most] ? L : most;
    int shown = fits->friction_leads > 0.0 && explained[most] > least * least; /* also where nothing moves along N */
    if (shown && explained[now] < CC_LAG_SURE * explained[most])
        return most;
    if (!(fits->answer > least * least))
        return now;
    int sure = left[best] < CC_LAG_SURE * left[now] && left[now] > 1e-3 * fits->answer;
    return sure && explained[best] > explained[now] ? best : now;
}

/* The lag that explains what is seen against the one that is given, or that: the given one leaves a part of the answer,
 * the other one less than CC_LAG_CONTRADICTS of that part. */
CC_API int cc_contradicting_lag(int given, const CcLagFits *fits, double least)
{
    const double *left = fits->left;
    int best = cc_least_lag(left);
    int clear = left[best] < CC_LAG_CONTRADICTS * left[given] && left[given] > CC_LAG_FAILS * fits->answer;
    return clear && fits->answer > least * least && fits->explained[best] > fits->explained[given] ? best : given;
}

/* 1 if the change of an acceleration, squared, is beyond all that happened before the force.  Adds it to that, if it is
 * quiet; the first acceleration counts too, for what makes it may end. */
CC_API int cc_exceeds_quiet_changes(double *quiet_changes, double change, int quiet)
{
    if (quiet)
        *quiet_changes = cc_faded(CC_FORGETS, *quiet_changes) + change;
    return *quiet_changes < CC_QUIET_SHARE * change;
}

/* 1 if the normal force did not change for long, and others alone change the motion along the normal. */
CC_API int cc_is_steady(const CcPartner *p) { return p->steady >= CC_STEADY_SAMPLES; }

/* 1 where the ground holds the bodies, and friction counts for nothing along the normal. */
CC_API int cc_is_held_along_normal(const CcPartner *p)
{
    return p->across == 0.0 && cc_model_is_held(&p->model, cc_lag(p->lag));
}

/* The input of the model for the forces given, N, the newest first. */
CC_APART void cc_model_inputs(const CcPartner *p, double u[CC_KEPT_FORCES])
{
    double share = p->across != 0.0 && p->W[2][2] > 0.0 ? 1.0 / p->W[2][2] : 0.0;
    for (int k = 0; k < CC_KEPT_FORCES; k++)
        u[k] = p->f[k][2] + share * (p->W[2][0] * p->f[k][0] + p->W[2][1] * p->f[k][1]);
}

/* Returns 1 if another lag explains what is seen much better; it is kept then.  identify: W is not a given one. */
CC_API int cc_find_lag(CcPartner *p, const CcObservation *seen, int fixed, int identify)
{
    CcLagFits fits = {.answer = 0.0};
    CcModelSample sample = {.y = seen->y[2], .W = p->W[2][2], .rounding = seen->rounding, .floor = seen->floor,
                            .quiet = seen->quiet, .given = fixed, .guessed = p->known == 0.0};
    int now = cc_lag(p->lag);
    const double *f = p->f[now];
    if (!fixed && f[0] * f[0] + f[1] * f[1] > CC_DRIVES * CC_DRIVES * f[2] * f[2])
        p->across = 1.0;
    if (!seen->quiet)
        cc_model_inputs(p, sample.u);
    cc_model_at_step(&p->model, p->H);
    int by_model = cc_model_learn(&p->model, now, &sample), by_fits = now, best = by_model;
    cc_fit_lags(p, seen, &fits);
    double change[3];
    for (int i = 0; i < 3; i++)
        change[i] = seen->y[i] - p->y[i];
    int clear = cc_exceeds_quiet_changes(&p->quiet_changes, cc_dot(change, change), seen->quiet);
    double shown = fits.answer; /* along the normal, or where nothing moves there */
    for (int L = 0; L < CC_LAGS; L++)
        shown = fits.explained[L] > shown ? fits.explained[L] : shown;
    int friction_leads = fits.friction_leads > 0.0 && shown * p->H * p->H > seen->floor * seen->floor;
    if (seen->quiet) {
        if (!fixed)
            cc_lag_by_sides(&p->sides, now, now, seen->y[2], p->H, sample.u, 0.0, 1);
        p->confirmed = 0.0;
        return 0;
    }
    if (fixed) {
        best = cc_contradicting_lag(now, &fits, seen->floor / p->H);
        p->confirmed = best == now ? 0.0 : p->confirmed + 1.0;
        if (p->confirmed < CC_LAG_MANY_SAMPLES)
            return 0;
        p->overruled = 1.0;
        p->model = (CcPartnerModel){.H = p->H}; /* it begins anew, with all lags */
        p->slip = (CcSlip){.model.H = p->H};
    } else {
        by_fits = cc_better_lag(now, &fits, seen->floor / p->H);
        if (!friction_leads && p->unanswered < CC_DOUBTED && !cc_model_is_plausible(&p->model, p->fits[by_fits]))
            by_fits = now;
        p->confirmed = by_fits == now ? 0.0 : p->confirmed + 1.0;
        if (friction_leads || p->model.samples < 4.0) /* friction drives, or steps vary */
            best = p->confirmed < (clear ? 1.0 : CC_LAG_SAMPLES) ? now : by_fits;
        best = cc_lag_by_sides(&p->sides, now, best, seen->y[2], p->H, sample.u, seen->floor / p->H, 0);
        if ((p->known == 1.0 && cc_is_steady(p)) || p->settled != 0.0)
            best = now;
        p->model.use = best == by_model ? p->model.use : 0.0;
        if (best == now)
            return 0;
    }
    p->lag = best;
    p->confirmed = 0.0;
    p->known = identify ? 0.0 : p->known;
    return 1;
}

/* 1 if W is learned. */
CC_API int cc_identifies(const CcPartner *p, const CcCouplingOptions *o)
{
    return o->identify || p->refuted != 0.0;
}

/* 1 if changes of the acceleration by those of the force, ss their squares, refute a W that leaves the squares `left`
 * of them, where another one leaves `least`; stiffness: k H^2, kg. */
CC_API int cc_is_refuted(double left, double least, double ss, double stiffness)
{
    return least < CC_REFUTED_BY * left && left * stiffness * stiffness > CC_REFUTES * CC_REFUTES * ss;
}

/* Find out whether the interval refutes a W that is kept as given; stiffness: k H^2, kg. */
CC_API void cc_doubt_admittance(CcPartner *p, const CcObservation *seen, double stiffness)
{
    int lag = cc_lag(p->lag);
    const double *fit = p->fits[lag];
    double W = p->W[2][2], left = fit[2] - W * (2.0 * fit[1] - W * fit[0]);
    double least = cc_remainder(fit[0], fit[1], fit[2]);
    p->unanswered = seen->quiet ? 0.0 : p->unanswered + (cc_largest(p->f[0]) > 0.0);
    if (!(p->unanswered > CC_DOUBTED + lag && fit[1] > 0.0) || !cc_is_refuted(left, least, fit[0], stiffness))
        return;
    p->refuted = p->known = 1.0;
    cc_guess_admittance(p->W, fit[1] / fit[0]);
    CC_UNROLL for (int i = 0; i < 3; i++)
        p->f_anchor[i] = p->f[lag][i], p->y_anchor[i] = seen->y[i];
    p->anchored = 1.0;
}

/* 1 where the model along the surface is used. */
CC_API int cc_slip_is_modelled(const CcPartner *p) { return p->slip.model.use != 0.0 && p->known > 0.0; }

/* 1 where it is, and the change s of the force is one of friction: of N less than CC_RUBS_ALONE, squared. */
CC_API int cc_rubs_alone(const CcPartner *p, const double s[3])
{
    int alone = s[2] * s[2] <= CC_RUBS_ALONE * (s[0] * s[0] + s[1] * s[1]);
    return cc_slip_is_modelled(p) && (alone || cc_is_steady(p));
}

/* There W answers along the surface as the model does, and along the normal too where N has never shown how; given:
 * W_nn was. */
CC_API void cc_follow_slip(CcPartner *p, int given)
{
    const double *f = p->f[cc_lag(p->lag)], *before = p->f[cc_lag(p->lag) + 1];
    double s[3], never = CC_NEVER_PRESSED * (p->secants.ss[0][0] + p->secants.ss[1][1]);
    for (int i = 0; i < 3; i++)
        s[i] = f[i] - before[i];
    if (cc_rubs_alone(p, s))
        cc_slip_follow(&p->slip, cc_lag(p->lag), p->W, !given && p->secants.ss[2][2] <= never);
}

/* Learn W from the interval; `changed`: the lag did; fixed: the lag is given; given: W_nn was. */
CC_API void cc_find_admittance(CcPartner *p, const CcObservation *seen, int changed, int fixed, int given)
{
    const double *f = p->f[cc_lag(p->lag)], *before = p->f[cc_lag(p->lag) + 1];
    double s[3], q[3], change[3];
    CC_UNROLL for (int i = 0; i < 3; i++)
        change[i] = seen->y[i] - p->y[i];
    if (seen->quiet && p->anchored != 0.0) {
        p->driven = cc_faded(CC_FORGETS, p->driven) + cc_dot(change, change);
        cc_leave_of_secants(&p->secants, change);
    }
    if (p->anchored == 0.0) { /* the first interval is compared with none */
        CC_UNROLL for (int i = 0; i < 3; i++)
            p->f_anchor[i] = f[i], p->y_anchor[i] = seen->y[i];
    } else if (changed || seen->quiet) {
        CC_UNROLL for (int i = 0; i < 3; i++)
            p->f_anchor[i] = before[i], p->y_anchor[i] = p->y[i];
        p->anchored = 1.0;
    }
    p->anchored += 1.0;
    if (seen->quiet) {
        p->f_largest = p->unanswered = p->N_anchor = p->steady = 0.0;
        return;
    }
    double most = cc_largest(p->f[0]), intervals = p->anchored - 1.0;
    p->f_largest = cc_fading_peak(0.99, p->f_largest, most);
    for (int i = 0; i < 3; i++)
        s[i] = f[i] - p->f_anchor[i], q[i] = seen->y[i] - p->y_anchor[i];
    double ss = cc_dot(s, s), sq = cc_dot(s, q), least = CC_EXCITATION * p->f_largest, floor = seen->floor / p->H;
    p->steady += 1.0;
    if (cc_abs(f[2] - p->N_anchor) > least)
        p->N_anchor = f[2], p->steady = 0.0;
    p->N_anchor += CC_STEADY_FOLLOWS * (f[2] - p->N_anchor);
    double friction = cc_max(f[0] * f[0] + f[1] * f[1], before[0] * before[0] + before[1] * before[1]);
    double rubs = s[0] * s[0] + s[1] * s[1]; /* of a body at rest that is pressed on and pushed it is all there is */
    int shown = fixed && p->known == 0.0 && rubs > CC_EXCITATION * CC_EXCITATION * friction;
    int excited = shown || ss > least * least;
    int active = excited && cc_dot(q, q) > floor * floor;
    if (p->known == 0.0 && p->unanswered < CC_DOUBTED) { /* it may be what others do, and that of no body surely is */
        p->driven += sq > CC_LIGHTEST_SHOWN * p->model.unit * ss ? cc_dot(q, q) : 0.0;
        active = active && !(p->driven > CC_QUIET_SHARE * cc_dot(q, q));
    }
    int learns = active && !cc_rubs_alone(p, s);
    if (learns && p->known < 1.0 && sq > 0.0) {
        cc_guess_admittance(p->W, sq / ss);
        cc_forget_secants(&p->secants);
        p->known = 1.0;
    }
    if (learns && p->known != 0.0) {
        for (int i = 0; i < 3; i++)
            s[i] /= intervals, q[i] /= intervals;
        double W_nn = p->W[2][2];
        cc_learn_admittance(&p->secants, s, q, p->noise / (p->H * intervals), given ? CC_SURE : 1.0, p->W);
        if (cc_is_steady(p))
            cc_scale_normal(p->W, cc_sqrt(W_nn / p->W[2][2]));
        if (cc_shows_across(&p->secants, p->W))
            p->across = 1.0;
    }
    if (active) {
        for (int i = 0; i < 3; i++)
            p->f_anchor[i] = f[i], p->y_anchor[i] = seen->y[i];
        p->anchored = 1.0;
    }
    double expected = p->W[2][2] * p->W[2][2] * ss; /* of the guess: too small a force shows nothing */
    int silent = excited && expected > CC_SILENT * CC_SILENT * floor * floor && !(cc_dot(q, q) > floor * floor);
    p->unanswered = silent ? CC_MOST_UNANSWERED + 1.0 : p->unanswered + (most > 0.0);
    if (p->known == 0.0 && p->unanswered > CC_MOST_UNANSWERED)
        cc_guess_admittance(p->W, 0.0);
}

/* Let the model along the surface learn the interval; `changed`: the lag did; fixed: it is given.  Else the motion
 * along the surface may show it, and W, where N shows neither. */
CC_API void cc_learn_slip(CcPartner *p, const CcObservation *seen, int changed, int fixed)
{
    CcSlip *slip = &p->slip;
    CcModelSample sample = {.rounding = seen->rounding, .floor = seen->floor, .quiet = seen->quiet,
                            .guessed = p->known == 0.0};
    sample.given = fixed || p->settled != 0.0;
    if (changed && sample.given)
        *slip = (CcSlip){.model.H = p->H};
    cc_slip_learn(slip, cc_lag(p->lag), seen->y, p->f[0], p->W, &p->model, sample);
    if (sample.given || !(slip->model.learned > CC_SLIP_SAMPLES))
        return;
    int exact = cc_model_exact_lag(&slip->model);
    if (exact < 0)
        return;
    p->settled = 1.0;
    if (exact != cc_lag(p->lag))
        p->lag = exact, p->known = p->model.use = 0.0;
    if (p->known == 0.0 && cc_model_is_sane(&slip->model, exact)) {
        cc_slip_follow(slip, exact, p->W, 1);
        p->known = CC_ASSUMED;
    }
}

/* What gives the force. */
CC_API int cc_partner_in_force(const CcPartner *p, const CcCouplingOptions *o)
{
    return o->holds                               ? CC_HELD
           : o->straight                          ? CC_PRESCRIBED
           : p->model.use != 0.0                  ? CC_MODELLED
           : p->known != 0.0                      ? CC_FREE_BODY
           : p->unanswered > CC_MOST_UNANSWERED   ? CC_PRESCRIBED
                                                  : CC_FIRST_GUESSED;
}

/* Where the model along the normal is used W answers its input as it does: s^2 W_nn = b_0, or where that is N and
 * friction counts, s^2 W_nn + s W_nt f_t/N = b_0.  A normal force that is steady shows no b_0: with any one the poles
 * go on with a smooth motion. */
CC_API void cc_follow_model(CcPartner *p)
{
    if (p->model.use == 0.0 || (p->known == 1.0 && cc_is_steady(p)))
        return;
    double W = cc_model_admittance(&p->model, cc_lag(p->lag));
    if (!(W > 0.0 && W < CC_MOST_ADMITTANCE))
        return;
    if (p->known == 0.0 || !(p->W[2][2] > 0.0))
        cc_guess_admittance(p->W, W);
    const double *f = p->f[cc_lag(p->lag)];
    double W_nn = p->W[2][2], half = 0.0;
    if (p->across == 0.0 && f[2] > 0.0 && !cc_is_held_along_normal(p))
        half = 0.5 * (p->W[2][0] * f[0] + p->W[2][1] * f[1]) / f[2];
    double scale = (cc_sqrt(half * half + W_nn * W) - half) / W_nn;
    cc_scale_normal(p->W, scale);
    p->known = p->known > 0.0 ? p->known : CC_ASSUMED;
}

#endif
