/* What springs and dampers along one coordinate share when they are coupled at communication points: coupled_axis.h as
 * the group `coupling` of an element.  From the first sample on the force is the one that the coupling returned, until
 * the next.  The element names its variables before it includes this: spring.h, damper.h. */
#ifndef CC_HELD_AXIS_H
#define CC_HELD_AXIS_H

enum { HOLD = 1, SLOPE, AVERAGED, PREDICTED, AUTO }; /* coupling.mode */

#define HELD (re(e->held) != 0.0)

#ifndef CC_DUAL

#include "coupled_axis.h"

_Static_assert(sizeof(CcAxis) == sizeof((Element *)0)->partner, "element.toml: size of partner");

static CcAxis *partner_of(Element *e) { return (CcAxis *)e->partner; }

static CcAxisOptions coupling_options(const Element *e, double k, double d)
{
    int mode = (int)e->coupling.mode;
    CcAxisOptions options = {.k = k,
                             .d = d,
                             .lag = mode == AVERAGED ? 0 : mode == PREDICTED ? 1 : CC_AXIS_LAG_AUTO,
                             .identify = e->coupling.identify != 0.0,
                             .straight = mode == SLOPE,
                             .inertia = e->coupling.INERTIA};
    return options;
}

/* The literal force at the start is the first one that a master reads. */
static void start_coupling(Element *e, double k, double d, double x)
{
    CcAxisOptions options = coupling_options(e, k, d);
    cc_axis_start(partner_of(e), &options, x, e->RATE, e->FORCE);
}

/* Keep the force, and show what is known of the partners. */
static void hold_force(Element *e, const CcAxisOptions *options, double force)
{
    const CcAxis *c = partner_of(e);
    e->held = 1.0;
    e->held_force = force;
    e->coupling.lag = c->lag;
    e->coupling.admittance = c->known != 0.0 ? c->W : 0.0;
    e->coupling.step_advised = cc_axis_step_advised(c, options);
}

#endif
#endif
