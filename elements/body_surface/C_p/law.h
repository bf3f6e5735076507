/* The pressure is the law C_p of the recipe. */

static Real pressure(const void *of, Real h) { return slot_C_p((const Element *)of, h); }

static Real energy_per_area(const void *of, Real h) { return slot_C_p_integral((const Element *)of, h); }

static inline int pressure_changed(const Element *e) { return laws_changed(e); }

/* Exchanges the law with that of the last accepted point. */
static inline void exchange_pressure(Element *e) { laws_exchange(e); }

static inline void remember_pressure(Element *e) { laws_remember(e); }

static inline void pressure_indicators(const Element *e, Indicators *z)
{
    slot_C_p_indicators(e, cc_max(-e->distance, 0.0), z);
}
