/* Masters that do more than exchange samples: those that repeat steps, and those that change inputs within the step.
 *
 * Steps that are taken back and made again with the same inputs, or with another length, are as if they were made once:
 * what was seen of the bodies is part of the state.  With other inputs they are rounds of an iteration, which meets the
 * force at the end of the step: the law at the inputs.  That a step is repeated no state can show, so the instance
 * remembers the last ones (cc_repeats); the first round of all is the only one that is not known for what it is.
 *
 * Where inputs change within the step (fmi2SetRealInputDerivatives) the samples are still the inputs at its beginning.
 * Whether the forces on the bodies change as well shows in their motion alone (coupling/force_form.h). */
#ifndef COUPLED_MASTERS_H
#define COUPLED_MASTERS_H

#include "coupling/moving_inputs.h"

/* 1 while the importer repeats steps with other inputs; the law acts then. */
static int steps_are_repeated(Element *e, CcHost *host)
{
    if ((int)e->coupling.mode == HOLD || !cc_is_repeating(host, &e->repeating))
        return 0;
    if (cc_is_first(&e->warned.repeats))
        cc_warn_of_repeats(host, "contact");
    give_law_from_now(e);
    for (int i = 0; i < POINTS; i++) {
        e->coupling.fallback[i] = CC_STEPS_REPEATED;
        e->coupling.in_force[i] = CC_HELD;
        e->coupling.energy[i] = partner_of(e, i)->added[0]; /* the same for each lag */
    }
    return 1;
}

/* What was seen of the bodies before inputs changed within the step, or while they did, was seen otherwise. */
static void watch_inputs(Element *e, const CcHost *host)
{
    int before = e->moving > 0.0;
    if ((int)e->coupling.mode != HOLD && (int)e->coupling.mode != SLOPE && cc_is_moving(host, &e->moving) != before)
        give_law_from_now(e);
}

/* 1 if it is known how forces act where inputs change within the step; options: with the lag then. */
CC_APART int form_is_known(Element *e, const CcPortLaw *law, CcCouplingOptions *options)
{
    CcCoupling *c = partner_of(e, 0);
    CcJointPort *port = port_of(e, 0);
    if (POINTS > 1 || BRISTLE)
        return 0;
    if (c->form.known != 0.0 && c->partner.overruled != 0.0) {
        book_last(e, law, c->partner.H);
        give_law(e);
    }
    else if (c->form.known == 0.0 && c->partner.begun != 0.0)
        cc_coupling_find_form(c, law, options, port->r, port->v);
    options->lag = c->form.known != 0.0 ? (int)c->form.lag : CC_LAG_AUTO;
    if (c->form.known != 0.0)
        port->r[2] += cc_form_shift(&c->form, &c->partner);
    return c->form.known != 0.0;
}

/* Under the literal force at the inputs of the end of the step. */
CC_APART void sample_moving(Element *e, CcHost *host, double R[3][3], const CcPortLaw *law,
                            const CcCouplingOptions *options, double step)
{
    for (int i = 0; i < POINTS; i++)
        e->held[i] = 0.0;
    cc_inputs_at(host, cc_inputs_move(host) ? step : 0.0);
    for (int i = 0; i < POINTS; i++) {
        double F[3], f[3];
        cc_to_body(R, e->point[i].f, F);
        for (int j = 0; j < 3; j++)
            f[j] = cc_dot(F, port_of(e, i)->place.axes[j]);
        keep_literal(e, i, law, options, f, step);
        partner_of(e, i)->started = 1.0;
        if (f[2] != 0.0 && cc_is_first(&e->warned.moving))
            cc_report(host, CC_WARNING, "contact",
                      "point %d: the importer changes inputs within the step (fmi2SetRealInputDerivatives), so the "
                      "force is that of coupling.mode = hold until the motion shows how it acts (coupling.fallback)",
                      i + 1);
    }
    cc_inputs_at(host, 0.0);
}

#endif
