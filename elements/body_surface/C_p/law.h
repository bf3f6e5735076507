/* The pressure is the law C_p of the recipe. */

static Real pressure(const void *of, Real h) { return slot_C_p((const Element *)of, h); }

static Real energy_per_area(const void *of, Real h) { return slot_C_p_integral((const Element *)of, h); }

static inline void pressure_indicators(const Element *e, Indicators *z)
{
    slot_C_p_indicators(e, cc_max(-e->distance, 0.0), z);
}
