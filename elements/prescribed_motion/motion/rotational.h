/* A shaft. */
#include "turn.h"

static void outputs(Element *e)
{
    Course angle = turn(e);
    e->port.phi = angle.s;
    e->port.w = angle.v;
    e->angular_acceleration = angle.a;
    e->power.work = -e->port.t * angle.v;
    e->held_work = -e->port.t * angle.way;
}

static void check(const Element *e, CcHost *host) { (void)e, (void)host; }
