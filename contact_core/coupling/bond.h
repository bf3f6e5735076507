/* Identification of the bodies by springs, dampers and guides, which act on them all the time, and the energy that
 * their held forces have made.  coupled_axis.h: one direction, the components 1 and 2 stay 0; coupled_point.h: three.
 *
 * f is the force at the port that sees the acceleration y over an interval: y = a + W f, W a number, a by all else.
 *
 * Lag             L, intervals between a sample and the interval on which its force acts.  These elements ask for it by
 *                 a signal in their forces (order_probe.h), again and again until it is answered.  Of a single mass
 *                 second differences of y, fitted by those of f[0], f[1], f[2], leave nothing with the true lag; of
 *                 two masses that swing against each other the equation of the model leaves nothing (partner_model.h)
 *                 Where the literal force is watched there is no signal, nor of a damper that stops what moves in a few
 *                 steps: another lag is taken if the residual of its fit is below 1/20 of the present one (1e-6 after
 *                 few samples), or for more than thirty samples in a row below it, a smaller lag below 1/2 of it; or by
 *                 the prediction errors of the model on twenty.  Of a damper that shows z > 1/2 the 1/20 suffices after
 *                 three samples, and four in a row in place of thirty: it soon makes speed if it is late, and outweighs
 *                 what others do
 * Length          an element that sees speeds alone does not see whether the interval that ended was as long as the
 *                 step before, H, or as the step to come, H_1, as where bodies are stepped first: y = dv/H_1, L = 0.
 *                 Where steps vary that length is taken whose y leaves below 1/4 of the squares that the other one
 *                 leaves with any lag (1/20 early, and to change it).  Until one is found no lag and no W are taken
 * Admittance      W, the slope of the fit of second differences; b_0 of the model where that predicts better, unless
 *                 a damped force with L > 0 changes in other directions than the one that the model describes
 * The law itself  acts while the order is unknown, never worse than a force that is held
 * Ledger, J       made, and taken by losses, for each lag
 *
 * With the order given, before anything is known, 2 k W H^2 + 4 d W H = 1 is assumed for the longest of the recent
 * steps, so a step that tends to 0 gives the law.  Of a spring of unknown mass what pulls at the start is
 * carried; after more than four samples without an answer W = 0, and from the start where it is not to be learned.
 * A W that is given is kept for some samples, or for good where it is not to be learned, unless the force explains what
 * is seen with another one, and the step is so long that the difference matters: |W_seen - W| (k H^2 + d H) > 1/10.
 * With less than its W a damper that is late makes speed from z = d W H = 1 on, before W is found.  So z is the largest
 * of what y/f shows until then, where that is above 1/2, and 2 at most.  The law itself makes speed from z = 2 on: once
 * the own force has turned a rate round and made it larger, it acts no more, and z is what y/f shows, up to 20.
 *
 * One family of functions: what a sample shows, in the order in which it is learned, and what is said of it. */
#ifndef CC_BOND_H
#define CC_BOND_H

#include "../base/elementary.h"
#include "ledger.h"
#include "order_probe.h"
#include "partner_model.h"
#include "position_rule.h"

#define CC_BOND_FORGETS 0.98      /* share that the fits keep from sample to sample */
#define CC_BOND_SURE 0.05         /* residual of the best lag over that of the present one, to change it */
#define CC_BOND_SURE_EARLY 1e-6   /* likewise within the first CC_BOND_EARLY samples that are learned */
#define CC_BOND_LIKELY 0.5        /* likewise for CC_BOND_LASTING samples in a row */
#define CC_BOND_FIRST 3.0         /* samples that are learned, before the lag can change */
#define CC_BOND_EARLY 6.0
#define CC_BOND_MODEL_FEW 7.0     /* samples of the model, after which it is used: others answer all the time */
#define CC_BOND_LASTING 30.0
#define CC_BOND_GUESS 0.5         /* k W H^2 before anything is known */
#define CC_BOND_GUESS_DAMPED 0.25 /* d W H likewise, */
#define CC_BOND_SHOWN_LEAST 0.5   /* unless y/f shows more than this, */
#define CC_BOND_SHOWN_MOST 2.0    /* of which no more than that is used */
#define CC_BOND_HARD 0.4          /* z before W is known, from which on the law of a damper itself acts */
#define CC_BOND_OVERSHOT 2.1      /* least z of a damper that has made speed, */
#define CC_BOND_OVERSHOT_MOST 20.0 /* and the most that is used of what y/f shows of it */
#define CC_BOND_TURNED 1e3        /* times the rate before: more is a motion that begins */
#define CC_BOND_OWN 0.5           /* of the largest force so far: less is no own turn */
#define CC_BOND_LIMITED 0.5       /* `known` of a W that is below the one that is seen */
#define CC_BOND_EXPLAINED 0.95    /* share of the squares of what is seen, below which a damper doubts a large W, */
#define CC_BOND_SURELY 0.99       /* and from which on, and CC_BOND_EARLY samples, it takes one of z = d W H above */
#define CC_BOND_LARGE 0.8
#define CC_BOND_LENGTH 0.25       /* of what one length of the intervals leaves: with less the other one is it */
#define CC_BOND_LENGTH_SURE 0.05  /* likewise of few samples, and to change it once more */
#define CC_BOND_SHORT 0.03        /* of the longest recent step: in shorter intervals noise of v is no acceleration */
#define CC_BOND_VARIES 1e-6       /* share of the squares of what is seen by which they differ with steps that vary, */
#define CC_BOND_MATTERS 0.1       /* and with which no lag is sought before the length */
#define CC_BOND_ASIDE 0.1         /* of the squared changes of f across `along`: above it a damper ignores the model */
#define CC_BOND_CLEARLY 0.9       /* likewise, of a W by which a force that is held is judged */
#define CC_BOND_BY_CHANCE 0.5     /* of those squares: with less W is shown and logged nowhere */
#define CC_BOND_OPPOSED 5.0       /* residual of the lag that the signal shows over the least: more contradicts it */
#define CC_BOND_FAILS 1e-4        /* of the squares: a given lag that leaves less is not contradicted */
#define CC_BOND_DOUBTS 30.0       /* learned samples in which a lag that is given is compared with the others */
#define CC_BOND_MOST_GIVEN 1e5    /* W (k H^2 + d H) with a W that is given */
#define CC_BOND_REFUTES 0.1       /* |W_seen - W| (k H^2 + d H) of a given W that is wrong */
#define CC_BOND_FEW 3.0           /* samples that are learned, before a spring uses a W of more than omega H = 1 */
#define CC_BOND_MOST_UNANSWERED 4.0 /* samples without an answer, after which the partners are driven or very heavy */
#define CC_BOND_NOISE 1e-8        /* changes of v below this share of its size are not learned */
#define CC_BOND_EXCITED 1e-9      /* second differences of f below this share of its size neither: a body at rest */
#define CC_BOND_SHORTENS 0.9      /* of the longest recent step, in each step */
#define CC_BOND_PAYS 0.5          /* share of the ledger that is paid back in one interval */
#define CC_BOND_FADES 0.99        /* share of the largest force and speed that a sample leaves */
#define CC_BOND_MOST 1e60         /* of W: with more, products overflow */

typedef struct {
    double k, d; /* stiffness, damping coefficient */
    CcCouplingOptions given;
    int bodies_first; /* 1 where a sample is known to show the end of the interval that the step is to pass */
} CcBondOptions;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double begun CC_IN(0, 1), answered;           /* 1 after the first sample, and after the first interval */
    double H CC_FROM(0), longest CC_FROM(0);      /* s: interval that began last; of the recent ones, fading */
    double y[3], dy[3], a[3];                     /* of the last interval */
    double f[CC_MODEL_FORCES][3], f_largest CC_FROM(0), v_largest CC_FROM(0); /* forces given, the newest first */
    double lag CC_IN(0, 2), settled CC_IN(0, 1);  /* settled: it is sure */
    double fits[CC_LAGS][3], learned CC_FROM(0), likely CC_FROM(0);
    double W CC_FROM(0), known CC_IN(0, 1), unanswered CC_FROM(0), doubted CC_IN(0, 1); /* 1: W is not yet sure */
    double refuted CC_IN(0, 1);                   /* 1 after the motion showed another W than the given one */
    double shown CC_FROM(0);                      /* of a damper: the largest y/f while W is not known, 1/kg */
    CcOrderProbe probe;
    CcPartnerModel model;
    double along[3];                              /* unit vector of the direction in which the model describes y by f */
    double aside CC_FROM(0), changed CC_FROM(0);  /* squared second differences of f, across it and in all, summed */
    CcPositionRule rule;
    CcLedger ledger;
    double literal CC_IN(0, 1);                   /* 1 where the law itself acts */
} CcBond;

/* Of an element of one direction that sees speeds alone: the motion with the other length of the intervals, the step to
 * come, as of bodies that are stepped first, in place of the step before; and that one where the step to come is it. */
typedef struct {
    double y, dy, fit[3];     /* of the last interval; sums as those of L = 0 */
    double found CC_IN(0, 2); /* 1: intervals are as long as the step to come; 2: as the step before; 0: not found */
    double H CC_FROM(0), varies CC_FROM(0); /* the last step, s; share by which recent steps changed, fading */
    double further, held; /* m: what x would be more; and with each speed held over the step to come, as by `hold` */
    double work[CC_LAGS];  /* J: of the forces of each lag on what x would be more */
} CcOtherLength;

CC_API double cc_within(double a, double least, double most) { return a < least ? least : a > most ? most : a; }

/* W, from what may be too small to divide by. */
CC_API double cc_bond_admittance(double a, double over) { return cc_within(a / over, 0.0, CC_BOND_MOST); }

/* The state before the first sample. */
CC_API void cc_bond_start(CcBond *c, const CcBondOptions *o)
{
    *c = (CcBond){.rule.beta = 0.5, .lag = o->given.lag == CC_LAG_AUTO ? 0 : o->given.lag};
    if (o->given.inertia > 0.0 && !o->given.straight)
        c->W = cc_bond_admittance(1.0, o->given.inertia), c->known = 1.0;
}

/* Begin again in the midst of a run: nothing is learned until all forces of the fits are known, f[4] being the
 * oldest. */
CC_API void cc_bond_wait(CcBond *c) { c->answered = 4.0 - CC_MODEL_FORCES; }

/* Motion and forces are forgotten; what was learned and the ledger are kept. */
CC_API void cc_bond_rewind(CcBond *c)
{
    const CcBond kept = *c;
    *c = (CcBond){.rule = kept.rule, .lag = kept.lag, .settled = kept.settled, .learned = kept.learned, .W = kept.W,
                  .known = kept.known, .refuted = kept.refuted, .ledger = kept.ledger};
    c->rule.mismatched = c->rule.began = c->rule.stale = 0.0;
    if (kept.known != 0.0) /* it does not ask again */
        c->probe.count = kept.probe.count;
    __builtin_memcpy(c->fits, kept.fits, sizeof c->fits);
}

/* The largest acceleration that the forces given may have made in the last interval, whatever the lag. */
CC_API double cc_bond_own(const CcBond *c)
{
    double f = 0.0;
    for (int L = 0; L < CC_LAGS; L++)
        f = cc_max(f, cc_norm(c->f[L]));
    return c->W * f;
}

/* 1 if the speeds v_0 and v at both ends of the first interval do not explain the way to a place of the distance `far`
 * from the origin: the inputs of the start were not those of the bodies, which have been where they are. */
CC_API int cc_bond_starts_elsewhere(const CcBond *c, const double way[3], const double v_0[3], const double v[3],
                                    double far)
{
    double gap[3];
    for (int i = 0; i < 3; i++)
        gap[i] = way[i] - 0.5 * c->H * (v_0[i] + v[i]);
    return cc_norm(gap) > cc_rule_explains(&c->rule, cc_norm(v_0) + cc_norm(v), c->H, far);
}

/* Learn beta from the interval that ended: the way to a place of the distance `far` from the origin, under which v_0
 * became v.  Returns 1, and forgets the motion, if whoever moves the bodies has put them there; the forces that were
 * given act on. */
CC_API int cc_bond_find_rule(CcBond *c, const double way[3], const double v_0[3], const double v[3], double far)
{
    double gap[3], H = c->H, own = cc_bond_own(c), speed = cc_norm(v) + cc_norm(v_0);
    for (int i = 0; i < 3; i++)
        gap[i] = way[i] - H * cc_rule_speed(c->rule.beta, v_0[i], v[i]);
    if (!cc_rule_is_broken(&c->rule, cc_norm(gap), speed, H, H * H * own, far)) {
        cc_rule_see(&c->rule, way, v_0, v, H, own, far);
        return 0;
    }
    const CcBond was = *c;
    cc_bond_rewind(c);
    c->rule.mismatched = was.rule.mismatched + 1.0;
    c->begun = was.begun, c->H = H, c->longest = was.longest;
    c->f_largest = was.f_largest, c->v_largest = was.v_largest;
    __builtin_memcpy(c->f, was.f, sizeof c->f);
    __builtin_memcpy(c->along, was.along, sizeof c->along);
    return 1;
}

/* 1 while the forces have the signal: all that began together give it to its end. */
CC_API int cc_bond_signals(const CcBond *c, const CcBondOptions *o)
{
    int acts = (o->k > 0.0 || o->d > 0.0) && !o->given.straight && !o->given.holds;
    return o->given.lag == CC_LAG_AUTO && acts && !cc_probe_ends(&c->probe);
}

/* 1 while the signal's question is open. */
CC_API int cc_bond_is_probing(const CcBond *c, const CcBondOptions *o)
{
    return cc_bond_signals(c, o) && c->settled == 0.0;
}

CC_API int cc_bond_knows_lag(const CcBond *c, const CcBondOptions *o)
{
    return c->settled != 0.0 || o->given.lag != CC_LAG_AUTO;
}

/* 1 if W is learned. */
CC_API int cc_bond_identifies(const CcBond *c, const CcBondOptions *o)
{
    return (o->given.identify || c->refuted != 0.0) && !o->given.straight;
}

/* What the fit of the lag L leaves over. */
CC_API double cc_bond_residual(const CcBond *c, int L)
{
    const double *fit = c->fits[L];
    return cc_remainder(fit[0], cc_max(fit[1], 0.0), fit[2]);
}

/* The lag of the least residual, into `best`; 1 if that is below `share` of every other one. */
CC_API int cc_bond_fits_best(const CcBond *c, double share, int *best)
{
    double left[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        left[L] = cc_bond_residual(c, L);
    *best = cc_least_lag(left);
    return c->learned >= CC_BOND_FIRST && cc_is_least_by(left, *best, share);
}

/* 1 where intervals may be as long as the step to come: the force acts at once, as far as is known. */
CC_API int cc_bond_may_see_the_end(const CcBond *c, const CcBondOptions *o)
{
    return !cc_bond_knows_lag(c, o) || cc_lag(c->lag) == 0;
}

/* 1 where steps vary, or did, so that the squares of what is seen differ by a `share` of them. */
CC_API int cc_bond_lengths_differ(const CcBond *c, const CcOtherLength *other, double share)
{
    double mine = c->fits[0][2], its = other->fit[2];
    return cc_abs(its - mine) > share * (its + mine);
}

/* 1 where it is open how long they are: nothing shows it. */
CC_API int cc_bond_length_is_open(const CcBond *c, const CcBondOptions *o, const CcOtherLength *other)
{
    int unknown = other && other->found == 0.0 && cc_bond_may_see_the_end(c, o);
    return unknown && cc_bond_lengths_differ(c, other, CC_BOND_MATTERS);
}

/* Add the interval with the acceleration y that it had if it was of the other length. */
CC_API void cc_bond_see_other(const CcBond *c, CcOtherLength *other, double y, int learns)
{
    double ddf = c->f[0][0] - 2.0 * c->f[1][0] + c->f[2][0], dy = y - other->y, ddy = dy - other->dy;
    const double product[3] = {ddf * ddf, ddf * ddy, ddy * ddy};
    for (int i = 0; i < 3 && learns; i++)
        other->fit[i] = cc_faded(CC_BOND_FORGETS, other->fit[i]) + product[i];
    other->y = y, other->dy = dy;
}

/* Go on with the other length: what was learned with this one is forgotten. */
CC_API void cc_bond_take_length(CcBond *c, const CcBondOptions *o, CcOtherLength *other)
{
    const CcOtherLength its = *other;
    other->found = its.found == 1.0 ? 2.0 : 1.0;
    other->y = c->y[0], other->dy = c->dy[0];
    c->y[0] = its.y, c->dy[0] = its.dy;
    for (int i = 0; i < 3; i++)
        other->fit[i] = c->fits[0][i];
    for (int L = 0; L < CC_LAGS; L++) /* other lags explain nothing */
        c->fits[L][0] = its.fit[0], c->fits[L][1] = L == 0 ? its.fit[1] : 0.0, c->fits[L][2] = its.fit[2];
    c->model = (CcPartnerModel){0};
    c->known = o->given.inertia > 0.0 ? c->known : 0.0;
    c->lag = c->shown = c->likely = 0.0;
    c->settled = o->given.lag == CC_LAG_AUTO && other->found == 1.0;
}

/* Find the length that leaves far less than the other one does with any lag.  Returns 1 where that is the other one. */
CC_API int cc_bond_find_length(CcBond *c, const CcBondOptions *o, CcOtherLength *other)
{
    int best;
    double share = other->found == 0.0 && c->learned >= CC_BOND_EARLY ? CC_BOND_LENGTH : CC_BOND_LENGTH_SURE;
    const double *fit = other->fit;
    int differ = cc_bond_lengths_differ(c, other, CC_BOND_VARIES);
    if (c->learned < CC_BOND_FIRST || !cc_bond_may_see_the_end(c, o) || !differ)
        return 0;
    cc_bond_fits_best(c, 1.0, &best);
    double mine = cc_bond_residual(c, best), its = cc_remainder(fit[0], cc_max(fit[1], 0.0), fit[2]);
    if (other->found == 0.0 && mine < CC_BOND_LENGTH * its)
        other->found = 2.0;
    int swaps = its < share * mine;
    if (swaps)
        cc_bond_take_length(c, o, other);
    return swaps;
}

/* The lag that explains what is seen, where no signal is given. */
CC_API void cc_bond_find_lag(CcBond *c)
{
    int now = cc_lag(c->lag), best;
    cc_bond_fits_best(c, 1.0, &best);
    double least = cc_bond_residual(c, best), present = cc_bond_residual(c, now);
    int hard = c->shown > 0.0; /* a damper of z > 1/2 */
    double sure = c->learned < CC_BOND_EARLY && !hard ? CC_BOND_SURE_EARLY : CC_BOND_SURE;
    double likely = best > now ? 1.0 : CC_BOND_LIKELY; /* a lag that is too small makes energy */
    c->likely = best != now && least < likely * present ? c->likely + 1.0 : 0.0;
    if (best == now || c->learned < CC_BOND_FIRST || present <= 1e-9 * c->fits[now][2])
        return;
    if (least < sure * present || c->likely > (hard ? CC_BOND_FIRST : CC_BOND_LASTING))
        c->lag = best;
}

/* A damper that gives no signal any more is sure of the lag that it found this way after CC_BOND_EARLY samples: one
 * after another two of them would go on with laws that drive each other, though each alone would not. */
CC_API void cc_bond_settle(CcBond *c)
{
    int best;
    if (c->learned > CC_BOND_EARLY && cc_bond_fits_best(c, CC_BOND_LIKELY, &best) && best == cc_lag(c->lag))
        c->settled = 1.0;
}

/* The lag that the answer to the signal shows, or -1.  A single mass leaves nothing, and shows it at once.  Where
 * others answer, all elements that began together decide together: each other lag would disturb the neighbours. */
CC_API int cc_bond_ask(const CcBond *c)
{
    int best, lag = c->probe.count == CC_PROBE_LAST ? cc_probe_lag(&c->probe) : -1;
    if (cc_bond_fits_best(c, CC_BOND_SURE_EARLY, &best))
        return best;
    double most = c->probe.asked > 0.0 ? 1.0 : CC_BOND_OPPOSED; /* later others may give no signal */
    if (lag >= 0 && cc_bond_residual(c, lag) <= most * cc_bond_residual(c, best))
        return lag;
    return cc_model_exact_lag(&c->model);
}

/* 1 while a lag that is given is compared with the others. */
CC_API int cc_bond_doubts(const CcBond *c, const CcBondOptions *o)
{
    int given = o->given.lag != CC_LAG_AUTO && !o->given.holds;
    return given && c->settled == 0.0 && c->learned < CC_BOND_DOUBTS;
}

/* The lag with which a single mass leaves nothing, against the one that is given, on samples in a row; or -1.  Not that
 * of the model: where the law acts as it is, its forces follow from y, and any lag may explain what others do. */
CC_API int cc_bond_contradicts(CcBond *c)
{
    int best, now = cc_lag(c->lag), shown = -1;
    if (cc_bond_fits_best(c, CC_BOND_SURE_EARLY, &best) && cc_bond_residual(c, now) > CC_BOND_FAILS * c->fits[now][2])
        shown = best;
    c->likely = shown >= 0 && shown != now ? c->likely + 1.0 : 0.0;
    return c->likely < CC_BOND_FIRST ? -1 : shown;
}

/* 1 of a damper alone. */
CC_API int cc_bond_is_damper(const CcBondOptions *o) { return o->d > 0.0 && !(o->k > 0.0); }

/* W before anything is known. */
CC_API double cc_bond_guess(const CcBondOptions *o, double H)
{
    double held = o->k * H * H / CC_BOND_GUESS + o->d * H / CC_BOND_GUESS_DAMPED;
    return held > 0.0 ? cc_bond_admittance(1.0, held) : 0.0;
}

/* 1 if the force f of the interval that ended with the rate v turned the rate along f round and made it larger.  What
 * swings passes through 0 by small forces, and one that acts late may not have been the cause. */
CC_API int cc_bond_overshot(const CcBond *c, const double f[3], const double y[3], const double v[3], double unit)
{
    double now = cc_dot(v, f), before = now - c->H * cc_dot(y, f), times = cc_abs(now) / cc_max(cc_abs(before), 1e-300);
    int turned = now * before < 0.0 && times > 1.0 && times < CC_BOND_TURNED;
    int own = cc_norm(f) > CC_BOND_OWN * c->f_largest;
    return turned && own && (cc_lag(c->lag) == 0 || c->shown >= CC_BOND_SHOWN_MOST * unit);
}

/* What a single y over the force f that acted shows of W before the fits do: others may have their part in it.  More of
 * it is used where the law itself makes speed; v: the rate at the end of the interval. */
CC_API void cc_bond_see_brake(CcBond *c, const CcBondOptions *o, const double y[3], const double v[3])
{
    const double *f = c->f[cc_lag(c->lag)];
    double ff = cc_dot(f, f), unit = 1.0 / (o->d * c->H), W = ff > 0.0 ? cc_bond_admittance(cc_dot(y, f), ff) : 0.0;
    if (!(W > CC_BOND_SHOWN_LEAST * unit))
        return;
    int overshot = cc_bond_overshot(c, f, y, v, unit);
    double shown = overshot ? cc_within(W, CC_BOND_OVERSHOT * unit, CC_BOND_OVERSHOT_MOST * unit)
                            : cc_min(W, CC_BOND_SHOWN_MOST * unit);
    c->shown = cc_max(c->shown, shown);
}

/* 1 where a damper has made speed, z > 2: the law itself would go on like that. */
CC_API int cc_bond_overshoots(const CcBond *c, const CcBondOptions *o)
{
    return o->d * c->H * c->shown > 0.5 * (CC_BOND_SHOWN_MOST + CC_BOND_OVERSHOT);
}

/* W by the fit of the lag, and how much of it is used.  From few samples no more than omega H = 1: what others do
 * may look like an answer.  A damper with too large a W gives hardly any force, which then follows what others do and
 * proves it right; so more than the guess is used only where its force explains what is seen. */
CC_API void cc_bond_admit(CcBond *c, const CcBondOptions *o, const double fit[3])
{
    double guess = cc_bond_guess(o, c->H), explained = fit[1] > 0.0 ? fit[1] * fit[1] : 0.0, most = c->W;
    if (explained > 0.0 && fit[0] > 0.0)
        c->W = most = cc_bond_admittance(fit[1], fit[0]), c->known = 1.0;
    double all = fit[0] * fit[2];
    int sure = c->learned >= CC_BOND_EARLY && explained >= CC_BOND_SURELY * all;
    c->doubted = !sure && (o->k > 0.0 || o->d * c->W * c->H > CC_BOND_LARGE);
    if (cc_bond_is_damper(o) && explained < CC_BOND_EXPLAINED * all)
        most = cc_max(guess, c->shown);
    else if (o->k > 0.0 && c->learned < CC_BOND_FEW)
        most = cc_bond_admittance(1.0, o->k * c->H * c->H);
    if (!(o->given.inertia > 0.0) && c->W > most)
        c->W = most, c->known = CC_BOND_LIMITED;
}

/* Let the model learn the interval that ended with the acceleration y; returns the lag to go on with. */
CC_API int cc_bond_model(CcBond *c, const CcBondOptions *o, const double y[3])
{
    CcPartnerModel *m = &c->model;
    CcModelSample s = {.y = cc_dot(y, c->along), .W = c->W, .rounding = CC_BOND_NOISE * c->v_largest, .late = 1};
    double stiffness = o->k * c->H * c->H + o->d * c->H; /* what holds a mass that is moved in one interval */
    int lag = cc_lag(c->lag);
    if (c->answered < 0.0 || !(stiffness > 0.0))
        return lag;
    s.given = cc_bond_knows_lag(c, o);
    for (int i = 0; i < CC_MODEL_FORCES; i++)
        s.u[i] = cc_dot(c->f[i], c->along);
    cc_model_at_step(m, c->H);
    double unit = cc_model_unit(1.0, 0.5 * stiffness, 1.0);
    if (!(cc_abs(unit - m->unit) <= 10.0 * CC_SAME_STEP * unit)) /* another law, not rounding of the step */
        *m = (CcPartnerModel){.H = c->H, .unit = unit};
    int by_errors = cc_model_learn(m, lag, &s);
    return cc_bond_is_probing(c, o) ? lag : by_errors;
}

/* Add to what shows in which directions the force changes. */
CC_API void cc_bond_see_direction(CcBond *c)
{
    double all = 0.0, along = 0.0;
    for (int i = 0; i < 3; i++) {
        double ddf = c->f[0][i] - 2.0 * c->f[1][i] + c->f[2][i];
        all += ddf * ddf;
        along += ddf * c->along[i];
    }
    c->changed = cc_faded(CC_BOND_FORGETS, c->changed) + all;
    c->aside = cc_faded(CC_BOND_FORGETS, c->aside) + cc_max(all - along * along, 0.0);
}

/* 1 where a late force that damps changes in other directions than the one that the model describes: there the bodies
 * may answer with a larger W, and with one that is too small several dampers drive what they hold. */
CC_API int cc_bond_turns(const CcBond *c, const CcBondOptions *o)
{
    return o->d > 0.0 && cc_lag(c->lag) > 0 && c->aside > CC_BOND_ASIDE * c->changed;
}

/* 1 where the motion is predicted by the model: its lag is sure. */
CC_API int cc_bond_is_modelled(const CcBond *c, const CcBondOptions *o)
{
    int used = !cc_bond_turns(c, o) && c->model.use != 0.0 && c->model.learned > CC_BOND_MODEL_FEW;
    return used && cc_bond_identifies(c, o) && cc_bond_knows_lag(c, o);
}

/* If `modelled`: y of the next interval by the model in the place of what y has in its direction. */
CC_API void cc_bond_predict(const CcBond *c, int modelled, const double u[4], CcAhead *ahead, double y[3])
{
    if (!modelled)
        return;
    double off = cc_model_next(&c->model, cc_lag(c->lag), u, ahead) - cc_dot(y, c->along);
    for (int i = 0; i < 3; i++)
        y[i] += off * c->along[i];
}

/* 1 where b_0 of the model answers for W. */
CC_API int cc_bond_is_explained(const CcBond *c, const CcBondOptions *o, int lag)
{
    const CcPartnerModel *m = &c->model;
    int explains = m->learned > CC_BOND_MODEL_FEW && m->lag[lag].error < m->free;
    return explains && !cc_bond_turns(c, o) && cc_model_is_sane(m, lag);
}

/* 1 if the slope of the fit explains more than a share of the squares of what is seen. */
CC_API int cc_bond_explains(const double fit[3], double share)
{
    return fit[1] > 0.0 && fit[1] * fit[1] > share * fit[0] * fit[2];
}

/* Find out whether the motion refutes the W that is given. */
CC_API void cc_bond_refute(CcBond *c, const CcBondOptions *o)
{
    int lag = cc_lag(c->lag);
    const double *fit = c->fits[lag];
    double share = c->learned > CC_BOND_EARLY ? CC_BOND_SURELY : 1.0 - CC_BOND_SURE_EARLY;
    int explained = cc_bond_is_explained(c, o, lag);
    double W = explained ? cc_model_admittance(&c->model, lag) : cc_bond_admittance(fit[1], fit[0]);
    double matters = cc_abs(W - c->W) * (o->k * c->H * c->H + o->d * c->H);
    c->refuted = cc_bond_explains(fit, share) && c->learned >= CC_BOND_FIRST && matters > CC_BOND_REFUTES;
}

/* Learn lag and W from the interval that ended with the acceleration y; n: directions, 1 or 3; other: 0, or where its
 * length is not known, with the acceleration `its` that it had otherwise. */
CC_API void cc_bond_learn(CcBond *c, const CcBondOptions *o, int n, const double y[3], const double v[3],
                          CcOtherLength *other, double its)
{
    double ddy[3], size = 0.0, product[CC_LAGS][3], changed = 0.0;
    for (int i = 0; i < n; i++) {
        double dy = y[i] - c->y[i];
        ddy[i] = dy - c->dy[i];
        c->dy[i] = dy;
        size += ddy[i] * ddy[i];
    }
    for (int L = 0; L < CC_LAGS; L++) {
        product[L][0] = product[L][1] = 0.0, product[L][2] = size;
        for (int i = 0; i < n; i++) {
            double ddf = c->f[L][i] - 2.0 * c->f[L + 1][i] + c->f[L + 2][i];
            product[L][0] += ddf * ddf;
            product[L][1] += ddf * ddy[i];
        }
        changed = product[L][0] > changed ? product[L][0] : changed;
    }
    if (n > 1)
        cc_bond_see_direction(c);
    int excited = cc_sqrt(changed) > CC_BOND_EXCITED * c->f_largest;
    int answer = cc_sqrt(size) * c->H > CC_BOND_NOISE * c->v_largest;
    int probing = cc_bond_is_probing(c, o), by_errors = cc_bond_model(c, o, y), before = cc_lag(c->lag);
    int learns = c->answered >= 2.0 && excited && answer;
    cc_probe_see(&c->probe, n, y, c->f);
    for (int L = 0; L < CC_LAGS && learns; L++)
        for (int i = 0; i < 3; i++)
            c->fits[L][i] = cc_faded(CC_BOND_FORGETS, c->fits[L][i]) + product[L][i];
    c->learned += learns;
    for (int i = 0; i < n; i++)
        c->y[i] = y[i];
    if (other)
        cc_bond_see_other(c, other, its, learns);
    int swapped = other && learns && cc_bond_find_length(c, o, other), open = cc_bond_length_is_open(c, o, other);
    int unsettled = !cc_bond_knows_lag(c, o), asked = unsettled && !open ? cc_bond_ask(c) : -1;
    if (learns && cc_bond_doubts(c, o))
        asked = cc_bond_contradicts(c);
    if (!unsettled && asked >= 0)
        c->model = (CcPartnerModel){.H = c->H, .unit = c->model.unit}; /* it begins anew, with that lag */
    if (asked >= 0)
        c->lag = asked, c->settled = 1.0;
    else if ((!unsettled || o->given.holds) && !swapped)
        c->lag = by_errors;
    int silent = !o->given.holds && cc_bond_is_damper(o) && cc_probe_ends(&c->probe);
    if (learns && unsettled && asked < 0 && (silent || o->given.holds) && by_errors == before && !open)
        cc_bond_find_lag(c);
    if (learns && unsettled && silent && !open)
        cc_bond_settle(c);
    if (probing && unsettled && asked < 0)
        cc_probe_again(&c->probe);
    int lag = cc_lag(c->lag);
    if (lag != before) {
        c->known = o->given.inertia > 0.0 ? c->known : 0.0;
        c->shown = 0.0;
        c->likely = 0.0;
        c->model.use = 0.0;
    }
    probing = probing && c->settled == 0.0;
    int asks = probing || open || o->given.straight || !cc_bond_knows_lag(c, o);
    if (learns && !asks && c->refuted == 0.0 && (o->given.inertia > 0.0 || !o->given.identify))
        cc_bond_refute(c, o);
    int enough = !(o->given.inertia > 0.0) || c->learned > CC_BOND_EARLY || c->refuted != 0.0;
    if (learns && cc_bond_identifies(c, o) && enough && !probing && !open)
        cc_bond_admit(c, o, c->fits[lag]);
    if (cc_bond_identifies(c, o) && !probing && cc_bond_is_explained(c, o, lag))
        c->W = cc_model_admittance(&c->model, lag), c->known = 1.0, c->doubted = 0.0;
    if ((c->known < 1.0 || c->doubted != 0.0) && o->d > 0.0)
        cc_bond_see_brake(c, o, y, v);
    if (c->known == 0.0)
        c->unanswered += excited && !answer;
    c->answered += c->answered < 2.0;
}

/* Speeds of the interval that ended. */
CC_API void cc_bond_meets_speed(CcBond *c, double now, double before)
{
    c->v_largest = cc_fading_peak(CC_BOND_FADES, c->v_largest, cc_max(now, before));
}

/* Remember the force f given at the sample, for the interval H. */
CC_API void cc_bond_keep(CcBond *c, const double f[3], double size, double H)
{
    cc_put_first(c->f[0], CC_MODEL_FORCES, 3, f);
    c->f_largest = cc_fading_peak(CC_BOND_FADES, c->f_largest, size);
    c->H = H;
    c->longest = cc_fading_peak(CC_BOND_SHORTENS, c->longest, H);
    c->begun = 1.0;
}

/* A W that is given and answers long before the step H ends is none: the force by it is so small that no motion shows
 * that it is wrong. */
CC_API void cc_bond_doubt(CcBond *c, const CcBondOptions *o, double H)
{
    int kept = c->known != 0.0 && o->given.inertia > 0.0 && c->refuted == 0.0;
    if (kept && c->W * (o->k * H * H + o->d * H) > CC_BOND_MOST_GIVEN)
        c->refuted = 1.0, c->known = 0.0;
}

/* W and the free acceleration a with which the interval H begins; returns the lag. */
CC_API int cc_bond_begin(CcBond *c, const CcBondOptions *o, double H)
{
    cc_bond_doubt(c, o, H);
    if (c->known == 0.0) { /* a spring that asks gives a smooth force */
        int asks = cc_bond_is_probing(c, o) && !cc_bond_overshoots(c, o);
        int none = !cc_bond_identifies(c, o) || c->unanswered > CC_BOND_MOST_UNANSWERED || asks;
        c->W = none ? 0.0 : cc_max(cc_bond_guess(o, c->longest > H ? c->longest : H), c->shown);
    }
    int lag = cc_lag(c->lag), rests = o->k > 0.0 && c->known == 0.0; /* what pulls at the start is carried */
    for (int i = 0; i < 3; i++)
        c->a[i] = o->given.straight ? 0.0 : c->answered > 0.0 ? c->y[i] - c->W * c->f[lag][i]
                  : rests ? -c->W * c->f[0][i] : 0.0;
    return lag;
}

/* 1 if a damper stops what moves in a few steps: z > CC_BOND_HARD by the last interval. */
CC_API int cc_bond_brakes_hard(const CcBond *c, const CcBondOptions *o)
{
    double yf = cc_dot(c->y, c->f[0]);
    return o->d > 0.0 && c->answered > 0.0 && o->d * c->H * cc_dot(c->y, c->y) > CC_BOND_HARD * yf;
}

/* 1 where the law itself acts: while the order is unknown, and with L = 0 until W is sure.  Of a damper whose order is
 * known it acts only where it stops what moves in a few steps, and nowhere once it has made speed. */
CC_API int cc_bond_is_literal(const CcBond *c, const CcBondOptions *o)
{
    if (cc_lag(c->lag) > 0 || cc_bond_overshoots(c, o))
        return 0;
    if (cc_bond_is_damper(o) && cc_bond_knows_lag(c, o))
        return c->known == 0.0 ? cc_bond_brakes_hard(c, o) : c->doubted != 0.0;
    return !cc_bond_knows_lag(c, o) || c->known == 0.0 || c->doubted != 0.0;
}

/* 1 where W is an answer to the force: by the model, or by what the force explains of what is seen.  Of jolts by
 * others, or of a body that they hold at rest, a fit has some slope as well. */
CC_API int cc_bond_shows_admittance(const CcBond *c, const CcBondOptions *o)
{
    double share = c->learned > CC_BOND_EARLY ? CC_BOND_BY_CHANCE : CC_BOND_SURELY;
    int explains = cc_bond_explains(c->fits[cc_lag(c->lag)], share);
    return o->given.inertia > 0.0 || cc_bond_is_modelled(c, o) || explains;
}

/* 1 when lag and W have been seen often enough to be judged by. */
CC_API int cc_bond_is_sure(const CcBond *c) { return c->known == 1.0 && c->learned > CC_BOND_EARLY; }

/* 1 if a step can be advised: not by speeds that are none of the way. */
CC_API int cc_bond_advises(const CcBond *c) { return cc_bond_is_sure(c) && !cc_is_mismatched(&c->rule); }

/* 1 if a force that is held can be judged: the bodies answer to it, and not to springs of others, which follow the same
 * motion. */
CC_API int cc_bond_judges_hold(const CcBond *c, const CcBondOptions *o)
{
    int clear = o->given.inertia > 0.0 || cc_bond_explains(c->fits[cc_lag(c->lag)], CC_BOND_CLEARLY);
    return cc_bond_advises(c) && clear;
}

/* W, 1/kg, as found or given; 0 while it is unknown. */
CC_API double cc_bond_known_admittance(const CcBond *c, const CcBondOptions *o)
{
    return c->known == 1.0 && cc_bond_shows_admittance(c, o) ? c->W : 0.0;
}

/* Angular frequency of stiffness k on the partners, rad/s; 0 until they are known. */
CC_API double cc_bond_omega(const CcBond *c, double k)
{
    return cc_bond_is_sure(c) && c->W > 0.0 && k > 0.0 ? cc_sqrt(k * c->W) : 0.0;
}

/* What gives the force. */
CC_API int cc_bond_in_force(const CcBond *c, const CcBondOptions *o)
{
    return o->given.holds || cc_rule_doubts(&c->rule, 0.0) ? CC_HELD
           : o->given.straight                        ? CC_PRESCRIBED
           : c->literal != 0.0                        ? CC_HELD
           : cc_bond_is_modelled(c, o)                ? CC_MODELLED
           : c->known == 1.0                          ? CC_FREE_BODY
           : c->unanswered > CC_BOND_MOST_UNANSWERED  ? CC_PRESCRIBED
                                                      : CC_FIRST_GUESSED;
}

#endif
