/* A slide. */

static void outputs(Element *e)
{
    Course line = course(e->time, e->offset, e->speed, e->amplitude, e->frequency, e->phase);
    e->port.s = line.s;
    e->port.v = line.v;
    e->acceleration = line.a;
    e->power.work = -e->port.F * line.v;
    e->held_work = -e->port.F * line.way;
}

static void check(const Element *e, CcHost *host) { (void)e, (void)host; }
