/* The bristle holds up to the limit of Coulomb, K_fr N. */

static inline Real bristle_limit(const Element *e, int i, Real N, Real slip)
{
    (void)i, (void)slip;
    return e->K_fr * N;
}

static inline void limit_indicators(const Element *e, int i, Indicators *z) { (void)e, (void)i, (void)z; }

static inline void start_slipping(Element *e, int i, int slips) { (void)e, (void)i, (void)slips; }

/* Keep whether the tip slips.  Returns what accept does. */
static inline int keep_slipping(Element *e, int i)
{
    (void)e, (void)i;
    return 0;
}
