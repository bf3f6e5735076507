/* The elastic force is that of a linear spring, F_e = C_F h. */

static Real elastic_force(const void *of, Real h) { return cc_spring_force(((const Element *)of)->C_F, h); }

static Real elastic_energy(const void *of, Real h) { return cc_spring_energy(((const Element *)of)->C_F, h); }

static inline void elastic_indicators(const Element *e, int i, Indicators *z) { (void)e, (void)i, (void)z; }

/* Elastic energy at the depth h > 0 by the law of the last accepted point, J; its loss by the change since then. */
static inline double energy_before(Element *e, double h) { return re(cc_spring_energy(e->previous_stiffness, h)); }

static inline double energy_destroyed(Element *e, double h)
{
    return re(cc_spring_energy(e->previous_stiffness - e->C_F, h));
}

static inline int elastic_changed(const Element *e) { return re(e->previous_stiffness) != re(e->C_F); }

static inline void remember_elastic(Element *e) { e->previous_stiffness = e->C_F; }

/* Time of a contact that took the impulse J, N s, with the peak force F, N, and changed the depth rate by `change`. */
static inline double contact_duration(const Element *e, double J, double F, double change)
{
    (void)F;
    return CC_PI_HI * re(cc_sqrt(J / (change * re(e->C_F))));
}
