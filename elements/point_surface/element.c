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
 * the coupling adds: the element does not know when its force acts.
 *
 * Laws of the recipe, in the slots C_F, F_d and F_fr, take the places of F_e = C_F h, of d and of the friction force:
 *     N = F_e(h) max(1 + F_d(w), 0),   F = N n - F_fr(N, |v_t|) v_t / |v_t|,   U = int F_e dh
 * With [structure] allow_adhesion N may be negative, as in the source; friction is that of max(N, 0): K_fr N of the
 * source would then act along the slip and add energy.
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
 *                    accepted: a jump has no zero to locate
 *   surface_slip     the slip speed of a point, held in the same way
 *   surface_edges    indicators of the edges, one for each: their minimum could cross zero twice in a step
 *   keep_foot        keeps the closest point of an accepted point for where a later one is not unique
 *   surface_turning  what turns the surface inside out
 *   SURFACE_FLAT     1 if it has one normal only; else surface_closest and surface_normal of curved.h */
#include SURFACE_FILE

/* The laws: the built-in ones, or those of the recipe.
 *   C_F  elastic_force, elastic_energy, elastic_indicators; values of the last accepted point: energy_before,
 *        energy_destroyed, elastic_changed, remember_elastic; contact_duration
 *   F_d  damping_ratio, damping_indicators; start_clipping, count_clipped
 *   F_fr, or with a bristle F_slip: friction_indicators */
#include C_F_FILE
#include F_D_FILE
#include LEDGER_FILE
#if BRISTLE
#include F_SLIP_FILE
#else
#include F_FR_FILE
#endif
#include BRISTLE_FILE

/* Elastic energy at depth h > 0 with the law of now, J. */
static double energy_now(const Element *e, double h) { return re(elastic_energy(e, h)); }

#include COUPLING_FILE

/* One point: all that belongs to index i, and its share of the reaction and of the powers. */
static void point_outputs(Element *e, int i, Real R[3][3], int on_demand)
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
    if (is_without_law(e, i, on_demand)) { /* hold_force has all the rest */
        Real v_t[3] = {v[0] + w * n[0], v[1] + w * n[1], v[2] + w * n[2]};
        contact.slip_speed = cc_norm(v_t);
        contact.elastic_energy = 0.0;
    } else {
        const CcContactParts law = {elastic_force, on_demand ? elastic_energy : 0, damping_ratio, FRICTION_OF_CONTACT,
                                    e};
        cc_contact_of(&law, in_contact ? h : 0.0, n, v, &contact);
    }
    hold_by_bristle(e, i, R, n, v, in_contact, &contact);
    hold_force(e, i, &contact, arm);

    e->on_patch[i] = on;
    e->in_contact[i] = in_contact;
    book_rates(e, i, in_contact);
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
    book_sliding(e, &contact);
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
    Real R[3][3];
    cc_rotation(e->surface.q, R);
    if (on_demand)
        e->energy.elastic = 0.0;
    e->power.damping = e->power.friction = e->power.work = 0.0;
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->surface.f[k] = e->surface.t[k] = 0.0;
    for (int i = 0; i < POINTS; i++)
        point_outputs(e, i, R, on_demand);
    e->power.work -= cc_dot(e->surface.f, e->surface.v) + cc_dot(e->surface.t, e->surface.w);
    book_held_powers(e);
    if (on_demand)
        close_ledger(e);
}

static void outputs(Element *e) { forces(e, 1); }
static void rates(Element *e) { forces(e, 0); }

#ifndef CC_DUAL /* to the end: what has no derivatives */

static void indicators(const Element *e, Indicators *z)
{
    for (int i = 0; i < POINTS; i++) {
        int jumped = surface_jump(e, i) < 0.0;
        Real distance = jumped ? e->previous[i].distance : e->distance[i];
        Real w = jumped ? e->previous[i].depth_rate : e->depth_rate[i];
        z->distance[i] = re(distance);
        z->depth_limit[i] = re(distance + e->D_max);
        surface_edges(e, i, z);
        z->depth_rate[i] = re(w);
        damping_indicators(e, i, w, z);
        friction_indicators(e, i, z);
        elastic_indicators(e, i, z);
    }
}

/* Energy of point i, in contact, lost by a change of the stiffness since the last accepted point, J. */
static double energy_of_change(Element *e, int i)
{
    return bristle_energy_destroyed(e, i) + energy_destroyed(e, re(e->depth[i]));
}

static int stiffness_changed(const Element *e) { return bristle_changed(e) || elastic_changed(e); }

static void remember_law(Element *e)
{
    remember_bristle(e);
    remember_elastic(e);
    remember_damping(e);
}

/* ---- the record of contacts -------------------------------------------------------------------------------------- */

static void start_record(Element *e, int i)
{
    e->present_contact[i].start = e->time;
    e->present_contact[i].impact_speed = 0.0;
    e->present_contact[i].peak_force = e->normal_force[i];
    e->last_contact[i].start = e->last_contact[i].end = e->last_contact[i].peak_force = 0.0;
    e->last_contact[i].impact_speed = e->last_contact[i].rebound_speed = e->release_count[i] = 0.0;
    start_impulse(e, i);
    start_watch(e);
}

#define STILL 1e-9 /* m/s: a point that is slower need not be seen anew to be where it was */

/* The time, s, in which point i went the way from its last place.  Where inputs are held, accepted points at which a
 * moving point stands still were shown no new input: whoever moves the body takes longer steps. */
static double time_of_way(const Element *e, int i, const CcHost *host, double step)
{
    double passed = re(e->time) - e->previous[i].seen;
    return cc_held_over(host) > 0.0 && passed > 1.5 * step ? passed : step;
}

/* Keep when point i was seen at its place first. */
static void remember_place(Element *e, int i)
{
    if (re(e->distance[i]) != re(e->previous[i].distance) || cc_abs(re(e->depth_rate[i])) < STILL)
        e->previous[i].seen = re(e->time);
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
    record_impulse(e, i);
    e->release_count[i] += 1.0;
}

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
    for (int i = 0; i < POINTS; i++)
        start_bristle(e, i, 0);
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->energy.switched = 0.0;
    remember_law(e);
    for (int i = 0; i < POINTS; i++) {
        e->previous[i].in_contact = e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        e->previous[i].seen = e->time;
        e->previous[i].depth_rate = e->depth_rate[i];
        e->previous[i].unpressed = e->depth[i];
        keep_foot(e, i);
        e->contact_count[i] = e->in_contact[i];
        start_bristle(e, i, 1);
        start_clipping(e, i);
        e->peak_force[i] = e->normal_force[i];
        start_record(e, i);
    }
    start_samples(e);
}

/* A contact that was on and is off: booked unless the point left through the surface.  Energy is lost where the point
 * passed D_max; where its closest point jumped off the drawn part; or where it is now: off the drawn part, switched
 * off, or behind a D_max that was made smaller. */
CC_SELDOM double end_of_contact(Element *e, int i, CcHost *host)
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

/* The way, m, that the depth rates at both ends of the step explain, and half as much again. */
static double farthest_way(const Element *e, int i, double step)
{
    return 1.5 * step * re(cc_max(cc_abs(e->depth_rate[i]), cc_abs(e->previous[i].depth_rate)));
}

/* A contact that was off and is on: energy is added unless the point came in through the surface. */
CC_SELDOM double begin_of_contact(const Element *e, int i, CcHost *host, double step)
{
    double h = -re(e->distance[i]), w = re(e->depth_rate[i]), before = -re(e->previous[i].distance);
    double reach = farthest_way(e, i, step);
    int jumped = h > (reach > 1e-9 ? reach : 1e-9);
    if (before <= 0.0 && !jumped)
        return 0.0;
    double energy = energy_now(e, h);
    if (before > re(e->D_max) && w <= 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: contact begins from the inner side, at the depth %g m with the depth rate %g m/s: it "
                  "skips the compression and adds %g J; if the surface is to stop this point, %s",
                  i + 1, h, w, energy, surface_turning());
    else if (jumped || w < 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: contact begins at the depth %g m with the depth rate %g m/s, which it cannot have reached "
                  "through the surface; this adds %g J: it came past the edge, its position or a parameter jumped, or "
                  "v is not wired", i + 1, h, w, energy);
    return -energy;
}

/* The contact of point i is there: if another one in contact is at the same place, note it once. */
static void note_same_place(Element *e, int i, CcHost *host)
{
#if JOINT
    for (int j = 0; j < POINTS && e->warned.place == 0.0; j++) {
        const Real *P = e->point[i].r, *Q = e->point[j].r;
        int same = re(P[0]) == re(Q[0]) && re(P[1]) == re(Q[1]) && re(P[2]) == re(Q[2]);
        if (j == i || re(e->in_contact[j]) == 0.0 || !same)
            continue;
        e->warned.place = 1.0;
        cc_report(host, CC_WARNING, "contact",
                  "point %d is at the same place as point %g, (%g, %g, %g) m: each of them acts with all of the law, "
                  "so the surface is twice as stiff there; give them places of their own, or leave one out", i + 1,
                  j + 1.0, re(P[0]), re(P[1]), re(P[2]));
    }
#else
    (void)e, (void)i, (void)host;
#endif
}

/* A point that was above the surface and is below D_max: it has gone through within the step, and no force acted. */
CC_SELDOM void note_passed_through(const Element *e, int i, CcHost *host, double step)
{
    double h = -re(e->distance[i]), above = re(e->previous[i].distance), deepest = re(e->D_max);
    int passed = above > 0.0 && h > deepest && h + above <= farthest_way(e, i, step);
    if (!passed || e->work == 0.0 || e->on_patch[i] == 0.0)
        return;
    cc_report(host, CC_WARNING, "contact",
              "point %d went through the surface in one step, from %g m above it to %g m below it, deeper than D_max = "
              "%g m, and no force acted; take steps below %.3g s, or a larger D_max",
              i + 1, above, h, deepest, deepest * step / (h + above));
}

#define SURELY_DEEP 0.01  /* of D_max: what rests on a surface starts less deep */
#define SURELY_FAST 100.0 /* m/s2: what rests on a surface does not leave it at ten times its weight */

/* A contact that was there at the start ended.  If it left through the surface and was never pressed in further, the
 * surface may be turned inside out.  v^2/(2 h) is the mean acceleration on the way h to the surface. */
CC_SELDOM void end_of_first_contact(const Element *e, int i, CcHost *host)
{
    double h = re(e->previous[i].unpressed), v = -re(e->depth_rate[i]);
    if (re(e->distance[i]) >= 0.0 && h > SURELY_DEEP * re(e->D_max) && v > 0.0 && v * v > 2.0 * SURELY_FAST * h)
        cc_report(host, CC_WARNING, "contact",
                  "point %d started %g m below the surface and left it at %g m/s without compression, which adds %g J "
                  "(energy.start); if it is meant to come from the other side, %s", i + 1, h, v, energy_now(e, h),
                  surface_turning());
}

#define TOUCHES 1e-9 /* m: so near to its surface a point may stand on either side by rounding */

/* 1 if point i, which was in contact and is not, still moves in: it stands on the surface to rounding, where a master
 * has located the touch, and its contact goes on. */
static int still_touches(const Element *e, int i)
{
    double apart = re(e->distance[i]);
    int on_it = apart >= 0.0 && apart - re(e->previous[i].distance) < TOUCHES;
    return on_it && re(e->depth_rate[i]) > 0.0 && re(e->previous[i].depth_rate) > 0.0;
}

static int accept(Element *e, CcHost *host, double step)
{
    double switched = 0.0;
    int changed = 0;
    for (int i = 0; i < POINTS; i++) {
        int was = re(e->previous[i].in_contact) != 0.0, is = re(e->in_contact[i]) != 0.0;
        double way = time_of_way(e, i, host, step), begun = 0.0, booked = 0.0;
        int touches = was && !is && still_touches(e, i);
        if (step == 0.0 && is)
            cc_report(host, CC_INFO, "contact", "point %d is in contact at the start, %g m deep", i + 1,
                      re(e->depth[i]));
        if (was && !is && !touches) {
            end_of_first_contact(e, i, host);
            booked += end_of_contact(e, i, host);
            record_release(e, i, host, way);
            watch_step(e, i, host);
        } else {
            record_force(e, i);
        }
        if (!was && !is)
            note_passed_through(e, i, host, way);
        if (!was && is) {
            begun = begin_of_contact(e, i, host, way);
            booked += begun;
            record_touch(e, i, way);
            e->contact_count[i] += 1.0;
        }
        if (is && (!was || step == 0.0))
            note_same_place(e, i, host);
        if (is && begun == 0.0 && stiffness_changed(e)) /* else the law of now began it */
            booked += energy_of_change(e, i);
        switched += booked;
        note_switched(e, i, booked);
        if ((was || is) && (elastic_changed(e) || damping_changed(e)))
            change_law(e, i);
        changed |= accept_bristle(e, i);
        count_clipped(e, i, host);
        remember_place(e, i);
        e->previous[i].in_contact = touches ? 1.0 : e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        e->previous[i].depth_rate = e->depth_rate[i];
        if (!is || re(e->depth[i]) > re(e->previous[i].unpressed))
            e->previous[i].unpressed = 0.0;
        keep_foot(e, i);
    }
    remember_law(e);
    e->energy.switched += switched;
    return changed | (LEDGER && switched != 0.0);
}

#endif
