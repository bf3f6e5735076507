/* Damping with restitution, between the limits of contact.h. */

static inline CcContactLaw restitution_of(const Element *e)
{
    return (CcContactLaw){.C_r = e->C_r, .k_D = e->k_D, .k_E = e->k_E};
}

static Real damping_ratio(const void *of, Real w)
{
    CcContactLaw law = restitution_of(of);
    return cc_damping_ratio(&law, w);
}

static inline void damping_indicators(const Element *e, int i, Real w, Indicators *z)
{
    CcContactLaw law = restitution_of(e);
    cc_damping_sides(&law, w, &z->restitution_limit[i], &z->compression_limit[i]);
}

static inline void start_clipping(Element *e, int i) { (void)e, (void)i; }

static inline void count_clipped(Element *e, int i, CcHost *host) { (void)e, (void)i, (void)host; }
