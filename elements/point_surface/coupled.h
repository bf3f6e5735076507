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
 * The ledger books each interval when it is over, for each lag, and shows that of the lag that is identified: the force
 * f that acted, the way dr along the surface and the depths x_0, x_1, both on the parabola of the body (partner.h):
 *     work      N (x_1 - x_0) - f_t dr            friction  -f_t dr            damping  N (x_1 - x_0) - (U_1 - U_0 - R)
 * so energy.residual is minus all R (coupling.h): the energy that the coupling added.  Where beta is not 1/2 the depth
 * h that is seen is not x, and work has U(h) - U(x) besides: nothing, once the contact is over.
 *
 * Where whoever moves the bodies puts the point elsewhere no force does work: what is stored more is switched energy.
 *
 * Where the point is about to pass an edge of the drawn part, or D_max, only the share of the force until then is
 * given.  What U is at the end of that interval is lost; what it differs by from U at the edge goes with it to
 * energy.switched.
 *
 * One family of functions: the sample of a contact, from the inputs to its books. */
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
    return cc_given(e->coupling.order, e->coupling.mode, e->coupling.identify, e->coupling.m_eff);
}

#define STALE_MOTION 1e-12 /* of the distances: motion that would show */
#define LATE_MOTION 1e-9   /* of the distances: motion whose time can be found */
enum { MOST_STALE = 100 }; /* steps in a row, after which the inputs are taken as they are */

static CcCoupling *partner_of(Element *e, int i) { return (CcCoupling *)e->partner[i]; }

static CcJointPort *port_of(Element *e, int i) { return (CcJointPort *)e->port[i]; }

static int is_usable(const Element *e, int i)
{
    return e->work != 0.0 && e->on_patch[i] != 0.0 && -e->distance[i] <= e->D_max;
}

/* One point or several: start_joint, answer_ports, cut_wrench, repeat_wrench, trust_of.  By the surface: find_axes,
 * sample_velocity, turn_force.  By the friction: set_friction, remember_friction, advance_friction,
 * energy_of_bristle, made_by_friction, literal_force, hold_side. */
#include JOINT_FILE
#if SURFACE_FLAT
#include "coupled_flat.h"
#else
#include "coupled_curved.h"
#endif

/* The arm of point i from the surface's frame, and its velocity relative to the material of the surface, in world
 * components. */
static void relative_motion(const Element *e, int i, double arm[3], double relative[3])
{
    double carried[3];
    CC_UNROLL for (int k = 0; k < 3; k++)
        arm[k] = e->point[i].r[k] - e->surface.r[k];
    cc_cross(e->surface.w, arm, carried);
    CC_UNROLL for (int k = 0; k < 3; k++)
        relative[k] = e->point[i].v[k] - (e->surface.v[k] + carried[k]);
}

/* The sample of point i: the depth as r[2] = -h and the relative velocity along the axes of the coupling; the place in
 * the surface's frame. */
static void sample_port(Element *e, int i, Real R[3][3])
{
    CcJointPort *port = port_of(e, i);
    double arm[3], relative[3];
    relative_motion(e, i, arm, relative);
    partner_of(e, i)->partner.sides.carried = cc_dot(e->point[i].v, e->normal[i]) - cc_dot(relative, e->normal[i]);
    port->usable = is_usable(e, i);
    port->r[0] = port->r[1] = 0.0, port->r[2] = e->distance[i];
    cc_to_body(R, arm, port->position);
    sample_velocity(e, i, R, relative);
}

/* Components along the tangents of the axes. */
static void along_tangents(const CcPlace *place, const double a[3], double t[2])
{
    for (int j = 0; j < 2; j++)
        t[j] = cc_dot(place->axes[j], a);
}

/* Keep the way of point i along the surface since it was at `from`, in the surface's frame. */
static void keep_slid(Element *e, int i, const double from[3])
{
    CcJointPort *port = port_of(e, i);
    double way[3];
    for (int k = 0; k < 3; k++)
        way[k] = port->position[k] - from[k];
    along_tangents(&port->place, way, e->slid[i]);
    port->r[0] = e->slid[i][0], port->r[1] = e->slid[i][1];
}

/* The work along the surface in the interval before the sample, J, while the force f acted; beta: of the bodies. */
static inline double work_of_friction(const Element *e, int i, const double f[3], double beta)
{
    const CcJointPort *port = (const CcJointPort *)e->port[i];
    double work = 0.0;
    for (int j = 0; j < 2; j++)
        work -= f[j] * cc_rule_place(beta, port->H, e->slid[i][j], port->v[j] - port->v_before[j]);
    return work;
}

#if BRISTLE
#include "coupled_bristle.h"
#else
#include "coupled_sliding.h"
#endif

#if LEDGER

/* Elastic energy of point i at the sample, J, with that of its bristle. */
static double energy_at_sample(const Element *e, int i)
{
    double normal = e->in_contact[i] != 0.0 ? energy_now(e, -e->distance[i]) : 0.0;
    return normal + energy_of_bristle(e, i);
}

/* Keep it, and that accept() has switched nothing since. */
static void remember_energy(Element *e, int i)
{
    e->sampled_energy[i] = energy_at_sample(e, i);
    e->accepted_energy[i] = 0.0;
}

static void book_by_lag(Element *e, int i, const CcBooked each[CC_LAGS])
{
    CcBooked now = cc_book_by_lag((CcBookedByLag *)e->booked[i], each, partner_of(e, i)->partner.lag);
    e->energy.work += now.work;
    e->energy.damping += now.damping;
    e->energy.friction += now.friction;
    e->energy.switched += now.switched;
}

#else

static inline void remember_energy(Element *e, int i) { (void)e, (void)i; }

#endif

/* Book the interval before the sample, in which the force f[L] acted if L is the lag.  Where no force could act at one
 * of its ends, where accept() booked something, or where the point was put elsewhere, what it leaves open is switched
 * energy: of what is stored there nothing is work of the force. */
static void book_interval(Element *e, int i, const CcPortLaw *law, double f[CC_LAGS][3])
{
#if LEDGER || BRISTLE
    const CcJointPort *port = port_of(e, i);
    CcCoupling *c = partner_of(e, i);
    double h_0 = -port->r_before[2], h = -port->r[2], beta = c->partner.rule.beta;
    int acts = h_0 > 0.0 || h > 0.0, on = port->usable != 0.0, jumped = c->partner.jumped != 0.0;
    for (int L = 0; L < CC_LAGS; L++)
        acts |= cc_largest(f[L]) != 0.0;
#if LEDGER
    CcBooked each[CC_LAGS] = {{.work = 0.0}};
    if (!acts) /* all of it would be 0, but the motion may have shown another lag */
        book_by_lag(e, i, each);
#endif
    if (!acts)
        return;
#if LEDGER
    double shift = cc_rule_shift(beta, port->H), w_0 = -port->v_before[2], w = -port->v[2], aside = 0.0;
    double x_0 = cc_rule_place(beta, port->H, h_0, w_0), x = cc_rule_place(beta, port->H, h, w);
    double U_0 = law->energy(law->data, x_0), stored = law->energy(law->data, x) - U_0;
    double more = energy_at_sample(e, i) - e->sampled_energy[i] + e->accepted_energy[i];
    int was_on = e->was_on[i] != 0.0, switches = !on || !was_on || jumped || e->accepted_energy[i] != 0.0;
    CcPassed passed = cc_passed(law, x_0, w_0, x, w, port->H);
    if (on && shift != 0.0)
        aside += law->energy(law->data, h) - (U_0 + stored);
    if (was_on && shift != 0.0)
        aside -= law->energy(law->data, h_0) - U_0;
#endif
    for (int L = 0; L < CC_LAGS; L++) {
        double rubbed = jumped ? 0.0 : work_of_friction(e, i, f[L], beta), lost = rubbed, made = 0.0;
        if (h > 0.0 && on && !jumped) /* else accept() has booked what it still held */
            made = made_by_friction(e, i, law, rubbed, &lost);
        c->added[L] += made;
#if LEDGER
        double N = f[L][2], pressed = jumped ? 0.0 : N * (x - x_0);
        double pressed_made = cc_made_through(cc_made(&passed, N), passed.change, N, x_0, x);
        double elastic = jumped ? 0.0 : stored - pressed_made; /* work of N/(1 + d) */
        each[L] = (CcBooked){.work = pressed + aside + rubbed, .damping = pressed - elastic, .friction = lost};
        made += on && was_on && !jumped ? pressed_made : 0.0;
        if (switches)
            each[L].switched = elastic + aside + (rubbed - lost) + made - more;
#endif
    }
#if LEDGER
    book_by_lag(e, i, each);
#endif
#else
    (void)e, (void)i, (void)law, (void)f;
#endif
}

/* 1 if point i moved in the interval `step` before the first sample.  A master that steps the bodies first moves them,
 * under the force of the start, before any sample is taken; by others the first sample is that of the start.  A way
 * that the speeds do not explain is none of a step: the inputs were wired late. */
static int has_moved_first(const Element *e, int i, double step)
{
    const CcJointPort *port = (const CcJointPort *)e->port[i];
    const CcCoupling *c = (const CcCoupling *)e->partner[i];
    const double *v_0 = c->partner.v, *v = port->v;
    double way = port->r[2] - c->partner.r[2] - 0.5 * step * (v_0[2] + v[2]);
    return c->off == 0.0 && cc_abs(way) <= step * (cc_norm(v_0) + cc_norm(v));
}

#define FIRST_FORCE 0.1 /* share of what the first interval made that its force made */

/* Book that interval.  What it made is compensated if the force of the start moved the bodies: with the order of the
 * calls it is known to, and a small one makes no difference.  A master that mixes forces moved them by another one. */
CC_SELDOM void book_first_interval(Element *e, int i, const CcPortLaw *law, const CcCouplingOptions *options,
                                   double step)
{
    CcJointPort *port = port_of(e, i);
    CcCoupling *c = partner_of(e, i);
    double N = c->partner.f[0][2], x_0 = -c->partner.r[2], x = -port->r[2], f[CC_LAGS][3];
    cc_remember(c, port);
    port->H = step;
    e->was_on[i] = 1.0;
    c->partner.compared = 1.0;
    CC_UNROLL for (int k = 0; k < 3; k++) /* what the next interval changes */
        c->partner.y[k] = (port->v[k] - c->partner.v[k]) / step;
    for (int L = 0; L < CC_LAGS; L++)
        __builtin_memcpy(f[L], c->partner.f[0], sizeof f[L]);
    book_interval(e, i, law, f);
    CcPassed passed = cc_passed(law, x_0, -c->partner.v[2], x, -port->v[2], step);
    double made = cc_made(&passed, N);
    int acted = options->lag != CC_LAG_AUTO || cc_abs(made - cc_made(&passed, 0.0)) <= FIRST_FORCE * cc_abs(made);
    for (int L = 0; L < CC_LAGS; L++) {
        c->ledger.made[L] += acted ? made : 0.0;
        c->added[L] += cc_made_through(made, passed.change, N, x_0, x);
    }
}

#define FARTHEST 1e40 /* m, m/s: products of six such numbers, as those of three arms of inertia, do not overflow */

#include "coupled_shown.h"

/* The literal force f acts; the bodies are identified all the same. */
static void keep_literal(Element *e, int i, const CcPortLaw *law, const CcCouplingOptions *options, const double f[3],
                         double step)
{
    CcCoupling *c = partner_of(e, i);
    const CcJointPort *port = port_of(e, i);
    if (c->partner.begun != 0.0)
        cc_coupling_learn(c, law, options, port->r, port->v, port->usable == 0.0);
    else
        c->partner.H = step;
    cc_coupling_units(&c->partner, law, cc_coupling_depth(&c->partner, port->r, port->v), -port->v[2], step);
    cc_coupling_keep(c, port->r, port->v, f, step);
    c->off = port->usable == 0.0;
}

CC_APART void sample_held(Element *e, CcHost *host, int i, double R[3][3], const CcPortLaw *law,
                          const CcCouplingOptions *options, double step)
{
    double f[3] = {0.0, 0.0, 0.0};
    literal_force(e, i, R, law, f);
    keep_literal(e, i, law, options, f, step);
    warn_of_rate(e, host, i, 1);
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
    const CcJointPort *port = port_of(e, i);
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
    const CcJointPort *port = port_of(e, i);
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

#include "coupled_edges.h"

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
        const CcJointPort *port = port_of(e, i);
        e->was_on[i] = c->off == 0.0;
        c->literal = ALLOW_ADHESION && port->r[2] < 0.0 && cc_port_damping(law, -port->v[2]) < -1.0;
        if (c->partner.f[0][2] == 0.0)
            e->mass_was_known[i] = c->partner.known >= 1.0;
    }
    for (int i = 0; i < POINTS; i++) /* switched off without a force: the bodies may be put elsewhere */
        if (e->work == 0.0 && cc_observe_interval(&partner_of(e, i)->partner, port_of(e, i)->v).quiet)
            cc_coupling_rewind(partner_of(e, i));
    answer_ports(e, law, options, step);
    for (int i = 0; i < POINTS; i++) {
        const CcJointPort *port = port_of(e, i);
        const CcCoupling *c = partner_of(e, i);
        if (port->begun != 0.0 && e->held[i] != 0.0) /* else the integrals of the powers have it; the newest force */
            book_interval(e, i, law, partner_of(e, i)->partner.f + 1); /* acts on what comes, or later */
        remember_energy(e, i);
        hold_side(e, i, law);
        warn_of_rate(e, host, i, 0);
        if (c->late.found != 0.0 && cc_is_first(&e->warned.late))
            cc_report(host, CC_WARNING, "contact",
                      "point %d: its velocity is the difference of its positions over a step, half a step late; the "
                      "contact makes up for that, exactly where nothing else pulls at the bodies but constant forces: "
                      "connect the velocity itself if there is one", i + 1);
        if (c->literal != 0.0 && cc_is_first(&e->warned.pulls))
            cc_report(host, CC_WARNING, "contact",
                      "point %d: at the depth rate %g m/s the law F_d pulls, so the force is that of coupling.mode = "
                      "hold while it does (coupling.fallback)", i + 1, -port->v[2]);
        if (c->partner.overruled != 0.0 && cc_is_first(&e->warned.order))
            cc_warn_of_order(host, "contact", c->partner.lag);
        if (c->partner.refuted != 0.0 && c->partner.known == 1.0 && cc_is_first(&e->warned.mass))
            cc_report(host, CC_WARNING, "contact",
                      "coupling.m_eff = %g kg is given%s, but the bodies answer otherwise, with %.3g kg at point %d, "
                      "and with these steps that matters; what the motion shows is used. Set coupling.m_eff = 0%s",
                      options->inertia, options->identify ? "" : " and coupling.identify = false",
                      1.0 / c->partner.W[2][2], i + 1, options->identify ? "" : " and coupling.identify = true");
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

/* 1 if point i is not where it was at the last sample. */
static int has_moved_from(const Element *e, int i, double R[3][3])
{
    const CcJointPort *port = (const CcJointPort *)e->port[i];
    double arm[3], position[3];
    if (e->distance[i] != port->r[2])
        return 1;
    CC_UNROLL for (int k = 0; k < 3; k++)
        arm[k] = e->point[i].r[k] - e->surface.r[k];
    cc_to_body(R, arm, position);
    return position[0] != port->position[0] || position[1] != port->position[1] || position[2] != port->position[2];
}

/* 1 if all points stand where they stood at the last sample, though they move: whoever moves the bodies takes longer
 * steps than this element.  That shows nothing new, and the force holds on.  Points that move too little to tell are
 * taken to be moved after as many steps as before: an interval of another length would show a wrong acceleration. */
static int is_stale(const Element *e, double R[3][3], double step)
{
    int moves = e->since_steps < e->sample_steps;
    for (int i = 0; i < POINTS; i++) {
        const CcJointPort *port = (const CcJointPort *)e->port[i];
        const CcPartner *p = &((const CcCoupling *)e->partner[i])->partner;
        double arm[3], relative[3];
        if (has_moved_from(e, i, R))
            return 0;
        relative_motion(e, i, arm, relative);
        double rate = cc_dot(relative, e->normal[i]);
        if (p->begun == 0.0 || rate != p->v[2] || is_usable(e, i) != (port->usable != 0.0))
            return 0;
        double speed = cc_norm(e->point[i].v); /* not that along the surface: a belt moves without changing its place */
        moves |= step * (cc_abs(rate) + speed) > STALE_MOTION * cc_norm(arm);
    }
    return moves;
}

/* Motion of point i along the normal since the last sample: its way; speeds before and now.  Returns its distance from
 * the surface's frame, m. */
static double motion_since(const Element *e, int i, double *way, double *before, double *now)
{
    double arm[3], relative[3];
    relative_motion(e, i, arm, relative);
    *way = e->distance[i] - ((const CcJointPort *)e->port[i])->r[2];
    *before = ((const CcCoupling *)e->partner[i])->partner.v[2];
    *now = cc_dot(relative, e->normal[i]);
    return cc_norm(arm);
}

/* The time between the last sample and this one, of which some steps were stale; one step, if that explains the motion
 * along the normal better: then the sample was only shown late, as the first inputs are by some masters. */
static double time_passed(const Element *e)
{
    double all = e->since, one = all / e->since_steps, off_all = 0.0, off_one = 0.0, seen = 0.0;
    for (int i = 0; i < POINTS; i++) {
        double way, before, now, far = motion_since(e, i, &way, &before, &now), rate = 0.5 * (now + before);
        off_all += cc_abs(way - all * rate);
        off_one += cc_abs(way - one * rate);
        seen += cc_abs(all * rate) - LATE_MOTION * far;
    }
    return seen > 0.0 && off_one < 0.5 * off_all ? one : all;
}

/* The length of the interval before the sample of point i: that of the step before, or of this one, if the motion along
 * the normal shows that the bodies are stepped first. */
static double length_of_interval(Element *e, int i, double since, double step)
{
    double way, before, now, far = motion_since(e, i, &way, &before, &now);
    double gone[3] = {0.0, 0.0, way}, v_0[3] = {0.0, 0.0, before}, v[3] = {0.0, 0.0, now};
    return cc_rule_length(&partner_of(e, i)->partner.rule, since, step, gone, v_0, v, far);
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

/* The place of point i at the sample, its velocity where that comes late, and what its friction went through since the
 * one before; first: length of an interval before the first sample, s, or 0. */
static void see_port(Element *e, int i, double R[3][3], const CcPortLaw *law, const CcCouplingOptions *options,
                     double first)
{
    CcJointPort *port = port_of(e, i);
    double from[3] = {port->position[0], port->position[1], port->position[2]};
    sample_port(e, i, R);
    if ((int)e->coupling.mode == HOLD)
        return;
    if (POINTS == 1)
        cc_coupling_see_rate(partner_of(e, i), law, options, port->r, cc_norm(port->position), port->v);
    keep_slid(e, i, from);
    advance_friction(e, i, law, first > 0.0 && has_moved_first(e, i, first) ? first : 0.0);
}

/* Book the interval H before the sample that was seen, of forces that are held no longer. */
static void book_last(Element *e, const CcPortLaw *law, double H)
{
    for (int i = 0; i < POINTS; i++) {
        CcCoupling *c = partner_of(e, i);
        CcJointPort *port = port_of(e, i);
        if (e->held[i] == 0.0 || c->partner.begun == 0.0)
            continue;
        int off = port->usable == 0.0 || c->off != 0.0;
        c->partner.H = H;
        cc_remember(c, port);
        e->was_on[i] = c->off == 0.0;
        c->partner.jumped = !off && cc_is_put_elsewhere(&c->partner, port->r, port->v);
        if (c->partner.jumped == 0.0)
            cc_coupling_book(c, law, port->r, port->v, off, 0);
        book_interval(e, i, law, c->partner.f);
    }
}

/* The literal force acts; the coupling begins anew at the next sample. */
CC_SELDOM void give_law(Element *e)
{
    double added[POINTS];
    for (int i = 0; i < POINTS; i++)
        added[i] = partner_of(e, i)->added[cc_lag(partner_of(e, i)->partner.lag)];
    start_coupling(e);
    for (int i = 0; i < POINTS; i++)
        for (int L = 0; L < CC_LAGS; L++)
            partner_of(e, i)->added[L] = added[i];
}

/* Likewise from now on, before this sample was seen. */
CC_SELDOM void give_law_from_now(Element *e)
{
    double R[3][3], H = e->since > 0.0 ? e->since : partner_of(e, 0)->partner.H;
    CcPortLaw law = port_law(e);
    CcCouplingOptions options = coupling_options(e);
    cc_rotation(e->surface.q, R);
    for (int i = 0; i < POINTS; i++)
        see_port(e, i, R, &law, &options, 0.0);
    book_last(e, &law, H);
    give_law(e);
}

/* 1 if a number is too large to be calculated with: then the literal force acts, and the coupling begins anew. */
static int too_far(Element *e, CcHost *host)
{
    int far = 0;
    for (int i = 0; i < POINTS; i++) {
        const CcJointPort *port = port_of(e, i);
        int so = !(cc_abs(port->r[2]) < FARTHEST && cc_largest(port->v) < FARTHEST
                   && cc_largest(port->position) < FARTHEST);
        e->coupling.fallback[i] = so && (int)e->coupling.mode != HOLD ? CC_TOO_FAR : CC_COUPLED;
        if (e->coupling.fallback[i] != 0.0 && cc_is_first(&e->warned.far))
            cc_report(host, CC_WARNING, "contact",
                      "point %d: at the distance %g m the motion is too large for the coupling (%g), so the force is "
                      "that of coupling.mode = hold (coupling.fallback)", i + 1, port->r[2], FARTHEST);
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
    if (cc_is_unjudged(&options))
        return 0;
    watch_inputs(e, host);
    if (steps_are_repeated(e, host)) {
        e->since = e->since_steps = e->sample_steps = e->unsampled = 0.0;
        return CC_CHANGED;
    }
    cc_rotation(e->surface.q, R);
    int moved_first = 0; /* and not by forces that a master mixed from several that it read */
    for (int i = 0; i < POINTS && e->unsampled != 0.0 && !cc_inputs_set_again(host); i++)
        moved_first |= has_moved_from(e, i, R);
    e->unsampled = 0.0;
    if (e->since_steps < MOST_STALE && is_stale(e, R, step)) {
        e->since += step;
        e->since_steps += 1.0;
        return 0;
    }
    double passed = e->since, to_come = step;
    int once = e->since_steps == 1.0 && passed > 0.0;
    if (e->since_steps > 1.0) {
        passed = time_passed(e);
        if (passed == e->since) /* the next interval is taken to be as long */
            to_come = passed;
        else
            for (int k = 1; k < cc_index(e->since_steps, MOST_STALE + 1); k++)
                repeat_forces(e);
    }
    for (int i = 0; i < POINTS && passed > 0.0; i++) /* it may not have been */
        partner_of(e, i)->partner.H = once ? length_of_interval(e, i, passed, step) : passed;
    e->since = step;
    e->sample_steps = e->since_steps;
    e->since_steps = 1.0;
    step = to_come;
    for (int i = 0; i < POINTS; i++)
        see_port(e, i, R, &law, &options, moved_first ? step : 0.0);
    if (too_far(e, host))
        return CC_CHANGED;
    int changed = 0;
    if ((int)e->coupling.mode == HOLD)
        for (int i = 0; i < POINTS; i++)
            sample_held(e, host, i, R, &law, &options, step);
    else if (e->moving > 0.0 && !form_is_known(e, &law, &options))
        sample_moving(e, host, R, &law, &options, step);
    else {
        for (int i = 0; i < POINTS && moved_first; i++)
            if (has_moved_first(e, i, step))
                book_first_interval(e, i, &law, &options, step);
        changed = sample_coupled(e, host, R, &law, &options, step);
    }
    remember_friction(e);
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
#if LEDGER
        *(CcBookedByLag *)e->booked[i] = (CcBookedByLag){.more = {{.work = 0.0}}};
#endif
        port_of(e, i)->place = (CcPlace){0};
        find_axes(e, i, R);
        cc_to_body(R, e->point[i].f, F);
        for (int j = 0; j < 3; j++)
            c->partner.f[0][j] = cc_dot(F, port_of(e, i)->place.axes[j]);
        e->held[i] = 0.0;
    }
}

/* Elastic energy at the depth x, J, that a change of the law took. */
static double gone(Element *e, double x) { return x > 0.0 ? energy_destroyed(e, x) : 0.0; }

/* The law of point i changed after the interval that the next sample books: that one was under the law before, which
 * stored and dissipated another energy on that way.  What it differs by is nothing that a sample would compensate. */
CC_SELDOM void change_law(Element *e, int i)
{
    CcCoupling *c = partner_of(e, i);
    const CcPartner *p = &c->partner;
    double beta = p->rule.beta, H = p->H, w_0 = -p->v[2], x_0 = cc_rule_place(beta, H, -p->r[2], w_0);
    double w = e->depth_rate[i], x = cc_rule_place(beta, H, -e->distance[i], w);
    const double r[3] = {0.0, 0.0, e->distance[i]}, v[3] = {0.0, 0.0, -w};
    if (p->begun == 0.0 || c->off != 0.0 || !is_usable(e, i) || cc_is_put_elsewhere(p, r, v))
        return;
#if LEDGER
    CcBooked each[CC_LAGS];
    double h_0 = -p->r[2], h = -e->distance[i]; /* accept() has booked what went at h: the body has x */
#endif
    CcPortLaw now = port_law(e);
    CcPassed passed = cc_passed(&now, x_0, w_0, x, w, H);
    exchange_damping(e);
    CcPortLaw damped = port_law(e);
    CcPassed before = cc_passed(&damped, x_0, w_0, x, w, H);
    exchange_damping(e);
    double destroyed = gone(e, x) - gone(e, x_0);
    before.change += destroyed;
    for (int L = 0; L < CC_LAGS; L++) {
        double N = p->f[L][2], made = cc_made(&before, N), booked = cc_made(&passed, N);
        double through = cc_made_through(made, before.change, N, x_0, x);
        double more = through - cc_made_through(booked, passed.change, N, x_0, x);
        c->ledger.made[L] += made - booked;
        c->added[L] += more;
#if LEDGER
        each[L] = (CcBooked){.work = gone(e, x_0) - gone(e, h_0), .damping = more - destroyed,
                             .switched = gone(e, x) - gone(e, h)};
#endif
    }
#if LEDGER
    if (e->held[i] != 0.0)
        book_by_lag(e, i, each);
    e->accepted_energy[i] -= gone(e, h) - gone(e, h_0);
#endif
}

/* The motion at the start of the run counts as a sample for whoever moves the bodies before the first one. */
static void start_samples(Element *e)
{
    double R[3][3];
    cc_rotation(e->surface.q, R);
    start_coupling(e);
    remember_friction(e);
    for (int i = 0; i < POINTS; i++) {
        CcCoupling *c = partner_of(e, i);
        const CcJointPort *port = port_of(e, i);
        sample_port(e, i, R);
        c->off = port->usable == 0.0;
        CC_UNROLL for (int k = 0; k < 3; k++)
            c->partner.r[k] = port->r[k], c->partner.v[k] = port->v[k];
        remember_energy(e, i);
    }
    e->unsampled = 1.0;
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
