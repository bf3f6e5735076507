/* Impact damper: a loose mass m between the two walls of a housing, along one axis.
 *
 *     x' = v = w - v_p        m w' = -s N        F_p = s N
 *
 * x position of the mass in the housing, m, 0 in the middle      w, v_p velocities of mass and housing, m/s
 * h = |x| - gap/2 depth in a wall, m, contact while h > 0        s = sign x: the wall that is touched
 * N normal force of contact.h at the depth h and the depth rate s v, N, without friction
 * F_p force on the body of the housing, N: the mass pushes the right wall to the right.
 *
 * Impulse of F_p since the start, N.s: m (w0 - w), of which masters that solve for forces take the mean of a step.
 *
 * Energies, J: kinetic m w^2/2, elastic U = C_F h^2/2, damping int F_d s v dt; the body of the housing supplies the
 * power -F_p v_p = (kinetic + U)' + F_d s v.  Energy removed or added by `work` and changed parameters is booked in
 * energy.switched:  work = kinetic + U - start + damping + switched.   element.py is the same in Python. */
#include "laws/contact.h"

static Real stiffness(const Element *e) { return re(e->work) != 0.0 ? e->C_F : 0.0; }

static CcContactLaw law_of(const Element *e)
{
    return (CcContactLaw){.C_F = stiffness(e), .C_r = e->C_r, .k_D = e->k_D, .k_E = e->k_E};
}

static Real depth(const Element *e, Real gap) { return cc_max(cc_abs(e->x) - 0.5 * gap, 0.0); }

static void outputs(Element *e)
{
    Real s = re(e->x) < 0.0 ? -1.0 : 1.0, h = depth(e, e->gap);
    CcContactLaw law = law_of(e);
    CcContact contact;
    e->v = e->w - e->p.v;
    Real n[3] = {-s, 0.0, 0.0}, v[3] = {e->v, 0.0, 0.0};
    cc_contact(&law, h, n, v, &contact);
    e->depth = re(e->work) != 0.0 ? h : 0.0;
    e->normal_force = contact.normal_force;
    e->p.F = -contact.force[0];
    e->impulse.p = e->m * (e->w0 - e->w);
    e->energy.kinetic = 0.5 * e->m * e->w * e->w;
    e->energy.elastic = contact.elastic_energy;
    e->power.damping = contact.damping_force * s * e->v;
    e->power.work = -e->p.F * e->p.v;
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.kinetic + e->energy.elastic - e->energy.start)
                         - e->energy.damping - e->energy.switched;
#endif
}

static void derivatives(Element *e) { e->der.w = -e->p.F / e->m; }

static void indicators(const Element *e, Indicators *z)
{
    double x = re(e->x), half = 0.5 * re(e->gap);
    CcContactLaw law = law_of(e);
    z->right_wall = half - x;
    z->left_wall = half + x;
    z->turn = re(e->v);
    cc_damping_sides(&law, e->v, &z->right_restitution_limit, &z->right_compression_limit);
    cc_damping_sides(&law, -e->v, &z->left_restitution_limit, &z->left_compression_limit);
}

static void remember(Element *e)
{
    e->previous.depth = e->depth;
    e->previous.w = e->w;
    e->previous.mass = e->m;
    e->previous.gap = e->gap;
    e->previous.stiffness = stiffness(e);
}

/* The walls touch or leave the mass at an event, which is an accepted point: its time is that of the event.  The
 * impulse is the change of the momentum m w since the accepted point before, m as it was in between. */
static void record_contact(Element *e, CcHost *host)
{
    int was = re(e->previous.depth) > 0.0, is = re(e->depth) > 0.0;
    Real s = re(e->x) < 0.0 ? -1.0 : 1.0;
    if (was) {
        e->present_contact.impulse += s * e->previous.mass * (e->previous.w - e->w);
        e->present_contact.peak_force = cc_max(e->present_contact.peak_force, e->normal_force);
    }
    if (was && !is) {
        if (re(e->release_count) > 0.0)
            cc_keep(host, &e->last_contact, sizeof e->last_contact / sizeof(Real));
        e->last_contact.start = e->present_contact.start;
        e->last_contact.end = e->time;
        e->last_contact.impact_speed = e->present_contact.impact_speed;
        e->last_contact.rebound_speed = -s * e->v;
        e->last_contact.peak_force = e->present_contact.peak_force;
        e->last_contact.impulse = e->present_contact.impulse;
        e->release_count += 1.0;
    }
    if (!was && is) {
        e->present_contact.start = e->time;
        e->present_contact.impact_speed = s * e->v;
        e->present_contact.peak_force = e->normal_force;
        e->present_contact.impulse = 0.0;
        e->contact_count += 1.0;
    }
}

static void start(Element *e)
{
    outputs(e);
    e->present_contact.start = e->time;
    e->present_contact.peak_force = e->normal_force;
    e->present_contact.impact_speed = e->present_contact.impulse = e->release_count = 0.0;
    e->last_contact.start = e->last_contact.end = e->last_contact.peak_force = e->last_contact.impulse = 0.0;
    e->last_contact.impact_speed = e->last_contact.rebound_speed = 0.0;
    e->contact_count = re(e->depth) > 0.0;
    e->energy.start = e->energy.kinetic + e->energy.elastic;
    e->energy.switched = 0.0;
    remember(e);
}

/* Inputs and parameters jump where x and w do not: a change of the energy at one state is switched energy. */
static int accept(Element *e, CcHost *host, double step)
{
    Real h = depth(e, e->previous.gap);
    Real before = 0.5 * e->previous.mass * e->w * e->w + cc_spring_energy(e->previous.stiffness, h);
    Real switched = before - (e->energy.kinetic + e->energy.elastic);
    int is_switched = re(e->previous.mass) != re(e->m) || re(e->previous.gap) != re(e->gap)
                      || re(e->previous.stiffness) != re(stiffness(e));
    record_contact(e, host);
    if (is_switched)
        e->energy.switched += switched;
    remember(e);
    (void)step;
    return LEDGER && is_switched;
}
