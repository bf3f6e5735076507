/* A linear spring along one coordinate, rotational or translational; law, signs and energies in the element's own file.
 * Before it includes this the element names its variables:
 *
 *   DEFORMATION, START, RATE, FORCE   deformation, its value at the start, its rate, force through the spring
 *   PLACE, BY_PLACE                   position in both ports, and the switch that takes it
 *   INERTIA                           effective mass or moment of inertia, of the group coupling
 *   PARTNER                           that of the bodies as identified, of the same group
 *
 * Coupled at communication points (coupled_axis.h) the deformation is that of the last sample, and energy.residual is
 * minus the energy that the coupling has added: energy.work is the work of the forces that acted, with the lag
 * identified so far.  With positions and beta other than 1/2 the deformation that is seen is not the one that has the
 * energy of the bodies, x of coupled_axis.h: energy.work has besides what it stores more, less that at the start. */
#ifndef CC_AXIS_SPRING_H
#define CC_AXIS_SPRING_H

#include "laws/spring.h"

static Real stiffness(const Element *e) { return re(e->work) != 0.0 ? e->k : 0.0; }

#if COUPLING
#include "held_axis.h"
#else
#define HELD 0
#endif

static void outputs(Element *e)
{
#if BY_PLACE
    e->DEFORMATION = e->START + (e->r.PLACE - e->c.PLACE); /* positions first: far from the origin START is not lost */
#endif
    e->RATE = e->r.RATE - e->c.RATE;
    e->FORCE = cc_spring_force(stiffness(e), e->DEFORMATION);
    e->energy.elastic = cc_spring_energy(stiffness(e), e->DEFORMATION);
    e->power.work = e->FORCE * e->RATE;
#if COUPLING
    if (HELD) {
        e->FORCE = re(e->work) != 0.0 ? e->held_force : (Real)0.0;
        e->power.work = 0.0; /* booked when the interval is over */
    }
#if !BY_PLACE
    e->drift = HELD ? (Real)0.0 : e->RATE;
#endif
#endif
    e->r.FORCE = -e->FORCE;
    e->c.FORCE = e->FORCE;
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.switched;
#endif
}

static void start(Element *e)
{
#if COUPLING
    e->held = 0.0;
#endif
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->energy.switched = 0.0;
    e->previous.stiffness = stiffness(e);
#if COUPLING && !defined CC_DUAL
    start_axis_coupling(e, re(stiffness(e)), 0.0, re(e->DEFORMATION));
#endif
}

/* Inputs and parameters jump where the deformation x does not: a change of the stored energy there is switched
 * energy. */
static Real switched_energy(Element *e, Real x)
{
    Real switched = cc_spring_energy(e->previous.stiffness - stiffness(e), x);
    e->previous.stiffness = stiffness(e);
    e->energy.switched += switched;
    return switched;
}

static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    if (HELD) /* the deformation is that of the last sample: the next one will show where the switch was */
        return 0;
    return re(switched_energy(e, e->DEFORMATION)) != 0.0 && LEDGER;
}

#if COUPLING && !defined CC_DUAL

static int sample(Element *e, CcHost *host, double step)
{
    CcAxis *c = partner_of(e);
    CcBondOptions options = axis_options(e, e->previous.stiffness, 0.0);
    double rate = e->r.RATE - e->c.RATE;
#if BY_PLACE
    double known = e->START + (e->r.PLACE - e->c.PLACE), *place = &known;
#else
    double *place = 0;
#endif
    if ((int)e->coupling.mode == HOLD) {
        double x = place ? *place : e->DEFORMATION + step * rate; /* speeds are held over the step as well */
        options.k = stiffness(e);
        watch_held(e, host, &options, place, rate, cc_spring_force(options.k, x), step);
        return 0;
    }
    int held = HELD;
    int law = law_acts(e, host, &options, place, e->DEFORMATION, rate, step);
    e->DEFORMATION = c->place;
    if (law && !held) /* the integral of the power is the work */
        return CC_CHANGED;
    cc_warn_of_bond_rate(host, "coupling", &c->bond, 0);
    e->coupling.energy = e->coupling.residual = c->bond.ledger.made[cc_lag(c->bond.lag)];
    switched_energy(e, c->x);
    e->energy.switched -= c->jumped;
#if LEDGER
    double U = cc_spring_energy(stiffness(e), e->DEFORMATION);
    e->energy.work = U - e->energy.start + e->energy.switched - e->coupling.residual;
#endif
    options.k = stiffness(e);
    if (!law)
        hold_axis_force(e, host, &options, rate, step);
    return CC_CHANGED;
}

#endif
#endif
