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
    e->begin = e->time;
    e->next = e->time + e->interval;
}

/* The events since the last one that counted: one, if an importer locates them.  n of them have left
 * dose (1 + q + ... + q^(n-1)) = dose (1 - q^n)/(1 - q) at the time of the last one. */
static double passed(const Element *e)
{
    double since = (double)(long long)((re(e->time) - re(e->begin)) / re(e->interval));
    return since - re(e->count) > 1.0 ? since - re(e->count) : 1.0;
}

static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    if (re(e->time) < re(e->next))
        return 0;
    double n = passed(e);
    Real q = cc_exp(-e->rate * e->interval), sum = 1.0;
    if (n > 1.0)
        sum = re(q) < 1.0 ? (1.0 - cc_exp(-e->rate * e->interval * n)) / (1.0 - q) : n + 0.0 * q;
    Real last = e->begin + (e->count + n) * e->interval;
    e->x += e->dose * sum * cc_exp(-e->rate * (e->time - last));
    e->count += n;
    e->next = e->begin + (e->count + 1.0) * e->interval;
    return CC_JUMPED;
}
