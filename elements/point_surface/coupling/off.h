/* The force follows its inputs, with a warning where these are held over long communication steps. */

static inline int is_without_law(const Element *e, int i, int on_demand)
{
    (void)e, (void)i, (void)on_demand;
    return 0;
}

static inline void hold_force(Element *e, int i, CcContact *contact, Real arm[3])
{
    (void)e, (void)i, (void)contact, (void)arm;
}

static inline void book_held_powers(Element *e) { (void)e; }

static inline void start_samples(Element *e) { (void)e; }

static inline void note_switched(Element *e, int i, double energy) { (void)e, (void)i, (void)energy; }

static inline void note_relaxed(Element *e, int i, double energy) { (void)e, (void)i, (void)energy; }

static inline void change_law(Element *e, int i) { (void)e, (void)i; }

#if LEDGER

static inline void start_watch(Element *e) { e->held_too_long = 0.0; }

/* Under fmi2DoStep the force is held over each step.  The impulse J changed the depth rate from v_0 to -v_1, so the
 * effective mass was m = J/(v_0 + v_1), and an elastic contact of it lasts T = pi sqrt(m/C_F); with a law C_F the time
 * of a half sine of that impulse and the peak F, pi J/(2 F).  In N = T/H steps the rebound grows by exp(pi^2/(4 N))
 * under Gauss-Seidel, by three times the exponent under Jacobi. */
static void watch_step(Element *e, int i, CcHost *host)
{
    double H = cc_held_over(host), J = re(e->last_contact[i].impulse), F = re(e->last_contact[i].peak_force);
    double change = re(e->last_contact[i].impact_speed) + re(e->last_contact[i].rebound_speed);
    if (e->held_too_long != 0.0 || !(H > 0.0 && J > 0.0 && F > 0.0 && change > 0.0))
        return;
    double N = contact_duration(e, J, F, change) / H, growth = cc_hold_growth(0.0, N), late = cc_hold_growth(1.0, N);
    if (!(growth > CC_HOLD_ERROR))
        return;
    e->held_too_long = 1.0;
    cc_report(host, CC_WARNING, "contact",
              "point %d: in the last contact of %.3g communication steps the held force makes the rebound %.3g "
              "times as fast as it should be with a Gauss-Seidel master, %.3g times with a Jacobi one; take steps "
              "below %.3g s or %.3g s, or remove coupling = false from the recipe", i + 1, N, re(cc_exp(growth)),
              re(cc_exp(late)), H * CC_HOLD_ERROR / growth, H * CC_HOLD_ERROR / late);
}

#else

static inline void start_watch(Element *e) { (void)e; }

static inline void watch_step(Element *e, int i, CcHost *host) { (void)e, (void)i, (void)host; }

#endif
