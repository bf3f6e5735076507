/* A body in the plane: x, y and its angle. */
#include "along.h"

static void outputs(Element *e)
{
    e->power.work = e->held_work = 0.0;
    for (int k = 0; k < 3; k++) {
        Course part = along(e, k);
        e->position[k] = part.s;
        e->port.v[k] = part.v;
        e->acceleration[k] = part.a;
        e->power.work -= e->port.F[k] * part.v;
        e->held_work -= e->port.F[k] * part.way;
    }
}

static void check(const Element *e, CcHost *host) { (void)e, (void)host; }
