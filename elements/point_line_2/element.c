/* A point guided along a line of points, with two transverse forces: EULER's forcePointLine2.
 *
 * What it shares with other guides, and all signs of its coordinates: guide.h.  Foot: line_foot.h; axes V1, V2 in the
 * base plane from the unit vector a = VectorFr1, carried by the body of the point: base_plane.h.
 *
 * Displacements, m       delta_i = (P - FLP) V_i
 * Elastic forces, N      F_ri = k_ri delta_i          F_r = -F_r1 V1 - F_r2 V2
 * Elastic energy, J      U = (k_r1 delta1^2 + k_r2 delta2^2)/2
 * Full forces, N         P1 = F_r1 - F_d V1,  P2 = F_r2 - F_d V2,  P^2 = P1^2 + P2^2
 *
 * Unlike forces whose axes turn at the rate sigma from V1 to V2 take the power
 *   sigma tau,  tau = F_r2 delta1 - F_r1 delta2                                 zero for equal stiffness
 * which energy.anisotropy books.  `consistent_moment` puts the moment side tau t on the body of the point, and its
 * reaction on those of the line: what is left is the part of a line whose direction changes under axes that do not
 * stand across it.
 *
 * The sign `side` of V2 is that of VectorFr2 at the start, and stays.
 *
 * Source: EULER manual, forcePointLine2; energy balance derived. */
#include "guide.h"

#define LEAST_SHARE 0.05 /* sine of the angle between axis and line, at the start */
#define LEAST_SIDE 1e-6  /* part of VectorFr2 along V2, at the start: more than rounding */
#define GOOD_SHARE 0.2   /* below this a warning: small turns of the line turn the axes far */

static void axes_of(const Element *e, const Guide *g, CcBasePlane *plane)
{
    Real a[3], a_t[3];
    for (int k = 0; k < 3; k++)
        a[k] = g->body[k][0] * e->axis[0] + g->body[k][1] * e->axis[1] + g->body[k][2] * e->axis[2];
    cc_cross(g->turn, a, a_t);
    cc_base_plane(a, a_t, re(e->side), &g->foot, plane);
}

static void outputs(Element *e)
{
    Guide g;
    CcBasePlane plane;
    guide_see(e, &g);
    guide_find(e, &g);
    axes_of(e, &g, &plane);
    Real on = e->on, delta1 = plane.delta1, delta2 = plane.delta2, F_r[3];
    Real F_r1 = e->k_r1 * delta1, F_r2 = e->k_r2 * delta2;
    for (int k = 0; k < 3; k++)
        F_r[k] = -F_r1 * plane.V1[k] - F_r2 * plane.V2[k];
    Real tau = (e->k_r2 - e->k_r1) * delta1 * delta2, moment = CONSISTENT_MOMENT ? re(e->side) * tau : (Real)0.0;
    guide_act(e, &g, F_r, moment);

    e->displacement[0] = delta1;
    e->displacement[1] = delta2;
    e->share = plane.share;
    e->delta1 = on * delta1;
    e->delta2 = on * delta2;
    e->F_r1 = on * F_r1;
    e->F_r2 = on * F_r2;
    e->P1 = on * (F_r1 + e->normDamp * cc_dot(g.v_tr, plane.V1));
    e->P2 = on * (F_r2 + e->normDamp * cc_dot(g.v_tr, plane.V2));
    e->energy.elastic = on * 0.5 * (F_r1 * delta1 + F_r2 * delta2);
    Real turn[3] = {g.turn[0], g.turn[1], g.turn[2]}; /* of the point's body relative to the line */
    for (int b = 0; b < BODIES && BODIES > 1; b++)
        for (int k = 0; k < 3; k++)
            turn[k] -= g.shares[b].weight * g.carriers[b].w[k];
    e->power.anisotropy = on * (plane.spin * tau - moment * cc_dot(turn, g.foot.tangent));
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping - e->energy.friction
                         - e->energy.anisotropy - e->energy.interpolation - e->energy.switched;
#endif
}

static void indicators(const Element *e, double z[CC_INDICATORS])
{
#if !CLOSED
    *z++ = re(e->inside[0]);
    *z++ = re(e->inside[1]);
#endif
    *z = re(e->k_T * cc_abs(e->v_long)) - 1.0;
}

/* VectorFr1 as the body of the point carries it, and the side of V2; the part of VectorFr2 along V2 is returned, 1. */
static double freeze_axes(Element *e)
{
    Guide g;
    CcLine line = guide_line();
    CcBasePlane plane;
    Real axis[3], second[3], seen[3];
    guide_see(e, &g);
    Real first = cc_norm(e->VectorFr1), other = cc_norm(e->VectorFr2);
    for (int k = 0; k < 3; k++) {
        axis[k] = re(first) > 0.0 ? e->VectorFr1[k] / first : (Real)0.0;
        second[k] = re(other) > 0.0 ? e->VectorFr2[k] / other : (Real)0.0;
    }
    cc_to_body(g.world.R, axis, seen);
    cc_to_body(g.body, seen, e->axis);
    cc_line_track(&line, guide_carriers(&g), g.P, g.v_P, (int)re(e->span), &g.foot);
    e->side = 1.0;
    axes_of(e, &g, &plane);
    cc_to_body(g.world.R, second, seen);
    double along = re(cc_dot(seen, plane.V2));
    e->side = along < 0.0 ? -1.0 : 1.0;
    e->share = plane.share;
    return along < 0.0 ? -along : along;
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
        cc_fail(host, "VectorFr1 = (%g, %g, %g) points along the line: the sine of the angle between them is %g and must "
                "be at least 0.05", re(first[0]), re(first[1]), re(first[2]), share);
    else if (along < LEAST_SIDE)
        cc_fail(host, "VectorFr2 = (%g, %g, %g) does not tell on which side delta2 is positive: its part across VectorFr1 "
                "and the line is %g and must be at least 1e-6", re(second[0]), re(second[1]), re(second[2]), along);
}

static void start(Element *e)
{
    guide_start(e);
    guide_search(e);
    freeze_axes(e);
    outputs(e);
    Guide g;
    guide_see(e, &g);
    guide_find(e, &g);
    e->energy.start = e->energy.elastic;
    e->previous.k_r1 = e->k_r1;
    e->previous.k_r2 = e->k_r2;
    guide_remember(e, &g);
}

/* Energy of the present displacements, J. */
static Real energy_of(const Element *e, Real k_r1, Real k_r2)
{
    return 0.5 * (k_r1 * e->displacement[0] * e->displacement[0] + k_r2 * e->displacement[1] * e->displacement[1]);
}

static int accept(Element *e, CcHost *host, double step)
{
    Guide g;
    Real was = e->previous.on;
    if (step == 0.0 && re(e->share) < GOOD_SHARE)
        cc_report(host, CC_WARNING, "guide", "VectorFr1 is nearly along the line: the sine of the angle between them is %g",
                  re(e->share));
    int searched = guide_accept(e, host, &g);
    Real switched = was * energy_of(e, e->previous.k_r1, e->previous.k_r2) - e->on * energy_of(e, e->k_r1, e->k_r2);
    e->previous.k_r1 = e->k_r1;
    e->previous.k_r2 = e->k_r2;
    guide_remember(e, &g);
    e->energy.switched += switched;
    return searched || (LEDGER && re(switched) != 0.0);
}
