/* Steps that do not go through, at times that are known.   x' = 2 t/s^2,   x(t_0) = 0;   x = (t^2 - t_0^2)/s^2
 *
 * The times are those of indicators, so a step ends exactly there: the first accepted point at or behind a time acts.
 * What a parameter names lies so many seconds behind the start; 0 switches it off.
 * The rate of x changes with time, so that the solver locates the times and does not take a step as a whole.
 * Source: FMI 2.0, sections 2.1.3 (status), 4.2.2 (fmi2DoStep). */

#define NEVER 1e300 /* s: an indicator without a time */

static void outputs(Element *e) { (void)e; }

static void derivatives(Element *e) { e->der.x = 2.0 * e->time; }

static double until(const Element *e, Real wanted, int is_over)
{
    return re(wanted) > 0.0 && !is_over ? re(e->begin) + re(wanted) - re(e->time) : NEVER;
}

static int is_reached(const Element *e, Real wanted, int is_over) { return until(e, wanted, is_over) <= 0.0; }

static void indicators(const Element *e, Indicators *z)
{
    z->discard = until(e, e->discard_at, re(e->discarded) != 0.0);
    z->end = until(e, e->end_at, 0);
    z->fail = until(e, e->fail_at, 0);
    z->alarm = until(e, e->alarm_at, re(e->warned) != 0.0);
#if STATUSES
    z->fatal = until(e, e->fatal_at, 0);
#endif
}

static void start(Element *e)
{
    e->steps = 0.0;
    e->begin = e->time;
    e->discarded = e->warned = 0.0;
}

static void waste(double loops)
{
    volatile double sink = 1.0;
    for (double i = 0.0; i < loops; i += 1.0)
        sink *= 1.0;
}

static int accept(Element *e, CcHost *host, double step)
{
    int was_discarded = re(e->discarded) != 0.0, was_warned = re(e->warned) != 0.0;
    if (step == 0.0)
        return 0;
    waste(re(e->slow_loops));
    e->steps += 1.0;
    cc_report(host, CC_INFO, "notes", "step %d ends at %g s", (int)re(e->steps), re(e->time));
    if (is_reached(e, e->alarm_at, was_warned)) {
        e->warned = 1.0;
        cc_report(host, CC_WARNING, "alarms", "alarm_at = %g s is reached at %g s", re(e->alarm_at), re(e->time));
    }
#if STATUSES
    if (is_reached(e, e->pending_at, 0))
        cc_defer(host, (int)re(e->questions));
    if (is_reached(e, e->fatal_at, 0)) {
        cc_corrupt(host, "fatal_at = %g s: all instances are lost", re(e->fatal_at));
        return 0;
    }
#endif
    if (is_reached(e, e->fail_at, 0))
        cc_fail(host, "fail_at = %g s: the step across it fails", re(e->fail_at));
    else if (is_reached(e, e->end_at, 0))
        cc_stop(host, 1, "end_at = %g s: the simulation ends at %g s", re(e->end_at), re(e->time));
    else if (is_reached(e, e->discard_at, was_discarded)) {
        e->discarded = 1.0;
        cc_stop(host, 0, "discard_at = %g s: the step ends at %g s", re(e->discard_at), re(e->time));
    }
    return 0;
}
