/* Clocks: a tick is the point at which a Boolean is true and was false before.
 *
 *     count    n, of the n-th tick of `tick`            carry    true with `tick` where n is a multiple of `every`
 *     beats    n, of the n-th tick of `beat`            sampled  u at that tick
 *     echo_at  t + delay, where `carry` ticks at t      echoes   n, of the n-th tick of `echo`
 *
 * In FMI 3.0 these Booleans are clocks, which are false behind every event; in FMI 2.0 the importer sets them to true
 * and to false again.   Source: FMI 3.0.2, section 2.2.9. */

static int rises(Real now, Real before) { return re(now) != 0.0 && re(before) == 0.0; }

static int is_multiple(Real count, Real of) { return (long long)re(count) % (long long)re(of) == 0; }

static void outputs(Element *e)
{
    int ticks = rises(e->tick, e->tick_before);
    e->count = e->count_before + (double)ticks;
    e->carry = (double)(re(e->tick) != 0.0 && is_multiple(e->count, e->every));
    int carries = ticks && re(e->carry) != 0.0;
    int beats = rises(e->beat, e->beat_before);
    e->beats = e->beats_before + (double)beats;
    e->sampled = beats ? e->u : e->sampled_before;
    int echoes = rises(e->echo, e->echo_before);
    e->echoes = e->echoes_before + (double)echoes;
    e->echo_at = carries ? e->time + e->delay : e->echo_at_before;
    e->echo_waits = carries ? 1.0 : echoes ? 0.0 : e->waits_before;
}

static void start(Element *e)
{
    e->count_before = e->beats_before = e->echoes_before = 0.0;
    e->tick_before = e->beat_before = e->echo_before = e->waits_before = 0.0;
    e->sampled_before = 0.0;
    e->echo_at_before = e->time;
}

static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    int changed = re(e->tick) != re(e->tick_before) || re(e->beat) != re(e->beat_before)
                  || re(e->echo) != re(e->echo_before);
    e->count_before = e->count;
    e->beats_before = e->beats;
    e->echoes_before = e->echoes;
    e->sampled_before = e->sampled;
    e->echo_at_before = e->echo_at;
    e->waits_before = e->echo_waits;
    e->tick_before = e->tick;
    e->beat_before = e->beat;
    e->echo_before = e->echo;
    return changed ? CC_CHANGED : 0;
}
