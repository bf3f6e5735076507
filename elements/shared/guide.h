/* A point guided along a line of points: the common part of the elements of this kind, over their generated struct
 * Element.
 *
 * All vectors in the coordinates of the guide: those of the frame `body` where one body carries the line, which is then
 * at rest and velocities are relative to it; else the world.
 *
 * Force on the point, N      F = F_r + F_d + F_fr
 * Velocity, m/s              v = v_P - v_L,  v_long = v t,  v_tr = v - v_long t         v_L: force_zone.h
 * Damping, N                 F_d = -c v_tr                                              c = normDamp, N s/m
 * Friction, N                F_fr = -K_fr P min(k_T |v_long|, 1) sign(v_long) t         P = |F_r + F_d|
 * Reaction                   on the bodies of the line by force_zone.h
 *
 * The elastic force F_r lies across the line and takes the power -F_r v from the bodies.  Besides the stored power,
 * that is the power -F_r (FLP' - v_L) of the interpolation, zero for a spline on one body, and the power of turning
 * axes.
 *
 * Ends: the element is off beyond the planes across an open line at its first and last point.  Displacements and energy
 * are then those at the end, so that the energy removed by switching is known.
 *
 * Laws of the recipe take the places of normDamp |v_tr| and, in the element, of the elastic and the friction forces.
 *
 * Elastic energy, J          U = integral of the elastic forces over the displacements from 0, sensors as they are
 * Sensors                    a law that depends on sensors, which change: U' = power against F_r + power of the
 *                            sensors; energy.stored integrates the first, and energy.sensors is the rest of U
 *
 * Of the struct: line_points ... from lines.py, POINTS, BODIES, BRIDGES, CLOSED, INTERPOLATION, and the variables of
 * elements/point_line_2/element.toml, which elements/point_line_1 extends.
 *
 * Source: EULER manual, forcePointLine2. */
#ifndef CC_GUIDE_H
#define CC_GUIDE_H

#include "laws/friction.h"
#include "laws/spring.h"
#include "lines/base_plane.h"
#include "lines/force_zone.h"
#include "guide_record.h"

#ifndef COUPLE
#error "guide.h belongs to an element that declares the structure of a guide"
#endif
#define CC_GUIDE_SENSED (LEDGER && SENSED && CC_GUIDE_LAW) /* CC_GUIDE_LAW: a law of the recipe stands for F_r */

typedef struct {
    CcCarrier world;            /* the coordinates of the guide, in the world */
    CcCarrier carriers[BODIES]; /* the bodies of the line, in the world */
    Real P[3], v_P[3];
    Real turn[3]; /* angular velocity of the point's body, rad/s */
    CcLineFoot foot;
    CcZoneShare shares[BODIES];
    Real v_L[3], v[3], v_tr[3], v_long;
    Real F[3]; /* on the point, N */
} Guide;

/* What the element adds: its elastic energy U at the displacements of now, J; its elastic law, which tunable parameters
 * may change: whether it is another one than at the last accepted point, an exchange with the one there, and keeping
 * it. */
static Real elastic_energy(const Element *e);
static int law_changed(const Element *e);
static void exchange_law(Element *e);
static void keep_law(Element *e);

#define GUIDE_SLOWEST 1e-150 /* m/s or m: what is below this is none; dual numbers divide by no less (real.h) */

#define GUIDE_AT_ZERO cc_real(0.0, CC_DUAL_STEP)

/* A force over its argument a, the speed or the distance against which it acts, from the force there and the force at
 * GUIDE_AT_ZERO: where a is 0, the slope of the force, which counts in derivatives only. */
static inline Real guide_ratio(Real force, Real a, Real at_zero)
{
    return re(a) > GUIDE_SLOWEST ? force / a : (Real)(cc_dual_part(at_zero) / CC_DUAL_STEP);
}

#if SLOT_NORMDAMP

/* Damping over the speed across the line, N s/m. */
static Real guide_damping(const Element *e, const Guide *g)
{
    Real speed = cc_norm(g->v_tr);
    return guide_ratio(slot_normDamp(e, speed), speed, slot_normDamp(e, GUIDE_AT_ZERO));
}

static inline void damping_indicators(const Element *e, Indicators *z) { slot_normDamp_indicators(e, e->v_across, z); }

#else

static Real guide_damping(const Element *e, const Guide *g) { return (void)g, e->normDamp; }

static inline void damping_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }

#endif

#if CC_GUIDE_LAW

static inline int guide_laws_changed(const Element *e) { return laws_changed(e); }
static inline void guide_exchange_laws(Element *e) { laws_exchange(e); }
static inline void guide_remember_laws(Element *e) { laws_remember(e); }

#else

static inline int guide_laws_changed(const Element *e) { return (void)e, 0; }
static inline void guide_exchange_laws(Element *e) { (void)e; }
static inline void guide_remember_laws(Element *e) { (void)e; }

#endif

static void guide_indicators(const Element *e, Indicators *z)
{
    end_indicators(e, z);
    damping_indicators(e, z);
}

static CcLine guide_line(void)
{
    CcLine line = {line_points, BODIES > 1 ? line_bodies : NULL, POINTS, CLOSED,
                   INTERPOLATION == INTERPOLATION_SPLINE, line_spacing[1]};
    return line;
}

static const CcCarrier *guide_carriers(const Guide *g) { return BODIES > 1 ? g->carriers : NULL; }

static void guide_to_world(Guide *g, const Real a[3], Real out[3]) { cc_to_world(g->world.R, a, out); }

/* Point and bodies in the coordinates of the guide. */
CC_APART void guide_see(const Element *e, Guide *g)
{
    const Real still[3] = {0.0, 0.0, 0.0}, upright[4] = {1.0, 0.0, 0.0, 0.0};
    Real arm[3], carried[3], v[3], w[3];
    for (int b = 0; b < BODIES; b++)
        cc_carrier(e->body[b].r, e->body[b].q, e->body[b].v, e->body[b].w, &g->carriers[b]);
    if (BODIES == 1)
        g->world = g->carriers[0];
    else
        cc_carrier(still, upright, still, still, &g->world);
    for (int k = 0; k < 3; k++) {
        arm[k] = e->point.r[k] - g->world.r[k];
        w[k] = e->point.w[k] - g->world.w[k];
    }
    cc_cross(g->world.w, arm, carried);
    for (int k = 0; k < 3; k++)
        v[k] = e->point.v[k] - (g->world.v[k] + carried[k]);
    cc_to_body(g->world.R, arm, g->P);
    cc_to_body(g->world.R, v, g->v_P);
    cc_to_body(g->world.R, w, g->turn);
}

/* Foot, shares of the force and velocities; outputs of the place on the line. */
CC_APART void guide_find(Element *e, Guide *g)
{
    CcLine line = guide_line();
    const CcCarrier *carriers = guide_carriers(g);
    cc_line_track(&line, carriers, g->P, g->v_P, (int)re(e->span), &g->foot);
    const Real *t = g->foot.tangent;
    Real zone = re(e->forceZone) > 0.0 ? e->forceZone : e->least_spacing;
    if (BODIES == 1 && COUPLE) { /* whatever the weights are */
        g->shares[0].weight = 1.0;
        for (int k = 0; k < 3; k++)
            g->shares[0].arm[k] = g->P[k];
    } else {
        cc_force_zone(&line, carriers, &g->foot, g->P, zone, COUPLE, BODIES, g->shares);
    }
    for (int k = 0; k < 3; k++)
        g->v_L[k] = 0.0;
    for (int b = 0; b < BODIES && BODIES > 1; b++) {
        Real turned[3];
        cc_cross(g->carriers[b].w, g->shares[b].arm, turned);
        for (int k = 0; k < 3; k++)
            g->v_L[k] += g->shares[b].weight * g->carriers[b].v[k] + turned[k];
    }
    for (int k = 0; k < 3; k++)
        g->v[k] = g->v_P[k] - g->v_L[k];
    g->v_long = cc_dot(g->v, t);
    for (int k = 0; k < 3; k++)
        g->v_tr[k] = g->v[k] - g->v_long * t[k];

    e->foot_span = g->foot.span;
    e->place = g->foot.place;
    e->margin = g->foot.margin;
    e->on = re(e->work) != 0.0 && g->foot.place == CC_LINE_ON;
    e->v_long = g->v_long;
    e->v_across = cc_norm(g->v_tr);
    Real bridged = 0.0, total = line_way[POINTS - 1], length; /* ways along the chords between bodies */
    Real before = 0.0;
    CcLinePoint a, b;
    for (int i = 0; i < BRIDGES; i++) {
        int span = (int)line_bridges[i];
        Real c[3];
        cc_line_point(&line, carriers, span, &a);
        cc_line_point(&line, carriers, cc_line_index(&line, span + 1), &b);
        for (int k = 0; k < 3; k++)
            c[k] = b.r[k] - a.r[k];
        length = cc_norm(c);
        bridged += length;
        if (span < g->foot.span)
            before += length;
    }
    e->s = line_way[g->foot.span] + before + g->foot.u * g->foot.length;
    total += bridged;
    e->inside[0] = g->foot.place == CC_LINE_BEFORE ? g->foot.passed[0] : e->s;
    e->inside[1] = g->foot.place == CC_LINE_BEYOND ? -g->foot.passed[1] : total - e->s;
    Real foot[3];
    guide_to_world(g, g->foot.point, foot);
    for (int k = 0; k < 3; k++)
        e->foot.r[k] = g->world.r[k] + foot[k];
}

/* Sums of all forces on all bodies, and of their moments about the origin. */
static void guide_balance(Element *e)
{
    Real sum[3], about[3], swung[3];
    cc_cross(e->point.r, e->point.f, about);
    for (int k = 0; k < 3; k++) {
        sum[k] = e->point.f[k];
        about[k] += e->point.t[k];
    }
    for (int b = 0; b < BODIES; b++) {
        cc_cross(e->body[b].r, e->body[b].f, swung);
        for (int k = 0; k < 3; k++) {
            sum[k] += e->body[b].f[k];
            about[k] += swung[k] + e->body[b].t[k];
        }
    }
    e->balance.force = cc_norm(sum);
    e->balance.moment = cc_norm(about);
}

static void guide_hold(Element *e, Guide *g);
static void guide_hold_powers(Element *e);

/* The elastic force F_r, damping and friction; all forces on all bodies, their powers and, on demand, their balance.
 * damping, brake  forces across and along the line over their speeds, N s/m
 * couple          moment on the body of the point about t, N m */
CC_APART void guide_act(Element *e, Guide *g, const Real F_r[3], Real damping, Real brake, Real couple, int on_demand)
{
    const Real *t = g->foot.tangent;
    Real on = e->on, full[3], speed = cc_abs(g->v_long), M[3], force[3], moment[3];
    for (int k = 0; k < 3; k++) {
        full[k] = F_r[k] - damping * g->v_tr[k];
        M[k] = on * couple * t[k];
    }
    brake *= on;
    e->friction_force = brake * speed;
    for (int k = 0; k < 3; k++)
        g->F[k] = on * full[k] - brake * g->v_long * t[k];
    guide_hold(e, g);

    Real crossing[3];
    for (int k = 0; k < 3; k++)
        crossing[k] = g->v_L[k] - g->foot.point_t[k];
    e->power.damping = on * damping * cc_dot(g->v_tr, g->v_tr);
    e->power.friction = e->friction_force * speed;
    e->power.interpolation = on * cc_dot(F_r, crossing);

    guide_to_world(g, g->F, force);
    guide_to_world(g, M, moment);
    for (int k = 0; k < 3; k++) {
        e->point.f[k] = force[k];
        e->point.t[k] = moment[k];
    }
    Real power = cc_dot(force, e->point.v) + cc_dot(moment, e->point.w);
    for (int b = 0; b < BODIES; b++) {
        Real local[3], turned[3];
        cc_cross(g->shares[b].arm, g->F, local);
        guide_to_world(g, local, turned);
        for (int k = 0; k < 3; k++) {
            e->body[b].f[k] = -g->shares[b].weight * force[k];
            e->body[b].t[k] = -turned[k] - g->shares[b].weight * moment[k];
        }
        power += cc_dot(e->body[b].f, e->body[b].v) + cc_dot(e->body[b].t, e->body[b].w);
    }
    e->power.work = -power;
    guide_hold_powers(e);
    if (on_demand)
        guide_balance(e);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void guide_search(Element *e)
{
    Guide g;
    CcLine line = guide_line();
    guide_see(e, &g);
    e->span = cc_line_search(&line, guide_carriers(&g), g.P);
}

#include "guide_check.h"

#if COUPLING
#include "guide_coupled.h"
#else
#include "guide_uncoupled.h"
#endif

#define GUIDE_NEAR 0.1 /* margin of the warning */
#define GUIDE_FAR 0.2  /* margin that ends it */

static void guide_remember(Element *e, const Guide *g)
{
    guide_record_remember(e);
    e->previous.on = e->on;
    for (int k = 0; k < 3; k++) {
        e->previous.P[k] = g->P[k];
        e->previous.foot[k] = g->foot.point[k];
    }
}

#if CC_GUIDE_SENSED

static inline void guide_book_stored(Element *e, Real stored) { e->power.stored = e->on * stored; }

/* Work of sensors on the springs, J. */
static inline Real guide_work_of_sensors(Element *e)
{
    e->energy.sensors = e->energy.elastic - e->energy.start + e->energy.switched - e->energy.stored;
    return e->energy.sensors;
}

#else

static inline void guide_book_stored(Element *e, Real stored) { (void)e, (void)stored; }

static inline Real guide_work_of_sensors(Element *e) { return (void)e, 0.0; }

#endif

/* The balances, when the energies of the element are known.  `stored`: power against F_r, W. */
static void guide_account(Element *e, Real stored, Real anisotropy, int on_demand)
{
    guide_book_stored(e, stored);
    if (!on_demand)
        return;
    e->energy.elastic = e->on * elastic_energy(e);
    Real sensors = guide_work_of_sensors(e);
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping - e->energy.friction
                         - anisotropy - e->energy.interpolation - e->energy.switched;
    if (CC_GUIDE_SENSED)
        e->energy.residual += sensors;
#endif
    (void)anisotropy, (void)sensors;
}

/* Books at an accepted point the energy removed by switching and by another law, and remembers the point and the law.
 * `step`: since the accepted point before, s.  Returns 1 if outputs depend on it. */
static int guide_book(Element *e, const Guide *g, CcHost *host, double step)
{
    Real was = e->previous.on, is = e->on, switched = 0.0;
    int turned = re(was) != re(is), changed = law_changed(e);
    if (turned || changed) {
        switched = -is * elastic_energy(e);
        exchange_law(e);
        switched += was * elastic_energy(e);
        exchange_law(e);
    }
    if (changed && !turned && re(is) != 0.0)
        switched = guide_change_law(e, g, switched);
    keep_law(e);
    if (turned)
        guide_record(e, host, step);
    guide_remember(e, g);
    e->energy.switched += switched;
    return LEDGER && (turned || re(switched) != 0.0);
}

/* Where the foot went: the span to track from, and what has to be reported.  Returns 1 if the foot was searched for
 * anew. */
static int guide_accept(Element *e, CcHost *host, Guide *g)
{
    int was = re(e->previous.on) != 0.0, searched = 0, place = (int)re(e->place), started = re(e->started) != 0.0;
    if (place == CC_LINE_ON && !was && re(e->on) != 0.0 && started) {
        double span = re(e->foot_span);
        guide_search(e);
        outputs(e);
        searched = re(e->foot_span) != span;
        place = (int)re(e->place);
    }
    guide_see(e, g);
    guide_find(e, g);
    if (place == CC_LINE_LOST || !(re(e->margin) > 0.0)) {
        cc_fail(host, "the point at (%g, %g, %g) m has no foot on the line: it lies on the evolute, as far from the "
                "line as its centre of curvature; a stiffer guide keeps it nearer", re(g->P[0]), re(g->P[1]),
                re(g->P[2]));
        return searched;
    }
    if (place == CC_LINE_ON) {
        int near = re(e->margin) < (re(e->previous.near) != 0.0 ? GUIDE_FAR : GUIDE_NEAR);
        if (near && re(e->previous.near) == 0.0)
            cc_report(host, CC_WARNING, "guide", "the point comes close to the evolute of the line, where its foot "
                      "jumps: margin %g, at s = %g m", re(e->margin), re(e->s));
        e->previous.near = near;
        guide_check_around(e, g, host);
        double moved = 0.0, way = 0.0;
        for (int k = 0; k < 3; k++) {
            double a = re(g->P[k] - e->previous.P[k]), b = re(g->foot.point[k] - e->previous.foot[k]);
            moved += a * a;
            way += b * b;
        }
        moved = __builtin_sqrt(moved);
        way = __builtin_sqrt(way);
        if (was && !searched && way > moved / GUIDE_NEAR + 2.0 * re(g->foot.length))
            cc_report(host, CC_WARNING, "guide", "the foot moved by %g m while the point moved by %g m: the point has "
                      "passed the evolute of the line", way, moved);
        e->span = e->foot_span;
    } else {
        /* Off: it comes back through the plane at the nearer end. */
        CcLine line = guide_line();
        CcLinePoint first, last;
        cc_line_point(&line, guide_carriers(g), 0, &first);
        cc_line_point(&line, guide_carriers(g), POINTS - 1, &last);
        double near_first = 0.0, near_last = 0.0;
        for (int k = 0; k < 3; k++) {
            double a = re(g->P[k] - first.r[k]), b = re(g->P[k] - last.r[k]);
            near_first += a * a;
            near_last += b * b;
        }
        e->span = near_first <= near_last ? 0.0 : (double)(cc_line_spans(&line) - 1);
    }
    if (started && was != (place == CC_LINE_ON) && re(e->work) != 0.0)
        cc_report(host, CC_INFO, "guide",
                  place == CC_LINE_ON ? "the point comes onto the line at s = %g m, %g m from it"
                                      : "the point leaves the line at s = %g m, %g m from it",
                  re(e->s), re(cc_norm(g->foot.away)));
    e->started = 1.0;
    return searched;
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* After guide_search, and with the element's own memory set. */
static void guide_start(Element *e)
{
    Guide g;
    e->least_spacing = guide_least_spacing(e);
    e->started = e->previous.near = e->previous.uneven = 0.0;
    e->energy.switched = 0.0;
    guide_release(e);
    outputs(e);
    guide_see(e, &g);
    guide_find(e, &g);
    e->energy.start = e->energy.elastic;
    keep_law(e);
    guide_remember(e, &g);
    guide_record_start(e);
    guide_start_coupling(e, &g);
}

#endif
