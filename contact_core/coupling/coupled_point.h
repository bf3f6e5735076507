/* A point that a potential holds, in plain co-simulation: a guide's force, returned at communication points and held by
 * the bodies over one interval, that neither makes nor loses energy at practical communication steps.
 *
 * In the coordinates of the guide P is the point, v its velocity relative to the guide, f the force on it: y = a + W f
 * with one inverse effective mass W, and a by everything else.  While f is held P moves on a parabola:
 *
 *     P_1 = P + H v + H^2 (a + W f)/2,    D = P_1 - P                                        (end of the interval)
 *
 * The elastic force has a potential U(P), through the foot of P on the line: with two transverse springs
 * U = (k_1 delta_1^2 + k_2 delta_2^2)/2.  A straight line has delta_i linear in P, and
 *     f = -sum k_i (delta_i + delta_i')/2 V_i    gives    f D = -sum k_i (delta_i'^2 - delta_i^2)/2 = -(U_1 - U)
 * A curved line turns its axes on the way.  There the same force is -grad U in the middle M = (P + P_1)/2, and what is
 * missing is put along the way:
 *
 *     f = -grad U(M) - [U_1 - U - grad U(M) D]/D^2 D           so f D = -(U_1 - U) on the parabola, for any U
 *
 * Dissipation     f_d = -c D_across/H - b D_along/H: damping c across the line, friction as a coefficient b along it.
 *                 Its work -c D_across^2/H - b D_along^2/H is never above 0
 * Ledger, J       for each lag R_L = sum of U_1 - U + (f[L] - f_d[L]) D, exact
 * Paying back     as with a damper g beside it, g D^2/H = R/2, g within -1/(2 W H) .. 1/(W H)
 * Lag, W          coupled_axis.h, with products of vectors; without the model.  While the mass is unknown the first
 *                 forces have the signal of order_probe.h though the order is given: without it other motions of the
 *                 body pass for answers, and W becomes many times too large
 *
 * Before anything is known W = 0 while the signal lasts, then k W H^2 = 1/2, k the greater stiffness.  The equation for
 * f is solved by a Newton iteration that takes the stiffness across the line alone.
 * What was made across the line is paid back along the way, which is along the line for the most part.
 * Positions come by the rule beta of the body's integrator, which is found; P is moved on to the parabola (partner.h).
 * Range: W is one number, so the body should answer alike in all directions, as a particle does, or a body that is held
 * near its centre of mass.  A guide whose points lie on several bodies keeps its place over the interval.
 * Source of the discrete gradient: Gonzalez, J. Nonlinear Sci. 6 (1996) 449. */
#ifndef CC_COUPLED_POINT_H
#define CC_COUPLED_POINT_H

#include "coupled_axis.h"
#include "../base/vector.h"

#define CC_POINT_STEPS 12       /* most steps of the iteration for f */
#define CC_POINT_ROUNDING 1e-13 /* of f: the iteration ends */
#define CC_POINT_SETTLED 1e-9   /* of U: what was made is rounding; paid back it would keep a loaded point in motion */
#define CC_POINT_EXACT 1e-9     /* beta is 1/2 to rounding */
#define CC_POINT_BLUR 1e-14     /* of U, and of |grad U| |P|: what is missing along the way is rounding, as at rest */

/* The guide as P sees it. */
typedef struct {
    double U, gradient[3];     /* J, N */
    double tangent[3];         /* of the line, unit vector */
    double V[2][3], k[2];      /* axes across it, unit vectors, and the stiffness along each, N/m */
} CcPotential;

typedef struct {
    void (*potential)(const void *data, const double P[3], CcPotential *at);
    const void *data;
    double c, b;                 /* damping across the line, friction along it: force over speed, N s/m */
    int lag, identify, straight; /* of CcAxisOptions */
    double m_eff;                /* effective mass given, kg; 0: none */
} CcPointOptions;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    CcAxis axis; /* lag, fits, W and ledger; its F[] and x are not used */
    double P[3], v[3], y[3], a[3], U;
    double f[CC_AXIS_FORCES][3];                                /* forces given, the newest first, */
    double damped[CC_AXIS_LAGS + 1][3], rubbed[CC_AXIS_LAGS + 1][3]; /* and their f_d across and along the line */
    double dy[3];
    double taken[CC_AXIS_LAGS]; /* by friction, J; by damping: axis.taken */
    double own[3], shift;       /* velocity of P itself: the guide may move below it; (beta - 1/2) H */
} CcPoint;

/* Whether P came where its own velocity led; after CC_AXIS_MOST_MISMATCHED samples in a row where it did not, the
 * velocity is not used. */
CC_API void cc_point_check(CcPoint *p, const double P[3], const double own[3])
{
    double gap[3], H = p->axis.H;
    for (int i = 0; i < 3; i++)
        gap[i] = P[i] - p->P[i] - 0.5 * H * (own[i] + p->own[i]);
    double most = H * (cc_norm(own) + cc_norm(p->own)) + 1e-9 * cc_norm(P);
    p->axis.mismatched = cc_norm(gap) > most ? p->axis.mismatched + 1.0 : 0.0;
}

CC_API int cc_point_is_mismatched(const CcPoint *p) { return p->axis.mismatched >= CC_AXIS_MOST_MISMATCHED; }

/* The state before the first sample. */
CC_API void cc_point_start(CcPoint *p, const CcPointOptions *o)
{
    CcAxisOptions axis = {.lag = o->lag, .identify = o->identify, .straight = o->straight, .inertia = o->m_eff};
    *p = (CcPoint){0};
    cc_axis_start(&p->axis, &axis, 0.0, 0.0, 0.0);
}

/* The point is on the guide, at P with v, and held by the force f until the first sample. */
CC_API void cc_point_begin(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3], const double f[3])
{
    CcPotential here;
    o->potential(o->data, P, &here);
    p->U = here.U;
    for (int i = 0; i < 3; i++)
        p->P[i] = P[i], p->v[i] = v[i];
    for (int n = 0; n < CC_AXIS_FORCES; n++)
        for (int i = 0; i < 3; i++)
            p->f[n][i] = f[i];
}

/* The point left the guide: motion and forces are forgotten; what was learned and the ledger are kept. */
CC_API void cc_point_rewind(CcPoint *p)
{
    CcPoint kept = *p;
    *p = (CcPoint){.axis = {.beta = kept.axis.beta, .rest = kept.axis.rest, .lag = kept.axis.lag, .W = kept.axis.W,
                            .known = kept.axis.known, .settled = kept.axis.settled}, .shift = kept.shift};
    for (int i = 0; i < 2; i++)
        p->axis.rule[i] = kept.axis.rule[i];
    if (kept.axis.known != 0.0) /* it does not ask again */
        p->axis.probe.count = kept.axis.probe.count;
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        p->axis.made[L] = kept.axis.made[L], p->axis.taken[L] = kept.axis.taken[L], p->taken[L] = kept.taken[L];
        for (int i = 0; i < 3; i++)
            p->axis.fits[L][i] = kept.axis.fits[L][i];
    }
    p->axis.learned = kept.axis.learned;
}

/* A spring that asks alike: for the order, or for the mass. */
CC_API CcAxisOptions cc_point_asks(const CcPointOptions *o)
{
    int lag = o->m_eff > 0.0 || !o->identify ? o->lag : CC_AXIS_LAG_AUTO;
    return (CcAxisOptions){.k = 1.0, .lag = lag, .straight = o->straight};
}

/* What the interval that ended with y teaches of lag and W. */
CC_API void cc_point_learn(CcPoint *p, const CcPointOptions *o, const double y[3])
{
    CcAxis *c = &p->axis;
    double ddy[3], size = 0.0;
    for (int i = 0; i < 3; i++) {
        double dy = y[i] - p->y[i];
        ddy[i] = dy - p->dy[i];
        p->dy[i] = dy;
        size += ddy[i] * ddy[i];
    }
    double product[CC_AXIS_LAGS][3], changed = 0.0;
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        product[L][0] = product[L][1] = 0.0, product[L][2] = size;
        for (int i = 0; i < 3; i++) {
            double ddf = p->f[L][i] - 2.0 * p->f[L + 1][i] + p->f[L + 2][i];
            product[L][0] += ddf * ddf;
            product[L][1] += ddf * ddy[i];
        }
        changed = product[L][0] > changed ? product[L][0] : changed;
    }
    CcAxisOptions asks = cc_point_asks(o);
    int probing = cc_axis_is_probing(c, &asks), asked = -1;
    cc_probe_see(&c->probe, y);
    int excited = cc_sqrt(changed) > CC_AXIS_EXCITED * c->F_largest;
    int answer = cc_sqrt(size) * c->H > CC_AXIS_NOISE * c->v_largest;
    if (c->answered >= 2.0 && excited && answer) {
        for (int L = 0; L < CC_AXIS_LAGS; L++) {
            for (int i = 0; i < 3; i++)
                c->fits[L][i] = CC_AXIS_FORGETS * c->fits[L][i] + product[L][i];
        }
        c->learned += 1.0;
    }
    if (o->lag == CC_AXIS_LAG_AUTO && probing && (asked = cc_axis_ask(c)) >= 0) {
        c->known = asked == cc_axis_lag(c->lag) || o->m_eff > 0.0 ? c->known : 0.0;
        c->lag = asked;
        c->settled = 1.0;
    }
    probing = probing && c->settled == 0.0;
    if (c->answered >= 2.0 && excited && answer && !probing) {
        int unsettled = o->lag == CC_AXIS_LAG_AUTO && c->settled == 0.0;
        if (unsettled && cc_axis_find_lag(c) && !(o->m_eff > 0.0))
            c->known = 0.0;
        const double *fit = c->fits[cc_axis_lag(c->lag)];
        int enough = !(o->m_eff > 0.0) || c->learned > CC_AXIS_EARLY;
        if (o->identify && !o->straight && enough && fit[0] > 0.0 && fit[1] > 0.0)
            c->W = cc_axis_admittance(fit[1], fit[0]), c->known = 1.0;
    }
    if (c->known == 0.0)
        c->unanswered += excited && !answer;
}

/* P moved on to the parabola that has the kinetic energy of v, for the position rule beta of the body (partner.h). */
CC_API void cc_point_shifted(const CcPoint *p, const double P[3], const double v[3], double at[3])
{
    for (int i = 0; i < 3; i++)
        at[i] = P[i] - p->shift * v[i];
}

/* Learn beta from the interval that ended; U of the sample before it follows. */
CC_API void cc_point_find_rule(CcPoint *p, const CcPointOptions *o, const double P[3], const double own[3])
{
    CcAxis *c = &p->axis;
    double H = c->H, fit[3] = {0.0}, least = CC_RULE_LEAST * H * (cc_norm(own) + cc_norm(p->own)), at[3];
    CcPotential then, now;
    for (int i = 0; i < 3; i++) {
        double turn = H * (own[i] - p->own[i]), rest = P[i] - p->P[i] - H * p->own[i];
        fit[0] += rest * turn, fit[1] += turn * turn, fit[2] += rest * rest;
    }
    if (fit[1] > least * least) {
        cc_rule_add(c->rule, fit[0], fit[1]);
        c->rest = CC_RULE_FORGETS * c->rest + fit[2];
        double beta = cc_rule_sure_beta(c->rule, c->rest);
        c->beta = cc_abs(beta - 0.5) > CC_POINT_EXACT ? beta : 0.5;
    }
    double shift = (c->beta - 0.5) * H;
    if (shift != p->shift) {
        cc_point_shifted(p, p->P, p->v, at);
        o->potential(o->data, at, &then);
        p->shift = shift;
        cc_point_shifted(p, p->P, p->v, at);
        o->potential(o->data, at, &now);
        p->U += now.U - then.U;
    }
}

/* The interval between the last sample and P, v.  The way is that of the speeds, which has their kinetic energy, and by
 * what P left the parabola of its own velocity: a body that bends does. */
CC_API void cc_point_see(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                         const double own[3])
{
    CcAxis *c = &p->axis;
    double H = c->H, y[3], D[3], at[3], then[3];
    CcPotential here;
    cc_point_shifted(p, P, v, at);
    cc_point_shifted(p, p->P, p->v, then);
    o->potential(o->data, at, &here);
    for (int i = 0; i < 3; i++) {
        y[i] = (v[i] - p->v[i]) / H;
        D[i] = 0.5 * H * (v[i] + p->v[i]) + at[i] - then[i] - 0.5 * H * (own[i] + p->own[i]);
    }
    for (int L = 0; L < CC_AXIS_LAGS; L++) {
        double damped = -cc_dot(p->damped[L], D), rubbed = -cc_dot(p->rubbed[L], D);
        c->made[L] += here.U - p->U + cc_dot(p->f[L], D) + damped + rubbed;
        c->taken[L] += damped;
        p->taken[L] += rubbed;
    }
    double now = cc_norm(v), before = cc_norm(p->v), largest = now > before ? now : before;
    double fading = 0.99 * c->v_largest;
    c->v_largest = fading > largest ? fading : largest;
    cc_point_learn(p, o, y);
    c->answered += c->answered < 2.0;
    p->U = here.U;
    for (int i = 0; i < 3; i++) {
        p->y[i] = y[i];
        p->P[i] = P[i];
        p->own[i] = own[i];
    }
}

/* f_d of the way D along the tangent t, in its two parts. */
CC_API void cc_point_loss(const CcPointOptions *o, const double t[3], const double D[3], double H, double damped[3],
                          double rubbed[3])
{
    double along = cc_dot(D, t);
    for (int i = 0; i < 3; i++) {
        damped[i] = -o->c * (D[i] - along * t[i]) / H;
        rubbed[i] = -o->b * along * t[i] / H;
    }
}

/* The force f, and the parts of its f_d, of an interval that begins at P, v, when R has been made until then.  Returns
 * how often the middle of the parabola was looked at. */
CC_API int cc_point_force(const CcPointOptions *o, const double P[3], const double v[3], const double a[3], double W,
                          double H, double R, double f[3], double damped[3], double rubbed[3])
{
    double D[3], M[3], P_1[3], g = 0.0;
    CcPotential begin, middle, end;
    o->potential(o->data, P, &begin);
    double firm = 1.0 + 0.5 * o->c * W * H, slack = 1.0 + 0.5 * o->b * W * H;
    for (int i = 0; i < 3; i++)
        f[i] = -begin.gradient[i];
    for (int n = 1;; n++) {
        double wanted[3], size = 0.0, moved = 0.0;
        for (int i = 0; i < 3; i++) {
            D[i] = H * v[i] + 0.5 * H * H * (a[i] + W * f[i]);
            M[i] = P[i] + 0.5 * D[i];
            P_1[i] = P[i] + D[i];
        }
        o->potential(o->data, M, &middle);
        o->potential(o->data, P_1, &end);
        cc_point_loss(o, middle.tangent, D, H, damped, rubbed);
        double way = cc_dot(D, D), missing = end.U - begin.U - cc_dot(middle.gradient, D);
        double blur = CC_POINT_BLUR * (begin.U + end.U + cc_norm(middle.gradient) * cc_norm(P));
        missing = cc_abs(missing) > blur && way > 0.0 ? missing / way : 0.0;
        if (W > 0.0 && way > 0.0 && cc_abs(R) > CC_POINT_SETTLED * (begin.U + end.U))
            g = cc_axis_within(CC_AXIS_PAYS * R * H / way, -0.5 / (W * H), 1.0 / (W * H));
        for (int i = 0; i < 3; i++)
            wanted[i] = -middle.gradient[i] + damped[i] + rubbed[i] - (missing + g / H) * D[i] - f[i];
        double along = cc_dot(wanted, middle.tangent) / slack, across[2];
        for (int j = 0; j < 2; j++)
            across[j] = cc_dot(wanted, middle.V[j]) / (firm + 0.25 * middle.k[j] * W * H * H);
        for (int i = 0; i < 3; i++) {
            double change = along * middle.tangent[i] + across[0] * middle.V[0][i] + across[1] * middle.V[1][i];
            f[i] += change;
            moved += change * change;
            size += f[i] * f[i];
        }
        if (moved <= CC_POINT_ROUNDING * CC_POINT_ROUNDING * size || n == CC_POINT_STEPS)
            return n;
    }
}

/* Remember the sample and the force f given there, with its dissipative parts. */
CC_API void cc_point_keep(CcPoint *p, const double P[3], const double v[3], const double f[3], const double damped[3],
                          const double rubbed[3], double H)
{
    CcAxis *c = &p->axis;
    for (int k = CC_AXIS_FORCES - 1; k > 0; k--)
        for (int i = 0; i < 3; i++)
            p->f[k][i] = p->f[k - 1][i];
    for (int k = CC_AXIS_LAGS; k > 0; k--)
        for (int i = 0; i < 3; i++)
            p->damped[k][i] = p->damped[k - 1][i], p->rubbed[k][i] = p->rubbed[k - 1][i];
    for (int i = 0; i < 3; i++) {
        p->f[0][i] = f[i], p->damped[0][i] = damped[i], p->rubbed[0][i] = rubbed[i];
        p->v[i] = v[i], p->P[i] = P[i];
    }
    double strong = cc_norm(f);
    c->F_largest = 0.99 * c->F_largest > strong ? 0.99 * c->F_largest : strong;
    c->H = H;
    c->longest = CC_AXIS_SHORTENS * c->longest > H ? CC_AXIS_SHORTENS * c->longest : H;
    c->begun = 1.0;
}

/* A sample at a communication point, H, s, the step to come, begins with what the interval before it shows: P, its
 * velocity v relative to the guide and `own` altogether, in the coordinates of the guide. */
CC_API void cc_point_observe(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                             const double own[3], double H)
{
    CcAxis *c = &p->axis;
    int still = 1;
    for (int i = 0; i < 3; i++)
        still &= v[i] == p->v[i] && P[i] == p->P[i];
    if (c->begun != 0.0) {
        cc_point_check(p, P, own);
        cc_point_find_rule(p, o, P, own);
    } else {
        c->H = H;
    }
    for (int i = 0; i < 3 && c->begun == 0.0; i++)
        p->own[i] = own[i];
    if (c->begun != 0.0 || !still)
        cc_point_see(p, o, P, v, own);
}

/* And it ends with the force that answers it. */
CC_API void cc_point_answer(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3], double H,
                            double f[3])
{
    CcAxis *c = &p->axis;
    double at[3], speed[3], damped[3], rubbed[3], change[3];
    CcPotential here;
    CcAxisOptions asks = cc_point_asks(o);
    if (c->known == 0.0) {
        o->potential(o->data, P, &here);
        double k = here.k[0] > here.k[1] ? here.k[0] : here.k[1];
        int none = o->straight || c->unanswered > CC_AXIS_MOST_UNANSWERED || !(k > 0.0) || cc_axis_is_probing(c, &asks);
        double T = c->longest > H ? c->longest : H;
        c->W = none ? 0.0 : cc_axis_admittance(CC_AXIS_GUESS, k * T * T);
    }
    int lag = cc_axis_lag(c->lag);
    double R = c->made[lag], U = p->U, W = c->W;
    for (int i = 0; i < 3; i++) {
        p->a[i] = o->straight ? 0.0 : c->answered > 0.0 ? p->y[i] - W * p->f[lag][i]
                  : c->known == 0.0 ? -W * p->f[0][i] : 0.0;
        speed[i] = v[i];
    }
    cc_point_shifted(p, P, v, at);
    for (int k = lag - 1; k >= 0; k--) { /* intervals whose forces are given already */
        double D[3];
        for (int i = 0; i < 3; i++) {
            double y = p->a[i] + W * p->f[k][i];
            D[i] = H * speed[i] + 0.5 * H * H * y;
            at[i] += D[i];
            speed[i] += H * y;
        }
        o->potential(o->data, at, &here);
        R += here.U - U + cc_dot(p->f[k], D) - cc_dot(p->damped[k], D) - cc_dot(p->rubbed[k], D);
        U = here.U;
    }
    cc_point_force(o, at, speed, p->a, W, H, R, f, damped, rubbed);
    for (int i = 0; i < 3; i++)
        change[i] = f[i] - p->f[0][i];
    int moves = cc_norm(change) > CC_PROBE_MOVES * c->F_largest;
    double factor = cc_probe_factor(&c->probe, CC_PROBE_SIZE_GUIDE, cc_axis_is_probing(c, &asks) && moves);
    for (int i = 0; i < 3; i++)
        f[i] *= factor, damped[i] *= factor, rubbed[i] *= factor;
    cc_point_keep(p, P, v, f, damped, rubbed, H);
}

/* Stiffness that a step is judged by: the greater one across the line. */
CC_API double cc_point_stiffness(const CcPointOptions *o, const double P[3])
{
    CcPotential here;
    o->potential(o->data, P, &here);
    return here.k[0] > here.k[1] ? here.k[0] : here.k[1];
}

/* The communication step, s, as cc_axis_step_advised; with damping no more than z = c W H = 1/2. */
CC_API double cc_point_step_advised(const CcPoint *p, const CcPointOptions *o, double k)
{
    CcAxisOptions spring = {.k = k}, damper = {.d = o->c};
    double step = cc_axis_step_advised(&p->axis, &spring), damped = cc_axis_step_advised(&p->axis, &damper);
    return damped > 0.0 && (damped < step || !(step > 0.0)) ? damped : step;
}

#endif
