/* A viscous damper along one coordinate, rotational or translational; law and signs in the element's own file.  Before
 * it includes this the element names its variables:
 *
 *   RATE, FORCE   relative speed, force through the damper
 *   INERTIA       effective mass or moment of inertia, of the group coupling
 *   PARTNER       that of the bodies as identified, of the same group
 *
 * Coupled at communication points (coupled_axis.h) an interval is booked when it is over, by the force that acted and
 * the relative displacement of both ends, F (x_1 - x_0): as work, and where it is positive as dissipated.  So
 * energy.residual is minus the energy that the coupling has added, with the lag identified so far. */
#ifndef CC_AXIS_DAMPER_H
#define CC_AXIS_DAMPER_H

#include "laws/damper.h"
#if COUPLING
#include "held_axis.h"
#endif

static Real coefficient(const Element *e) { return re(e->work) != 0.0 ? e->d : 0.0; }

static void outputs(Element *e)
{
    e->RATE = e->r.RATE - e->c.RATE;
    e->FORCE = cc_damper_force(coefficient(e), e->RATE);
    e->power.damping = e->FORCE * e->RATE;
#if COUPLING
    if (HELD) {
        e->FORCE = re(e->work) != 0.0 ? e->held_force : (Real)0.0;
        e->power.damping = 0.0; /* booked when the interval is over */
    }
#endif
    e->r.FORCE = -e->FORCE;
    e->c.FORCE = e->FORCE;
    e->power.work = -(e->r.FORCE * e->r.RATE + e->c.FORCE * e->c.RATE);
#if COUPLING
    if (HELD)
        e->power.work = 0.0;
#endif
#if LEDGER
    e->energy.residual = e->energy.work - e->energy.damping;
#endif
}

#if COUPLING

static void start(Element *e)
{
    e->held = 0.0;
    outputs(e);
#ifndef CC_DUAL
    start_axis_coupling(e, 0.0, re(coefficient(e)), 0.0);
#endif
}

static int accept(Element *e, CcHost *host, double step)
{
    (void)e, (void)host, (void)step;
    return 0;
}

#ifndef CC_DUAL

static int sample(Element *e, CcHost *host, double step)
{
    CcAxis *c = partner_of(e);
    CcBondOptions options = axis_options(e, 0.0, coefficient(e));
    double rate = e->r.RATE - e->c.RATE;
    if ((int)e->coupling.mode == HOLD) {
        watch_held(e, host, &options, 0, rate, cc_damper_force(options.d, rate), step);
        return 0;
    }
#if LEDGER
    for (int L = 0; L < CC_LAGS && e->held == 0.0; L++) /* the law acted, or nothing yet */
        c->bond.ledger.made[L] = -e->energy.work, c->bond.ledger.taken[L] = e->energy.damping;
#endif
    int held = e->held != 0.0, law = law_acts(e, host, &options, 0, 0.0, rate, step);
    if (law && !held) /* the integral of the power is the work */
        return CC_CHANGED;
    double work = -c->bond.ledger.made[cc_lag(c->bond.lag)], taken = c->bond.ledger.taken[cc_lag(c->bond.lag)];
    e->coupling.energy = e->coupling.residual = taken - work;
#if LEDGER
    e->energy.work = work;
    e->energy.damping = taken;
#endif
    if (!law)
        hold_axis_force(e, host, &options, rate, step);
    return CC_CHANGED;
}

#endif
#endif
#endif
