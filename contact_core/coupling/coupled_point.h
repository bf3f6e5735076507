/* A point that a potential holds, in plain co-simulation: the force of a guide, or of a spring between two points,
 * returned at communication points and held by the bodies over one interval, that neither makes nor loses energy at
 * practical communication steps.
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
 * Central force   of the distance l = |P| alone; P points from one body to the other.  Along the middle, and so without
 *                 moment:  f = -F M/m,  m = (l + l_1)/2.  As D M/m = l_1 - l, F = k (m - l0) + d (l_1 - l)/H does the
 *                 work -(U_1 - U) - d (l_1 - l)^2/H.  The momentum and the moment of momentum of two particles stay
 *                 what they are.  Below, D_across and S are then the part of D along M
 *
 * Dissipation     f_d = -c D_across/H - b D_along/H: damping c across the line, friction as a coefficient b along it,
 *                 of the forces across in this interval.  Its work -c D_across^2/H - b D_along^2/H is never above 0
 * Leak            what the law itself takes from U on the way: where the foot moves across the line, as on a polyline,
 *                 or unlike axes turn with it, U changes by grad U D + leak.  Above U_1 - U stands for U_1 - U - leak
 * Outside, J      what changes U besides the way D: sensors, axes that turn with a body, a line that moves.  In the
 *                 frame of the line the point was at P_0' = P_1 - D, so it is the mean at both ends of the way,
 *                     E = U(P_0') - U_0 + (grad U(P_0') - grad U_0) D/2        U_0, grad U_0: of the sample before
 *                 0 of a central force: P is all that U changes with, and at P = 0 grad U has no direction
 * Ledger, J       for each lag R_L = sum of U_1 - U_0 - E - leak + (f[L] - f_d[L]) D, exact for a line at rest
 * Paying back     as with a damper g beside it, g S^2/H = R/2, S the part of D across a straight line, where the energy
 *                 was made, and all of D where the line turns; g within -1/(2 W H) .. 1/(W H), and of 0.3 of the
 *                 critical damping, 0.6 sqrt(k/W): the motion lasts as long whatever H is, and so does its debt
 * Moment, T       of a central force, for each lag T_L = sum of H M x f[L]: 0 but for forces whose direction was wrong,
 *                 before W and L were known.  The next force has the moment -T/(2 H) besides, by a part across M
 * Sure damping    of a force that acts late, L > 0, with z = c W H > 0.4: until then others on the same bodies change
 *                 the rate, and dampers that expect what each other did would drive each other.  It damps as much as
 *                 both the rate that is expected and that at the sample call for, and nothing where these differ in
 *                 sign.  While the order is unknown likewise by the rate 3 H/2 after the sample, with the largest W of
 *                 all lags: where it has turned by then, and after twelve samples that are learned always
 * Lag, W          bond.h, as of a spring of the greater stiffness across the line and of the damper.  From the start
 *                 what is elastic is carried by others, and not what is damped; with z > 0.4 the law acts no more
 *                 once a W is known, for it makes speed from z = 2 on
 * The law itself  while the order is unknown, and with L = 0 until W is sure: f at a = 0, W = 0, the mean along the
 *                 straight line of the velocity
 *
 * The equation for f is solved by a Newton iteration that takes the stiffness across the line alone.
 * Positions come by the rule beta of the body's integrator, which is found; P is moved on to the parabola.
 * Range: W is one number, so the body should answer alike in all directions, as a particle does, or a body that is held
 * near its centre of mass.  A guide whose points lie on several bodies keeps its place over the interval.
 * Sources: discrete gradient: Gonzalez, J. Nonlinear Sci. 6 (1996) 449; central forces: Simo, Tarnow & Wong, Comput.
 * Methods Appl. Mech. Eng. 100 (1992) 63.
 *
 * One family of functions: a sample is seen, the force of an interval found, and both are kept. */
#ifndef CC_COUPLED_POINT_H
#define CC_COUPLED_POINT_H

#include "bond.h"

#define CC_POINT_STEPS 12       /* most steps of the iteration for f */
#define CC_POINT_ROUNDING 1e-13 /* of f: the iteration ends */
#define CC_POINT_SETTLED 1e-9   /* of U: what was made is rounding; paid back it would keep a loaded point in motion */
#define CC_POINT_SOFT 0.6       /* of sqrt(k/W): 0.3 of the critical damping pays back at most */
#define CC_POINT_HARD 0.4       /* z = c W H, from which on only what is sure is damped */
#define CC_POINT_LATEST 1.5     /* of H: from the sample to the middle of the interval with L = 1 */
#define CC_POINT_WAITS 12.0     /* samples that are learned, after which an order that is unknown stays so */
#define CC_POINT_STRAIGHT 1e-9  /* change of the tangent by rounding */
#define CC_POINT_BLUR 1e-14     /* of U, and of |grad U| |P|: what is missing along the way is rounding, as at rest */

/* The guide as P sees it.  Of a central force V[0] is the direction of P, and the gradient is the mean over the way D
 * about P: (l_1 - l) dU/dl P/(P D). */
typedef struct {
    double U, gradient[3];     /* J; N, minus the elastic force */
    double leak;               /* J: change of U on the way D, less gradient D */
    double tangent[3];         /* of the line, unit vector */
    double V[2][3], k[2];      /* axes across it, unit vectors, and the stiffness along each, N/m */
} CcPotential;

typedef struct {
    void (*potential)(const void *data, const double P[3], const double D[3], CcPotential *at); /* D: m, see leak */
    double (*rub)(const void *data, const double across[2], double along); /* friction over speed, N s/m, of forces */
    const void *data;                                                      /* across, N, and the speed along, m/s */
    double c;           /* damping across the line: force over speed, N s/m */
    int central;        /* 1: the force lies in the direction of P */
    CcBondOptions bond; /* its k is that of the place */
} CcPointOptions;

/* A force of one interval, N, and the parts of it that only take energy: by damping and by friction. */
typedef struct {
    double f[3], damped[3], rubbed[3];
} CcPointForce;

/* What the force of an interval is found with; R, J, has been made until then, and is paid back by W_R, if at all. */
typedef struct {
    double H, a[3], W, R, W_R;
    double T[3];        /* N m s, of a central force: likewise, the moment that was given in wrong directions */
    double turn[3];     /* m/s: what half the interval adds to v, as far as is known before the force is */
} CcPointInterval;

/* The forces that act on after a point left the guide: those given last, of as many intervals as the lag. */
typedef struct {
    double f[CC_LAGS - 1][3], count CC_IN(0, 2), v[3], H CC_FROM(0); /* v: at the last sample; H: step since then */
} CcLeftForces;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    CcBond bond;
    CcLeftForces left;
    double P[3], v[3], U, gradient[3];
    double outside;             /* sum of E + leak, J */
    double damped[CC_LAGS + 1][3], rubbed[CC_LAGS + 1][3]; /* of the forces given, the newest first */
    double taken[CC_LAGS];      /* by friction, J; by damping: in the ledger */
    double moment[CC_LAGS][3];  /* of a central force, T for each lag, N m s */
    double jumped;              /* elastic energy that came as P was put elsewhere before the last sample, J */
    double own[3], shift;       /* velocity of P itself: the guide may move below it; (beta - 1/2) H */
} CcPoint;

/* The bond of the stiffness k, the greater one across the line, and of the damping. */
CC_API CcBondOptions cc_point_bond(const CcPointOptions *o, double k)
{
    CcBondOptions bond = o->bond;
    bond.k = k;
    bond.d = o->c;
    return bond;
}

/* Stiffness that a step is judged by: the greater one across the line. */
CC_API double cc_point_stiffness(const CcPointOptions *o, const double P[3])
{
    const double still[3] = {0.0, 0.0, 0.0};
    CcPotential here;
    o->potential(o->data, P, still, &here);
    return here.k[0] > here.k[1] ? here.k[0] : here.k[1];
}

/* The state before the first sample. */
CC_API void cc_point_start(CcPoint *p, const CcPointOptions *o)
{
    *p = (CcPoint){0};
    cc_bond_start(&p->bond, &o->bond);
}

/* The point is on the guide, at P with v, and held by the force until the first sample. */
CC_API void cc_point_begin(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                           const CcPointForce *force)
{
    const double still[3] = {0.0, 0.0, 0.0};
    CcPotential here;
    o->potential(o->data, P, still, &here);
    p->U = here.U;
    for (int i = 0; i < 3; i++) {
        p->P[i] = P[i], p->v[i] = v[i], p->gradient[i] = here.gradient[i];
        for (int n = 0; n < CC_MODEL_FORCES; n++)
            p->bond.f[n][i] = force->f[i];
        for (int n = 0; n <= CC_LAGS; n++)
            p->damped[n][i] = force->damped[i], p->rubbed[n][i] = force->rubbed[i];
    }
}

/* The point left the guide with the velocity v. */
CC_API void cc_point_leave(CcPoint *p, const double v[3])
{
    p->left.count = cc_lag(p->bond.lag);
    __builtin_memcpy(p->left.f, p->bond.f, sizeof p->left.f);
    __builtin_memcpy(p->left.v, v, sizeof p->left.v);
}

/* Work of the point, J, in the interval before the sample at which it has the velocity v, on a force that it left with;
 * 0 if none acts any more. */
CC_API double cc_point_left_work(CcPoint *p, const double v[3])
{
    double work = 0.0;
    if (!(p->left.count > 0.0))
        return 0.0;
    p->left.count -= 1.0;
    const double *f = p->left.f[cc_index(p->left.count, CC_LAGS - 1)];
    for (int i = 0; i < 3; i++) {
        work -= 0.5 * p->left.H * f[i] * (p->left.v[i] + v[i]);
        p->left.v[i] = v[i];
    }
    return work;
}

/* The point left the guide: motion and forces are forgotten; what was learned and the ledger are kept. */
CC_API void cc_point_rewind(CcPoint *p)
{
    const CcPoint kept = *p;
    *p = (CcPoint){.bond = kept.bond, .left = kept.left, .shift = kept.shift, .outside = kept.outside};
    cc_bond_rewind(&p->bond);
    for (int L = 0; L < CC_LAGS; L++)
        p->taken[L] = kept.taken[L];
}

/* P moved on to the parabola that has the kinetic energy of v, for the position rule beta of the body. */
CC_API void cc_point_shifted(const CcPoint *p, const double P[3], const double v[3], double at[3])
{
    for (int i = 0; i < 3; i++)
        at[i] = P[i] - p->shift * v[i];
}

/* Learn beta from the interval that ended; U of the sample before it follows.  Returns 1 if the point was put elsewhere
 * (cc_bond_find_rule). */
CC_API int cc_point_find_rule(CcPoint *p, const CcPointOptions *o, const double P[3], const double own[3])
{
    CcBond *c = &p->bond;
    const double still[3] = {0.0, 0.0, 0.0};
    double way[3], at[3];
    CcPotential then, now;
    for (int i = 0; i < 3; i++)
        way[i] = P[i] - p->P[i];
    if (cc_bond_find_rule(c, way, p->own, own, cc_norm(P)))
        return 1;
    double shift = cc_rule_shift(c->rule.beta, c->H);
    if (shift == p->shift)
        return 0;
    cc_point_shifted(p, p->P, p->v, at);
    o->potential(o->data, at, still, &then);
    p->shift = shift;
    cc_point_shifted(p, p->P, p->v, at);
    o->potential(o->data, at, still, &now);
    p->U += now.U - then.U;
    for (int i = 0; i < 3; i++)
        p->gradient[i] += now.gradient[i] - then.gradient[i];
    return 0;
}

/* The force did no work on the way to P, where the point was put. */
CC_API void cc_point_put(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                         const double own[3])
{
    const double still[3] = {0.0, 0.0, 0.0};
    double at[3];
    CcPotential here;
    cc_point_shifted(p, P, v, at);
    o->potential(o->data, at, still, &here);
    p->jumped = here.U - p->U;
    p->U = here.U;
    for (int i = 0; i < 3; i++)
        p->P[i] = P[i], p->own[i] = own[i], p->gradient[i] = here.gradient[i];
}

/* Add to T the moment of the force f held on the way D that ends at P_1: sum of H M x f. */
CC_API void cc_point_add_moment(const double P_1[3], const double D[3], const double f[3], double H, double T[3])
{
    double M[3], moment[3];
    for (int i = 0; i < 3; i++)
        M[i] = P_1[i] - 0.5 * D[i];
    cc_cross(M, f, moment);
    for (int i = 0; i < 3; i++)
        T[i] += H * moment[i];
}

/* The interval between the last sample and P, v.  The way is that of the speeds, which has their kinetic energy, and by
 * what P left the parabola of its own velocity: a body that bends does. */
CC_API void cc_point_see(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                         const double own[3])
{
    CcBond *c = &p->bond;
    double H = c->H, y[3], D[3], at[3], then[3], turned[3];
    CcPotential before, here;
    cc_point_shifted(p, P, v, at);
    cc_point_shifted(p, p->P, p->v, then);
    for (int i = 0; i < 3; i++) {
        y[i] = (v[i] - p->v[i]) / H;
        D[i] = 0.5 * H * (v[i] + p->v[i]) + at[i] - then[i] - 0.5 * H * (own[i] + p->own[i]);
        then[i] += 0.5 * H * ((own[i] - v[i]) + (p->own[i] - p->v[i])); /* carried along by the line */
    }
    const double still[3] = {0.0, 0.0, 0.0}, *way = o->central ? still : D;
    double outside = 0.0;
    if (!o->central) {
        o->potential(o->data, then, way, &before);
        for (int i = 0; i < 3; i++)
            turned[i] = before.gradient[i] - p->gradient[i];
        outside = before.U - p->U + 0.5 * cc_dot(turned, D) + 0.5 * before.leak;
    }
    o->potential(o->data, at, way, &here);
    outside += o->central ? 0.0 : 0.5 * here.leak;
    p->outside += outside;
    for (int L = 0; L < CC_LAGS; L++) {
        double damped = -cc_dot(p->damped[L], D), rubbed = -cc_dot(p->rubbed[L], D);
        c->ledger.made[L] += here.U - p->U - outside + cc_dot(c->f[L], D) + damped + rubbed;
        c->ledger.taken[L] += damped;
        p->taken[L] += rubbed;
        if (o->central)
            cc_point_add_moment(at, D, c->f[L], H, p->moment[L]);
    }
    cc_bond_meets_speed(c, cc_norm(v), cc_norm(p->v));
    CcBondOptions bond = cc_point_bond(o, here.k[0] > here.k[1] ? here.k[0] : here.k[1]);
    cc_bond_learn(c, &bond, 3, y, v, 0, 0.0);
    p->U = here.U;
    for (int i = 0; i < 3; i++) {
        p->P[i] = P[i];
        p->own[i] = own[i];
        p->gradient[i] = here.gradient[i];
    }
}

/* D_across of the way D. */
CC_API void cc_point_way_across(const CcPointOptions *o, const CcPotential *middle, const double D[3], double across[3])
{
    const double *t = o->central ? middle->V[0] : middle->tangent;
    double along = cc_dot(D, t);
    for (int i = 0; i < 3; i++)
        across[i] = o->central ? along * t[i] : D[i] - along * t[i];
}

/* f_d of the way D, in its two parts, with the friction b. */
CC_API void cc_point_loss(const CcPointOptions *o, double b, const CcPotential *middle, const double D[3], double H,
                          CcPointForce *force)
{
    double along = cc_dot(D, middle->tangent), across[3];
    cc_point_way_across(o, middle, D, across);
    for (int i = 0; i < 3; i++) {
        force->damped[i] = -o->c * across[i] / H;
        force->rubbed[i] = -b * along * middle->tangent[i] / H;
    }
}

/* b of an interval that begins with v: of the force f, at the speed in the middle, unless the point stops by then. */
CC_API double cc_point_friction(const CcPointOptions *o, const CcPotential *middle, const double f[3],
                                const double v[3], const double turn[3])
{
    double across[2] = {-cc_dot(f, middle->V[0]), -cc_dot(f, middle->V[1])}, along = cc_dot(v, middle->tangent);
    double half = along + cc_dot(turn, middle->tangent);
    return o->rub ? o->rub(o->data, across, cc_abs(half) > 0.5 * cc_abs(along) ? half : along) : 0.0;
}

/* The part S of the way D along which is paid back: across a straight line, where the energy was made, and along all of
 * the way of a line that turns. */
CC_API void cc_point_payable(const CcPointOptions *o, const CcPotential *begin, const CcPotential *middle,
                             const double D[3], double S[3])
{
    double turned = 0.0;
    for (int i = 0; i < 3; i++)
        turned += cc_abs(middle->tangent[i] - begin->tangent[i]);
    cc_point_way_across(o, middle, D, S);
    for (int i = 0; i < 3 && turned > CC_POINT_STRAIGHT && !o->central; i++)
        S[i] = D[i];
}

/* What gives a share of T back on the way D with the middle M, at most as much as the damper g would: M x f = -T/H. */
CC_API void cc_point_moment_back(const double M[3], const double T[3], const double D[3], double most, double H,
                                 double f[3])
{
    double arm = cc_dot(M, M), force;
    cc_cross(M, T, f);
    force = cc_norm(f);
    double share = arm > 0.0 ? CC_BOND_PAYS / (arm * H) : 0.0, limit = 0.5 * most * cc_norm(D) / H;
    share = share * force > limit ? limit / force : share;
    for (int i = 0; i < 3; i++)
        f[i] *= share;
}

/* The force of an interval that begins at P, v.  Returns how often the middle of the parabola was looked at. */
CC_API int cc_point_force(const CcPointOptions *o, const double P[3], const double v[3], const CcPointInterval *in,
                          CcPointForce *force)
{
    const double *a = in->a, W = in->W, H = in->H, R = in->R;
    const double still[3] = {0.0, 0.0, 0.0};
    double D[3], S[3], M[3], P_1[3], back[3] = {0.0, 0.0, 0.0}, *f = force->f;
    CcPotential begin, middle, end;
    o->potential(o->data, P, still, &begin);
    double firm = 1.0 + 0.5 * o->c * W * H, stiffest = begin.k[0] > begin.k[1] ? begin.k[0] : begin.k[1];
    double stop = in->W_R > 0.0 ? 1.0 / (in->W_R * H) : 0.0;
    double soft = in->W_R > 0.0 ? CC_POINT_SOFT * cc_sqrt(stiffest / in->W_R) : 0.0, most = soft < stop ? soft : stop;
    for (int i = 0; i < 3; i++)
        f[i] = -begin.gradient[i];
    double before = 0.0; /* the square that f moved by */
    for (int n = 1;; n++) {
        double wanted[3], size = 0.0, moved = 0.0;
        for (int i = 0; i < 3; i++) {
            D[i] = H * v[i] + 0.5 * H * H * (a[i] + W * f[i]);
            M[i] = P[i] + 0.5 * D[i];
            P_1[i] = P[i] + D[i];
        }
        o->potential(o->data, M, D, &middle);
        double U_1 = begin.U + middle.leak + cc_dot(middle.gradient, D); /* exact of a central force */
        if (!o->central) {
            o->potential(o->data, P_1, still, &end);
            U_1 = end.U;
        }
        double b = cc_point_friction(o, &middle, f, v, in->turn), slack = 1.0 + 0.5 * b * W * H;
        cc_point_loss(o, b, &middle, D, H, force);
        double way = cc_dot(D, D), missing = U_1 - begin.U - middle.leak - cc_dot(middle.gradient, D), g = 0.0;
        double blur = CC_POINT_BLUR * (begin.U + U_1 + cc_norm(middle.gradient) * cc_norm(P));
        missing = !o->central && cc_abs(missing) > blur && way > 0.0 ? missing / way : 0.0;
        cc_point_payable(o, &begin, &middle, D, S);
        double paying = cc_dot(S, S);
        if (in->W_R > 0.0 && paying > 0.0 && cc_abs(R) > CC_POINT_SETTLED * (begin.U + U_1))
            g = cc_within(CC_BOND_PAYS * R * H / paying, -0.5 * most, most);
        if (o->central)
            cc_point_moment_back(M, in->T, D, most, H, back);
        for (int i = 0; i < 3; i++)
            wanted[i] = -middle.gradient[i] + force->damped[i] + force->rubbed[i] - missing * D[i] - g / H * S[i]
                        + back[i] - f[i];
        double along = cc_dot(wanted, middle.tangent) / slack, across[2];
        for (int j = 0; j < 2; j++)
            across[j] = cc_dot(wanted, middle.V[j])
                        / ((o->central && j > 0 ? 1.0 : firm) + 0.25 * middle.k[j] * W * H * H);
        for (int i = 0; i < 3; i++) {
            double change = along * middle.tangent[i] + across[0] * middle.V[0][i] + across[1] * middle.V[1][i];
            f[i] += change;
            moved += change * change;
            size += f[i] * f[i];
        }
        double next = moved < before ? moved * (moved / before) : moved; /* as it went on until now */
        if (next <= CC_POINT_ROUNDING * CC_POINT_ROUNDING * size || n == CC_POINT_STEPS)
            return n;
        before = moved;
    }
}

/* Remember the sample and the force given there. */
CC_API void cc_point_keep(CcPoint *p, const double P[3], const double v[3], const CcPointForce *force, double H)
{
    double size = cc_norm(force->f);
    for (int i = 0; i < 3 && size > 0.0 && p->bond.f_largest == 0.0; i++) /* the first force */
        p->bond.along[i] = force->f[i] / size;
    cc_bond_keep(&p->bond, force->f, size, H);
    cc_put_first(p->damped[0], CC_LAGS + 1, 3, force->damped);
    cc_put_first(p->rubbed[0], CC_LAGS + 1, 3, force->rubbed);
    for (int i = 0; i < 3; i++)
        p->v[i] = v[i], p->P[i] = P[i];
}

/* A sample at a communication point, H, s, the step to come, begins with what the interval before it shows: P, its
 * velocity v relative to the guide and `own` altogether, in the coordinates of the guide. */
CC_API void cc_point_observe(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                             const double own[3], double H)
{
    int still = 1, begun = p->bond.begun != 0.0, jumped = 0;
    double way[3];
    p->jumped = 0.0;
    for (int i = 0; i < 3; i++) {
        way[i] = P[i] - p->P[i];
        still &= v[i] == p->v[i] && P[i] == p->P[i];
        p->own[i] = begun ? p->own[i] : own[i] - v[i] + p->v[i]; /* the line moves on evenly */
    }
    if (begun) {
        p->bond.H = cc_rule_length(&p->bond.rule, p->bond.H, H, way, p->own, own, cc_norm(P));
        jumped = cc_point_find_rule(p, o, P, own);
    } else {
        p->bond.H = H;
        jumped = cc_bond_starts_elsewhere(&p->bond, way, p->own, own, cc_norm(P));
    }
    if (jumped)
        cc_point_put(p, o, P, v, own);
    else if (begun || !still)
        cc_point_see(p, o, P, v, own);
}

/* The largest W that the samples allow for any lag, 1/kg. */
CC_API double cc_point_lightest(const CcBond *b)
{
    double W = 0.0;
    for (int L = 0; L < CC_LAGS; L++)
        if (b->fits[L][0] > 0.0)
            W = cc_max(W, cc_bond_admittance(b->fits[L][1], b->fits[L][0]));
    return W;
}

/* What of the damping c is right whatever others do until it acts: `force` damps the rate that is expected at the place
 * to come, the sample before the step H is P, v. */
CC_API double cc_point_sure_damping(const CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3],
                                    double H, const CcPointForce *force)
{
    const CcBond *b = &p->bond;
    int known = cc_bond_knows_lag(b, &o->bond), may_be_late = !known || cc_lag(b->lag) > 0;
    double W = known ? b->W : cc_point_lightest(b), l = cc_norm(P), size = cc_norm(force->damped), rate = 0.0;
    if (!may_be_late || !(o->c * W * H > CC_POINT_HARD) || !(size > 0.0) || (o->central && !(l > 0.0)))
        return o->c;
    double sign = cc_dot(force->damped, P) < 0.0 ? 1.0 : -1.0; /* of the rate of |P| that is damped */
    for (int i = 0; i < 3; i++) {
        double along = o->central ? sign * P[i] / l : -force->damped[i] / size;
        rate += along * (v[i] + (known ? 0.0 : CC_POINT_LATEST * H * b->y[i]));
    }
    if (!known && b->learned <= CC_POINT_WAITS && rate > 0.0)
        return o->c;
    double share = rate > 0.0 ? o->c * rate / size : 0.0;
    return cc_min(share, 1.0) * o->c;
}

/* And it ends with the force that answers it. */
CC_API void cc_point_answer(CcPoint *p, const CcPointOptions *o, const double P[3], const double v[3], double H,
                            double f[3])
{
    CcBond *c = &p->bond;
    CcBondOptions bond = cc_point_bond(o, cc_point_stiffness(o, P));
    double at[3], speed[3], change[3], U = p->U, u[CC_MODEL_FORCES + 1] = {0.0};
    CcPointForce force;
    CcPotential here;
    int lag = cc_bond_begin(c, &bond, H);
    int literal = !bond.given.straight && cc_bond_is_literal(c, &bond);
    if (c->known > 0.0 && o->c * c->W * H > CC_POINT_HARD)
        literal = 0;
    int modelled = cc_bond_is_modelled(c, &bond);
    CcPointInterval in = {.H = H, .W = literal ? 0.0 : c->W, .R = c->ledger.made[lag],
                          .W_R = cc_bond_knows_lag(c, &bond) ? c->W : 0.0};
    CcAhead ahead = cc_model_now(&c->model);
    double carried = bond.k > 0.0 && !(c->answered > 0.0) && c->known == 0.0 ? 1.0 : 0.0; /* but no damping */
    for (int i = 0; i < CC_MODEL_FORCES; i++)
        u[i + 1] = cc_dot(c->f[i], c->along);
    for (int i = 0; i < 3; i++) {
        speed[i] = v[i], in.turn[i] = 0.5 * H * c->y[i], in.T[i] = p->moment[lag][i];
        in.a[i] = literal ? 0.0 : c->a[i] + carried * c->W * p->damped[0][i];
    }
    cc_point_shifted(p, P, v, at);
    for (int k = lag - 1; k >= 0; k--) { /* intervals whose forces are given already */
        double D[3], y[3];
        for (int i = 0; i < 3; i++)
            y[i] = c->a[i] + c->W * c->f[k][i];
        cc_bond_predict(c, modelled, u + 1 + k, &ahead, y);
        for (int i = 0; i < 3; i++) {
            D[i] = H * speed[i] + 0.5 * H * H * y[i];
            at[i] += D[i];
            speed[i] += H * y[i];
        }
        if (o->central)
            cc_point_add_moment(at, D, c->f[k], H, in.T);
        o->potential(o->data, at, D, &here);
        in.R += here.U - U - here.leak + cc_dot(c->f[k], D) - cc_dot(p->damped[k], D) - cc_dot(p->rubbed[k], D);
        U = here.U;
    }
    cc_bond_predict(c, modelled && !literal, u, &ahead, in.a); /* u[0] = 0: by all but this force */
    cc_point_force(o, at, speed, &in, &force);
    if (!bond.given.straight) {
        CcPointOptions less = *o;
        less.c = cc_point_sure_damping(p, o, P, v, H, &force);
        if (less.c < o->c)
            cc_point_force(&less, at, speed, &in, &force);
    }
    for (int i = 0; i < 3; i++)
        change[i] = force.f[i] - c->f[0][i];
    int asks = cc_bond_signals(c, &bond) && cc_norm(change) > CC_PROBE_MOVES * c->f_largest;
    double factor = cc_probe_factor(&c->probe, CC_PROBE_SIZE_GUIDE, asks);
    for (int i = 0; i < 3; i++)
        force.f[i] *= factor, force.damped[i] *= factor, force.rubbed[i] *= factor, f[i] = force.f[i];
    c->literal = literal;
    cc_point_keep(p, P, v, &force, H);
}

#endif
