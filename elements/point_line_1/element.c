/* A point guided along a line of points, with one force towards it: EULER's forcePointLine1.
 *
 * Common parts of guides, and all signs of coordinates: guide.h.  Foot: line_foot.h.
 *
 * Displacement, m        d = part of P - FLP across the line,  delta = |d|
 * Elastic force, N       F_r = -k_r d                        of a law f_r: -f_r(delta) d/delta, at delta = 0 its slope
 * Elastic energy, J      U = k_r delta^2/2                   of a law its integral over delta from 0
 * Full force, N          P = |F_r + F_d|
 *
 * The force has no axis but d, so it is the same however the bodies turn about the line, and takes no moment.
 *
 * Laws of the recipe take the places of k_r delta (f_r, with the sensors), of normDamp |v_tr| and of the whole friction
 * force (F_fr of P, |v_long| and the sensors).
 *
 * Source: EULER manual, forcePointLine2, which is described by its differences from forcePointLine1. */
#define CC_GUIDE_LAW SLOT_F_R
#include "shared/guide.h"
#include F_R_FILE
#include F_FR_FILE

static void forces(Element *e, int on_demand)
{
    Guide g;
    guide_see(e, &g);
    guide_find(e, &g);
    const Real *away = g.foot.away, *t = g.foot.tangent;
    Real along = cc_dot(away, t), d[3], F_r[3], full[3], stored = 0.0;
    for (int k = 0; k < 3; k++)
        d[k] = away[k] - along * t[k];
    Real delta = cc_norm(d), c = stiffness(e, delta), damping = guide_damping(e, &g);
    for (int k = 0; k < 3; k++) {
        F_r[k] = -c * d[k];
        full[k] = F_r[k] - damping * g.v_tr[k];
        stored += c * d[k] * (g.v_P[k] - g.foot.point_t[k]);
    }
    Real P = cc_norm(full);
    guide_act(e, &g, F_r, damping, friction_per_speed(e, &g, P), 0.0, on_demand);
    e->displacement = delta;
    e->delta = e->on * delta;
    e->F_r = e->on * c * delta;
    e->P = e->on * P;
    guide_account(e, stored, 0.0, on_demand);
}

static void outputs(Element *e) { forces(e, 1); }
static void rates(Element *e) { forces(e, 0); }

#if COUPLING && !defined CC_DUAL

static void guide_potential(Element *e, Guide *g, const CcLineFoot *foot, CcPotential *at)
{
    const double *t = foot->tangent, *away = foot->away;
    double along = cc_dot(away, t), d[3], least = 2.0;
    int k_least = 0;
    (void)g;
    for (int k = 0; k < 3; k++) {
        d[k] = away[k] - along * t[k];
        if (cc_abs(t[k]) < least)
            least = cc_abs(t[k]), k_least = k;
    }
    double delta = cc_norm(d);
    for (int k = 0; k < 3 && !(delta > 1e-12); k++) /* any direction across */
        d[k] = (k == k_least) - t[k_least] * t[k];
    double length = cc_norm(d), c = stiffness(e, delta);
    for (int k = 0; k < 3; k++) {
        at->V[0][k] = d[k] / length;
        at->gradient[k] = delta > 1e-12 ? c * d[k] : 0.0;
    }
    at->leak = -cc_dot(at->gradient, foot->point_t);
    cc_cross(t, at->V[0], at->V[1]);
    e->displacement = delta;
    at->U = elastic_energy(e);
    at->k[0] = at->k[1] = stiffness(e, delta > 1e-6 ? delta : 1e-6);
}

static double guide_rub(Element *e, const Guide *g, const double across[2])
{
    return friction_per_speed(e, g, cc_sqrt(across[0] * across[0] + across[1] * across[1]));
}

#endif

static void indicators(const Element *e, Indicators *z)
{
    guide_indicators(e, z);
    elastic_indicators(e, z);
    friction_indicators(e, z);
}

static void check(const Element *e, CcHost *host) { guide_check_line(e, host); }

static void start(Element *e)
{
    guide_search(e);
    guide_start(e);
}

static int accept(Element *e, CcHost *host, double step)
{
    Guide g;
    int searched = guide_accept(e, host, &g);
    return guide_book(e, &g, host, step) || searched;
}
