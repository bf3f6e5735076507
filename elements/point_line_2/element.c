/* A point guided along a line of points, with two transverse forces: EULER's forcePointLine2.
 *
 * Common parts of guides, and all signs of coordinates: guide.h.  Foot: line_foot.h; axes V1, V2 in the base plane from
 * the unit vectors a, b of VectorFr1, VectorFr2 as the body of the point carries them: base_plane.h.
 *
 * Displacements, m       delta_i = (P - FLP) V_i
 * Elastic forces, N      F_ri = k_ri delta_i          F_r = -F_r1 V1 - F_r2 V2
 * Elastic energy, J      U = (k_r1 delta1^2 + k_r2 delta2^2)/2, of laws the integrals of f_ri over delta_i from 0
 * Full forces, N         P1 = F_r1 - F_d V1,  P2 = F_r2 - F_d V2,  P^2 = P1^2 + P2^2
 *
 * Different forces whose axes turn at the rate sigma from V1 to V2 take the power
 *   sigma tau,  tau = F_r2 delta1 - F_r1 delta2                                 zero for equal stiffness
 * which energy.anisotropy books.  `consistent_moment` puts the moment side tau t on the body of the point, and its
 * reaction on those of the line: what is left is the part of a line whose direction changes under axes that do not
 * stand across it.
 *
 * Laws of the recipe take the places of k_ri delta_i (f_r1, f_r2, with the sensors), of normDamp |v_tr| and of the
 * whole friction force (F_fr2 of P1, P2, |v_long| and the sensors).  The energy of laws f_ri is counted from 0 where
 * the point comes onto the line, as the integral of their forces over the displacements.
 *
 * Sides of the axes: the source creates VectorFr1*, VectorFr2* on the body of the point, equal to VectorFr1, VectorFr2
 * at the start.  "V1 is determined as the projection of VectorFr1* on the base plane.  V2 lies in the base plane; it is
 * perpendicular to V1 and directed towards VectorFr2*" (forcePointLine2, Description).  So both sides are those of now:
 * V1 a > 0, V2 b > 0.  Where t, a and b come to lie in one plane an axis turns over (base_plane.h); unless its law is
 * odd the force jumps there, and energy.switched books U before - U after at that place.
 *
 * Source: EULER manual, forcePointLine2; energy balance derived. */
#define CC_GUIDE_LAW (SLOT_F_R1 || SLOT_F_R2)
#include "shared/guide.h"
#include F_R1_FILE
#include F_R2_FILE
#include F_FR2_FILE

#define LEAST_SHARE 0.05 /* sine of the angle between axis and line, at the start */
#define LEAST_SIDE 1e-6  /* part of VectorFr2 along V2, at the start: more than rounding */
#define GOOD_SHARE 0.2   /* below this a warning: small turns of the line turn the axes far */

/* turn: of the point's body relative to the line, rad/s */
static void axes_of(const Element *e, Guide *g, const CcLineFoot *foot, const Real turn[3], CcBasePlane *plane)
{
    Real R[3][3], world[3], a[3], b[3];
    cc_rotation(e->point.q, R);
    cc_to_world(R, e->first_axis, world);
    cc_to_body(g->world.R, world, a);
    cc_to_world(R, e->second_axis, world);
    cc_to_body(g->world.R, world, b);
    cc_base_plane(a, b, turn, foot, plane);
}

static Real elastic_energy(const Element *e) { return first_energy(e) + second_energy(e); }

/* The law, and the side of the axis that turned over since the last accepted point. */
static int law_changed(const Element *e)
{
    return re(e->side) != re(e->previous.side) || guide_laws_changed(e) || first_changed(e) || second_changed(e);
}

static void exchange_law(Element *e)
{
    if (re(e->side) != re(e->previous.side))
        e->displacement[re(cc_dot(e->V1, e->previous.V1)) < 0.0 ? 0 : 1] *= -1.0;
    guide_exchange_laws(e);
    exchange_first(e);
    exchange_second(e);
}

static void keep_law(Element *e)
{
    e->previous.side = e->side;
    for (int k = 0; k < 3; k++)
        e->previous.V1[k] = e->V1[k];
    guide_remember_laws(e);
    keep_first(e);
    keep_second(e);
}

#if CC_GUIDE_LAW

/* tau, N m, of the forces F_r1, F_r2 at delta1, delta2. */
static Real torsion(const Element *e, const Real F_r[2], Real delta1, Real delta2)
{
    return (void)e, F_r[1] * delta1 - F_r[0] * delta2;
}

#else

/* tau, N m: exactly 0 for equal stiffness. */
static Real torsion(const Element *e, const Real F_r[2], Real delta1, Real delta2)
{
    return (void)F_r, (e->k_r2 - e->k_r1) * delta1 * delta2;
}

#endif

#if LEDGER
static inline Real energy_of_anisotropy(const Element *e) { return e->energy.anisotropy; }
#else
static inline Real energy_of_anisotropy(const Element *e) { return (void)e, 0.0; }
#endif

static void forces(Element *e, int on_demand)
{
    Guide g;
    CcBasePlane plane;
    guide_see(e, &g);
    guide_find(e, &g);
    axes_of(e, &g, &g.foot, g.turn, &plane);
    Real on = e->on, delta1 = plane.delta1, delta2 = plane.delta2, F_r[3];
    Real F_r1 = first_force(e, delta1), F_r2 = second_force(e, delta2);
    for (int k = 0; k < 3; k++)
        F_r[k] = -F_r1 * plane.V1[k] - F_r2 * plane.V2[k];
    Real tau = torsion(e, (const Real[2]){F_r1, F_r2}, delta1, delta2);
    Real moment = CONSISTENT_MOMENT ? plane.side * tau : (Real)0.0, damping = guide_damping(e, &g);
    Real P1 = F_r1 + damping * cc_dot(g.v_tr, plane.V1), P2 = F_r2 + damping * cc_dot(g.v_tr, plane.V2);
    guide_act(e, &g, F_r, damping, friction_per_speed(e, &g, P1, P2), moment, on_demand);

    e->displacement[0] = delta1;
    e->displacement[1] = delta2;
    e->share = plane.share;
    e->side = plane.side;
    e->handedness = plane.handedness;
    for (int k = 0; k < 3; k++)
        e->V1[k] = plane.V1[k];
    e->delta1 = on * delta1;
    e->delta2 = on * delta2;
    e->F_r1 = on * F_r1;
    e->F_r2 = on * F_r2;
    e->P1 = on * P1;
    e->P2 = on * P2;
    Real turn[3] = {g.turn[0], g.turn[1], g.turn[2]}; /* of the point's body relative to the line */
    for (int b = 0; b < BODIES && BODIES > 1; b++)
        for (int k = 0; k < 3; k++)
            turn[k] -= g.shares[b].weight * g.carriers[b].w[k];
    e->power.anisotropy = on * (plane.spin * tau - moment * cc_dot(turn, g.foot.tangent));
    Real slip[3], stored = 0.0;
    for (int k = 0; k < 3; k++)
        slip[k] = g.v_P[k] - g.foot.point_t[k];
    stored += F_r1 * (cc_dot(slip, plane.V1) + plane.spin * delta2);
    stored += F_r2 * (cc_dot(slip, plane.V2) - plane.spin * delta1);
    guide_account(e, stored, energy_of_anisotropy(e), on_demand);
}

static void outputs(Element *e) { forces(e, 1); }
static void rates(Element *e) { forces(e, 0); }

#if COUPLING && !defined CC_DUAL

/* The axes of another foot on the sides that they have at the sample: nothing jumps within an interval. */
static void keep_sides(const Element *e, CcBasePlane *plane)
{
    double first = cc_dot(plane->V1, e->V1) < 0.0 ? -1.0 : 1.0, second = first * e->side * plane->side;
    for (int k = 0; k < 3; k++) {
        plane->V1[k] *= first;
        plane->V2[k] *= second;
    }
    plane->delta1 *= first;
    plane->delta2 *= second;
    plane->spin *= first * second;
}

/* VectorFr1 and VectorFr2 are those of the sample: the body of the point turns little in an interval. */
static void guide_potential(Element *e, Guide *g, const CcLineFoot *foot, CcPotential *at)
{
    const double still[3] = {0.0, 0.0, 0.0};
    CcBasePlane plane;
    axes_of(e, g, foot, still, &plane);
    keep_sides(e, &plane);
    double delta[2] = {plane.delta1, plane.delta2};
    double F[2] = {first_force(e, delta[0]), second_force(e, delta[1])};
    e->displacement[0] = delta[0], e->displacement[1] = delta[1];
    at->U = elastic_energy(e);
    at->leak = plane.spin * (F[0] * delta[1] - F[1] * delta[0]);
    for (int k = 0; k < 3; k++) {
        at->gradient[k] = F[0] * plane.V1[k] + F[1] * plane.V2[k];
        at->leak -= at->gradient[k] * foot->point_t[k];
        at->V[0][k] = plane.V1[k], at->V[1][k] = plane.V2[k];
    }
    for (int i = 0; i < 2; i++) { /* of a law: its mean slope up to here, at the line over a micrometre */
        double far = cc_abs(delta[i]) > 1e-6 ? delta[i] : 1e-6;
        at->k[i] = (i ? second_force(e, far) : first_force(e, far)) / far;
        at->k[i] = at->k[i] > 0.0 ? at->k[i] : 0.0;
    }
}

static double guide_rub(Element *e, const Guide *g, const double across[2])
{
    return friction_per_speed(e, g, across[0], across[1]);
}

#endif

static void indicators(const Element *e, Indicators *z)
{
    guide_indicators(e, z);
    z->turn_over = re(e->handedness);
    first_indicators(e, z);
    second_indicators(e, z);
    friction_indicators(e, z);
}

/* VectorFr1 and VectorFr2 as the body of the point carries them; the part of VectorFr2 along V2 is returned, 1. */
static double freeze_axes(Element *e)
{
    Guide g;
    CcLine line = guide_line();
    CcBasePlane plane;
    Real R[3][3], first[3], second[3], seen[3];
    guide_see(e, &g);
    Real length1 = cc_norm(e->VectorFr1), length2 = cc_norm(e->VectorFr2);
    for (int k = 0; k < 3; k++) {
        first[k] = re(length1) > 0.0 ? e->VectorFr1[k] / length1 : (Real)0.0;
        second[k] = re(length2) > 0.0 ? e->VectorFr2[k] / length2 : (Real)0.0;
    }
    cc_rotation(e->point.q, R);
    cc_to_body(R, first, e->first_axis);
    cc_to_body(R, second, e->second_axis);
    cc_line_track(&line, guide_carriers(&g), g.P, g.v_P, (int)re(e->span), &g.foot);
    axes_of(e, &g, &g.foot, g.turn, &plane);
    cc_to_body(g.world.R, second, seen);
    e->share = plane.share;
    return re(cc_dot(seen, plane.V2));
}

static void check(const Element *e, CcHost *host)
{
    if (re(e->started) != 0.0)
        return;
    guide_check_line(e, host);
    Element start = *e;
    guide_search(&start);
    double along = freeze_axes(&start), share = re(start.share);
    const Real *first = e->VectorFr1, *second = e->VectorFr2;
    if (share < LEAST_SHARE)
        cc_fail(host, "VectorFr1 = (%g, %g, %g) points along the line: the sine of the angle between them is %g and "
                "must be at least 0.05", re(first[0]), re(first[1]), re(first[2]), share);
    else if (along < LEAST_SIDE)
        cc_fail(host, "VectorFr2 = (%g, %g, %g) does not determine the sign of delta2: its part across "
                "VectorFr1 and the line is %g and must be at least 1e-6", re(second[0]), re(second[1]), re(second[2]),
                along);
}

static void start(Element *e)
{
    guide_search(e);
    freeze_axes(e);
    guide_start(e);
}

static int accept(Element *e, CcHost *host, double step)
{
    Guide g;
    if (step == 0.0 && re(e->share) < GOOD_SHARE)
        cc_report(host, CC_WARNING, "guide", "VectorFr1 is nearly along the line: the sine of the angle between "
                  "them is %g",
                  re(e->share));
    int searched = guide_accept(e, host, &g), turned = re(e->side) != re(e->previous.side);
    int axis = re(cc_dot(e->V1, e->previous.V1)) < 0.0 ? 1 : 2;
    double before = re(e->energy.switched);
    int changed = guide_book(e, &g, host, step);
    double lost = re(e->energy.switched) - before;
    if (turned && re(e->on) != 0.0)
        cc_report(host, lost != 0.0 ? CC_WARNING : CC_INFO, "guide", "V%d turns over at s = %g m, where VectorFr1 and "
                  "VectorFr2, as the body of the point carries them, and the line lie in one plane: this takes %g J",
                  axis, re(e->s), lost);
    return changed || searched;
}
