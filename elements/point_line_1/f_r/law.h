/* The elastic force is the law f_r of the recipe. */

/* F_r over delta, N/m. */
static Real stiffness(const Element *e, Real delta)
{
    return guide_ratio(slot_f_r(e, delta SENSORS(e)), delta, slot_f_r(e, GUIDE_AT_ZERO SENSORS(e)));
}

static Real elastic_energy(const Element *e) { return slot_f_r_integral(e, e->displacement SENSORS(e)); }

static int law_changed(const Element *e) { return guide_laws_changed(e); }

static void exchange_law(Element *e) { guide_exchange_laws(e); }

static void keep_law(Element *e) { guide_remember_laws(e); }

static inline void elastic_indicators(const Element *e, Indicators *z)
{
    slot_f_r_indicators(e, e->displacement SENSORS(e), z);
}
