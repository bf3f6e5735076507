/* Springs and dampers along one coordinate that are coupled at communication points: coupled_axis.h as the group
 * `coupling` of an element.  From each sample to the next the force is the one that the coupling returned. The element
 * names its variables before it includes this: axis_spring.h, axis_damper.h. */
#ifndef CC_HELD_AXIS_H
#define CC_HELD_AXIS_H

#define HELD (re(e->held) != 0.0)

#ifndef CC_DUAL

#include "coupling/coupled_axis.h"
#include "held_bond.h"

#define HELD_NAME(of) HELD_TEXT(of)
#define HELD_TEXT(of) #of

static CcAxis *partner_of(Element *e) { return (CcAxis *)e->partner; }

static CcBondOptions axis_options(const Element *e, double k, double d)
{
    CcBondOptions options = {
        k, d, cc_given(e->coupling.order, e->coupling.mode, e->coupling.identify, e->coupling.INERTIA), 0};
#if defined BY_PLACE && !BY_PLACE
    options.bodies_first = e->coupling.bodies_first != 0.0;
#endif
    return options;
}

/* The literal force at the start is the first one that a master reads. */
static void start_axis_coupling(Element *e, double k, double d, double x)
{
    CcBondOptions options = axis_options(e, k, d);
    cc_axis_start(partner_of(e), &options, x, e->RATE, e->FORCE);
    e->warned = 0.0;
}

#define GROWN 3.0 /* of the largest force in the samples that were watched */

/* A force from speeds shows no lag: it grows where it is late.  Warn when the force F is that of a swing that grew. */
static void warn_of_growth(Element *e, CcHost *host, const CcBondOptions *options, double F, double step)
{
    const CcBond *bond = &partner_of(e)->bond;
    double omega = cc_bond_omega(bond, options->k), growth = cc_hold_swing_growth(1.0, omega, 0, step);
    if (cc_bond_knows_lag(bond, options) || bond->lag > 0.0 || !(cc_abs(F) > GROWN * bond->f_largest))
        return;
    cc_warn_of_late_hold(host, &e->warned, CC_PI_HI / (omega * step), growth, step);
}

/* Under coupling.mode = hold: the literal force F acts; warn if the step is too long for it. */
static void watch_held(Element *e, CcHost *host, const CcBondOptions *options, const double *place, double rate,
                       double F, double step)
{
    CcAxis *c = partner_of(e);
    int lasting = c->bond.learned > CC_BOND_LASTING;
    if (e->warned != 0.0 || cc_is_unjudged(&options->given))
        return;
    if (lasting && step == c->bond.H) {
        if (!place)
            warn_of_growth(e, host, options, F, step);
        return;
    }
    if (lasting) { /* the motion since then was not observed */
        cc_axis_start(c, options, place ? *place : 0.0, rate, F);
        cc_bond_wait(&c->bond);
    }
    cc_axis_watch(c, options, place, rate, F, step);
    show_partner(e, &c->bond, options, options->d);
    cc_warn_of_bond_rate(host, "coupling", &c->bond, 1);
    if (cc_bond_judges_hold(&c->bond, options))
        cc_warn_of_held_bond(host, &e->warned, &c->bond, options->k, options->d, place != 0, step);
}

/* The interval that ended; x: the deformation by the integral of the rates.  Returns 1 where the law at the inputs
 * acts, for the importer repeats steps or changes inputs within them: the coupling begins anew when that is over. */
static int law_acts(Element *e, CcHost *host, const CcBondOptions *options, const double *place, double x, double rate,
                    double step)
{
    CcAxis *c = partner_of(e);
    CcLedger ledger = c->bond.ledger;
    int acted = e->repeating > 0.0 || e->moving > 0.0, settled = c->bond.settled != 0.0;
    int corrected = cc_is_corrected(&c->bond);
    int acts = cc_law_acts(host, "coupling", options->given.straight, &e->repeating, &e->moving);
    if (!acted || !acts)
        cc_axis_observe(c, options, place, rate, step);
    cc_report_order(host, "coupling", &c->bond, options, settled, options->k);
    cc_warn_of_inertia(host, "coupling", "coupling." HELD_NAME(INERTIA), &c->bond, options, corrected);
    if (acted) { /* the integrals of the powers have its energies */
        c->bond.ledger = ledger;
        c->place = c->x = place ? c->place : x;
    }
    if (!acts)
        return 0;
    ledger = cc_settled_ledger(&c->bond.ledger, c->bond.lag);
    cc_axis_start(c, options, place ? *place : c->place, rate, e->FORCE);
    cc_bond_wait(&c->bond);
    c->bond.ledger = ledger;
    e->held = 0.0;
    show_partner(e, &c->bond, options, options->d);
    e->coupling.in_force = CC_HELD;
    return 1;
}

/* Hold the force that the coupling answers, show what is identified of the partners, and log the limit of the step
 * (README.md, Large communication steps). */
static void hold_axis_force(Element *e, CcHost *host, const CcBondOptions *options, double rate, double step)
{
    CcAxis *c = partner_of(e);
    e->held = 1.0;
    e->held_force = cc_axis_answer(c, options, rate, step);
    show_partner(e, &c->bond, options, options->d);
    if (cc_bond_advises(&c->bond))
        cc_note_of_step(host, &e->warned, "coupling", "coupling." HELD_NAME(INERTIA), c->bond.W,
                        e->coupling.step_advised, step);
}

#endif
#endif
