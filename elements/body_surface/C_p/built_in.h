/* The pressure is that of a linear foundation, p = C_p h. */

static Real pressure(const void *of, Real h) { return cc_spring_force(((const Element *)of)->C_p, h); }

static Real energy_per_area(const void *of, Real h) { return cc_spring_energy(((const Element *)of)->C_p, h); }

static inline void pressure_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
