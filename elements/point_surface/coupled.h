/* A contact that is coupled at communication points: coupling/coupling.h for one point, joint_coupling.h for
 * more.
 *
 * Frame of the coupling: tangents t_1, t_2 and normal n at the closest point, carried along with the surface; t_1 is
 * kept in the surface's frame and turned into the tangent plane as the closest point moves.  On a flat surface it is
 * the frame of that.  The port sees the depth, and the velocity of the point relative to the material of the surface,
 * in that frame.
 *
 * From each sample to the next the force is the one that the coupling returned.  Its axes are those amid the interval
 * on which it acts: where the normal turns at the rate Omega = kappa |v_t| + |w| a force along the normal of the
 * sample has the component N Omega (L + 1/2) H along the motion.  On a hollow surface it would drive the point: one
 * that circles in a cylinder of the radius R would gain the share 2 (v/R)^2 (L + 1/2) H of its energy each second.
 * Likewise the moment on the surface's body is that about where the point then will be.  What is left is of the order
 * of H^2.
 *
 * The ledger books each interval when it is over, by what is identified then: the force f that acted, the way dr = H
 * (v_0 + v_1)/2 along the surface, the depths x_0, x_1:
 *     work      N (x_1 - x_0) - f_t dr            friction  -f_t dr            damping  N (x_1 - x_0) - (U_1 - U_0 - R)
 * so energy.residual is minus all R (coupling.h): the energy that the coupling added.
 *
 * Where the point is about to pass an edge of the drawn part, or D_max, only the share of the force until then is
 * given.  What U is at the end of that interval is lost; what it differs by from U at the edge goes with it to
 * energy.switched. */
#ifndef COUPLED_H
#define COUPLED_H

#ifndef CC_DUAL

#include "shared/held_force.h"
#include "coupling/joint_coupling.h"

static double port_elastic(const void *data, double h) { return h > 0.0 ? elastic_force(data, h) : 0.0; }

static double port_energy(const void *data, double h) { return h > 0.0 ? energy_now(data, h) : 0.0; }

#if SLOT_F_D
static void set_damping(const Element *e, CcPortLaw *port) { (void)e, port->damping = damping_ratio; }
#else
static void set_damping(const Element *e, CcPortLaw *port)
{
    CcDampingLimits d = cc_damping_limits(e->C_r, e->k_E);
    port->d_comp = d.comp, port->d_rest = d.rest, port->k_D = e->k_D;
}
#endif

static void set_friction(const Element *e, CcPortLaw *port);

static CcPortLaw port_law(const Element *e)
{
    CcPortLaw port = {.elastic = port_elastic, .energy = port_energy, .data = e};
    set_damping(e, &port);
    set_friction(e, &port);
    return port;
}

static CcCouplingOptions coupling_options(const Element *e)
{
    int mode = (int)e->coupling.mode;
    CcCouplingOptions options = {.lag = cc_lag_of((int)e->coupling.order, mode),
                                 .identify = e->coupling.identify != 0.0,
                                 .straight = mode == SLOPE,
                                 .m_eff = e->coupling.m_eff};
    return options;
}

#define STALE_MOTION 1e-12 /* of the distances: motion that would show */
#define LATE_MOTION 1e-9   /* of the distances: motion whose time can be found */
enum { MOST_STALE = 100 }; /* steps in a row, after which the inputs are taken as they are */

static CcCoupling *partner_of(Element *e, int i) { return (CcCoupling *)e->partner[i]; }

static CcPort *port_of(Element *e, int i) { return (CcPort *)e->port[i]; }

static int is_usable(const Element *e, int i)
{
    return e->work != 0.0 && e->on_patch[i] != 0.0 && -e->distance[i] <= e->D_max;
}

/* One point or several: start_joint, answer_ports, cut_wrench, repeat_wrench, trust_of.  By the surface: find_axes,
 * sample_velocity, turn_force.  By the friction: set_friction, advance_friction, work_of_friction, literal_force,
 * hold_side. */
#include JOINT_FILE
#if SURFACE_FLAT
#include "coupled_flat.h"
#else
#include "coupled_curved.h"
#endif

/* The velocity of point i relative to the material of the surface, in world components; `arm`: from the surface's
 * frame. */
static void relative_velocity(const Element *e, int i, const double arm[3], double relative[3])
{
    double carried[3];
    cc_cross(e->surface.w, arm, carried);
    CC_UNROLL for (int k = 0; k < 3; k++)
        relative[k] = e->point[i].v[k] - (e->surface.v[k] + carried[k]);
}

/* The sample of point i: the depth as r[2] = -h and the relative velocity along the axes of the coupling; the place in
 * the surface's frame. */
static void sample_port(Element *e, int i, Real R[3][3])
{
    CcPort *port = port_of(e, i);
    double arm[3], relative[3];
    CC_UNROLL for (int k = 0; k < 3; k++)
        arm[k] = e->point[i].r[k] - e->surface.r[k];
    relative_velocity(e, i, arm, relative);
    partner_of(e, i)->partner.sides.carried = cc_dot(e->point[i].v, e->normal[i]) - cc_dot(relative, e->normal[i]);
    port->usable = is_usable(e, i);
    port->r[0] = port->r[1] = 0.0, port->r[2] = e->distance[i];
    cc_to_body(R, arm, port->position);
    sample_velocity(e, i, R, relative);
}

#if BRISTLE
#include "coupled_bristle.h"
#else
#include "coupled_sliding.h"
#endif

/* Book the interval before the sample, by what now is known of it. */
static void book_interval(Element *e, int i, const CcPortLaw *law)
{
#if LEDGER
    const CcPort *port = port_of(e, i);
    const CcCoupling *now = partner_of(e, i);
    const double *f = now->partner.f[cc_lag(now->partner.lag) + 1]; /* the newest acts on what comes, or later */
    const double *r = port->r, *v = port->v, *v_0 = port->v_before;
    double x_0 = -port->r_before[2], x = -r[2], H = port->H, N = f[2];
    if (cc_largest(f) == 0.0 && x_0 <= 0.0 && x <= 0.0) /* all of it would be 0 */
        return;
    double made = cc_energy_made(law, N, x_0, -v_0[2], x, -v[2], H);
    double elastic = law->energy(law->data, x) - law->energy(law->data, x_0) - made; /* work of N/(1 + d) */
    if (port->usable == 0.0 && e->was_on[i] != 0.0 && x <= e->D_max)
        e->energy.switched -= made; /* U was lost where the edge was passed, accept() has booked that of now */
    double rubbed, lost = work_of_friction(e, i, law, f, &rubbed);
    e->energy.friction += x > 0.0 && port->usable != 0.0 ? lost : rubbed; /* accept() has booked what it still held */
    e->energy.work += N * (x - x_0) + rubbed;
    e->energy.damping += N * (x - x_0) - elastic;
#else
    (void)e, (void)i, (void)law;
#endif
}

#define FARTHEST 1e40 /* m, m/s: products of six such numbers, as those of three arms of inertia, do not overflow */

/* Angular frequency, rad/s, of the bodies on the stiffness that the depth x shows; 0 while nothing is known. */
static double omega_at(const CcCoupling *c, const CcPortLaw *law, double x)
{
    double W = c->partner.W[2][2];
    return x > 0.0 && W > 0.0 && c->partner.known != 0.0 ? cc_sqrt(2.0 * W * law->energy(law->data, x)) / x : 0.0;
}

enum { BY_LAW, FIRST_GUESS, FREE_BODIES, THEIR_MODEL, PRESCRIBED }; /* coupling.in_force */

static int what_is_known(const Element *e, const CcCoupling *c)
{
    const CcPartner *p = &c->partner;
    if ((int)e->coupling.mode == SLOPE)
        return PRESCRIBED;
    if (p->model.use != 0.0)
        return THEIR_MODEL;
    return p->known != 0.0 ? FREE_BODIES : p->unanswered > CC_MOST_UNANSWERED ? PRESCRIBED : FIRST_GUESS;
}

/* What the group coupling shows of point i. */
static void show_coupling(Element *e, int i, const CcPortLaw *law)
{
    const CcCoupling *c = partner_of(e, i);
    int lag = cc_lag(c->partner.lag);
    e->coupling.lag[i] = lag;
    e->coupling.admittance[i] = c->partner.known != 0.0 ? c->partner.W[2][2] : 0.0;
    e->coupling.beta[i] = c->partner.beta;
    e->coupling.residual[i] = c->made[lag];
    e->coupling.debt[i] = c->debt[lag];
    e->coupling.scale[i] = c->scale;
    int holds = (int)e->coupling.mode == HOLD, fallback = holds ? CC_COUPLED : cc_coupling_holds(c);
    if (e->moving > 0.0 && c->form.known == 0.0)
        fallback = CC_INPUTS_MOVE;
    e->coupling.fallback[i] = fallback;
    e->coupling.in_force[i] = holds || fallback ? BY_LAW : what_is_known(e, c);
    e->coupling.trust[i] = trust_of(e, i);
    e->coupling.energy[i] = c->added;
    CcHeldMass mass = cc_model_held_mass(&c->partner.model, lag);
    int free = c->partner.model.use == 0.0 && c->partner.known >= 1.0;
    e->coupling.partner_mass[i] = free && c->partner.W[2][2] > 0.0 ? 1.0 / c->partner.W[2][2] : mass.mass;
    e->coupling.partner_stiffness[i] = mass.stiffness;
    e->coupling.partner_damping[i] = mass.damping;
    double omega = omega_at(c, law, c->deepest);
    e->coupling.step_advised[i] = omega > 0.0 ? CC_PI_HI / (3.0 * omega) : 0.0;
}

/* Steps per contact in the interval `step`, of the stiffness at the depth x; 0 while nothing is known. */
static double steps_per_contact(const CcCoupling *c, const CcPortLaw *law, double x, double step)
{
    double omega = omega_at(c, law, x);
    return omega > 0.0 ? CC_PI_HI / (omega * step) : 0.0;
}

/* Under hold: warn of the energy that the literal force adds, by the identified bodies. */
static void warn_of_hold(Element *e, CcHost *host, int i, const CcPortLaw *law, double step)
{
    const CcCoupling *c = partner_of(e, i);
    double N = steps_per_contact(c, law, c->deepest, step);
    if (N > 0.0)
        cc_warn_of_hold(host, &e->warned.hold, "contact", i + 1, "contact", "rebound", "fast", N,
                        0.25 * CC_PI_HI * CC_PI_HI * (1.0 + 2.0 * c->partner.lag) / N, step);
}

/* Warnings at the limits of the coupling (README.md, Large communication steps). */
static void warn_of_limits(Element *e, CcHost *host, int i, const CcPortLaw *law, double step, int mass_was_known)
{
    const CcCoupling *c = partner_of(e, i);
    const CcPort *port = port_of(e, i);
    const CcPartner *p = &c->partner;
    double touch = -port->r[2] - (p->lag + 1.0) * step * port->v[2]; /* a contact may be too short for a deep sample */
    if (p->known == 0.0 && p->f[0][2] > 0.0 && touch > e->unforced_depth[i])
        e->unforced_depth[i] = touch;
    double x = c->deepest > 0.5 * e->unforced_depth[i] ? c->deepest : e->unforced_depth[i];
    double debt = c->debt[cc_lag(p->lag)];
    int first = !mass_was_known && p->known != 0.0 && e->warned.first == 0.0;
    double N = first ? steps_per_contact(c, law, x, step) : 0.0, U = debt > 0.0 ? law->energy(law->data, x) : 0.0;
    if (N > 0.0 && N < 3.0) {
        e->warned.first = 1.0;
        cc_report(host, CC_WARNING, "contact",
                  "point %d: the first contact of an unknown mass had %.3g steps, below 3 its rebound may be too fast; "
                  "give coupling.m_eff = %.3g kg, or take steps below %.3g s", i + 1, N, 1.0 / p->W[2][2],
                  step * N / 3.0);
    }
    if (debt > 0.01 * U && U > 0.0 && e->warned.debt == 0.0) {
        e->warned.debt = 1.0;
        cc_report(host, CC_WARNING, "contact",
                  "point %d: the coupling has added %.3g J that are not compensated, the contact stores up to %.3g J; "
                  "take a smaller step", i + 1, debt, U);
    }
    double mismatch = cc_abs(p->a[2] - p->a_before[2]), own = p->W[2][2] * p->f[cc_lag(p->lag)][2];
    e->unexplained[i] = e->unexplained[i] != 0.0 || (mass_was_known && own > 0.0 && mismatch > 0.5 * own);
    if (p->f[0][2] == 0.0 && p->f[1][2] != 0.0) { /* the contact is over */
        e->unexplained_contacts[i] = e->unexplained[i] != 0.0 ? e->unexplained_contacts[i] + 1.0 : 0.0;
        e->unexplained[i] = 0.0;
        if (e->unexplained_contacts[i] >= 3.0 && e->warned.unexplained == 0.0) {
            e->warned.unexplained = 1.0;
            cc_report(host, CC_WARNING, "contact",
                      "point %d: in three contacts in a row this force does not explain the motion of the body, which "
                      "may bend or have other forces; the step is too large for it: compare with a smaller one", i + 1);
        }
    }
}

#define THIN 1e-300 /* m: differences of depths below are rounding or 0 */

/* Stiffness and damping of the literal law along the normal, at the sample: N = F_e(h) (1 + d(w)). */
static void show_slopes(Element *e, int i, const CcPortLaw *law)
{
    double h = -port_of(e, i)->r[2], w = -port_of(e, i)->v[2], K = 0.0, D = 0.0;
    if (port_of(e, i)->usable != 0.0 && h > THIN) {
        double dh = 1e-5 * h, dw = 1e-5 * (cc_abs(w) + 1e-6), factor = 1.0 + cc_port_damping(law, w);
        K = (law->elastic(law->data, h + dh) - law->elastic(law->data, h - dh)) / (2.0 * dh) * factor;
        D = law->elastic(law->data, h) * (cc_port_damping(law, w + dw) - cc_port_damping(law, w - dw)) / (2.0 * dw);
    }
    e->coupling.stiffness[i] = K;
    e->coupling.damping[i] = D;
}

/* The literal force acts; the bodies are identified all the same. */
CC_APART void sample_held(Element *e, CcHost *host, int i, double R[3][3], const CcPortLaw *law,
                          const CcCouplingOptions *options, double step)
{
    CcCoupling *c = partner_of(e, i);
    CcPort *port = port_of(e, i);
    double f[3] = {0.0, 0.0, 0.0};
    literal_force(e, i, R, law, f);
    if (c->partner.begun != 0.0)
        cc_coupling_learn(c, law, options, port->r, port->v, port->usable == 0.0);
    else
        c->partner.H = step;
    cc_coupling_keep(c, port->r, port->v, f, step);
    c->off = port->usable == 0.0;
    warn_of_hold(e, host, i, law, step);
}

/* R_T = R turned on with the angular velocity w for the time T. */
static void rotated(const double w[3], double T, double R[3][3], double R_T[3][3])
{
    double speed = cc_norm(w), sine, cosine, axis[3];
    if (speed == 0.0) {
        __builtin_memcpy(R_T, R, 9 * sizeof(double));
        return;
    }
    for (int k = 0; k < 3; k++)
        axis[k] = w[k] / speed;
    cc_sin_cos(speed * T, &sine, &cosine);
    for (int j = 0; j < 3; j++) { /* Rodrigues, column by column */
        double column[3] = {R[0][j], R[1][j], R[2][j]}, across[3], along = cc_dot(axis, column);
        cc_cross(axis, column, across);
        for (int k = 0; k < 3; k++)
            R_T[k][j] = column[k] + sine * across[k] - (1.0 - cosine) * (column[k] - along * axis[k]);
    }
}

/* The place of point i the time T from now, in the surface's frame, with the motion along the surface of the last
 * interval. */
static void ahead_of(Element *e, int i, double T, double ahead[3])
{
    const CcPort *port = port_of(e, i);
    const CcPartner *p = &partner_of(e, i)->partner;
    CC_UNROLL for (int k = 0; k < 3; k++) {
        ahead[k] = port->position[k];
        for (int j = 0; j < 2; j++)
            ahead[k] += port->place.axes[j][k] * T * (port->v[j] + 0.5 * T * p->y[j]);
    }
}

/* Put the force of point i where it will act: amid its interval, T = (L + 1/2) H from now; the surface turns on. */
static void rotate_to_interval(Element *e, int i, double R[3][3], double step)
{
    const CcPort *port = port_of(e, i);
    const double *f = port->f;
    double T = (partner_of(e, i)->partner.lag + 0.5) * step, ahead[3], R_T[3][3];
    e->held_normal[i] = f[2];
    e->held_friction[i] = cc_sqrt(f[0] * f[0] + f[1] * f[1]);
    if (f[2] == 0.0 && e->held_friction[i] == 0.0) { /* it acts nowhere */
        CC_UNROLL for (int k = 0; k < 3; k++)
            e->held_force[i][k] = 0.0;
        return;
    }
    ahead_of(e, i, T, ahead);
    rotated(e->surface.w, T, R, R_T);
    cc_to_world(R_T, ahead, e->held_arm[i]);
    turn_force(e, i, R_T, f);
}

#define CUTS 30 /* bisections of an interval: rounding, for all that is known of it */

/* 1 if point i is within the limits of the contact the time T from now; x and its rate w, when the interval with the
 * acceleration alpha begins at the time begin. */
static int within_limits(Element *e, int i, double R[3][3], double T, double begin, double x, double w, double alpha)
{
    double ahead[3], h = x + (T - begin) * (w - 0.5 * (T - begin) * alpha);
    ahead_of(e, i, T, ahead);
    return surface_covers(e, i, R, ahead) && h <= e->D_max;
}

/* Leave of the force of point i the share of its interval before the point passes an edge of the drawn part or the
 * limit depth: the impulse is that of a force that ends there. */
static void end_at_edge(Element *e, int i, double R[3][3], double step)
{
    CcPort *port = port_of(e, i);
    CcPartner *p = &partner_of(e, i)->partner;
    int L = cc_lag(p->lag);
    double x = -port->r[2], w = -port->v[2], alpha = 0.0;
    if (port->usable == 0.0 || !(port->f[2] > 0.0))
        return;
    for (int k = L; k >= 0; k--) {
        alpha = p->a[2] + p->turn[2] + cc_dot(p->W[2], p->f[k]);
        if (k > 0) {
            x += step * (w - 0.5 * step * alpha);
            w -= step * alpha;
        }
    }
    double begin = L * step, low = 0.0, high = 1.0;
    if (within_limits(e, i, R, begin + step, begin, x, w, alpha))
        return;
    for (int cut = 0; cut < CUTS; cut++) {
        double middle = 0.5 * (low + high);
        if (within_limits(e, i, R, begin + middle * step, begin, x, w, alpha))
            low = middle;
        else
            high = middle;
    }
    cut_wrench(e, i, low - 1.0);
    for (int k = 0; k < 3; k++)
        port->f[k] = p->f[0][k] = low * port->f[k];
}

/* 1 if outputs are those of a sample without any force. */
static int holds_nothing(const Element *e)
{
    int nothing = !BRISTLE;
    for (int i = 0; i < POINTS; i++)
        nothing &= e->held[i] != 0.0 && e->held_normal[i] == 0.0 && e->held_friction[i] == 0.0
                   && e->held_elastic[i] == 0.0;
    return nothing;
}

/* The forces of the interval to come, of all points.  Returns what sample does. */
CC_APART int sample_coupled(Element *e, CcHost *host, double R[3][3], const CcPortLaw *law,
                            const CcCouplingOptions *options, double step)
{
    int held_nothing = holds_nothing(e);
    for (int i = 0; i < POINTS; i++) {
        CcCoupling *c = partner_of(e, i);
        const CcPort *port = port_of(e, i);
        e->was_on[i] = c->off == 0.0;
        c->literal = ALLOW_ADHESION && port->r[2] < 0.0 && cc_port_damping(law, -port->v[2]) < -1.0;
        if (c->partner.f[0][2] == 0.0)
            e->mass_was_known[i] = c->partner.known != 0.0;
    }
    for (int i = 0; i < POINTS; i++) /* switched off without a force: the bodies may be put elsewhere */
        if (e->work == 0.0 && cc_observe_interval(&partner_of(e, i)->partner, port_of(e, i)->v).quiet)
            cc_coupling_rewind(partner_of(e, i));
    answer_ports(e, law, options, step);
    for (int i = 0; i < POINTS; i++) {
        const CcPort *port = port_of(e, i);
        const CcCoupling *c = partner_of(e, i);
        if (port->begun != 0.0 && e->held[i] != 0.0) /* else the integrals of the powers have it */
            book_interval(e, i, law);
        hold_side(e, i, law);
        if (c->mismatched >= CC_MOST_MISMATCHED && e->warned.rate == 0.0) {
            e->warned.rate = 1.0;
            cc_report(host, CC_WARNING, "contact",
                      "point %d: its velocity does not belong to its position (is point.v connected?), so the force is "
                      "that of coupling.mode = hold", i + 1);
        }
        if (c->literal != 0.0 && e->warned.pulls == 0.0) {
            e->warned.pulls = 1.0;
            cc_report(host, CC_WARNING, "contact",
                      "point %d: at the depth rate %g m/s the law F_d pulls, so the force is that of coupling.mode = "
                      "hold while it does (coupling.fallback)", i + 1, -port->v[2]);
        }
        if (c->partner.overruled != 0.0 && e->warned.order == 0.0) {
            e->warned.order = 1.0;
            cc_report(host, CC_WARNING, "contact",
                      "point %d: the bodies answer with the lag of %g intervals, which coupling.order (or "
                      "coupling.mode) contradicts; the lag that the motion shows is used. Set coupling.order = %s",
                      i + 1, c->partner.lag,
                      c->partner.lag == 0.0 ? "sequential" : c->partner.lag == 1.0 ? "parallel" : "late");
        }
        warn_of_limits(e, host, i, law, step, e->mass_was_known[i] != 0.0);
        end_at_edge(e, i, R, step);
        if (e->moving > 0.0)
            cc_form_give(&partner_of(e, i)->form, port->f, c->partner.f_largest, port_of(e, i)->f);
        rotate_to_interval(e, i, R, step);
        e->held_elastic[i] = port->f[2] == 0.0 ? 0.0 : port->f[2] * cc_inverse_damping(law, -port->v[2]);
        e->held[i] = 1.0;
    }
    return held_nothing && holds_nothing(e) ? 0 : CC_CHANGED;
}

/* 1 if all points stand where they stood at the last sample, though they move: whoever moves the bodies takes longer
 * steps than this element.  That shows nothing new, and the force holds on. */
static int is_stale(const Element *e, double R[3][3], double step)
{
    int moves = 0;
    for (int i = 0; i < POINTS; i++) {
        const CcPort *port = (const CcPort *)e->port[i];
        const CcPartner *p = &((const CcCoupling *)e->partner[i])->partner;
        double arm[3], position[3], relative[3], n[3];
        if (e->distance[i] != port->r[2])
            return 0;
        CC_UNROLL for (int k = 0; k < 3; k++)
            arm[k] = e->point[i].r[k] - e->surface.r[k], n[k] = e->normal[i][k];
        cc_to_body(R, arm, position);
        if (position[0] != port->position[0] || position[1] != port->position[1] || position[2] != port->position[2])
            return 0;
        relative_velocity(e, i, arm, relative);
        double rate = cc_dot(relative, n);
        if (p->begun == 0.0 || rate != p->v[2] || is_usable(e, i) != (port->usable != 0.0))
            return 0;
        double speed = cc_norm(e->point[i].v); /* not that along the surface: a belt moves without changing its place */
        moves |= step * (cc_abs(rate) + speed) > STALE_MOTION * cc_norm(arm);
    }
    return moves;
}

/* The time between the last sample and this one, of which some steps were stale; one step, if that explains the motion
 * along the normal better: then the sample was only shown late, as the first inputs are by some masters. */
static double time_passed(const Element *e)
{
    double all = e->since, one = all / e->since_steps, off_all = 0.0, off_one = 0.0, seen = 0.0;
    for (int i = 0; i < POINTS; i++) {
        const CcPort *port = (const CcPort *)e->port[i];
        double v_before = ((const CcCoupling *)e->partner[i])->partner.v[2], arm[3], relative[3], n[3];
        for (int k = 0; k < 3; k++)
            arm[k] = e->point[i].r[k] - e->surface.r[k], n[k] = e->normal[i][k];
        relative_velocity(e, i, arm, relative);
        double rate = 0.5 * (cc_dot(relative, n) + v_before), way = e->distance[i] - port->r[2];
        off_all += cc_abs(way - all * rate);
        off_one += cc_abs(way - one * rate);
        seen += cc_abs(all * rate) - LATE_MOTION * cc_norm(arm);
    }
    return seen > 0.0 && off_one < 0.5 * off_all ? one : all;
}

/* The forces given last were given once more. */
static void repeat_forces(Element *e)
{
    for (int k = CC_KEPT_FORCES - 1; k > 0; k--) {
        for (int i = 0; i < POINTS; i++)
            for (int j = 0; j < 3; j++)
                partner_of(e, i)->partner.f[k][j] = partner_of(e, i)->partner.f[k - 1][j];
        repeat_wrench(e, k);
    }
}

static void start_coupling(Element *e);

/* The literal force acts; the coupling begins anew at the next sample. */
CC_APART void give_law(Element *e)
{
    double added[POINTS];
    for (int i = 0; i < POINTS; i++)
        added[i] = partner_of(e, i)->added;
    start_coupling(e);
    for (int i = 0; i < POINTS; i++)
        partner_of(e, i)->added = added[i];
}

/* 1 if a number is too large to be calculated with: then the literal force acts, and the coupling begins anew. */
static int too_far(Element *e, CcHost *host)
{
    int far = 0;
    for (int i = 0; i < POINTS; i++) {
        const CcPort *port = port_of(e, i);
        int so = !(cc_abs(port->r[2]) < FARTHEST && cc_largest(port->v) < FARTHEST
                   && cc_largest(port->position) < FARTHEST);
        e->coupling.fallback[i] = so && (int)e->coupling.mode != HOLD ? CC_TOO_FAR : CC_COUPLED;
        if (e->coupling.fallback[i] != 0.0 && e->warned.far == 0.0) {
            e->warned.far = 1.0;
            cc_report(host, CC_WARNING, "contact",
                      "point %d: at the distance %g m the motion is too large for the coupling (%g), so the force is "
                      "that of coupling.mode = hold (coupling.fallback)", i + 1, port->r[2], FARTHEST);
        }
        far |= so;
    }
    if (far)
        give_law(e);
    for (int i = 0; i < POINTS && far; i++)
        for (int k = 0; k < 3; k++)
            partner_of(e, i)->partner.f[0][k] = 0.0;
    return far;
}

#include "coupled_masters.h"

static int sample(Element *e, CcHost *host, double step)
{
    double R[3][3];
    CcPortLaw law = port_law(e);
    CcCouplingOptions options = coupling_options(e);
    watch_inputs(e, host);
    if (steps_are_repeated(e, host)) {
        e->since = e->since_steps = 0.0;
        return CC_CHANGED;
    }
    cc_rotation(e->surface.q, R);
    if (e->since_steps < MOST_STALE && is_stale(e, R, step)) {
        e->since += step;
        e->since_steps += 1.0;
        return 0;
    }
    double passed = e->since, to_come = step;
    if (e->since_steps > 1.0) {
        passed = time_passed(e);
        if (passed == e->since) /* the next interval is taken to be as long */
            to_come = passed;
        else
            for (int k = 1; k < cc_index(e->since_steps, MOST_STALE + 1); k++)
                repeat_forces(e);
    }
    for (int i = 0; i < POINTS && passed > 0.0; i++) /* it may not have been */
        partner_of(e, i)->partner.H = passed;
    e->since = step;
    e->since_steps = 1.0;
    step = to_come;
    for (int i = 0; i < POINTS; i++) {
        double from[3] = {port_of(e, i)->position[0], port_of(e, i)->position[1], port_of(e, i)->position[2]};
        sample_port(e, i, R);
        if ((int)e->coupling.mode != HOLD)
            advance_friction(e, i, &law, from);
    }
    if (too_far(e, host))
        return CC_CHANGED;
    int changed = 0;
    if ((int)e->coupling.mode == HOLD)
        for (int i = 0; i < POINTS; i++)
            sample_held(e, host, i, R, &law, &options, step);
    else if (e->moving > 0.0 && !form_is_known(e, &law, &options))
        sample_moving(e, host, R, &law, &options, step);
    else
        changed = sample_coupled(e, host, R, &law, &options, step);
    for (int i = 0; i < POINTS; i++) {
        show_coupling(e, i, &law);
        show_slopes(e, i, &law);
    }
    return changed | (e->moving > 0.0 ? CC_CHANGED : 0);
}

/* The literal force at the start is the first one that a master reads. */
static void start_coupling(Element *e)
{
    CcCouplingOptions options = coupling_options(e);
    double R[3][3];
    cc_rotation(e->surface.q, R);
    start_joint(e, &options);
    for (int i = 0; i < POINTS; i++) {
        CcCoupling *c = partner_of(e, i);
        double F[3];
        cc_coupling_start(c, &options);
        port_of(e, i)->place = (CcPlace){0};
        find_axes(e, i, R);
        cc_to_body(R, e->point[i].f, F);
        for (int j = 0; j < 3; j++)
            c->partner.f[0][j] = cc_dot(F, port_of(e, i)->place.axes[j]);
        e->held[i] = 0.0;
    }
}

#endif

/* Put the held force of point i in the place of the literal one, and where it acts in that of its arm. */
static void hold_force(Element *e, int i, CcContact *contact, Real arm[3])
{
    if (re(e->held[i]) == 0.0)
        return;
    contact->normal_force = e->held_normal[i];
    contact->elastic_force = e->held_elastic[i];
    contact->damping_force = e->held_normal[i] - e->held_elastic[i];
    contact->friction_force = e->held_friction[i];
#if BRISTLE
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection_rate[i][k] = 0.0; /* samples move it */
    e->tip_slip[i] = e->held_side[i];
    e->stick[i] = re(e->in_contact[i]) != 0.0 && re(e->held_side[i]) <= 0.0;
#endif
    for (int k = 0; k < 3; k++) {
        contact->force[k] = e->held_force[i][k];
        arm[k] = e->held_arm[i][k];
    }
}

#endif
