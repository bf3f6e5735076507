/* What the group coupling of a contact shows, and its warnings at the limits of the method. */
#ifndef COUPLED_SHOWN_H
#define COUPLED_SHOWN_H

#include "coupling/held_mass.h"

/* Steps a contact that are advised: of bodies that nothing else moves, and of others.  With them the free bodies, tips,
 * rows and loaded bodies of tests/elements/test_coupled_step_advice.py are right within 2 %. */
#define STEPS_ALONE 4.0
#define STEPS_BESIDE_OTHERS 16.0
#define OTHERS 4e-4 /* of what the force does, squared: from 2 % of it on, over a contact, others move the bodies too */

/* Admittance along the normal, 1/kg, that forces have shown or that is given; 0 while none is. */
static double shown_admittance(const CcCoupling *c) { return c->partner.known >= 1.0 ? c->partner.W[2][2] : 0.0; }

/* Angular frequency, rad/s, of the bodies on the stiffness that the depth x shows; 0 while nothing is known. */
static double omega_at(const CcCoupling *c, const CcPortLaw *law, double x)
{
    double W = shown_admittance(c);
    return W > 0.0 ? cc_sqrt(W * cc_secant_stiffness(law, x)) : 0.0;
}

/* What the group coupling shows of point i. */
static void show_coupling(Element *e, int i, const CcPortLaw *law)
{
    const CcCoupling *c = partner_of(e, i);
    const CcPartner *normal = normal_partner(e, i);
    int lag = cc_lag(c->partner.lag);
    e->coupling.lag[i] = lag;
    e->coupling.admittance[i] = shown_admittance(c);
    e->coupling.beta[i] = c->partner.rule.beta;
    e->coupling.residual[i] = c->ledger.made[lag];
    e->coupling.debt[i] = c->ledger.owed[lag];
    e->coupling.scale[i] = c->scale;
    int holds = (int)e->coupling.mode == HOLD, fallback = holds ? CC_COUPLED : cc_coupling_holds(c);
    if (e->moving > 0.0 && c->form.known == 0.0)
        fallback = CC_INPUTS_MOVE;
    e->coupling.fallback[i] = fallback;
    CcCouplingOptions options = coupling_options(e);
    e->coupling.in_force[i] = fallback ? CC_HELD : cc_partner_in_force(normal, &options);
    e->coupling.trust[i] = trust_of(e, i);
    e->coupling.energy[i] = c->added[lag];
    CcHeldMass mass = cc_partner_mass(&normal->model, lag, normal->model.use != 0.0, e->coupling.admittance[i]);
    e->coupling.partner_mass[i] = mass.mass;
    e->coupling.partner_stiffness[i] = mass.stiffness;
    e->coupling.partner_damping[i] = mass.damping;
    double omega = omega_at(c, law, c->deepest), steps = e->alone[i] != 0.0 ? STEPS_ALONE : STEPS_BESIDE_OTHERS;
    e->coupling.step_advised[i] = omega > 0.0 ? CC_PI_HI / (steps * omega) : 0.0;
}

/* Steps per contact in the interval `step`, of the stiffness at the depth x; 0 while nothing is known. */
static double steps_per_contact(const CcCoupling *c, const CcPortLaw *law, double x, double step)
{
    double omega = omega_at(c, law, x);
    return omega > 0.0 ? CC_PI_HI / (omega * step) : 0.0;
}

/* Warn once that the rate of point i is not that of its position. */
CC_SELDOM void warn_of_rate(Element *e, CcHost *host, int i, int holds)
{
    const CcPositionRule *rule = &partner_of(e, i)->partner.rule;
    if (cc_is_mismatched(rule) && cc_is_first(&e->warned.rate))
        cc_warn_of_rate(host, "contact", i + 1, cc_rule_ratio(rule), holds);
}

#define TRUSTED 0.9 /* share of the recent changes of motion that lag and mass explain: they are known */

/* Under hold: warn of the energy that the literal force adds, by the identified bodies, once they explain the motion,
 * the contact is over, or its force changes no more. */
static void warn_of_hold(Element *e, CcHost *host, int i, const CcPortLaw *law, double step)
{
    const CcCoupling *c = partner_of(e, i);
    double N = steps_per_contact(c, law, c->deepest, step);
    int known = trust_of(e, i) > TRUSTED || cc_is_quiet(&c->partner) || cc_is_steady(&c->partner);
    if (N > 0.0 && known && !cc_is_mismatched(&c->partner.rule))
        cc_warn_of_hold(host, &e->warned.hold, "contact", i + 1, "contact", "rebound", "fast", N,
                        cc_hold_growth(c->partner.lag, N), step);
}

#define UNEXPLAINED 0.09 /* of what the force does, squared: of a mode three times as fast as a contact of 4 steps */

/* What the force does not explain of the motion of the bodies: the changes of the free acceleration over a contact of
 * N steps, and that acceleration itself, set against what the force does in it.  More than a little is something else
 * that moves the bodies too; of much, in three contacts, it warns.  Where whoever moves the surface does so whatever
 * the force is, as that of a shaker, the point alone shows whether it is explained; between bodies that both answer
 * their relative motion does. */
static void warn_of_motion(Element *e, CcHost *host, int i, double N)
{
    const CcPartner *p = &partner_of(e, i)->partner;
    const CcJointPort *port = port_of(e, i);
    double carried = p->sides.carried, rate = port->begun != 0.0 ? (carried - e->surface_speed[i]) / port->H : 0.0;
    double change = p->a[2] - p->a_before[2], of_point = change + rate - e->surface_rate[i];
    double own = p->W[2][2] * p->f[cc_lag(p->lag)][2];
    e->surface_speed[i] = carried;
    e->surface_rate[i] = rate;
    if (e->mass_is_known[i] != 0.0 && own > 0.0) {
        e->unexplained[i][0] += change * change;
        e->unexplained[i][1] += of_point * of_point;
        e->load[i] += p->a[2] * p->a[2];
        e->explained[i] += own * own;
    }
    e->mass_is_known[i] = p->known == 1.0;
    double least = cc_min(e->unexplained[i][0], e->unexplained[i][1]);
    if (e->explained[i] > 0.0)
        e->alone[i] = N * N * least + e->load[i] < OTHERS * e->explained[i];
    if (!(p->f[0][2] == 0.0 && p->f[1][2] != 0.0)) /* the contact is not over */
        return;
    e->unexplained_contacts[i] = least > UNEXPLAINED * e->explained[i] ? e->unexplained_contacts[i] + 1.0 : 0.0;
    e->unexplained[i][0] = e->unexplained[i][1] = e->explained[i] = e->load[i] = 0.0;
    if (e->unexplained_contacts[i] >= 3.0 && cc_is_first(&e->warned.unexplained))
        cc_report(host, CC_WARNING, "contact",
                  "point %d: in three contacts in a row this force does not explain the motion of the body, which "
                  "may bend or have other forces; the step is too large for it: compare with a smaller one", i + 1);
}

/* Warnings at the limits of the coupling (README.md, Large communication steps). */
static void warn_of_limits(Element *e, CcHost *host, int i, const CcPortLaw *law, double step, int mass_was_known)
{
    const CcCoupling *c = partner_of(e, i);
    const CcJointPort *port = port_of(e, i);
    const CcPartner *p = &c->partner;
    double touch = -port->r[2] - (p->lag + 1.0) * step * port->v[2]; /* a contact may be too short for a deep sample */
    if (p->known == 0.0 && p->f[0][2] > 0.0 && touch > e->unforced_depth[i])
        e->unforced_depth[i] = touch;
    if (cc_is_mismatched(&p->rule)) /* what is found by its rate is wrong */
        return;
    double x = c->deepest > 0.5 * e->unforced_depth[i] ? c->deepest : e->unforced_depth[i];
    int lag = cc_lag(p->lag), between = c->ledger.made[lag] == 0.0; /* two cycles */
    double debt = between ? cc_min(c->ledger.owed[lag], c->added[lag]) : 0.0;
    int first = !mass_was_known && p->known >= 1.0;
    double N = first ? steps_per_contact(c, law, x, step) : 0.0, U = debt > 0.0 ? law->energy(law->data, x) : 0.0;
    if (N > 0.0 && N < 3.0 && cc_is_first(&e->warned.first))
        cc_report(host, CC_WARNING, "contact",
                  "point %d: the first contact of an unknown mass had %.3g steps, below 3 its rebound may be too fast; "
                  "give coupling.m_eff = %.3g kg, or take steps below %.3g s", i + 1, N, 1.0 / p->W[2][2],
                  step * N / 3.0);
    if (debt > 0.01 * U && U > 0.0 && cc_is_first(&e->warned.debt))
        cc_report(host, CC_WARNING, "contact",
                  "point %d: the coupling has added %.3g J that are not compensated, the contact stores up to %.3g J; "
                  "take a smaller step", i + 1, debt, U);
    warn_of_motion(e, host, i, steps_per_contact(c, law, c->deepest, step));
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

#endif
