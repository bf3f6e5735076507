/* A spring or a damper along one coordinate in plain co-simulation: a force returned at communication points, and held
 * by the bodies at both ends over one interval, that neither makes nor loses energy at practical communication steps.
 *
 * x deformation, v its rate, F force through the element: the bodies move apart with y = a - W F, where W is the sum of
 * the inverse masses at both ends and a is the acceleration by everything else.  While F is held x is a parabola:
 *
 *     x_1 = x + H v + H^2 (a - W F)/2,    v_1 = v + H (a - W F)                              (end of the interval)
 *
 * Spring, rate k  F = k (x + x_1)/2: F (x_1 - x) = k x_1^2/2 - k x^2/2, the work is the change of U at any H.  With x_1
 *                 put in, F = k (x + H v/2 + H^2 a/4)/(1 + k W H^2/4).  A free oscillation keeps its energy and turns
 *                 with tan(omega_n H/2) = omega H/2: too slow by (omega H)^2/12
 * Damper, d       F = d (v + theta (v_1 - v)), theta = 1/(1 - exp(-z)) - 1/z, z = d W H: v_1 is exactly that of
 *                 v' = a - W d v.  F is kept between 0 and the force that stops x: F (x_1 - x) >= 0, so it takes energy
 *                 in each interval; this moves F only where v changes its sign
 * Ledger, J       made, for each lag: R_L = sum of U_1 - U - F[L] (x_1 - x).  It is exact: x of the samples is
 * Paying back     the spring acts as with a damper c beside it, c (x_1 - x)^2/H = R/2, c within -1/(2 W H) .. 1/(W H):
 *                 what was made is taken, what was lost is given back.  The energy of all bodies and springs together
 *                 is E = E_0 + sum R: it stays bounded though each spring knows only its own ends
 *
 * The law itself  while the order is unknown, F = k (x + H v/2) or d v, never worse than a force that is held.  Of a
 *                 spring that sees speeds it stays so where L = 0, up to k W H^2 = 1/4: it is symplectic and needs no
 *                 mass; its energy swings by (omega H/2)^2.  Likewise of a damper of z > 0.4 until its W is sure
 *
 * What is learned of the partners, from nothing but v:
 * Lag             L, intervals between a sample and the interval on which its force acts (partner.h).  Springs and
 *                 dampers ask for it by a signal in their forces (order_probe.h), again and again until it is answered.
 *                 Of a single mass second differences of y, fitted by those of F[0], F[1], F[2], leave nothing with the
 *                 true lag; of two masses that swing against each other the equation of the model leaves nothing
 *                 (partner_model.h).  What the signal made is paid back: of a spring energy, of a damper an impulse
 *                 Where the literal force is watched there is no signal: another lag is taken if the residual of its
 *                 fit is below 1/20 of the present one (after few samples 1e-6), a smaller one below 1/2 for thirty
 *                 samples, or by the prediction errors of the model on twenty
 * Model           where the lag is given or settled and the model predicts better than a free mass the motion is
 *                 predicted by it; its b_0 is W where it explains more than W does
 * Admittance      W, else the slope of the fit of second differences
 *
 * With the order given, before anything is known, k W H^2 = 1/2 or d W H = 1/4 is assumed for the longest of the
 * recent steps, so a step that tends to 0 gives the law.  Of a spring of unknown mass what pulls at the start is
 * carried; after more than four samples without an answer W = 0.  |F| is at most 1.2 times what the law gives at the
 * farthest place that the measured motion could reach.
 *
 * Without positions x is the sum of H (v_0 + v_1)/2, which is exact for bodies that move on parabolas, and for those of
 * semi-implicit Euler up to a constant.  With positions the rule beta of their integrator is found as in partner.h.
 *
 * Range: one spring at two bodies: any k W H^2 once W is known; many springs in a row: omega H <= 0.6 of the last mode;
 * springs and dampers on one body: omega H <= 1/2, 0.3 where the order is unknown, z <= 1/2, where a swing decays with
 * 0.6 to 1.4 times its damping ratio up to 0.1, and with 0.4 to 1.6 times one of 0.3.  Beyond, under Jacobi, each force
 * meets what the others did two intervals ago, and the energy grows even if W, lag and the law of the others were
 * known. Under Jacobi the energy grows as under hold until the lag is found; dampers beside springs make that long,
 * for a spring with a damper moves as one that is late.  What was made is paid back.  Naming the order spares it.
 * Sources: discrete gradient, exponential fitting: energy_force.h; paying back: Hannaford & Ryu, IEEE Trans. Robotics
 * and Automation 18 (2002) 1. */
#ifndef CC_COUPLED_AXIS_H
#define CC_COUPLED_AXIS_H

#include "../base/elementary.h"
#include "order_probe.h"
#include "partner_model.h"
#include "position_rule.h"

enum { CC_AXIS_LAGS = 3, CC_AXIS_FORCES = 6, CC_AXIS_LAG_AUTO = -1 };

#define CC_AXIS_FORGETS 0.98      /* share that the fits keep from sample to sample */
#define CC_AXIS_SURE 0.05         /* residual of the best lag over that of the present one, to change it */
#define CC_AXIS_SURE_EARLY 1e-6   /* likewise within the first CC_AXIS_EARLY samples that teach something */
#define CC_AXIS_LIKELY 0.5        /* likewise for CC_AXIS_LASTING samples in a row */
#define CC_AXIS_FIRST 3.0          /* samples that teach something, before the lag can change */
#define CC_AXIS_EARLY 6.0
#define CC_AXIS_MODEL_FEW 7.0     /* samples of the model, after which it is used: others answer all the time */
#define CC_AXIS_LASTING 30.0
#define CC_AXIS_GUESS 0.5         /* k W H^2 before anything is known */
#define CC_AXIS_GUESS_DAMPED 0.25 /* d W H likewise */
#define CC_AXIS_EXPLAINED 0.95    /* share of the squares of what is seen, below which a damper doubts a large W, */
#define CC_AXIS_SURELY 0.99       /* and from which on, and CC_AXIS_EARLY samples, it takes one of z = d W H above */
#define CC_AXIS_LARGE 0.8
#define CC_AXIS_HARD 0.4          /* z before W is known, from which on the law itself acts */
#define CC_AXIS_OPPOSED 5.0       /* residual of the lag that the signal shows over the least: more contradicts it */
#define CC_AXIS_SYMPLECTIC 0.25   /* k W H^2 up to which a spring with L = 0 needs no W */
#define CC_AXIS_FEW 3.0            /* samples that teach something, before a spring believes in more than omega H = 1 */
#define CC_AXIS_MOST_UNANSWERED 4.0 /* samples without an answer, after which the partners are driven or very heavy */
#define CC_AXIS_NOISE 1e-8        /* changes of v below this share of its size teach nothing */
#define CC_AXIS_EXCITED 1e-9      /* second differences of F below this share of its size neither: a body at rest */
#define CC_AXIS_SHORTENS 0.9      /* of the longest recent step, in each step */
#define CC_AXIS_PAYS 0.5          /* share of the ledger that is paid back in one interval, */
#define CC_AXIS_SOFT 0.6          /* by a damper of 2 * 0.3 of the critical one at most: others swing beside it, */
#define CC_AXIS_SHARE 0.2         /* and by that share of a damper's force */
#define CC_AXIS_CEILING 1.2
#define CC_AXIS_MOST 1e60         /* of W and of a step that is advised: with more, products overflow */
#define CC_AXIS_MOST_MISMATCHED 3.0

typedef struct {
    double k, d;    /* spring rate, damping coefficient: one of them is 0 */
    int lag;        /* 0, 1, 2, or CC_AXIS_LAG_AUTO: found; at first 0, of a guide 1 */
    int identify;   /* 0: W stays as given */
    int straight;   /* 1: mean force along the straight line of v, W = 0: for partners whose motion is prescribed */
    double inertia; /* effective mass or moment of inertia given; 0: none */
    int holds;      /* 1: the literal force acts, and is watched */
} CcAxisOptions;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double begun CC_IN(0, 1), answered; /* 1 after the first sample, and after the first interval */
    double place, way;          /* x as it came, without the shift by beta; way of x in the last interval */
    double x, v, H CC_FROM(0);  /* last sample, and the interval that began there */
    double longest CC_FROM(0);  /* of the recent intervals, fading, s: for the first guess of W */
    double y, a, a_before;      /* accelerations of the last interval, and a of the one before */
    double F[CC_AXIS_FORCES];   /* forces given, the newest first */
    double rule[2], rest CC_FROM(0), beta CC_IN(-0.1, 1.1); /* sums of the position rule, and beta */
    double lag CC_IN(0, 2), settled CC_IN(0, 1), fits[CC_AXIS_LAGS][3], dy, learned, likely; /* settled: it is sure */
    double W CC_FROM(0), known CC_IN(0, 1), unanswered CC_FROM(0), v_largest CC_FROM(0), F_largest CC_FROM(0);
    CcOrderProbe probe;
    CcPartnerModel model;       /* of y by -F */
    double made[CC_AXIS_LAGS], taken[CC_AXIS_LAGS]; /* R, and the sum of works above 0, J */
    double doubted CC_IN(0, 1);    /* 1 while a W that matters is not yet sure */
    double literal CC_IN(0, 1);    /* 1 where the law itself acts */
    double by_place CC_IN(0, 1);   /* 1 where positions are given */
    double beyond, owed;           /* N beyond the law, by the signal or to pay it back; what is still to be paid */
    double mismatched CC_FROM(0);  /* samples in a row whose v did not belong to x */
} CcAxis;

/* The lag as an index. */
CC_API int cc_axis_lag(double lag) { return cc_index(lag, CC_AXIS_LAGS); }

CC_API double cc_axis_within(double a, double least, double most) { return a < least ? least : a > most ? most : a; }

/* W, from what may be too small to divide by. */
CC_API double cc_axis_admittance(double a, double over) { return cc_axis_within(a / over, 0.0, CC_AXIS_MOST); }

/* The state before the first sample, from deformation, rate and force at the start. */
CC_API void cc_axis_start(CcAxis *c, const CcAxisOptions *o, double x, double v, double F)
{
    int unknown = o->k > 0.0 || o->d > 0.0 ? 0 : 1; /* a guide begins with 1 */
    *c = (CcAxis){.place = x, .x = x, .v = v, .beta = 0.5, .lag = o->lag == CC_AXIS_LAG_AUTO ? unknown : o->lag};
    for (int i = 0; i < CC_AXIS_FORCES; i++)
        c->F[i] = F;
    if (o->inertia > 0.0 && !o->straight)
        c->W = cc_axis_admittance(1.0, o->inertia), c->known = 1.0;
}

/* Begin again in the midst of a run: nothing is learned until all forces of the fits are known, F[4] being the
 * oldest. */
CC_API void cc_axis_wait(CcAxis *c) { c->answered = 4.0 - CC_AXIS_FORCES; }

/* 1 while the forces have the signal: all that began together give it to its end. */
CC_API int cc_axis_signals(const CcAxis *c, const CcAxisOptions *o)
{
    int acts = (o->k > 0.0 || o->d > 0.0) && !o->straight && !o->holds;
    return o->lag == CC_AXIS_LAG_AUTO && acts && !cc_probe_ends(&c->probe);
}

/* 1 while the order is unknown and asked for. */
CC_API int cc_axis_is_probing(const CcAxis *c, const CcAxisOptions *o)
{
    return cc_axis_signals(c, o) && c->settled == 0.0;
}

/* What the fit of the lag L leaves over. */
CC_API double cc_axis_residual(const CcAxis *c, int L)
{
    const double *fit = c->fits[L];
    return fit[2] - (fit[1] > 0.0 && fit[0] > 0.0 ? fit[1] / fit[0] : 0.0) * fit[1];
}

/* The lag of the least residual, into `best`; 1 if that is below `share` of every other one. */
CC_API int cc_axis_fits_best(const CcAxis *c, double share, int *best)
{
    double left[CC_AXIS_LAGS];
    *best = 0;
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        left[L] = cc_axis_residual(c, L);
        *best = left[L] < left[*best] ? L : *best;
    }
    for (int L = 0; L < CC_AXIS_LAGS; L++)
        if (L != *best && !(left[*best] < share * left[L]))
            return 0;
    return c->learned >= CC_AXIS_FIRST;
}

/* The lag that explains what is seen; returns 1 if it is another one. */
CC_API int cc_axis_find_lag(CcAxis *c)
{
    int now = cc_axis_lag(c->lag), best;
    cc_axis_fits_best(c, 1.0, &best);
    double least = cc_axis_residual(c, best), present = cc_axis_residual(c, now);
    double sure = c->learned < CC_AXIS_EARLY ? CC_AXIS_SURE_EARLY : CC_AXIS_SURE;
    double likely = best > now ? 1.0 : CC_AXIS_LIKELY; /* a lag that is too small makes energy */
    c->likely = best != now && least < likely * present ? c->likely + 1.0 : 0.0;
    if (best == now || c->learned < CC_AXIS_FIRST || present <= 1e-9 * c->fits[now][2])
        return 0;
    if (!(least < sure * present || c->likely > CC_AXIS_LASTING))
        return 0;
    c->lag = best;
    c->likely = 0.0;
    return 1;
}

/* The lag that the answer to the signal shows, or -1.  A single mass leaves nothing, and shows it at once.  Where
 * others answer, all elements that began together decide together: each other lag would disturb the neighbours. */
CC_API int cc_axis_ask(const CcAxis *c)
{
    int best, lag = c->probe.count == CC_PROBE_LAST ? cc_probe_lag(&c->probe) : -1;
    if (cc_axis_fits_best(c, CC_AXIS_SURE_EARLY, &best))
        return best;
    double most = c->probe.asked > 0.0 ? 1.0 : CC_AXIS_OPPOSED; /* later others may give no signal */
    if (lag >= 0 && cc_axis_residual(c, lag) <= most * cc_axis_residual(c, best))
        return lag;
    return cc_model_exact_lag(&c->model);
}

/* W before anything is known. */
CC_API double cc_axis_guess(const CcAxisOptions *o, double H)
{
    return o->d > 0.0   ? cc_axis_admittance(CC_AXIS_GUESS_DAMPED, o->d * H)
           : o->k > 0.0 ? cc_axis_admittance(CC_AXIS_GUESS, o->k * H * H)
                        : 0.0;
}

/* W by the fit of the lag, and how much of it is believed.  From few samples no more than omega H = 1: what others do
 * may look like an answer.  A damper with too large a W gives hardly any force, which then follows what others do and
 * proves it right; so more than the guess is believed only where its force explains what is seen. */
CC_API void cc_axis_admit(CcAxis *c, const CcAxisOptions *o, const double fit[3])
{
    double guess = cc_axis_guess(o, c->H), explained = fit[1] > 0.0 ? fit[1] * fit[1] : 0.0, most = c->W;
    if (explained > 0.0 && fit[0] > 0.0)
        c->W = most = cc_axis_admittance(fit[1], fit[0]), c->known = 1.0;
    double all = fit[0] * fit[2];
    int sure = c->learned >= CC_AXIS_EARLY && explained >= CC_AXIS_SURELY * all;
    c->doubted = !sure && (o->k > 0.0 || o->d * c->W * c->H > CC_AXIS_LARGE);
    if (o->d > 0.0 && explained < CC_AXIS_EXPLAINED * all)
        most = guess;
    else if (o->k > 0.0 && c->learned < CC_AXIS_FEW)
        most = guess / CC_AXIS_GUESS;
    if (!(o->inertia > 0.0) && c->W > most)
        c->W = most;
}

/* What the interval that ended with the acceleration y teaches the model; returns the lag to go on with. */
CC_API int cc_axis_model(CcAxis *c, const CcAxisOptions *o, double y)
{
    CcModelSample s = {.y = y, .W = c->W, .rounding = CC_AXIS_NOISE * c->v_largest, .late = 1};
    double stiffness = o->k * c->H * c->H + o->d * c->H; /* what holds a mass that is moved in one interval */
    int lag = cc_axis_lag(c->lag);
    if (c->answered < 0.0 || !(stiffness > 0.0))
        return lag;
    s.given = o->lag != CC_AXIS_LAG_AUTO || c->settled != 0.0;
    for (int i = 0; i < CC_AXIS_FORCES; i++)
        s.u[i] = -c->F[i];
    cc_model_at_step(&c->model, c->H);
    double unit = cc_model_unit(1.0, 0.5 * stiffness, 1.0);
    if (!(cc_abs(unit - c->model.unit) <= 10.0 * CC_SAME_STEP * unit)) /* another law, not rounding of the step */
        c->model = (CcPartnerModel){.H = c->H, .unit = unit};
    int by_errors = cc_model_learn(&c->model, lag, &s);
    return cc_axis_is_probing(c, o) ? lag : by_errors;
}

/* 1 where the motion is predicted by the model: its lag is sure. */
CC_API int cc_axis_is_modelled(const CcAxis *c, const CcAxisOptions *o)
{
    int sure = c->settled != 0.0 || o->lag != CC_AXIS_LAG_AUTO;
    return c->model.use != 0.0 && c->model.learned > CC_AXIS_MODEL_FEW && o->identify && !o->straight && sure;
}

/* The interval that ended with the acceleration y: what it teaches of lag and admittance. */
CC_API void cc_axis_learn(CcAxis *c, const CcAxisOptions *o, double y)
{
    double dy = c->y - y, ddy = dy - c->dy;
    c->dy = dy;
    double change[CC_AXIS_LAGS], changed = 0.0;
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        change[L] = c->F[L] - 2.0 * c->F[L + 1] + c->F[L + 2];
        changed = cc_abs(change[L]) > changed ? cc_abs(change[L]) : changed;
    }
    int excited = changed > CC_AXIS_EXCITED * c->F_largest, answer = cc_abs(ddy) * c->H > CC_AXIS_NOISE * c->v_largest;
    int probing = cc_axis_is_probing(c, o), found = cc_axis_model(c, o, y), before = cc_axis_lag(c->lag);
    double accelerated[3] = {y};
    cc_probe_see(&c->probe, accelerated);
    int learns = c->answered >= 2.0 && excited && answer;
    if (learns) {
        for (int L = 0; L < CC_AXIS_LAGS; L++) {
            double ddF = change[L], product[3] = {ddF * ddF, ddF * ddy, ddy * ddy};
            for (int i = 0; i < 3; i++)
                c->fits[L][i] = CC_AXIS_FORGETS * c->fits[L][i] + product[i];
        }
        c->learned += 1.0;
    }
    int unsettled = o->lag == CC_AXIS_LAG_AUTO && c->settled == 0.0, asked = unsettled ? cc_axis_ask(c) : -1;
    if (asked >= 0)
        c->lag = asked, c->settled = 1.0;
    else if (!unsettled || o->holds)
        c->lag = found;
    if (learns && unsettled && o->holds && found == before)
        cc_axis_find_lag(c);
    if (probing && c->settled == 0.0)
        cc_probe_again(&c->probe);
    if (cc_axis_lag(c->lag) != before) {
        c->known = o->inertia > 0.0 ? c->known : 0.0;
        c->likely = 0.0;
        c->model.use = 0.0;
    }
    probing = probing && c->settled == 0.0;
    int lag = cc_axis_lag(c->lag), enough = !(o->inertia > 0.0) || c->learned > CC_AXIS_EARLY;
    if (learns && o->identify && !o->straight && enough && !probing)
        cc_axis_admit(c, o, c->fits[lag]);
    if (o->identify && !o->straight && !probing && cc_model_is_sane(&c->model, lag)
        && c->model.learned > CC_AXIS_MODEL_FEW && c->model.lag[lag].error < c->model.free)
        c->W = cc_model_admittance(&c->model, lag), c->known = 1.0, c->doubted = 0.0;
    if (c->known == 0.0)
        c->unanswered += excited && !answer;
}

/* The interval between the last sample and this one. */
CC_API void cc_axis_see(CcAxis *c, const CcAxisOptions *o, const double *place, double v)
{
    double H = c->H, y = (v - c->v) / H, x_0 = c->x, way = 0.5 * H * (v + c->v);
    if (place) {
        double turn = H * (v - c->v), rest = *place - c->place - H * c->v, speed = cc_abs(v) + cc_abs(c->v);
        double gap = *place - c->place - way - (c->beta - 0.5) * turn;
        c->mismatched = cc_abs(gap) > H * speed + 1e-9 * cc_abs(*place) ? c->mismatched + 1.0 : 0.0;
        if (cc_abs(turn) > CC_RULE_LEAST * H * speed) {
            cc_rule_add(c->rule, rest * turn, turn * turn);
            c->rest = CC_RULE_FORGETS * c->rest + rest * rest;
        }
        c->beta = cc_rule_sure_beta(c->rule, c->rest);
        x_0 = c->place - (c->beta - 0.5) * H * c->v;
        c->x = *place - (c->beta - 0.5) * H * v;
        c->place = *place;
    } else {
        c->x = c->place = x_0 + way;
    }
    c->way = c->x - x_0;
    c->owed -= c->beyond * (o->d > 0.0 ? H : c->way);
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        double work = c->F[L] * c->way;
        c->made[L] += 0.5 * o->k * (c->x + x_0) * c->way - work;
        c->taken[L] += work > 0.0 ? work : 0.0;
    }
    double fading = 0.99 * c->v_largest, largest = cc_abs(v) > cc_abs(c->v) ? cc_abs(v) : cc_abs(c->v);
    c->v_largest = fading > largest ? fading : largest;
    cc_axis_learn(c, o, y);
    c->answered += c->answered < 2.0;
    c->y = y;
}

/* The force of an interval that begins at x, v, when R has been made until then. */
CC_API double cc_axis_force(const CcAxisOptions *o, double x, double v, double a, double W, double H, double R)
{
    double k = o->k, d = o->d;
    if (d > 0.0) {
        double z = d * W * H, theta = cc_exponential_share(z), F = d * (v + theta * H * a) / (1.0 + theta * z);
        double middle = v + 0.5 * H * a;
        if (!(W > 0.0))
            return F;
        double stop = 2.0 * middle / (W * H);
        return stop < 0.0 ? cc_axis_within(F, stop, 0.0) : cc_axis_within(F, 0.0, stop);
    }
    double elastic = k * (x + 0.5 * H * v + 0.25 * H * H * a), stiff = 1.0 + 0.25 * k * W * H * H, F = elastic / stiff;
    double way = H * v + 0.5 * H * H * (a - W * F);
    if (o->straight || !(W > 0.0) || !(way * way > 0.0))
        return F;
    double stop = 1.0 / (W * H), soft = CC_AXIS_SOFT * cc_sqrt(k / W);
    double most = o->lag == CC_AXIS_LAG_AUTO && soft < stop ? soft : stop; /* much may be owed */
    double c = cc_axis_within(CC_AXIS_PAYS * R * H / (way * way), -0.5 * most, most);
    return (elastic + c * (v + 0.5 * H * a)) / (stiff + 0.5 * c * W * H);
}

/* The greatest force that the motion of the last interval, gone on with for the time T, could lead to. */
CC_API double cc_axis_ceiling(const CcAxis *c, const CcAxisOptions *o, double v, double T)
{
    double pull = cc_abs(c->a) < cc_abs(c->a_before) ? c->a : c->a_before, damped = o->d > 0.0;
    pull = c->a * c->a_before > 0.0 ? pull : 0.0;
    double now = damped ? v : c->x, then = damped ? v : c->x + T * v;
    double pulled = then + (damped ? T : 0.5 * T * T) * pull, far = cc_abs(now);
    far = cc_abs(then) > far ? cc_abs(then) : far;
    far = cc_abs(pulled) > far ? cc_abs(pulled) : far;
    return CC_AXIS_CEILING * (damped ? o->d : o->k) * far;
}

/* A sample at a communication point begins with what the interval before it shows: the rate v, and the deformation
 * itself if it is known (NULL: it is the sum of v); H, s, the step to come.  Afterwards c->x is the deformation, F[lag]
 * the force that acted and c->way its way.  Returns 0 if there was no interval.
 * The bodies may have moved before the first sample too: Gauss-Seidel with the bodies first. */
CC_API int cc_axis_observe(CcAxis *c, const CcAxisOptions *o, const double *place, double v, double H)
{
    c->by_place = place != 0;
    if (c->begun == 0.0)
        c->H = H;
    if (c->begun == 0.0 && v == c->v && !(place && *place != c->place))
        return 0;
    cc_axis_see(c, o, place, v);
    return 1;
}

/* Remember the sample and the force F given there. */
CC_API void cc_axis_keep(CcAxis *c, double v, double F, double H)
{
    for (int i = CC_AXIS_FORCES - 1; i > 0; i--)
        c->F[i] = c->F[i - 1];
    c->F[0] = F;
    c->F_largest = 0.99 * c->F_largest > cc_abs(F) ? 0.99 * c->F_largest : cc_abs(F);
    c->v = v;
    c->H = H;
    c->longest = CC_AXIS_SHORTENS * c->longest > H ? CC_AXIS_SHORTENS * c->longest : H;
    c->begun = 1.0;
}

/* 1 if a damper stops what moves in a few steps: z > CC_AXIS_HARD by the last interval. */
CC_API int cc_axis_brakes_hard(const CcAxis *c, const CcAxisOptions *o)
{
    return o->d > 0.0 && c->answered > 0.0 && c->y * (o->d * c->H * c->y + CC_AXIS_HARD * c->F[0]) > 0.0;
}

/* 1 where the law itself acts: while the order is unknown, and where it is the best force. */
CC_API int cc_axis_is_literal(const CcAxis *c, const CcAxisOptions *o, double H)
{
    if (o->straight || cc_axis_lag(c->lag) > 0 || !(o->k > 0.0 || o->d > 0.0))
        return 0;
    if (o->lag == CC_AXIS_LAG_AUTO && c->settled == 0.0)
        return 1;
    if (o->d > 0.0)
        return c->known == 0.0 ? cc_axis_brakes_hard(c, o) : c->doubted != 0.0;
    return c->known == 0.0 || c->doubted != 0.0 || (c->by_place == 0.0 && o->k * c->W * H * H <= CC_AXIS_SYMPLECTIC);
}

/* What the signal made, paid back: of a spring energy, of a damper an impulse. */
CC_API double cc_axis_repaid(const CcAxis *c, const CcAxisOptions *o, double F, double v, double H)
{
    if (o->d > 0.0)
        return cc_axis_within(CC_AXIS_PAYS * c->owed / H, -CC_AXIS_SHARE * cc_abs(F), CC_AXIS_SHARE * cc_abs(F));
    if (!(c->W > 0.0) || !(v * v > 0.0))
        return 0.0;
    double most = 0.5 / (c->W * H);
    return v * cc_axis_within(CC_AXIS_PAYS * c->owed / (H * v * v), -most, most);
}

/* And it ends with the force that answers it. */
CC_API double cc_axis_answer(CcAxis *c, const CcAxisOptions *o, double v, double H)
{
    if (c->known == 0.0) { /* a spring that asks gives a smooth force */
        int none = o->straight || c->unanswered > CC_AXIS_MOST_UNANSWERED || cc_axis_is_probing(c, o);
        c->W = none ? 0.0 : cc_axis_guess(o, c->longest > H ? c->longest : H);
    }
    int lag = cc_axis_lag(c->lag);
    c->a_before = c->a;
    int rests = o->k > 0.0 && c->known == 0.0; /* until something is seen: what pulls at the start is carried */
    c->a = o->straight ? 0.0 : c->answered > 0.0 ? c->y + c->W * c->F[lag] : rests ? c->W * c->F[0] : 0.0;
    double x = c->x, speed = v, R = c->made[lag], u[CC_AXIS_FORCES + 1] = {0.0};
    int modelled = cc_axis_is_modelled(c, o);
    CcAhead ahead = cc_model_now(&c->model);
    for (int i = 0; i < CC_AXIS_FORCES; i++)
        u[i + 1] = -c->F[i];
    for (int i = lag - 1; i >= 0; i--) { /* intervals whose forces are given already */
        double alpha = c->a - c->W * c->F[i];
        if (modelled)
            alpha = cc_model_next(&c->model, lag, u + 1 + i, &ahead);
        double x_1 = x + H * speed + 0.5 * H * H * alpha;
        R += (0.5 * o->k * (x_1 + x) - c->F[i]) * (x_1 - x);
        x = x_1;
        speed += H * alpha;
    }
    double a = modelled ? cc_model_next(&c->model, lag, u, &ahead) : c->a; /* u[0] = 0: by all but this force */
    double F = cc_axis_force(o, x, speed, a, c->W, H, R);
    int literal = cc_axis_is_literal(c, o, H), signals = cc_axis_signals(c, o);
    F = literal ? o->k * (c->x + 0.5 * H * v) + o->d * v : F;
    double lawful = F;
    if (!signals && (literal || o->d > 0.0))
        F += cc_axis_repaid(c, o, F, v, H);
    double most = cc_axis_ceiling(c, o, v, (lag + 1.0) * H);
    F = o->straight ? F : cc_axis_within(F, -most, most);
    if (c->mismatched >= CC_AXIS_MOST_MISMATCHED)
        F = o->k * c->place + o->d * v;
    if (cc_axis_brakes_hard(c, o))
        cc_probe_end(&c->probe);
    int asks = cc_axis_signals(c, o) && c->mismatched < CC_AXIS_MOST_MISMATCHED && (o->k > 0.0 || c->answered > 0.0);
    asks = asks && cc_abs(F - c->F[0]) > CC_PROBE_MOVES * c->F_largest;
    F *= cc_probe_factor(&c->probe, o->d > 0.0 ? CC_PROBE_SIZE_DAMPED : CC_PROBE_SIZE, asks);
    c->literal = literal;
    c->beyond = literal || o->d > 0.0 ? F - lawful : 0.0;
    cc_axis_keep(c, v, F, H);
    return F;
}

/* Where the literal force F is held: what it shows of the partners is learned all the same. */
CC_API void cc_axis_watch(CcAxis *c, const CcAxisOptions *o, const double *place, double v, double F, double H)
{
    CcAxisOptions held = *o;
    held.holds = 1;
    cc_axis_observe(c, &held, place, v, H);
    cc_axis_keep(c, v, F, H);
}

/* 1 when lag and W have been seen often enough to be judged by. */
CC_API int cc_axis_is_sure(const CcAxis *c) { return c->known != 0.0 && c->learned > CC_AXIS_EARLY; }

/* Angular frequency of stiffness k on the partners, rad/s; 0 until they are known. */
CC_API double cc_axis_omega(const CcAxis *c, double k)
{
    return cc_axis_is_sure(c) && c->W > 0.0 && k > 0.0 ? cc_sqrt(k * c->W) : 0.0;
}

/* Growth of a swing in half a period under a force that is held, as an exponent: pi omega tau/2, to first order in
 * omega H, for the delay tau of the force, L H where the element integrates speeds, (L + 1/2) H where it is given
 * positions.  Gauss-Seidel with speeds makes none up to omega H = 2, where
 * x_n+1 - (2 - omega^2 H^2) x_n + x_n-1 = 0. */
CC_API double cc_axis_hold_growth(const CcAxis *c, double omega, int by_place, double H)
{
    double delay = c->lag + (by_place ? 0.5 : 0.0), half = 0.5 * omega * H;
    if (delay > 0.0 || !(half > 1.0))
        return CC_PI_HI * half * delay;
    return CC_PI_HI / half * re(cc_log(half + cc_sqrt(half * half - 1.0)));
}

/* What gives the force. */
enum { CC_HELD, CC_FIRST_GUESSED, CC_FREE_BODY, CC_MODELLED, CC_PRESCRIBED };

CC_API int cc_axis_in_force(const CcAxis *c, const CcAxisOptions *o)
{
    return c->mismatched >= CC_AXIS_MOST_MISMATCHED ? CC_HELD
           : o->straight                            ? CC_PRESCRIBED
           : c->literal != 0.0                      ? CC_HELD
           : cc_axis_is_modelled(c, o)              ? CC_MODELLED
           : c->known != 0.0                        ? CC_FREE_BODY
           : c->unanswered > CC_AXIS_MOST_UNANSWERED ? CC_PRESCRIBED
                                                     : CC_FIRST_GUESSED;
}

/* The communication step, s, up to which the force is right with several elements on one body: omega H = 1/2, z = 1/2;
 * 0 while W is unknown. */
CC_API double cc_axis_step_advised(const CcAxis *c, const CcAxisOptions *o)
{
    if (c->known == 0.0 || !(c->W > 0.0))
        return 0.0;
    double step = o->d > 0.0 ? 0.5 / (o->d * c->W) : o->k > 0.0 ? 0.5 / cc_sqrt(o->k * c->W) : 0.0;
    return step < CC_AXIS_MOST ? step : CC_AXIS_MOST;
}

#endif
