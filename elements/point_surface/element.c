/* Contact of points with a surface: EULER's contactPS.  Law: contact.h; surfaces: surface/.
 *
 * A point P of one body meets a surface on another, whose frame has the origin o, the orientation q (body to world),
 * the velocity v_b of o and the angular velocity w_b.  All vectors in world components, SI.
 *
 * Closest point Q on the extended surface; contact while Q lies on the drawn part and 0 < h <= D_max, h depth of P.
 * Velocity relative to the material at P      v = v_P - (v_b + w_b x (P - o))
 * Force on the point                          F from contact.h
 * Reaction on the surface's body              -F applied at P: force -F, moment about o (P - o) x (-F)
 *
 * With both forces on one line through P the power of the pair is exactly F v = -dU/dt - F_e d w - F_fr |v_t|, so the
 * ledger closes:  work = U - U_start + damping + friction + switched,  work = -int sum(f v + t w) dt over all ports.
 * Where r' = v within the step, energy.residual is the tolerance of the integration; where inputs are held, U follows
 * the jumps of r and work the samples of v, and the residual is of the order of the step.  It is not the energy that
 * the coupling makes: the element does not know when its force acts.
 *
 * Laws of the user's, in the slots C_F, F_d and F_fr, take the places of F_e = C_F h, of d and of the friction force:
 *     N = F_e(h) max(1 + F_d(w), 0),   F = N n - F_fr(N, |v_t|) v_t / |v_t|,   U = int F_e dh
 * With [structure] allow_adhesion N may be negative, as in the source; friction is that of max(N, 0): the source's own
 * K_fr N would then act along the slip and make energy.
 *
 * With [structure] bristle the friction force is that of bristle.h, and U has its energy as well.  The deflection is a
 * state in the frame of the surface.  When the contact ends the bristle is relaxed at once: its energy is lost by
 * friction.
 *
 * Source: EULER manual, contactPS. */
#include "laws/contact.h"
#include "surfaces/crossing.h"
#include "shared/held_force.h"
/* The file of the recipe's surface, surface/<kind>.h, with the constants surface_* that structure.py wrote.  It defines
 *   surface_foot     distance, place, edge and singular of point i, which lies at `arm` from the origin of the
 *                    surface's frame, in world components as its normal n; R turns the frame into the world.  Returns
 *                    1 if the closest point belongs to the drawn part
 *   surface_covers   1 if the closest point to what lies at `local` in the surface's frame belongs to the drawn part
 *   surface_jump     how much farther off the rival is than the closest point, m; negative as long as it is the rival
 *                    that continues the closest point of the last accepted point, so that the sign turns where the two
 *                    change places.  What else jumps there is held in the indicators until the point behind is
 *                    accepted: a jump has no zero to go by
 *   surface_slip     the slip speed of a point, held in the same way
 *   surface_edges    indicators of the edges, one for each: their minimum could cross zero twice in a step
 *   keep_foot        keeps the closest point of an accepted point for where a later one is not unique
 *   surface_turning  what turns the surface inside out
 *   SURFACE_FLAT     1 if it has one normal only; else surface_closest and surface_normal of curved.h */
#include SURFACE_FILE
#if BRISTLE
#include "laws/bristle.h"
#endif

#define USER_LAWS (SLOT_C_F || SLOT_F_D || SLOT_F_FR)

/* Parameters of the laws that are built in. */
static CcContactLaw law_of(const Element *e)
{
    CcContactLaw law = {0};
#if !SLOT_C_F
    law.C_F = e->C_F;
#endif
#if !SLOT_F_D
    law.C_r = e->C_r, law.k_D = e->k_D, law.k_E = e->k_E;
#endif
#if !SLOT_F_FR && !BRISTLE
    law.K_fr = e->K_fr, law.k_T = e->k_T;
#endif
    (void)e;
    return law;
}

#if USER_LAWS

#define SLOWEST 1e-150 /* m/s: a slip speed below this is none; dual numbers divide by no smaller number (real.h) */

/* Friction force over slip speed, N s/m; at rest its limit, so that derivatives there are those of the sliding
 * point. */
static Real friction_per_speed(const Element *e, const CcContactLaw *law, Real N, Real speed)
{
#if SLOT_F_FR
    (void)law;
    if (re(speed) > SLOWEST)
        return slot_F_fr(e, N, speed) / speed;
#ifdef CC_DUAL
    return __imag__ slot_F_fr(e, re(N), cc_real(0.0, CC_DUAL_STEP)) / CC_DUAL_STEP;
#else
    return 0.0; /* times a slip of zero */
#endif
#else
    (void)e;
    return law->K_fr * N * cc_friction_per_slip(law->k_T, speed);
#endif
}

/* As cc_contact, with the laws of the user's; on_demand: 1 with the elastic energy. */
static void user_contact(const Element *e, const CcContactLaw *law, Real h, const Real n[3], const Real v[3],
                         int on_demand, CcContact *out)
{
    Real w = -cc_dot(v, n);
    Real v_t[3] = {v[0] + w * n[0], v[1] + w * n[1], v[2] + w * n[2]};
    Real slip = cc_norm(v_t), F_e = 0.0, d = 0.0, per_speed = 0.0;
    out->elastic_energy = 0.0;
    if (re(h) > 0.0) {
#if SLOT_C_F
        F_e = slot_C_F(e, h);
        if (on_demand)
            out->elastic_energy = slot_C_F_integral(e, h);
#else
        F_e = cc_spring_force(law->C_F, h);
        out->elastic_energy = cc_spring_energy(law->C_F, h);
#endif
#if SLOT_F_D
        d = slot_F_d(e, w);
        if (!ALLOW_ADHESION)
            d = cc_max(d, -1.0);
#else
        d = cc_damping_ratio(law, w);
#endif
    }
    (void)on_demand;
    Real N = F_e * (1.0 + d);
    if (re(h) > 0.0) /* where the surface pulls nothing is pressed that could rub; else friction would drive the slip */
        per_speed = friction_per_speed(e, law, cc_max(N, 0.0), slip);
    out->elastic_force = F_e;
    out->damping_force = N - F_e;
    out->normal_force = N;
    out->slip_speed = slip;
    out->friction_force = per_speed * slip;
    CC_UNROLL for (int i = 0; i < 3; i++)
        out->force[i] = N * n[i] - per_speed * v_t[i];
}

#endif

#if BRISTLE

enum { DEFLECTIONS = sizeof((Element *)0)->deflection[0] / sizeof(Real) }; /* 2 on a flat surface, else 3 */

/* The deflection of the bristle i in world components. */
static void deflection_of(const Element *e, int i, Real R[3][3], Real z[3])
{
    Real local[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < DEFLECTIONS; k++)
        local[k] = e->deflection[i][k];
    cc_to_world(R, local, z);
}

static double bristle_energy(const Element *e, int i, Real stiffness)
{
    double square = 0.0;
    for (int k = 0; k < DEFLECTIONS; k++)
        square += re(e->deflection[i][k]) * re(e->deflection[i][k]);
    return 0.5 * re(stiffness) * square;
}

/* Add to a contact without friction what the bristle i does, v the velocity of the point relative to the surface. */
static void hold_by_bristle(Element *e, int i, Real R[3][3], const Real n[3], const Real v[3], int in_contact,
                            CcContact *contact)
{
    Real z[3], v_t[3], across = cc_dot(v, n), limit = 0.0, rate[3] = {0.0, 0.0, 0.0};
    CcBristle bristle;
    CC_UNROLL for (int k = 0; k < 3; k++)
        v_t[k] = v[k] - across * n[k];
    if (in_contact) {
        Real N = cc_max(contact->normal_force, 0.0);
#if SLOT_F_SLIP
        limit = cc_max(slot_F_slip(e, N, contact->slip_speed), 0.0);
        if (re(e->slipped[i]) == 0.0) /* at rest on the surface, however fast the bristle bends */
            limit = cc_max(slot_F_slip(e, N, 0.0), limit);
#else
        limit = e->K_fr * N;
#endif
    }
    deflection_of(e, i, R, z);
    cc_bristle(e->k_B, e->c_B, limit, z, n, v_t, &bristle);
    e->tip_slip[i] = bristle.side;
    e->stick[i] = in_contact && re(bristle.side) <= 0.0;
    contact->elastic_energy += bristle.energy;
    if (in_contact) {
        cc_to_body(R, bristle.rate, rate);
        contact->friction_force = bristle.friction;
        CC_UNROLL for (int k = 0; k < 3; k++)
            contact->force[k] -= bristle.force[k];
        e->power.friction += bristle.dissipated;
    }
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection_rate[i][k] = rate[k];
}

/* Of an accepted point: relax the bristle if it is apart, and keep whether its tip slips.  Returns what accept does. */
static int accept_bristle(Element *e, int i)
{
    int changed = 0;
#if SLOT_F_SLIP
    int slips = re(e->tip_slip[i]) > 0.0;
    changed = (re(e->slipped[i]) != 0.0) != slips ? CC_CHANGED : 0;
    e->slipped[i] = slips;
#endif
    double energy = bristle_energy(e, i, e->previous_bristle_stiffness);
    if (re(e->in_contact[i]) != 0.0 || energy == 0.0)
        return changed;
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection[i][k] = 0.0;
#if LEDGER
    e->energy.friction += energy;
#endif
    return CC_JUMPED;
}

#endif

#if COUPLING
static double energy_now(const Element *e, double h);
#include "coupled.h"
#endif

/* One point: all that belongs to index i, and its share of the reaction and of the powers. */
static void point_outputs(Element *e, int i, const CcContactLaw *law, Real R[3][3], int on_demand)
{
    const Real *P = e->point[i].r;
    Real arm[3], carried[3], v[3], n[3];
    CC_UNROLL for (int k = 0; k < 3; k++)
        arm[k] = P[k] - e->surface.r[k];
    int on = surface_foot(e, i, arm, R, n);
    Real h = -e->distance[i];
    cc_cross(e->surface.w, arm, carried);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        v[k] = e->point[i].v[k] - (e->surface.v[k] + carried[k]);
        e->normal[i][k] = n[k];
        e->contact[i].r[k] = P[k] + h * n[k];
    }
    int in_contact = re(e->work) != 0.0 && on && re(h) > 0.0 && re(h) <= re(e->D_max);
    Real w = -cc_dot(v, n);
    CcContact contact;
#if COUPLING && !BRISTLE
    if (re(e->held[i]) != 0.0 && !on_demand) { /* hold_force has all the rest */
        Real v_t[3] = {v[0] + w * n[0], v[1] + w * n[1], v[2] + w * n[2]};
        contact.slip_speed = cc_norm(v_t);
        contact.elastic_energy = 0.0;
    } else
#endif
#if USER_LAWS
    user_contact(e, law, in_contact ? h : 0.0, n, v, on_demand, &contact);
#else
    cc_contact(law, in_contact ? h : 0.0, n, v, &contact);
#endif
#if BRISTLE
    hold_by_bristle(e, i, R, n, v, in_contact, &contact);
#endif
#if COUPLING
    hold_force(e, i, &contact, arm);
#endif

    e->on_patch[i] = on;
    e->in_contact[i] = in_contact;
#if LEDGER
    e->contact_rate[i] = in_contact;
#endif
    e->phase[i] = !in_contact ? 0.0 : re(w) >= 0.0 ? 1.0 : -1.0;
    e->depth[i] = in_contact ? h : 0.0;
    e->depth_rate[i] = w;
    e->slip_speed[i] = contact.slip_speed;
    e->elastic_force[i] = contact.elastic_force;
    e->damping_force[i] = contact.damping_force;
    e->normal_force[i] = contact.normal_force;
    e->friction_force[i] = contact.friction_force;

    if (on_demand)
        e->energy.elastic += contact.elastic_energy;
    e->power.damping += contact.damping_force * w;
#if !BRISTLE
    e->power.friction += contact.friction_force * contact.slip_speed;
#endif
    Real moment[3];
    cc_cross(arm, contact.force, moment);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        e->point[i].f[k] = contact.force[k];
        e->surface.f[k] -= contact.force[k];
        e->surface.t[k] -= moment[k];
    }
    e->power.work -= cc_dot(contact.force, e->point[i].v);
}

static void forces(Element *e, int on_demand)
{
    CcContactLaw law = law_of(e);
    Real R[3][3];
    cc_rotation(e->surface.q, R);
    if (on_demand)
        e->energy.elastic = 0.0;
    e->power.damping = e->power.friction = e->power.work = 0.0;
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->surface.f[k] = e->surface.t[k] = 0.0;
    for (int i = 0; i < POINTS; i++)
        point_outputs(e, i, &law, R, on_demand);
    e->power.work -= cc_dot(e->surface.f, e->surface.v) + cc_dot(e->surface.t, e->surface.w);
#if COUPLING
    if (re(e->held[0]) != 0.0) /* all points are sampled at once; what they did is booked when the interval is over */
        e->power.damping = e->power.friction = e->power.work = 0.0;
#endif
#if LEDGER
    if (on_demand)
        e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping
                             - e->energy.friction - e->energy.switched;
#endif
}

static void outputs(Element *e) { forces(e, 1); }
static void rates(Element *e) { forces(e, 0); }

static void indicators(const Element *e, Indicators *z)
{
    CcContactLaw law = law_of(e);
    (void)law;
    for (int i = 0; i < POINTS; i++) {
        int jumped = surface_jump(e, i) < 0.0;
        Real distance = jumped ? e->previous[i].distance : e->distance[i];
        Real w = jumped ? e->previous[i].depth_rate : e->depth_rate[i];
        z->distance[i] = re(distance);
        z->depth_limit[i] = re(distance + e->D_max);
        surface_edges(e, i, z);
        z->depth_rate[i] = re(w);
#if !SLOT_F_D
        cc_damping_sides(&law, w, &z->restitution_limit[i], &z->compression_limit[i]);
#else
        z->pull[i] = cc_side(1.0 + slot_F_d(e, w));
        slot_F_d_indicators(e, i, w, z);
#endif
#if BRISTLE
        z->tip_slip[i] = re(e->tip_slip[i]);
#elif !SLOT_F_FR
        z->full_friction[i] = cc_full_friction(e->k_T, surface_slip(e, i));
#endif
#if SLOT_C_F
        slot_C_F_indicators(e, i, e->depth[i], z);
#endif
#if SLOT_F_FR
        slot_F_fr_indicators(e, i, cc_max(e->normal_force[i], 0.0), surface_slip(e, i), z);
#endif
#if SLOT_F_SLIP
        slot_F_slip_indicators(e, i, cc_max(e->normal_force[i], 0.0), surface_slip(e, i), z);
#endif
    }
}

/* Elastic energy at depth h > 0, J: with the stiffness of now, and with that of the last accepted point. */
static double energy_now(const Element *e, double h)
{
#if SLOT_C_F
    return re(slot_C_F_integral(e, h));
#else
    return re(cc_spring_energy(e->C_F, h));
#endif
}

static double energy_before(Element *e, double h)
{
#if SLOT_C_F
    laws_exchange(e);
    double energy = energy_now(e, h);
    laws_exchange(e);
    return energy;
#else
    return re(cc_spring_energy(e->previous_stiffness, h));
#endif
}

/* What a change of the stiffness since the last accepted point destroys of the energy of point i, in contact, J. */
static double energy_of_change(Element *e, int i)
{
    double h = re(e->depth[i]), destroyed = 0.0;
#if BRISTLE
    destroyed = bristle_energy(e, i, e->previous_bristle_stiffness - e->k_B);
#endif
#if SLOT_C_F
    return destroyed + (energy_before(e, h) - energy_now(e, h));
#else
    return destroyed + re(cc_spring_energy(e->previous_stiffness - e->C_F, h));
#endif
}

static int stiffness_changed(const Element *e)
{
#if BRISTLE
    if (re(e->previous_bristle_stiffness) != re(e->k_B))
        return 1;
#endif
#if SLOT_C_F
    return laws_changed(e);
#else
    return re(e->previous_stiffness) != re(e->C_F);
#endif
}

static void remember_stiffness(Element *e)
{
#if BRISTLE
    e->previous_bristle_stiffness = e->k_B;
#endif
#if SLOT_C_F
    laws_remember(e);
#else
    e->previous_stiffness = e->C_F;
#endif
}

/* ---- the record of contacts -------------------------------------------------------------------------------------- */

static void start_record(Element *e, int i)
{
    e->present_contact[i].start = e->time;
    e->present_contact[i].impact_speed = 0.0;
    e->present_contact[i].peak_force = e->normal_force[i];
    e->last_contact[i].start = e->last_contact[i].end = e->last_contact[i].peak_force = 0.0;
    e->last_contact[i].impact_speed = e->last_contact[i].rebound_speed = e->release_count[i] = 0.0;
#if LEDGER
    e->present_contact[i].impulse_before = e->impulse[i];
    e->last_contact[i].impulse = 0.0;
#if !COUPLING
    e->held_too_long = 0.0;
#endif
#endif
}

/* Where point i passed the surface on the way from the last accepted point, the time `step` ago. */
static CcCrossing passage(const Element *e, int i, double step)
{
    CcCrossing found;
    cc_crossing(re(e->time), step, re(e->previous[i].distance), re(e->previous[i].depth_rate), re(e->distance[i]),
                re(e->depth_rate[i]), &found);
    return found;
}

/* The contact of point i began.  A coupled force may act one interval before: its impulse and its peak count from the
 * end of the contact before. */
static void record_touch(Element *e, int i, double step)
{
    CcCrossing touch = passage(e, i, step);
    e->present_contact[i].start = touch.time;
    e->present_contact[i].impact_speed = touch.rate;
}

/* The contact of point i ended. */
static void record_release(Element *e, int i, CcHost *host, double step)
{
    if (re(e->release_count[i]) > 0.0)
        cc_keep(host, &e->last_contact[i], sizeof e->last_contact[i] / sizeof(Real));
    CcCrossing release = passage(e, i, step);
    e->last_contact[i].start = e->present_contact[i].start;
    e->last_contact[i].end = release.time;
    e->last_contact[i].impact_speed = e->present_contact[i].impact_speed;
    e->last_contact[i].rebound_speed = -release.rate;
    e->last_contact[i].peak_force = e->present_contact[i].peak_force;
    e->present_contact[i].peak_force = 0.0;
    e->peak_force[i] = cc_max(e->peak_force[i], e->normal_force[i]); /* one that pulled from the start on left none */
#if LEDGER
    e->last_contact[i].impulse = e->impulse[i] - e->present_contact[i].impulse_before;
    e->present_contact[i].impulse_before = e->impulse[i];
#endif
    e->release_count[i] += 1.0;
}

#if LEDGER && !COUPLING

/* Under fmi2DoStep the force is held over each step.  The impulse J changed the depth rate from v_0 to -v_1, so the
 * effective mass was m = J/(v_0 + v_1), and an elastic contact of it lasts T = pi sqrt(m/C_F); with a law C_F the time
 * of a half sine of that impulse and the peak F, pi J/(2 F).  In N = T/H steps the rebound grows by exp(pi^2/(4 N))
 * under Gauss-Seidel, by three times the exponent under Jacobi. */
static void watch_step(Element *e, int i, CcHost *host)
{
    double H = cc_held_over(host), J = re(e->last_contact[i].impulse), F = re(e->last_contact[i].peak_force);
    double change = re(e->last_contact[i].impact_speed) + re(e->last_contact[i].rebound_speed);
    if (e->held_too_long != 0.0 || !(H > 0.0 && J > 0.0 && F > 0.0 && change > 0.0))
        return;
#if SLOT_C_F
    double T = 0.5 * CC_PI_HI * J / F;
#else
    double T = CC_PI_HI * cc_sqrt(J / (change * re(e->C_F)));
#endif
    double N = T / H, growth = 0.25 * CC_PI_HI * CC_PI_HI / N;
    if (!(growth > CC_HOLD_ERROR))
        return;
    e->held_too_long = 1.0;
    cc_report(host, CC_WARNING, "contact",
              "point %d: in the last contact of %.3g communication steps a force that is held makes the rebound %.3g "
              "times as fast as it should be with a Gauss-Seidel master, %.3g times with a Jacobi one; take steps "
              "below %.3g s or %.3g s, or [structure] coupling = true", i + 1, N, re(cc_exp(growth)),
              re(cc_exp(3.0 * growth)), H * CC_HOLD_ERROR / growth, H * CC_HOLD_ERROR / (3.0 * growth));
}

#endif

/* The normal force of point i at an accepted point that ends no contact. */
static void record_force(Element *e, int i)
{
    if (!(re(e->normal_force[i]) > re(e->present_contact[i].peak_force)))
        return;
    e->present_contact[i].peak_force = e->normal_force[i];
    e->peak_force[i] = cc_max(e->peak_force[i], e->normal_force[i]);
}

static void start(Element *e)
{
#if SLOT_F_SLIP
    for (int i = 0; i < POINTS; i++)
        e->slipped[i] = 0.0;
#endif
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->energy.switched = 0.0;
    remember_stiffness(e);
    for (int i = 0; i < POINTS; i++) {
        e->previous[i].in_contact = e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        e->previous[i].depth_rate = e->depth_rate[i];
        e->previous[i].unpressed = e->depth[i];
        keep_foot(e, i);
        e->contact_count[i] = e->in_contact[i];
#if SLOT_F_SLIP
        e->slipped[i] = re(e->tip_slip[i]) > 0.0;
#endif
#if SLOT_F_D && !ALLOW_ADHESION
        e->clipped_count[i] = 0.0;
#endif
        e->peak_force[i] = e->normal_force[i];
        start_record(e, i);
    }
#if COUPLING && !defined CC_DUAL
    start_coupling(e);
#endif
}

/* A contact that was on and is off: booked unless the point left through the surface.  Energy is destroyed where the
 * point passed D_max; where its closest point jumped off the drawn part; or where it is now: off the drawn part,
 * switched off, or behind a D_max that was made smaller. */
static double end_of_contact(Element *e, int i, CcHost *host)
{
    double h = -re(e->distance[i]), limit = re(e->D_max), before = -re(e->previous[i].distance);
    if (h <= limit && surface_jump(e, i) < 0.0)
        h = before;
    if (h <= 0.0)
        return 0.0;
    if (h > limit) {
        cc_report(host, CC_WARNING, "contact",
                  "point %d passed the limit depth: depth %g m is greater than D_max = %g m, "
                  "its forces are off; a larger C_F or D_max keeps the contact", i + 1, h, limit);
        h = before > limit ? h : limit;
    }
    return energy_before(e, h);
}

/* A contact that was off and is on: energy comes from nothing unless the point came in through the surface. */
static double begin_of_contact(const Element *e, int i, CcHost *host, double step)
{
    double h = -re(e->distance[i]), w = re(e->depth_rate[i]), before = -re(e->previous[i].distance);
    double reach = 1.5 * step * re(cc_max(cc_abs(w), cc_abs(e->previous[i].depth_rate)));
    int jumped = h > (reach > 1e-9 ? reach : 1e-9);
    if (before <= 0.0 && !jumped)
        return 0.0;
    double energy = energy_now(e, h);
    if (before > re(e->D_max) && w <= 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: contact begins from the inner side, at the depth %g m with the depth rate %g m/s: it "
                  "skips the compression and gives %g J that nobody put in; if the surface is to stop this point, %s",
                  i + 1, h, w, energy, surface_turning());
    else if (jumped || w < 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: contact begins at the depth %g m with the depth rate %g m/s, which it cannot have reached "
                  "through the surface, and gives %g J that nobody put in: it came past the edge, its position or a "
                  "parameter jumped, or v is not wired", i + 1, h, w, energy);
    return -energy;
}

#define SURELY_DEEP 0.01  /* of D_max: what rests on a surface starts less deep */
#define SURELY_FAST 100.0 /* m/s2: what rests on a surface does not leave it at ten times its weight */

/* A contact that was there at the start ended.  If it left through the surface and was never pressed in further, the
 * surface may be turned inside out.  v^2/(2 h) is the mean acceleration on the way h to the surface. */
static void end_of_first_contact(const Element *e, int i, CcHost *host)
{
    double h = re(e->previous[i].unpressed), v = -re(e->depth_rate[i]);
    if (re(e->distance[i]) >= 0.0 && h > SURELY_DEEP * re(e->D_max) && v > 0.0 && v * v > 2.0 * SURELY_FAST * h)
        cc_report(host, CC_WARNING, "contact",
                  "point %d started %g m below the surface and was thrown out at %g m/s without ever being pressed in, "
                  "by %g J that nobody put in (energy.start); if it is meant to come from the other side, %s", i + 1, h,
                  v, energy_now(e, h), surface_turning());
}

#if SLOT_F_D && !ALLOW_ADHESION
/* Accepted points at which the law F_d would have pulled the point into the surface. */
static void count_clipped(Element *e, int i, CcHost *host)
{
    double w = re(e->depth_rate[i]), factor = 1.0 + re(slot_F_d(e, w));
    if (re(e->in_contact[i]) == 0.0 || !(factor < 0.0))
        return;
    if (re(e->clipped_count[i]) == 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: 1 + F_d = %g at the depth rate %g m/s would pull; the normal force is held at 0 (told "
                  "once, clipped_count goes on; [structure] allow_adhesion = true lets it pull)", i + 1, factor, w);
    e->clipped_count[i] += 1.0;
}
#endif

static int accept(Element *e, CcHost *host, double step)
{
    double switched = 0.0;
    int changed = 0;
    for (int i = 0; i < POINTS; i++) {
        int was = re(e->previous[i].in_contact) != 0.0, is = re(e->in_contact[i]) != 0.0;
        if (step == 0.0 && is)
            cc_report(host, CC_INFO, "contact", "point %d is in contact at the start, %g m deep", i + 1,
                      re(e->depth[i]));
        if (was && !is) {
            end_of_first_contact(e, i, host);
            switched += end_of_contact(e, i, host);
            record_release(e, i, host, step);
#if LEDGER && !COUPLING
            watch_step(e, i, host);
#endif
        } else {
            record_force(e, i);
        }
        if (!was && is) {
            switched += begin_of_contact(e, i, host, step);
            record_touch(e, i, step);
            e->contact_count[i] += 1.0;
        }
        if (was && is && stiffness_changed(e))
            switched += energy_of_change(e, i);
#if BRISTLE
        changed |= accept_bristle(e, i);
#endif
#if SLOT_F_D && !ALLOW_ADHESION
        count_clipped(e, i, host);
#endif
        e->previous[i].in_contact = e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        e->previous[i].depth_rate = e->depth_rate[i];
        if (!is || re(e->depth[i]) > re(e->previous[i].unpressed))
            e->previous[i].unpressed = 0.0;
        keep_foot(e, i);
    }
    remember_stiffness(e);
    e->energy.switched += switched;
    return changed | (LEDGER && switched != 0.0);
}
