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
 *                 is E = E_0 + sum R: it stays bounded though each spring has the data of its ends only
 *
 * The law itself  while the order is unknown, F = k (x + H v/2) or d v, never worse than a force that is held.  Of a
 *                 spring that sees speeds it stays so where L = 0, up to k W H^2 = 1/4: it is symplectic and needs no
 *                 mass; its energy swings by (omega H/2)^2.  Likewise of one that sees the positions of bodies with
 *                 beta = 1, semi-implicit Euler in one step, and of a damper of z > 0.4 until its W is sure
 *
 * Lag and W       bond.h, f = -F.  What the signal made is paid back: of a spring energy, of a damper an impulse
 * Model           where the lag is given or settled and the model predicts better than a free mass the motion is
 *                 predicted by it (partner_model.h)
 *
 * |F| is at most 1.2 times what the law gives at the farthest place that the measured motion could reach.
 *
 * Without positions x is the sum of H (v_0 + v_1)/2, which is exact for bodies that move on parabolas, and for those
 * of semi-implicit Euler up to a constant.  H is the length of the step before, unless intervals are found to be as
 * long as the step to come (bond.h): then x and the ledger are corrected by all that was missed.  Until one is found
 * the law acts with x + H v/2 that is summed as for a force that is held, H v over the step to come, which is right of
 * both.  Bodies that are stepped first hold the force over a step that is not known yet: while steps vary the law
 * itself would make energy, and what was made is paid back.  With positions the rule beta of the integrator is found
 * (position_rule.h).
 * Range and limits: THEORY.md. */
#ifndef CC_COUPLED_AXIS_H
#define CC_COUPLED_AXIS_H

#include "../base/elementary.h"
#include "bond.h"

#define CC_AXIS_SYMPLECTIC 0.25   /* k W H^2 up to which a spring with L = 0 needs no W */
#define CC_AXIS_STAGGERED 12.0    /* likewise of one that sees positions, of bodies with 1 - beta <= omega H/12 */
#define CC_AXIS_SOFT 0.6          /* it pays back by a damper of 2 * 0.3 of the critical one at most: others swing */
#define CC_AXIS_SHARE 0.2         /* beside it; and by that share of a damper's force */
#define CC_AXIS_CEILING 1.2
#define CC_AXIS_EVEN 1e-3         /* change of recent steps over the step, up to which they are the same */
#define CC_AXIS_STIRS 1e-4        /* of the answer of the first guess: less shows no interval before the first sample */
#define CC_AXIS_SUDDEN 30.0       /* times a step, and what explains a change of v: more may be a longer interval */
#define CC_AXIS_ROUNDING 1.2e-7   /* of v, likewise: what two speeds in single precision are rounded by */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    CcBond bond;           /* its vectors have one component, of -F and y */
    CcOtherLength other;   /* where speeds alone are seen */
    double place, way;     /* x as it came, without the shift by beta; way of x in the last interval */
    double x, v, a_before; /* last sample; a of the interval before the last one, m/s^2 */
    double by_place CC_IN(0, 1); /* 1 where positions are given */
    double stirred CC_IN(0, 1);  /* 1 if v of the first sample was not that of the start, by however little */
    double jumped;         /* elastic energy that came as the bodies were put elsewhere before the last sample, J */
    double beyond, owed;   /* N beyond the law, by the signal or to pay it back; what is still to be paid */
} CcAxis;

/* The state before the first sample, from deformation, rate and force at the start. */
CC_API void cc_axis_start(CcAxis *c, const CcBondOptions *o, double x, double v, double F)
{
    *c = (CcAxis){.place = x, .x = x, .v = v};
    cc_bond_start(&c->bond, o);
    c->bond.along[0] = 1.0;
    for (int i = 0; i < CC_MODEL_FORCES; i++)
        c->bond.f[i][0] = -F;
}

/* The force did no work on the way to `place`, where the bodies were put. */
CC_API void cc_axis_put(CcAxis *c, const CcBondOptions *o, double place, double v)
{
    double beta = c->bond.rule.beta, H = c->bond.H, x_0 = cc_rule_place(beta, H, c->place, c->v);
    c->x = cc_rule_place(beta, H, place, v);
    c->place = place;
    c->jumped = 0.5 * o->k * (c->x - x_0) * (c->x + x_0);
    c->way = 0.0;
}

/* The acceleration of the interval H before the step H_1 to come.  Speeds alone do not show whether it was as long as
 * H_1 instead, as where the bodies are stepped first.  Where H_1 is many times as long it was, if H would make the
 * acceleration many times as large as that before and the own force explain. */
CC_API double cc_axis_acceleration(const CcAxis *c, const double *place, double v, double H_1)
{
    const CcBond *b = &c->bond;
    double change = v - c->v;
    int seen = b->answered > 0.0 || c->stirred != 0.0;
    int may_be = !place && seen && cc_lag(b->lag) == 0 && H_1 > CC_AXIS_SUDDEN * b->H;
    if (!may_be)
        return change / b->H;
    double own = b->known != 0.0 ? cc_bond_own(b) : 0.0;
    int sudden = cc_abs(change) > CC_AXIS_SUDDEN * b->H * (cc_abs(b->y[0]) + own);
    return change / (sudden ? H_1 : b->H);
}

/* 1 where intervals are as long as the step to come: the bodies are stepped first. */
CC_API int cc_axis_sees_the_end(const CcAxis *c, const CcBondOptions *o)
{
    return o->bodies_first || c->other.found == 1.0;
}

/* Intervals turn out to be of the other length: all ways were. */
CC_API void cc_axis_lengthen(CcAxis *c, const CcBondOptions *o)
{
    CcOtherLength *other = &c->other;
    double x_0 = c->x;
    c->x = c->place = x_0 + other->further;
    for (int L = 0; L < CC_LAGS; L++) {
        c->bond.ledger.made[L] += 0.5 * o->k * (c->x + x_0) * other->further - other->work[L];
        c->bond.ledger.taken[L] += other->work[L];
        other->work[L] = -other->work[L];
    }
    other->further = -other->further;
    other->held = 0.0;
}

/* Add what the way to the rate v would be more, had the interval the other length, `its`, before the step H_1. */
CC_API void cc_axis_meets_step(CcAxis *c, const CcBondOptions *o, double v, double its, double H_1)
{
    CcOtherLength *other = &c->other;
    double H = c->bond.H, way = 0.5 * (its - H) * (v + c->v);
    double changed = other->H > 0.0 ? cc_abs(H_1 / other->H - 1.0) : 0.0;
    int open = other->found == 0.0 && cc_bond_may_see_the_end(&c->bond, o);
    other->varies = cc_fading_peak(CC_BOND_SHORTENS, other->varies, changed);
    other->H = H_1;
    other->further += way;
    for (int L = 0; L < CC_LAGS; L++)
        other->work[L] -= c->bond.f[L][0] * way;
    other->held = open ? other->held + 0.5 * (H_1 - H) * v : 0.0;
}

/* The acceleration y of an interval H; of one that is too short to show it what the force makes of that before, y_0. */
CC_API double cc_axis_shown(const CcBond *b, double y, double y_0, double H)
{
    int lag = cc_lag(b->lag);
    return H < CC_BOND_SHORT * b->longest ? y_0 + b->W * (b->f[lag][0] - b->f[lag + 1][0]) : y;
}

/* The interval between the last sample and this one, before the step H_1. */
CC_API void cc_axis_see(CcAxis *c, const CcBondOptions *o, const double *place, double v, double H_1)
{
    CcBond *b = &c->bond;
    double H = b->H, x_0 = c->x, y[3] = {cc_axis_acceleration(c, place, v, H_1)};
    double way = 0.5 * H * (v + c->v);
    CcOtherLength *other = !place && !o->bodies_first ? &c->other : 0;
    double before = c->other.H > 0.0 ? c->other.H : H, its_H = cc_axis_sees_the_end(c, o) ? before : H_1;
    double its = cc_axis_shown(b, (v - c->v) / its_H, c->other.y, its_H);
    y[0] = cc_axis_shown(b, y[0], b->y[0], H);
    c->jumped = 0.0;
    cc_axis_meets_step(c, o, v, its_H, H_1);
    if (place) {
        double gone[3] = {*place - c->place}, before[3] = {c->v}, now[3] = {v};
        if (cc_bond_find_rule(b, gone, before, now, cc_abs(*place))) {
            cc_axis_put(c, o, *place, v);
            return;
        }
        x_0 = cc_rule_place(b->rule.beta, H, c->place, c->v);
        c->x = cc_rule_place(b->rule.beta, H, *place, v);
        c->place = *place;
    } else {
        c->x = c->place = x_0 + way;
    }
    c->way = c->x - x_0;
    c->owed -= c->beyond * (o->d > 0.0 ? H : c->way);
    for (int L = 0; L < CC_LAGS; L++) {
        double work = -b->f[L][0] * c->way;
        b->ledger.made[L] += 0.5 * o->k * (c->x + x_0) * c->way - work;
        b->ledger.taken[L] += work > 0.0 ? work : 0.0;
    }
    cc_bond_meets_speed(b, cc_abs(v), cc_abs(c->v));
    double found = c->other.found;
    cc_bond_learn(b, o, 1, y, (double[3]){v}, other, its);
    if (c->other.found != found && (c->other.found == 1.0 || found == 1.0))
        cc_axis_lengthen(c, o);
}

/* The force of an interval that begins at x, v, when R has been made until then. */
CC_API double cc_axis_force(const CcBondOptions *o, double x, double v, double a, double W, double H, double R)
{
    double k = o->k, d = o->d;
    if (d > 0.0) {
        double z = d * W * H, theta = cc_exponential_share(z), F = d * (v + theta * H * a) / (1.0 + theta * z);
        double middle = v + 0.5 * H * a;
        if (!(W > 0.0))
            return F;
        double stop = 2.0 * middle / (W * H);
        return stop < 0.0 ? cc_within(F, stop, 0.0) : cc_within(F, 0.0, stop);
    }
    double elastic = k * (x + 0.5 * H * v + 0.25 * H * H * a), stiff = 1.0 + 0.25 * k * W * H * H, F = elastic / stiff;
    double way = H * v + 0.5 * H * H * (a - W * F);
    if (o->given.straight || !(W > 0.0) || !(way * way > 0.0))
        return F;
    double stop = 1.0 / (W * H), soft = CC_AXIS_SOFT * cc_sqrt(k / W);
    double most = o->given.lag == CC_LAG_AUTO && soft < stop ? soft : stop; /* much may be owed */
    double c = cc_within(CC_BOND_PAYS * R * H / (way * way), -0.5 * most, most);
    return (elastic + c * (v + 0.5 * H * a)) / (stiff + 0.5 * c * W * H);
}

/* The greatest force that the motion of the last interval, gone on with for the time T, could lead to. */
CC_API double cc_axis_ceiling(const CcAxis *c, const CcBondOptions *o, double v, double T)
{
    double a = c->bond.a[0], pull = cc_abs(a) < cc_abs(c->a_before) ? a : c->a_before, damped = o->d > 0.0;
    pull = a * c->a_before > 0.0 ? pull : 0.0;
    double now = damped ? v : c->x, then = damped ? v : c->x + T * v;
    double pulled = then + (damped ? T : 0.5 * T * T) * pull, far = cc_abs(now);
    far = cc_abs(then) > far ? cc_abs(then) : far;
    far = cc_abs(pulled) > far ? cc_abs(pulled) : far;
    return CC_AXIS_CEILING * (damped ? o->d : o->k) * far;
}

/* 1 if the bodies have moved before the first sample, by their place or by the answer of v to the force of the start.
 * Speeds that come from a sensor, or in single precision, are rounded otherwise than those of the start: taken for an
 * answer, that would leave x off by H v to the end of the run.  Masses that answer less swing in more than 440 steps
 * per half period: an interval that is missed is below 1/140 of their amplitude. */
CC_API int cc_axis_has_moved(const CcAxis *c, const CcBondOptions *o, const double *place, double v, double H)
{
    const CcBond *b = &c->bond;
    double W = b->known != 0.0 ? b->W : cc_bond_guess(o, H), answer = CC_AXIS_STIRS * H * W * cc_abs(b->f[0][0]);
    if (place)
        return *place != c->place || v != c->v;
    return o->bodies_first || cc_abs(v - c->v) > cc_max(answer, CC_AXIS_ROUNDING * cc_max(cc_abs(v), cc_abs(c->v)));
}

/* A sample at a communication point begins with what the interval before it shows: the rate v, and the deformation
 * itself if it is known (NULL: it is the sum of v); H, s, the step to come.  Afterwards c->x is the deformation, f[lag]
 * minus the force that acted and c->way its way.  Returns 0 if there was no interval.
 * The bodies may have moved before the first sample too: Gauss-Seidel with the bodies first.  Where that is known, H is
 * the length of the interval that ended, too. */
CC_API int cc_axis_observe(CcAxis *c, const CcBondOptions *o, const double *place, double v, double H)
{
    c->by_place = place != 0;
    if (c->bond.begun == 0.0) {
        c->bond.H = H;
        cc_bond_doubt(&c->bond, o, H);
        c->stirred = v != c->v;
        if (!cc_axis_has_moved(c, o, place, v, H))
            return 0;
    }
    if (place) {
        double gone[3] = {*place - c->place}, before[3] = {c->v}, now[3] = {v}, far = cc_abs(*place);
        if (c->bond.begun != 0.0)
            c->bond.H = cc_rule_length(&c->bond.rule, c->bond.H, H, gone, before, now, far);
        else if (cc_bond_starts_elsewhere(&c->bond, gone, before, now, far)) {
            cc_axis_put(c, o, *place, v);
            return 0;
        }
    } else if (cc_axis_sees_the_end(c, o)) {
        c->bond.H = H;
    }
    cc_axis_see(c, o, place, v, H);
    return 1;
}

/* Remember the sample and the force F given there. */
CC_API void cc_axis_keep(CcAxis *c, double v, double F, double H)
{
    double f[3] = {-F};
    cc_bond_keep(&c->bond, f, cc_abs(F), H);
    c->v = v;
}

/* 1 where the law itself acts: while the order is unknown, and where it is the best force. */
CC_API int cc_axis_is_literal(const CcAxis *c, const CcBondOptions *o, double H)
{
    const CcBond *b = &c->bond;
    if (o->given.straight || cc_lag(b->lag) > 0 || !(o->k > 0.0 || o->d > 0.0))
        return 0;
    if (o->d > 0.0)
        return cc_bond_is_literal(b, o);
    double stiff = o->k * b->W * H * H, off = CC_AXIS_STAGGERED * (1.0 - b->rule.beta);
    int as_held = c->by_place == 0.0 || off * off <= stiff; /* the law at the inputs is this force, or close to it */
    if (cc_axis_sees_the_end(c, o) && c->other.varies > CC_AXIS_EVEN) /* the step of the force is not known */
        return !cc_bond_knows_lag(b, o) || b->known == 0.0;
    return cc_bond_is_literal(b, o) || (as_held && stiff <= CC_AXIS_SYMPLECTIC);
}

/* What the signal made, paid back: of a spring energy, of a damper an impulse. */
CC_API double cc_axis_repaid(const CcAxis *c, const CcBondOptions *o, double F, double v, double H)
{
    double W = c->bond.W;
    if (o->d > 0.0)
        return cc_within(CC_BOND_PAYS * c->owed / H, -CC_AXIS_SHARE * cc_abs(F), CC_AXIS_SHARE * cc_abs(F));
    if (!(W > 0.0) || !(v * v > 0.0))
        return 0.0;
    double most = 0.5 / (W * H);
    return v * cc_within(CC_BOND_PAYS * c->owed / (H * v * v), -most, most);
}

/* And it ends with the force that answers it. */
CC_API double cc_axis_answer(CcAxis *c, const CcBondOptions *o, double v, double H)
{
    CcBond *b = &c->bond;
    c->a_before = b->a[0];
    int lag = cc_bond_begin(b, o, H), modelled = cc_bond_is_modelled(b, o);
    double x = c->x, speed = v, R = b->ledger.made[lag], u[CC_MODEL_FORCES + 1] = {0.0}, W = b->W;
    CcAhead ahead = cc_model_now(&b->model);
    for (int i = 0; i < CC_MODEL_FORCES; i++)
        u[i + 1] = b->f[i][0];
    for (int i = lag - 1; i >= 0; i--) { /* intervals whose forces are given already */
        double f = b->f[i][0], alpha = b->a[0] + W * f;
        if (modelled)
            alpha = cc_model_next(&b->model, lag, u + 1 + i, &ahead);
        double x_1 = x + H * speed + 0.5 * H * H * alpha;
        R += (0.5 * o->k * (x_1 + x) + f) * (x_1 - x);
        x = x_1;
        speed += H * alpha;
    }
    double a = modelled ? cc_model_next(&b->model, lag, u, &ahead) : b->a[0]; /* u[0] = 0: by all but this force */
    double held = cc_axis_sees_the_end(c, o) ? cc_max(b->longest, H) : H; /* how long it may be paid back */
    double F = cc_axis_force(o, x, speed, a, W, H, R * (H / held));
    int literal = cc_axis_is_literal(c, o, H), signals = cc_bond_signals(b, o);
    int mismatched = cc_rule_doubts(&b->rule, 0.0);
    F = literal ? o->k * (c->x + 0.5 * H * v + c->other.held) + o->d * v : F;
    double lawful = F;
    if (!signals && (literal || o->d > 0.0))
        F += cc_axis_repaid(c, o, F, v, held);
    double most = cc_axis_ceiling(c, o, v, (lag + 1.0) * H);
    F = o->given.straight ? F : cc_within(F, -most, most);
    if (mismatched)
        F = o->k * c->place + o->d * v;
    if (cc_bond_brakes_hard(b, o))
        cc_probe_end(&b->probe);
    int asks = cc_bond_signals(b, o) && !mismatched && (o->k > 0.0 || b->answered > 0.0);
    asks = asks && cc_abs(F + b->f[0][0]) > CC_PROBE_MOVES * b->f_largest;
    F *= cc_probe_factor(&b->probe, o->d > 0.0 ? CC_PROBE_SIZE_DAMPED : CC_PROBE_SIZE, asks);
    b->literal = literal;
    c->beyond = literal || o->d > 0.0 ? F - lawful : 0.0;
    cc_axis_keep(c, v, F, H);
    return F;
}

/* Where the literal force F is held: what it shows of the partners is learned all the same. */
CC_API void cc_axis_watch(CcAxis *c, const CcBondOptions *o, const double *place, double v, double F, double H)
{
    CcBondOptions held = *o;
    held.given.holds = 1;
    cc_axis_observe(c, &held, place, v, H);
    cc_axis_keep(c, v, F, H);
}

#endif
