/* What springs, dampers and guides show of their partners, and their log messages about the order of the calls and the
 * communication step.  Before it includes this the element names PARTNER, its variable of the inertia of the bodies as
 * identified, and BY_PLACE, 1 where positions are given. */
#ifndef CC_HELD_BOND_H
#define CC_HELD_BOND_H

#include "coupling/bond.h"
#include "coupling/held_mass.h"
#include "shared/held_force.h"

#ifndef CC_DUAL

/* What is identified of the partners; d: damping of the law, kg/s. */
static void show_partner(Element *e, const CcBond *c, const CcBondOptions *o, double d)
{
    e->coupling.lag = c->lag;
    e->coupling.admittance = cc_bond_known_admittance(c, o);
    e->coupling.step_advised = cc_hold_step_advised(e->coupling.admittance, o->k, d);
    int lag = cc_lag(c->lag), modelled = cc_bond_is_modelled(c, o);
    CcHeldMass mass = cc_partner_mass(&c->model, lag, modelled, e->coupling.admittance);
    e->coupling.trust = cc_model_trust(&c->model, lag, modelled);
    e->coupling.PARTNER = mass.mass;
    e->coupling.partner_stiffness = mass.stiffness;
    e->coupling.partner_damping = mass.damping;
    e->coupling.in_force = cc_bond_in_force(c, o);
#if BY_PLACE
    e->coupling.beta = c->rule.beta;
    e->coupling.fallback = cc_rule_doubts(&c->rule, 0.0);
#endif
}

/* 1 once another W was found than one that is given. */
CC_API int cc_is_corrected(const CcBond *c) { return c->refuted != 0.0 && c->known == 1.0; }

/* A W that is given, if the interval that ended has shown another one; inertia: name of the parameter of 1/W. */
CC_API void cc_warn_of_inertia(CcHost *host, const char *category, const char *inertia, const CcBond *c,
                               const CcBondOptions *o, int was_corrected)
{
    if (was_corrected || !cc_is_corrected(c))
        return;
    cc_report(host, CC_WARNING, category,
              "%s = %g is given%s, but the bodies answer with %.3g, and with these steps that matters; what the motion "
              "shows is used. Set %s = %.3g",
              inertia, o->given.inertia, o->given.identify ? "" : " and coupling.identify = false", 1.0 / c->W, inertia,
              1.0 / c->W);
}

#define CC_ASKED_TOO_LONG 0.1  /* of the energy that is stored at most: more was added while the order was unknown */

/* The order that the interval that ended has shown, if it was not settled before: one that contradicts what is given,
 * or is found late, for an elastic force of the stiffness k, N/m. */
CC_API void cc_report_order(CcHost *host, const char *category, const CcBond *c, const CcBondOptions *o,
                            int was_settled, double k)
{
    int lag = cc_lag(c->lag);
    if (was_settled || c->settled == 0.0)
        return;
    if (o->given.lag != CC_LAG_AUTO) {
        cc_warn_of_order(host, category, lag);
        return;
    }
    double stored = k > 0.0 ? 0.5 * c->f_largest * c->f_largest / k : 0.0, made = c->ledger.made[lag];
    if (made > CC_ASKED_TOO_LONG * stored && stored > 0.0 && !cc_rule_doubts(&c->rule, 0.0))
        cc_report(host, CC_WARNING, category,
                  "until the motion showed the order of the calls the held force added %.3g J, at most %.3g J are "
                  "stored. It is paid back; coupling.order = %s avoids it",
                  made, stored, lag == 0 ? "sequential" : lag == 1 ? "parallel" : "late");
}

/* Warn once that the rate at the inputs is not that of the position. */
CC_API void cc_warn_of_bond_rate(CcHost *host, const char *category, CcBond *c, int holds)
{
    if (cc_is_newly_mismatched(&c->rule))
        cc_warn_of_rate(host, category, 0, cc_rule_ratio(&c->rule), holds);
}

/* Note once, `warned`, a step of H, s, beyond the one that is advised, s, beside other elements; `inertia`: name of the
 * parameter of 1/W. */
CC_API void cc_note_of_step(CcHost *host, double *warned, const char *category, const char *inertia, double W,
                            double advised, double H)
{
    if (!(advised > 0.0 && H > advised) || !cc_is_first(warned))
        return;
    cc_report(host, CC_INFO, category,
              "this step is accurate only where no other element acts on the bodies, and once their inertia is "
              "identified (%s = %.3g); otherwise take steps below %.3g s",
              inertia, 1.0 / W, advised);
}

/* Under coupling.mode = hold, of bodies that are known: warn once, `warned`, of a swing that the held force of the
 * stiffness k and the damping d makes grow, and of a speed that it brakes too much; by_place: 1 where positions are
 * given.  Bodies that d brakes so much do not swing. */
CC_API void cc_warn_of_held_bond(CcHost *host, double *warned, const CcBond *c, double k, double d, int by_place,
                                 double step)
{
    double omega = cc_bond_omega(c, k), braked = *warned;
    if (omega > 0.0 && d * c->W < 2.0 * omega)
        cc_warn_of_hold(host, warned, "coupling", 0, "swing", "swing", "large", CC_PI_HI / (omega * step),
                        cc_hold_swing_growth(c->lag, omega, by_place, step), step);
    if (d > 0.0)
        cc_warn_of_held_brake(host, &braked, "coupling", c->lag, d * c->W * step, step);
    *warned = cc_max(*warned, braked);
}

#endif
#endif
