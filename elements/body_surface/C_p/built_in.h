/* The pressure is that of a linear foundation, p = C_p h. */

static Real pressure(const void *of, Real h) { return cc_spring_force(((const Element *)of)->C_p, h); }

static Real energy_per_area(const void *of, Real h) { return cc_spring_energy(((const Element *)of)->C_p, h); }

static inline int pressure_changed(const Element *e) { return re(e->previous.C_p) != re(e->C_p); }

/* Exchanges the law with that of the last accepted point. */
static inline void exchange_pressure(Element *e)
{
    Real C_p = e->C_p;
    e->C_p = e->previous.C_p, e->previous.C_p = C_p;
}

static inline void remember_pressure(Element *e) { e->previous.C_p = e->C_p; }

static inline void pressure_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
