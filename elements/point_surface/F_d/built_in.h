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

static inline int damping_changed(const Element *e)
{
    return re(e->previous_damping.C_r) != re(e->C_r) || re(e->previous_damping.k_D) != re(e->k_D)
           || re(e->previous_damping.k_E) != re(e->k_E);
}

/* Exchanges the damping with that of the last accepted point. */
static inline void exchange_damping(Element *e)
{
    Real C_r = e->C_r, k_D = e->k_D, k_E = e->k_E;
    e->C_r = e->previous_damping.C_r, e->previous_damping.C_r = C_r;
    e->k_D = e->previous_damping.k_D, e->previous_damping.k_D = k_D;
    e->k_E = e->previous_damping.k_E, e->previous_damping.k_E = k_E;
}

static inline void remember_damping(Element *e)
{
    e->previous_damping.C_r = e->C_r, e->previous_damping.k_D = e->k_D, e->previous_damping.k_E = e->k_E;
}

static inline void start_clipping(Element *e, int i) { (void)e, (void)i; }

static inline void count_clipped(Element *e, int i, CcHost *host) { (void)e, (void)i, (void)host; }
