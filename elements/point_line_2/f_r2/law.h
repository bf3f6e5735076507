/* The force along V2 is the law f_r2 of the recipe; guide.h keeps the parameters of all laws. */
static Real second_force(const Element *e, Real delta) { return slot_f_r2(e, delta SENSORS(e)); }

static Real second_energy(const Element *e) { return slot_f_r2_integral(e, e->displacement[1] SENSORS(e)); }

static int second_changed(const Element *e) { return (void)e, 0; }

static void exchange_second(Element *e) { (void)e; }

static void keep_second(Element *e) { (void)e; }

static inline void second_indicators(const Element *e, Indicators *z)
{
    slot_f_r2_indicators(e, e->displacement[1] SENSORS(e), z);
}
