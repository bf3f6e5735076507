/* Contacts without friction. */

static inline void rub(Element *e, Work *work, Real lambda[]) { (void)e, (void)work, (void)lambda; }

static inline void check_friction(const Element *e, CcHost *host) { (void)e, (void)host; }

/* The force of row k on its body, N. */
static inline void force_of_row(const Work *work, int k, Real lambda, Real on_body[2])
{
    const Real *n = work->rows[k].n;
    on_body[0] = -lambda * n[0];
    on_body[1] = -lambda * n[1];
}

static inline void show_friction_power(Element *e) { (void)e; }

static inline int friction_indicators(const Element *e, int i, Indicators *z)
{
    (void)e, (void)i, (void)z;
    return 0;
}

static inline void margin_indicator(const Element *e, Indicators *z) { (void)e, (void)z; }
