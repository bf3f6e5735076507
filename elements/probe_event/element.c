/* Exponential decay with doses.   x' = -rate x;   at t = t_0 + k interval, k = 1, 2, ...: x grows by dose
 *
 * Between the events k and k + 1, with q = exp(-rate interval) and tau the time since the event k,
 *
 *     x = (x0 q^k + dose (1 + q + ... + q^(k-1))) exp(-rate tau)
 *
 * The events are those of an indicator, so that importers locate them.  The jump counts from the instant of the event:
 * what an importer finds late by dt decays by exp(-rate dt).   Source: geometric series. */
#include "base/elementary.h"

static void outputs(Element *e) { (void)e; }

static void derivatives(Element *e) { e->der.x = -e->rate * e->x; }

static void indicators(const Element *e, Indicators *z) { z->dose = re(e->next) - re(e->time); }

static void start(Element *e)
{
    e->count = 0.0;
    e->next = e->time + e->interval;
}

static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    if (re(e->time) < re(e->next))
        return 0;
    while (re(e->time) >= re(e->next)) {
        e->x += e->dose * cc_exp(-e->rate * (e->time - e->next));
        e->count += 1.0;
        e->next += e->interval;
    }
    return CC_JUMPED;
}
