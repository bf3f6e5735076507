/* Inputs of driven joints that do not move as their speeds say: energy that no drive has worked for.
 *
 * Of energy.total = E(q_d, qd_d, states) the torques of the drives work for dE/dq_d qd_d + dE/dqd_d qdd_d.  Inputs that
 * are held, or go on along straight lines, move otherwise, and make good for it where they jump.  So energy.changed
 * takes from each jump of E what was worked for before it:
 *
 *     D = integral of dE/dq_d (qd_d - dq_d/dt) + dE/dqd_d (qdd_d - dqd_d/dt)     energy.changed: jumps - D
 *
 * by the trapezoidal rule over a substep, in which inputs of co-simulation follow straight lines.  In model exchange
 * they are curved, and follow their speeds: what the first substep booked is taken back, and there is no more of it
 * until the next jump. */
#if DRIVES

#define BESIDE 1e-5     /* rad or m: distance of differences of E, at most; of speeds, whose square E is, 1 */
#define BEND 1e-6       /* of a change: a slope that is more different is another one */
#define BEND_ROUNDING 1e-12 /* of a value */
#define FOLLOWS 0.25    /* of a change: what differs less from that by its rates follows them */

enum { NO_LINE, STRAIGHT, CURVED, ASTRAY }; /* of ways.shape: straight and as the speeds say, ..., otherwise */

/* Changes of the inputs in an interval, or what is missing of them. */
typedef struct {
    Real q[DRIVES], qd[DRIVES];
} Ways;

/* energy.total at a point, with inputs that differ by s times these. */
static Real energy_beside(const Element *at, const Ways *ways, Real s)
{
    Element beside = *at;
    Work work;
    for (int k = 0; k < DRIVES; k++) {
        beside.drive[k].q += s * ways->q[k];
        beside.drive[k].qd += s * ways->qd[k];
    }
    describe(&beside, &work);
    stand_and_move(&beside, &work);
    energies(&beside, &work);
    return beside.energy.total;
}

/* The integrand of D at a point, times T, in which the inputs change by `ways`; 0 beside positions out of reach. */
static Real missing(const Element *at, double T, const Ways *ways)
{
    Ways off;
    double far = 0.0;
    for (int k = 0; k < DRIVES; k++) {
        off.q[k] = at->drive[k].qd * T - ways->q[k];
        off.qd[k] = at->drive[k].qdd * T - ways->qd[k];
        far = cc_max(far, cc_max(re(cc_abs(off.q[k])) / BESIDE, re(cc_abs(off.qd[k]))));
    }
    if (!(far > 0.0))
        return 0.0;
    Real D = 0.5 * far * (energy_beside(at, &off, 1.0 / far) - energy_beside(at, &off, -1.0 / far));
    return finite(D);
}

/* Keep the point as the beginning of an interval. */
static void keep_ways(Element *e)
{
    for (int k = 0; k < DRIVES; k++) {
        e->way[k].q = e->drive[k].q;
        e->way[k].qd = e->drive[k].qd;
        e->way[k].qdd = e->drive[k].qdd;
    }
    for (int i = 0; i < JOINTS; i++) {
        e->left[i].q = e->integrated[i].q;
        e->left[i].qd = e->integrated[i].qd;
    }
}

/* The beginning of the interval that ends here. */
static Element beginning(const Element *e)
{
    Element first = *e;
    first.time = e->accepted.at;
    for (int k = 0; k < DRIVES; k++) {
        first.drive[k].q = e->way[k].q;
        first.drive[k].qd = e->way[k].qd;
        first.drive[k].qdd = e->way[k].qdd;
    }
    for (int i = 0; i < JOINTS; i++) {
        first.integrated[i].q = e->left[i].q;
        first.integrated[i].qd = e->left[i].qd;
    }
    return first;
}

/* The inputs may have jumped, or go on in another direction. */
static void begin_ways(Element *e)
{
    e->ways.shape = NO_LINE;
    e->ways.booked = 0.0;
}

/* Whether a change in T is another one than the slope before it makes. */
static int bends(Real change, Real slope, double T, Real rate, Real value)
{
    double size = BEND * re(cc_abs(change) + cc_abs(rate) * T) + BEND_ROUNDING * re(cc_abs(value));
    return re(cc_abs(change - slope * T)) > size;
}

/* Whether a change in T is about what the rates at both ends make. */
static int follows(Real change, Real before, Real after, double T)
{
    double size = 0.5 * T * re(cc_abs(before) + cc_abs(after));
    return re(cc_abs(0.5 * T * (before + after) - change)) <= FOLLOWS * size;
}

/* Book D of the interval that ends here.  Returns what changed, as accept does. */
static int book_ways(Element *e)
{
    double T = re(e->time - e->accepted.at);
    if (!(T > 0.0))
        begin_ways(e);
    if (!(T > 0.0) || re(e->ways.shape) == CURVED)
        return 0;
    int bent = 0, as_speeds = 1;
    Ways ways;
    for (int k = 0; k < DRIVES; k++) {
        Real q = ways.q[k] = e->drive[k].q - e->way[k].q, qd = ways.qd[k] = e->drive[k].qd - e->way[k].qd;
        if (re(e->ways.shape) == STRAIGHT)
            bent |= bends(q, e->way[k].slope, T, e->drive[k].qd, e->drive[k].q)
                    || bends(qd, e->way[k].slope_d, T, e->drive[k].qdd, e->drive[k].qd);
        as_speeds &= follows(q, e->way[k].qd, e->drive[k].qd, T) && follows(qd, e->way[k].qdd, e->drive[k].qdd, T);
        e->way[k].slope = q / T;
        e->way[k].slope_d = qd / T;
    }
    int curved = bent && as_speeds;
    Element first = beginning(e);
    Real D = curved ? -e->ways.booked : 0.5 * (missing(&first, T, &ways) + missing(e, T, &ways));
    if (!curved && (bent || !as_speeds))
        e->ways.booked = -D; /* nothing to take back */
    e->ways.shape = curved ? CURVED : as_speeds ? STRAIGHT : ASTRAY;
    e->ways.booked += D;
    e->energy.changed -= D;
    return re(D) != 0.0 ? CC_CHANGED : 0;
}

#else

static inline void keep_ways(Element *e) { (void)e; }

static inline void begin_ways(Element *e) { (void)e; }

static inline int book_ways(Element *e)
{
    (void)e;
    return 0;
}

#endif
