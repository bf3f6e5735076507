/* Contact of points with a surface: EULER's contactPS.  Law: contact.h; surfaces: surface.h.
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
 * Source: EULER manual, contactPS. */
#include "contact.h"
#include "surface.h"

static CcContactLaw law_of(const Element *e)
{
    CcContactLaw law = {e->C_F, e->K_fr, e->C_r, e->k_D, e->k_E, e->k_T};
    return law;
}

/* One point: all that belongs to index i, and its share of the reaction and of the powers. */
static void point_outputs(Element *e, int i, const CcContactLaw *law, Real R[3][3])
{
    const Real *P = e->point[i].r;
    Real arm[3], carried[3], v[3], n[3];
    for (int k = 0; k < 3; k++)
        arm[k] = P[k] - e->surface.r[k];
    int on = surface_foot(e, i, arm, R, n);
    Real h = -e->distance[i];
    cc_cross(e->surface.w, arm, carried);
    for (int k = 0; k < 3; k++) {
        v[k] = e->point[i].v[k] - (e->surface.v[k] + carried[k]);
        e->normal[i][k] = n[k];
        e->contact[i].r[k] = P[k] + h * n[k];
    }
    int in_contact = re(e->work) != 0.0 && on && re(h) > 0.0 && re(h) <= re(e->D_max);
    Real w = -cc_dot(v, n);
    CcContact contact;
    cc_contact(law, in_contact ? h : 0.0, n, v, &contact);

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

    e->energy.elastic += contact.elastic_energy;
    e->power.damping += contact.damping_force * w;
    e->power.friction += contact.friction_force * contact.slip_speed;
    Real moment[3];
    cc_cross(arm, contact.force, moment);
    for (int k = 0; k < 3; k++) {
        e->point[i].f[k] = contact.force[k];
        e->surface.f[k] -= contact.force[k];
        e->surface.t[k] -= moment[k];
    }
    e->power.work -= cc_dot(contact.force, e->point[i].v);
}

static void outputs(Element *e)
{
    CcContactLaw law = law_of(e);
    Real R[3][3];
    cc_rotation(e->surface.q, R);
    e->energy.elastic = e->power.damping = e->power.friction = e->power.work = 0.0;
    for (int k = 0; k < 3; k++)
        e->surface.f[k] = e->surface.t[k] = 0.0;
    for (int i = 0; i < POINTS; i++)
        point_outputs(e, i, &law, R);
    e->power.work -= cc_dot(e->surface.f, e->surface.v) + cc_dot(e->surface.t, e->surface.w);
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping
                         - e->energy.friction - e->energy.switched;
#endif
}

static void indicators(const Element *e, double z[CC_INDICATORS])
{
    for (int i = 0; i < POINTS; i++) {
        double loss = re(1.0 - e->C_r * e->C_r), delta = re(1.0 - e->k_E + e->C_r * e->C_r * e->k_E);
        double ratio = re(e->k_D * e->depth_rate[i]);
        *z++ = re(e->distance[i]);
        *z++ = re(e->distance[i] + e->D_max);
        z = surface_edges(e, i, z);
        *z++ = re(e->depth_rate[i]);
        *z++ = ratio - loss * re(e->k_E) / delta;
        *z++ = ratio + loss * (1.0 - re(e->k_E)) / delta;
        *z++ = re(e->k_T * e->slip_speed[i]) - 1.0;
    }
}

static void start(Element *e)
{
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->energy.switched = 0.0;
    e->previous_stiffness = e->C_F;
    for (int i = 0; i < POINTS; i++) {
        e->previous[i].in_contact = e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        keep_foot(e, i);
        e->contact_count[i] = e->in_contact[i];
        e->peak_force[i] = e->normal_force[i];
    }
}

/* Elastic energy at depth h for the stiffness C, J. */
static double energy_at(double C, double h) { return 0.5 * C * h * h; }

/* A contact that was on and is off: booked unless the point left through the surface.  Energy is destroyed where the
 * point passed D_max, or where it is now: off the drawn part, switched off, or behind a D_max that was made smaller. */
static double end_of_contact(const Element *e, int i, CcHost *host)
{
    double h = -re(e->distance[i]), limit = re(e->D_max);
    if (h <= 0.0)
        return 0.0;
    if (h > limit) {
        cc_report(host, CC_WARNING, "contact",
                  "point %d passed the limit depth: depth %g m is greater than D_max = %g m, "
                  "its forces are off; a larger C_F or D_max keeps the contact", i + 1, h, limit);
        h = -re(e->previous[i].distance) > limit ? h : limit;
    }
    return energy_at(re(e->previous_stiffness), h);
}

/* A contact that was off and is on: energy comes from nothing unless the point came in through the surface. */
static double begin_of_contact(const Element *e, int i, CcHost *host, double step)
{
    double h = -re(e->distance[i]), w = re(e->depth_rate[i]), reach = 1.5 * (w < 0.0 ? -w : w) * step;
    int from_outside = re(e->previous[i].distance) >= 0.0;
    int plausible = h <= (reach > 1e-9 ? reach : 1e-9) && w >= 0.0;
    if (!plausible)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: contact begins at the depth %g m with the depth rate %g m/s, which "
                  "it cannot have reached through the surface; if it came from the inner side, turn the surface round",
                  i + 1, h, w);
    return from_outside && plausible ? 0.0 : -energy_at(re(e->C_F), h);
}

static int accept(Element *e, CcHost *host, double step)
{
    double switched = 0.0;
    for (int i = 0; i < POINTS; i++) {
        int was = re(e->previous[i].in_contact) != 0.0, is = re(e->in_contact[i]) != 0.0;
        if (step == 0.0 && is)
            cc_report(host, CC_INFO, "contact", "point %d is in contact at the start, %g m deep", i + 1,
                      re(e->depth[i]));
        if (was && !is)
            switched += end_of_contact(e, i, host);
        if (!was && is) {
            switched += begin_of_contact(e, i, host, step);
            e->contact_count[i] += 1.0;
        }
        if (was && is && re(e->previous_stiffness) != re(e->C_F))
            switched += energy_at(re(e->previous_stiffness - e->C_F), re(e->depth[i]));
        e->peak_force[i] = cc_max(e->peak_force[i], e->normal_force[i]);
        e->previous[i].in_contact = e->in_contact[i];
        e->previous[i].distance = e->distance[i];
        keep_foot(e, i);
    }
    e->previous_stiffness = e->C_F;
    e->energy.switched += switched;
    return LEDGER && switched != 0.0;
}
