/* The elastic force is the law C_F of the recipe. */

static Real elastic_force(const void *of, Real h) { return slot_C_F((const Element *)of, h); }

static Real elastic_energy(const void *of, Real h) { return slot_C_F_integral((const Element *)of, h); }

static inline void elastic_indicators(const Element *e, int i, Indicators *z)
{
    slot_C_F_indicators(e, i, e->depth[i], z);
}

/* Elastic energy at the depth h > 0 by the law of the last accepted point, J; its loss by the change since then. */
static inline double energy_before(Element *e, double h)
{
    laws_exchange(e);
    double energy = re(elastic_energy(e, h));
    laws_exchange(e);
    return energy;
}

static inline double energy_destroyed(Element *e, double h) { return energy_before(e, h) - re(elastic_energy(e, h)); }

static inline int elastic_changed(const Element *e) { return laws_changed(e); }

static inline void remember_elastic(Element *e) { laws_remember(e); }

/* Time of a contact that took the impulse J, N s, with the peak force F, N: that of a half sine. */
static inline double contact_duration(const Element *e, double J, double F, double change)
{
    (void)e, (void)change;
    return 0.5 * CC_PI_HI * J / F;
}
