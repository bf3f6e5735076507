/* A contact port in plain co-simulation: the force returned at each communication point, held by the bodies over one
 * interval, that neither makes nor loses energy at practical communication steps.
 *
 * Frame: that of the surface, normal z; r, v of the point relative to its material.  At each communication point
 *   0  v is made that at the sample, where it is given as the difference of the positions (late_rate.h)
 *   1  the partner is learned from the interval that ended: position rule, lag L, admittance W (partner.h)
 *   2  ledger: for each lag the energy R, J, that the forces made since the cycle of compression and restitution began.
 *      At its end what is left becomes debt D = max(D + R, 0)
 *   3  free acceleration a = y - W f[L]: of everything else, without smoothing
 *   4  prediction over the L intervals whose forces are given already, along the surface too (slip_model.h)
 *   5  in restitution the force is scaled by s = 1 - (R + min(D, T)) / U, T = w^2 / (2 W_zz), within 1/4 .. 2: what was
 *      made is paid back.  Not where omega H > 2: two samples an oscillation would keep a body at rest in motion.  What
 *      is paid at once stays within 30 T/(1 + d): a body at rest is neither lifted nor dropped.  Where others act on
 *      the same bodies (b > 1, joint_coupling.h) s goes down to 0, so that no more energy is returned than the port
 *      absorbed, and 2 T is the most.  In compression, once W is known, s = 1 + R/(T' + U/4), |R| <= T' = T/(1 + d),
 *      within 1/4 .. 5/4
 *   6  the energy-consistent force of the interval (energy_force.h), below 1.2 times what the law gives at the depth
 *      that the measured motion could reach; in a first contact that ends in balance with a load, what leads the body
 *      to where the law would have it (lawful_motion.h)
 *
 * Before anything is known W is what makes omega H = 1.1 at the depth to come, 0.9 where the lag is given: it spoils
 * neither long nor short contacts.  A point that is deep in the surface at the start of the run has been there before:
 * the law has acted, and others balance it; where it does not move at all and the lag is unknown, the law acts until it
 * does.  The force is the law at the inputs where v does not belong to r for three samples (v is not connected), where
 * the caller says so, and where the point does not move at all, to the bit: something holds it, or its motion is given,
 * and no other force is right there.  Off the drawn part and beyond the limit depth no force acts: what U jumps by at
 * their edges is no work of the force, so the intervals across them are not counted in R.
 *
 * One family of functions: the steps of a sample, in their order. */
#ifndef CC_COUPLING_H
#define CC_COUPLING_H

#include "energy_force.h"
#include "force_form.h"
#include "late_rate.h"
#include "lawful_motion.h"
#include "partner.h"
#include "../laws/friction.h"

typedef struct {
    CcPartner partner;
    CcLedger ledger;
    double pushed, held[CC_LAGS];        /* sums of cc_coupling_book_phase, J and N^2 s^2, of the cycle */
    double scale CC_FROM(0);             /* s, 1 */
    double ceilings CC_FROM(0);          /* samples at the ceiling since the start */
    double deepest;                      /* depth of a sample since the start, m */
    double off CC_IN(0, 1);              /* 1 if no force could act at the last sample */
    double literal CC_IN(0, 1);          /* given: 1 where the force has to be the law at the inputs */
    double stands CC_IN(0, 2);           /* 2 while the point does not move at all under the force, 1 after that */
    double added[CC_LAGS];               /* J, by the forces that acted, for each lag, since the start */
    double started CC_IN(0, 1);          /* 1 after the first sample of the run */
    CcLawfulMotion lawful;               /* since a first contact began */
    CcLateRate late;                     /* where v is a difference of positions */
    CcForceForm form;                    /* where inputs change within the step */
    double led CC_IN(0, 1);              /* 1 while the force leads there */
    double z[2], slips CC_IN(0, 1);      /* bristle: deflection at the sample, m; 1 if its tip slipped before it */
} CcCoupling;

#define CC_SCALE_LEAST 0.25
#define CC_SCALE_MOST 2.0
#define CC_PAYS_ALONE 1e-3      /* most b of bodies that no others move: rounding, and how they turn */
#define CC_COMPRESSED_MOST 1.25 /* in compression: what this makes too much has little time to be paid back */
#define CC_CEILING 1.2
#define CC_PAID_AT_ONCE 30.0    /* of the kinetic energy w^2 / (2 W_zz) over 1 + d: what is paid back at once, */
#define CC_MOST_OWED 2.0        /* and of that energy where others act */
#define CC_PRESSED 0.25         /* of U: what stands for the work of others in compression */
#define CC_STIFF_FOR_LEDGER 4.0 /* (omega H)^2 */
#define CC_MOST_GIVEN 1e6       /* (omega H)^2 with a W that is given: above, a contact lasts 1/300 of a step */
#define CC_STANDS_NOW 2.0       /* of c->stands; less, after that */

/* The law at a sample: r, v in, f out; without the force of a bristle. */
CC_API void cc_law_at(const CcPortLaw *law, const double r[3], const double v[3], double f[3])
{
    double slip = cc_sqrt(v[0] * v[0] + v[1] * v[1]), share = 0.0; /* friction as a factor of the slip */
    double N = cc_damped_force(law->elastic(law->data, -r[2]), cc_port_damping(law, -v[2]));
    if (law->k_B > 0.0)
        share = 0.0;
    else if (!law->friction)
        share = law->K_fr * N * cc_friction_per_slip(law->k_T, slip);
    else if (slip > 0.0)
        share = law->friction(law->data, N, slip) / slip;
    f[0] = -share * v[0];
    f[1] = -share * v[1];
    f[2] = N;
}

/* The state before the first sample.  An inertia that is given is that along the normal; across it W is guessed, unless
 * it is not to be learned. */
CC_API void cc_coupling_start(CcCoupling *c, const CcCouplingOptions *o)
{
    *c = (CcCoupling){.scale = 1.0};
    c->partner.rule.beta = 0.5;
    c->partner.lag = o->lag == CC_LAG_AUTO ? 1 : o->lag;
    if (o->inertia > 0.0 && !o->straight) {
        double W = 1.0 / o->inertia;
        for (int i = 0; i < 3; i++)
            c->partner.W[i][i] = (i < 2 && o->identify ? CC_TANGENT_TO_NORMAL : 1.0)
                                 * (W < CC_MOST_ADMITTANCE ? W : CC_MOST_ADMITTANCE);
        c->partner.known = 1.0;
    }
}

/* Motion and forces are forgotten, what was learned of the partner is kept: a new run, or a jump of the point. */
CC_API void cc_coupling_rewind(CcCoupling *c)
{
    const CcCoupling kept = *c;
    const CcPartner *p = &kept.partner;
    *c = (CcCoupling){.scale = 1.0, .ceilings = c->ceilings, .deepest = c->deepest,
                      .started = c->started, .ledger = c->ledger, .late.found = c->late.found,
                      .partner = {.rule = p->rule, .lag = p->lag, .known = p->known, .refuted = p->refuted,
                                  .settled = p->settled, .overruled = p->overruled, .across = p->across,
                                  .model = p->model, .slip = p->slip, .noise = p->noise,
                                  .sides.carried = p->sides.carried}};
    __builtin_memcpy(c->added, kept.added, sizeof c->added);
    for (int i = 0; i < 3; i++) {
        c->ledger.made[i] = 0.0;
        for (int j = 0; j < 3; j++)
            c->partner.W[i][j] = p->W[i][j], c->partner.fits[i][j] = p->fits[i][j];
    }
    c->partner.rule.mismatched = c->partner.rule.began = 0.0;
    cc_model_interrupt(&c->partner.model);
    cc_slip_interrupt(&c->partner.slip);
}

/* Step 2: the interval between the last sample and (r, v).  `off`: an edge may have been passed in it, and nothing
 * counts; `quiet`: no force acts. */
CC_API void cc_coupling_book(CcCoupling *c, const CcPortLaw *law, const double r[3], const double v[3], int off,
                             int quiet)
{
    const CcPartner *p = &c->partner;
    CcLedger *ledger = &c->ledger;
    double beta = p->rule.beta, w_0 = -p->v[2], w = -v[2];
    double x_0 = cc_rule_place(beta, p->H, -p->r[2], w_0), x = cc_rule_place(beta, p->H, -r[2], w);
    int acts = x > 0.0 || x_0 > 0.0;
    for (int L = 0; L < CC_LAGS; L++)
        acts |= p->f[L][2] != 0.0 || ledger->made[L] != 0.0;
    if (!acts)
        return;
    CcPassed passed = {0.0, 0.0};
    if (!off)
        passed = cc_passed(law, x_0, w_0, x, w, p->H);
    for (int L = 0; L < CC_LAGS; L++) {
        double made = cc_made(&passed, p->f[L][2]);
        ledger->made[L] += made;
        c->added[L] += cc_made_through(made, passed.change, p->f[L][2], x_0, x);
    }
    if (quiet || off || (w >= 0.0 && w_0 < 0.0))
        cc_close_ledger(ledger);
}

/* The part of R that is due to kappa: sum kappa DF_e (a + W F_m), a = y - W f, F_m the mean of F_e at both ends of the
 * interval; y with what the axes add by turning.  What W multiplies is summed without it, for it may be known better
 * later.  `over`: the interval ends the cycle. */
CC_API void cc_coupling_book_phase(CcCoupling *c, const CcPortLaw *law, const double r[3], const double v[3], double y,
                                   int over)
{
    const CcPartner *p = &c->partner;
    double x_0 = cc_rule_place(p->rule.beta, p->H, -p->r[2], -p->v[2]);
    double x = cc_rule_place(p->rule.beta, p->H, -r[2], -v[2]);
    double change = 0.0, middle = 0.0;
    over = over || (v[2] <= 0.0 && p->v[2] > 0.0);
    if (!over && (x > 0.0 || x_0 > 0.0)) {
        double from = law->elastic(law->data, x_0), to = law->elastic(law->data, x);
        change = p->H * p->H / 6.0 * (to - from), middle = 0.5 * (from + to);
    }
    c->pushed = over ? 0.0 : c->pushed + change * y;
    for (int L = 0; L < CC_LAGS; L++)
        c->held[L] = over ? 0.0 : c->held[L] + change * (p->f[L][2] - middle);
}

/* The point was put elsewhere: the way there shows nothing, and the forces that were given act on. */
CC_SELDOM void cc_coupling_put_elsewhere(CcCoupling *c)
{
    const CcPartner was = c->partner;
    cc_coupling_rewind(c);
    __builtin_memcpy(c->partner.f, was.f, sizeof was.f);
    c->partner.rule.mismatched = was.rule.mismatched + 1.0;
    c->partner.jumped = 1.0;
}

/* 1 if the point stands still at r, v, at the same place as at the last sample to the bit, though a force acts. */
CC_API int cc_stands_still(const CcPartner *p, const double r[3], const double v[3])
{
    if (p->begun == 0.0 || p->f[0][2] == 0.0 || r[0] != 0.0 || r[1] != 0.0 || r[2] != p->r[2])
        return 0;
    for (int i = 0; i < 3; i++)
        if (v[i] != 0.0 || p->v[i] != 0.0)
            return 0;
    return 1;
}

/* Stiffness, N/m, of the spring that stores at the depth x what the law does; 0 if x is. */
CC_API double cc_secant_stiffness(const CcPortLaw *law, double x)
{
    return x > 0.0 ? 2.0 * law->energy(law->data, x) / (x * x) : 0.0;
}

/* What the way along the surface in the interval between the last sample and (r, v) shows of its bend. */
CC_API void cc_coupling_see_bend(CcPartner *p, const double r[3], const double v[3])
{
    double gap[2], b[2];
    for (int i = 0; i < 2; i++) {
        gap[i] = r[i] / p->H - cc_rule_speed(p->rule.beta, p->v[i], v[i]);
        b[i] = cc_bend(p->H, p->a[i] - p->a_before[i]) / p->H;
    }
    cc_slip_see_bend(&p->slip, gap, b);
}

/* Steps 1 to 3: the interval between the last sample and (r, v), `off`: where no force can act.  Returns 1 if none
 * acts. */
CC_API int cc_coupling_learn(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                              const double v[3], int off)
{
    CcPartner *p = &c->partner;
    CcObservation seen = cc_observe_interval(p, v);
    off = off || c->off != 0.0;
    if (c->stands > 0.0) /* whoever moves it may take longer steps, and how long the first one was is not known */
        p->jumped = 1.0, p->anchored = 0.0;
    if (!off && cc_is_put_elsewhere(p, r, v)) {
        cc_coupling_put_elsewhere(c);
        return seen.quiet;
    }
    cc_update_noise(p, r, v, &seen);
    if (!off) /* beyond an edge the way along the normal need not be that of its speed */
        cc_sum_position_rule(p, r, v, &seen);
    p->rule.beta = cc_rule_beta(p->rule.sum);
    cc_coupling_book(c, law, r, v, off, seen.quiet);
    cc_coupling_book_phase(c, law, r, v, seen.y[2] + p->turn[2], off || seen.quiet);
    int identifies = cc_identifies(p, o);
    int changed = cc_find_lag(p, &seen, o->lag != CC_LAG_AUTO && p->overruled == 0.0, identifies);
    if (o->straight || !identifies)
        p->model.use = 0.0;
    if (!o->straight) {
        double pushed[3] = {0.0, 0.0, 0.0};
        cc_learn_slip(p, &seen, changed, o->lag != CC_LAG_AUTO && p->overruled == 0.0);
        if (!identifies) {
            cc_doubt_admittance(p, &seen, cc_secant_stiffness(law, c->deepest) * p->H * p->H);
        } else {
            int given = o->inertia > 0.0 && p->refuted == 0.0;
            cc_find_admittance(p, &seen, changed, o->lag != CC_LAG_AUTO, given);
            cc_follow_model(p);
            cc_follow_slip(p, given);
        }
        if (p->known != 0.0) /* else W is yet to be guessed: cc_coupling_begin */
            cc_apply_admittance(p->W, p->f[cc_lag(p->lag)], pushed);
        CC_UNROLL for (int i = 0; i < 3; i++) {
            p->a_before[i] = p->a[i];
            p->a[i] = seen.y[i] - pushed[i];
        }
        if (cc_slip_is_modelled(p))
            cc_coupling_see_bend(p, r, v);
    }
    CC_UNROLL for (int i = 0; i < 3; i++)
        p->y[i] = seen.y[i];
    p->jumped = 0.0, p->compared = 1.0;
    return seen.quiet;
}

/* Step 4: the state at the beginning of the interval on which the force will act, and the energy R made until then.
 * `pushed`: the accelerations by the forces that were given, the newest first. */
CC_API double cc_coupling_predict(const CcCoupling *c, const CcPortLaw *law, double pushed[CC_LAGS - 1][3],
                                  CcInterval *at)
{
    const CcPartner *p = &c->partner;
    int lag = cc_lag(p->lag), modelled = p->model.use != 0.0 && p->W[2][2] > 0.0;
    int slips = cc_slip_is_modelled(p), bent = p->slip.bends >= 0.0;
    double W = p->W[2][2], made = c->ledger.made[lag], H = at->H, load[2] = {p->a[0], p->a[1]};
    double u[CC_KEPT_FORCES + 1] = {0.0}, u_t[CC_KEPT_FORCES + 1] = {0.0};
    CcAhead ahead = cc_model_now(&p->model), along = cc_model_now(&p->slip.model);
    if (at->kappa > 0.0)
        made += c->pushed - W * c->held[lag];
    if (modelled)
        cc_model_inputs(p, u + 1);
    if (slips)
        cc_slip_inputs(&p->slip, p->f[0], u_t + 1);
    for (int k = lag - 1; k >= 0; k--) {
        double alpha[3], x = at->x, w = at->w;
        for (int i = 0; i < 3; i++)
            alpha[i] = at->a[i] + pushed[k][i];
        if (modelled)
            alpha[2] = p->turn[2] + cc_model_next(&p->model, lag, u + 1 + k, &ahead);
        if (slips)
            cc_slip_next(&p->slip, lag, u_t + 1 + k, &along, p->turn, alpha);
        for (int i = 0; i < 2; i++)
            load[i] = alpha[i] - pushed[k][i] - p->turn[i];
        at->x += H * w - 0.5 * H * H * alpha[2];
        at->w -= H * alpha[2];
        if (law->k_B > 0.0) {
            double L = cc_bristle_limit(law, p->f[k][2], cc_pair_norm(at->u), at->slips != 0.0), s[2];
            for (int i = 0; i < 2; i++)
                s[i] = H * at->u[i] + 0.5 * H * H * alpha[i];
            at->slips = cc_move_bristle(law->k_B, cc_bristle_stiffness(law->k_B, law->c_B, H), L, s, at->z);
        }
        at->u[0] += H * alpha[0];
        at->u[1] += H * alpha[1];
        made += cc_energy_made(law, p->f[k][2], x, w, at->x, at->w, H);
        if (at->kappa > 0.0) {
            double from = law->elastic(law->data, x), to = law->elastic(law->data, at->x);
            made += at->kappa * (to - from) * (alpha[2] - W * (p->f[k][2] - 0.5 * (from + to)));
        }
    }
    if (slips) {
        double alpha[2];
        for (int i = 0; i < 2; i++)
            alpha[i] = at->a[i] + cc_dot(at->W[i], p->f[0]);
        u_t[0] = u_t[1];
        cc_slip_next(&p->slip, lag, u_t, &along, p->turn, alpha);
        for (int i = 0; i < 2; i++) {
            at->a[i] = alpha[i] - cc_dot(at->W[i], p->f[0]);
            at->bend[i] = bent * cc_bend(H, at->a[i] - p->turn[i] - load[i]) / H;
        }
    }
    if (modelled) { /* by the force of before, so that a b_0 which a steady force does not show is of no account */
        u[0] = u[1];
        at->a[2] = p->turn[2] + cc_model_next(&p->model, lag, u, &ahead) - cc_dot(at->W[2], p->f[0]);
    }
    return made;
}

/* s in compression.  Where nothing else acts T' + U - R is kept, T' = T/(1 + d): the body turns at the depth of the
 * law if the rest of the way is scaled by T'/(T' - R).  A body that creeps on under the load of others has
 * T' = 0, and is not displaced. */
CC_API double cc_scale_of_compression(const CcPortLaw *law, const CcInterval *at, double U, double made)
{
    double T = 0.5 * at->w * at->w / at->W[2][2] * cc_inverse_damping(law, at->w);
    double owed = made < -T ? -T : made > T ? T : made, s = 1.0 + owed / (T + CC_PRESSED * U);
    return s < CC_SCALE_LEAST ? CC_SCALE_LEAST : s > CC_COMPRESSED_MOST ? CC_COMPRESSED_MOST : s;
}

/* Step 5: s. */
CC_API double cc_coupling_scale(const CcCoupling *c, const CcPortLaw *law, const CcInterval *at, double made)
{
    double U = law->energy(law->data, at->x), W_n = at->W[2][2], debt = c->ledger.owed[cc_lag(c->partner.lag)];
    if (at->w == 0.0 || !(U > 0.0) || 2.0 * W_n * U * at->H * at->H > CC_STIFF_FOR_LEDGER * at->x * at->x)
        return 1.0;
    if (at->w > 0.0) { /* of a step that tends to 0 the law */
        double longest = c->partner.longest, share = at->H < longest ? at->H / longest : 1.0;
        int pays = c->partner.known == 1.0 && W_n > 0.0 && at->beyond < CC_PAYS_ALONE;
        return pays ? cc_scale_of_compression(law, at, U, share * made) : 1.0;
    }
    if (at->kappa > 0.0) { /* what the force of cc_phase_of_interval gives back */
        double F = law->elastic(law->data, at->x), more = at->kappa * F * (at->a[2] + 0.5 * W_n * F);
        U = more > -0.5 * U ? U + more : 0.5 * U;
    }
    double payable = W_n > 0.0 ? 0.5 * at->w * at->w / W_n : debt, least = CC_SCALE_LEAST, most = CC_SCALE_MOST;
    double owed = made + (debt < payable ? debt : payable), share = at->beyond < 1.0 ? at->beyond : 1.0;
    most -= (CC_SCALE_MOST - 1.0) * share; /* what b takes is meant to be lost */
    if (at->beyond > 1.0)
        least = 0.0;
    if (W_n > 0.0) { /* a body that hardly moves is not lifted or dropped */
        double moves = payable * (at->beyond > 1.0 ? CC_MOST_OWED : CC_PAID_AT_ONCE * cc_inverse_damping(law, at->w));
        owed = owed < -moves ? -moves : owed > moves ? moves : owed;
    }
    double s = 1.0 - owed / U;
    return s < least ? least : s > most ? most : s;
}

/* The body is where the law would have it: what the forces made on its way is no matter any more. */
CC_API void cc_coupling_nothing_made(CcCoupling *c)
{
    for (int L = 0; L < CC_LAGS; L++)
        c->ledger.made[L] = c->held[L] = 0.0;
    c->pushed = 0.0;
}

/* The depth x at the sample, on the parabola that has the kinetic energy of v. */
CC_API double cc_coupling_depth(const CcPartner *p, const double r[3], const double v[3])
{
    return cc_rule_place(p->rule.beta, p->H, -r[2], -v[2]);
}

/* The law at the inputs, with the force of the bristle: that of its deflection at the sample. */
CC_API void cc_coupling_literal(const CcCoupling *c, const CcPortLaw *law, const double r[3], const double v[3],
                                double f[3])
{
    cc_law_at(law, r, v, f);
    if (!(law->k_B > 0.0))
        return;
    double F[2] = {law->k_B * c->z[0] + law->c_B * v[0], law->k_B * c->z[1] + law->c_B * v[1]};
    double L = cc_bristle_limit(law, f[2], cc_pair_norm(v), c->slips != 0.0), size = cc_pair_norm(F);
    for (int i = 0; i < 2; i++)
        f[i] = size > L ? -L / size * F[i] : -F[i];
}

/* The first sample of a point that was in contact before: the law has acted on it, and others hold it there, but not
 * against what damps a motion into the surface. */
CC_API void cc_coupling_balanced(CcCoupling *c, const CcPortLaw *law, const double r[3], const double v[3])
{
    CcPartner *p = &c->partner;
    double f[3], pushed[3];
    const double at_rest[3] = {v[0], v[1], v[2] > 0.0 ? v[2] : 0.0};
    cc_coupling_literal(c, law, r, at_rest, f);
    cc_apply_admittance(p->W, f, pushed);
    CC_UNROLL for (int i = 0; i < 3; i++) {
        for (int k = 0; k < CC_KEPT_FORCES; k++)
            p->f[k][i] = f[i];
        p->a[i] = p->a_before[i] = -pushed[i] - p->turn[i];
    }
}

/* (omega H)^2 of the admittance assumed before anything is known. */
CC_API double cc_first_guess(const CcCouplingOptions *o)
{
    return o->lag == CC_LAG_AUTO ? CC_FIRST_GUESS : CC_FIRST_GUESS_TOLD;
}

/* Units of the model: those of the stiffness at the depth to come. */
CC_API void cc_coupling_units(CcPartner *p, const CcPortLaw *law, double x, double w, double H)
{
    if (!(x > 0.0 || w > 0.0))
        return;
    double touch = x + (w > 0.0 ? (p->lag + 1.0) * H * w : 0.0);
    double unit = cc_model_unit(touch, law->energy(law->data, touch), H);
    cc_model_in_units(&p->model, unit);
    cc_model_in_units(&p->slip.model, unit);
}

/* A W that is given and answers a force long before the step ends is none: the force by it is so small that no motion
 * shows that it is wrong.  U: energy of the law at the depth `touch`, J; T: s. */
CC_API void cc_coupling_doubt(CcPartner *p, const CcCouplingOptions *o, double touch, double U, double T)
{
    if (o->inertia > 0.0 && p->refuted == 0.0 && 2.0 * U * p->W[2][2] * T * T > CC_MOST_GIVEN * touch * touch)
        p->refuted = 1.0, p->known = 0.0;
}

/* The interval that begins at the sample r, v: state, free acceleration, admittance; guesses W while it is unknown. */
CC_API CcInterval cc_coupling_begin(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                                    const double v[3], double H)
{
    CcPartner *p = &c->partner;
    if (p->begun == 0.0)
        p->H = H;
    CcInterval at = {.x = cc_coupling_depth(p, r, v), .w = -v[2], .u = {v[0], v[1]}, .H = H,
                     .z = {c->z[0], c->z[1]}, .slips = c->slips};
    double touch = at.x + (p->lag + 1.0) * H * at.w;
    double T = H > p->longest ? H : p->longest; /* W is no matter of H: a step that tends to 0 gives the law */
    int guesses = p->unanswered <= CC_MOST_UNANSWERED && !o->straight;
    if (guesses && touch > 0.0 && (p->known == 0.0 || (o->inertia > 0.0 && p->refuted == 0.0))) {
        double U = law->energy(law->data, touch);
        cc_coupling_doubt(p, o, touch, U, T);
        if (p->known == 0.0 && cc_identifies(p, o) && U > 0.0) /* 0 where the law has no force yet, or none */
            cc_guess_admittance(p->W, cc_first_guess(o) * touch * touch / (2.0 * U * T * T));
    }
    if (p->known == 0.0 && p->begun != 0.0) { /* a of the W with which the force is found, not of an earlier guess */
        double pushed[3];
        cc_apply_admittance(p->W, p->f[cc_lag(p->lag)], pushed);
        CC_UNROLL for (int i = 0; i < 3; i++)
            p->a[i] -= pushed[i];
    }
    cc_coupling_units(p, law, at.x, at.w, H);
    int begins = c->started == 0.0 && at.x > 0.0, unknown = o->lag == CC_LAG_AUTO;
    int rests = begins && unknown && cc_largest(v) == 0.0;
    if (begins && !rests && at.x > CC_RESTS * H * cc_abs(at.w))
        cc_coupling_balanced(c, law, r, v);
    c->stands = rests || cc_stands_still(p, r, v) ? CC_STANDS_NOW : c->stands > 0.0 ? c->stands - 1.0 : 0.0;
    c->started = 1.0;
    __builtin_memcpy(at.W, p->W, sizeof at.W);
    if (cc_is_held_along_normal(p))
        at.W[0][2] = at.W[2][0] = at.W[1][2] = at.W[2][1] = 0.0;
    CC_UNROLL for (int i = 0; i < 3; i++)
        at.a[i] = p->a[i] + p->turn[i];
    return at;
}

/* The depth that the measured motion, depth x and rate w, could reach within the intervals whose forces are found. */
CC_API double cc_coupling_reach(const CcPartner *p, double x, double w, double H)
{
    double T = (p->lag + 1.0) * H, pull = p->a[2] > p->a_before[2] ? p->a[2] : p->a_before[2];
    pull += p->turn[2];
    double far = x + T * w - (pull < 0.0 ? pull : 0.0) * T * T / 2.0;
    return far > x ? far : x;
}

/* Step 6: what the normal force stays below, from the measured depth x and rate w, and the predicted rate. */
CC_API double cc_coupling_most(const CcCoupling *c, const CcPortLaw *law, double x, double w, double predicted,
                               double H)
{
    double damped = law->damping ? cc_port_damping(law, w > predicted ? w : predicted) : law->d_comp;
    double most = law->elastic(law->data, cc_coupling_reach(&c->partner, x, w, H));
    return CC_CEILING * most * (1.0 + (damped > 0.0 ? damped : 0.0));
}

/* Bring f below the ceiling; returns 1 if it was above. */
CC_API int cc_below(double most, double f[3])
{
    if (!(f[2] > most))
        return 0;
    double share = most / f[2];
    for (int i = 0; i < 3; i++)
        f[i] *= share;
    return 1;
}

/* Remember the sample r, v and the force f given there. */
CC_API void cc_coupling_keep(CcCoupling *c, const double r[3], const double v[3], const double f[3], double H)
{
    CcPartner *p = &c->partner;
    cc_put_first(p->f[0], CC_KEPT_FORCES, 3, f);
    CC_UNROLL for (int i = 0; i < 3; i++)
        p->r[i] = r[i], p->v[i] = v[i];
    p->H = H;
    p->longest = cc_fading_peak(CC_FORGETS, p->longest, H);
    p->begun = 1.0;
    c->deepest = -r[2] > c->deepest ? -r[2] : c->deepest;
}

/* v, as it is given, is found to be the difference of positions: what was learned from it is not so. */
CC_SELDOM void cc_coupling_is_late(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, int lag)
{
    CcPartner *p = &c->partner;
    CcLateRate *m = &c->late;
    const double *f = p->f[lag + 1], *before = p->f[lag + 2];
    p->model = (CcPartnerModel){.H = p->H, .unit = p->model.unit};
    p->slip = (CcSlip){.model.H = p->H};
    p->rule = (CcPositionRule){.beta = 0.5};
    p->lag = lag, p->settled = p->known = p->jumped = 1.0, p->anchored = 0.0;
    if (cc_identifies(p, o))
        cc_guess_admittance(p->W, m->uy[1][lag] / m->uu[1][lag]);
    cc_forget_secants(&p->secants);
    cc_coupling_nothing_made(c);
    double F = law->elastic(law->data, -p->r[2]), W = p->W[2][2], behind[3];
    c->pushed = m->H * m->H / 6.0 * F * (m->change[2] / m->H - 0.5 * W * (f[2] + before[2] - F));
    for (int L = 0; L < CC_LAGS; L++)
        c->ledger.made[L] = m->made[L];
    cc_late_by(p->W, m->change, f, before, m->H, m->H, behind);
    CC_UNROLL for (int i = 0; i < 3; i++)
        p->v[i] = m->v[i] + behind[i];
    m->found = 1.0;
}

/* v, that at the sample r, where the one that is given is the difference of positions: before all other steps.
 * far: distance of the point from the origin of the surface, m.  A single sample that is none changes nothing. */
CC_API void cc_coupling_see_rate(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                                 double far, double v[3])
{
    CcPartner *p = &c->partner;
    CcLateRate *m = &c->late;
    double given[3] = {v[0], v[1], v[2]}, change[3], behind[3], H = p->H;
    for (int i = 0; i < 3; i++)
        change[i] = v[i] - m->v[i];
    int possible = p->begun != 0.0 && !o->straight && cc_late_is_possible(p, r, v, far);
    int shown = H * cc_abs(change[2]) > CC_LATE_SHOWN * cc_late_rounding(p, r, far);
    if (!possible || cc_is_quiet(p))
        *m = (CcLateRate){.found = possible || m->steps > 0.0 ? m->found : 0.0, .steps = m->steps, .H = m->H};
    else if (m->found == 0.0 && m->steps >= 2.0 && shown && cc_abs(H - m->H) <= CC_SAME_STEP * H) {
        cc_late_add(m, p, (change[2] - m->change[2]) / H);
        int lag = cc_late_lag(m, p->overruled == 0.0 ? o->lag : CC_LAG_AUTO);
        if (lag >= 0)
            cc_coupling_is_late(c, law, o, lag);
        else
            cc_late_book(m, p, law, r, v[2]);
    }
    if (m->found != 0.0 && m->steps >= 1.0 && possible) {
        const double *f = p->f[cc_lag(p->lag)], *before = p->f[cc_lag(p->lag) + 1];
        cc_late_by(p->W, change, f, before, H, m->H > 0.0 ? m->H : H, behind);
        for (int i = 0; i < 3; i++)
            v[i] += behind[i];
    }
    for (int i = 0; i < 3; i++)
        m->v[i] = given[i], m->change[i] = change[i];
    m->H = H;
    m->steps = possible ? m->steps + 1.0 : 0.0;
}

/* A sample where no force acts. */
CC_API void cc_coupling_idle(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                             const double v[3], double H)
{
    double none[3] = {0.0}, deepest = c->deepest;
    if (c->partner.begun != 0.0)
        cc_coupling_learn(c, law, o, r, v, 1);
    cc_coupling_keep(c, r, v, none, H);
    c->deepest = deepest;
    c->scale = 1.0;
    c->off = 1.0;
    c->lawful.samples = c->led = 0.0;
}

/* The bodies as a mass, and the load P on it: its mass times its acceleration in the interval that ended, less the
 * forces of the contact, its spring and its damper.  r, v: at the end; the mean of r is that of a cubic.  A mass of 0:
 * unknown. */
CC_API CcLoadedMass cc_coupling_load(const CcCoupling *c, const double r[3], const double v[3])
{
    const CcPartner *p = &c->partner;
    int lag = cc_lag(p->lag);
    CcLoadedMass on = {cc_held_mass(&p->model, lag), 0.0, cc_sqrt(p->model.lag[lag].miss)};
    double mean = -0.5 * (p->r[2] + r[2]) + p->H * (v[2] - p->v[2]) / 12.0;
    on.load = on.body.mass * (p->v[2] - v[2]) / p->H + p->f[lag][2] + on.body.stiffness * mean
              + on.body.damping * (p->r[2] - r[2]) / p->H;
    return on;
}

/* Why the force is the law at the inputs. */
enum { CC_COUPLED, CC_NOT_ITS_RATE, CC_LAW_PULLS, CC_TOO_FAR, CC_STEPS_REPEATED, CC_INPUTS_MOVE, CC_STANDS };

CC_API int cc_coupling_holds(const CcCoupling *c)
{
    return cc_rule_doubts(&c->partner.rule, CC_RULE_PATIENT) ? CC_NOT_ITS_RATE
           : c->literal != 0.0                ? CC_LAW_PULLS
           : c->stands == CC_STANDS_NOW       ? CC_STANDS
                                              : CC_COUPLED;
}

/* 1 if none can come to act in the interval where no force acts: steps 4 to 6 would find that and change nothing. */
CC_API int cc_is_out_of_reach(const CcCoupling *c, const double r[3], const double v[3], double H)
{
    const CcPartner *p = &c->partner;
    return p->begun != 0.0 && cc_coupling_holds(c) == CC_COUPLED
           && !(cc_coupling_reach(p, cc_coupling_depth(p, r, v), -v[2], H) > 0.0);
}

/* Steps 4 to 6 of a sample where a force can act; arguments and result are those of cc_coupling_step. */
CC_APART int cc_coupling_answer(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                                const double v[3], double H, double f[3])
{
    CcPartner *p = &c->partner;
    CcInterval at = cc_coupling_begin(c, law, o, r, v, H);
    double x = at.x, w = at.w, pushed[CC_LAGS - 1][3], lawful = 0.0;
    int led = c->lawful.samples > 0.0 && x > 0.0; /* the lead may leave out forces for a while */
    int first = p->begun == 0.0 || (cc_is_quiet(p) && !led);
    for (int k = 0; k < cc_lag(p->lag); k++)
        cc_apply_admittance(p->W, p->f[k], pushed[k]);
    if (o->lag != CC_LAG_AUTO && c->form.e == 0.0) /* of a force that is held; a wrong lag shows a wrong a */
        at.kappa = H * H / 6.0;
    if (first)
        cc_begin_lawful(&c->lawful, &at, p->known < 1.0 || c->deepest <= 0.0);
    else if (!o->straight && c->form.e == 0.0 && cc_abs(H - p->H) <= CC_SAME_STEP * H && c->lawful.samples > 0.0) {
        CcLoadedMass on = cc_coupling_load(c, r, v);
        lawful = cc_lawful_force(&c->lawful, law, &at, &on, cc_lag(p->lag), p->known == 1.0, p->f_largest);
    }
    else
        c->lawful.samples = 0.0;
    double made = cc_coupling_predict(c, law, pushed, &at);
    at.reach = H * at.W[2][2] * law->elastic(law->data, at.x);
    double most = cc_coupling_most(c, law, x, w, at.w, H);
    c->scale = o->straight || !(most > 0.0) ? 1.0 : cc_coupling_scale(c, law, &at, made);
    int evaluations = 0;
    if (most > 0.0)
        evaluations = cc_energy_force(law, &at, c->scale, p->f[0][2], f);
    c->led = lawful > 0.0;
    if (lawful > 0.0) {
        cc_held_friction(law, &at, cc_lead_to_lawful(&c->lawful, &at, lawful), f);
        if (c->lawful.samples == 0.0)
            cc_coupling_nothing_made(c);
    }
    c->ceilings += cc_below(most, f);
    if (cc_coupling_holds(c) != CC_COUPLED)
        cc_coupling_literal(c, law, r, v, f);
    cc_coupling_keep(c, r, v, f, H);
    c->off = 0.0;
    return evaluations;
}

/* A sample at a communication point: r, m, of which r[0] and r[1] are the way along the surface since the sample before
 * it, v, m/s, and H, s, the step to come.  Writes the force f, N, on the point; returns how often the right side of the
 * force was evaluated. */
CC_API int cc_coupling_step(CcCoupling *c, const CcPortLaw *law, const CcCouplingOptions *o, const double r[3],
                            const double v[3], double H, double f[3])
{
    CcPartner *p = &c->partner;
    int quiet = p->begun != 0.0 && cc_coupling_learn(c, law, o, r, v, 0);
    f[0] = f[1] = f[2] = c->led = 0.0;
    if (quiet && cc_is_out_of_reach(c, r, v, H)) {
        c->scale = 1.0;
        cc_coupling_keep(c, r, v, f, H);
        c->off = 0.0;
        return 0;
    }
    return cc_coupling_answer(c, law, o, r, v, H, f);
}

#endif
