/* The force along V1 is the law f_r1 of the recipe; guide.h keeps the parameters of all laws. */
static Real first_force(const Element *e, Real delta) { return slot_f_r1(e, delta SENSORS(e)); }

static Real first_energy(const Element *e) { return slot_f_r1_integral(e, e->displacement[0] SENSORS(e)); }

static int first_changed(const Element *e) { return (void)e, 0; }

static void exchange_first(Element *e) { (void)e; }

static void keep_first(Element *e) { (void)e; }

static inline void first_indicators(const Element *e, Indicators *z)
{
    slot_f_r1_indicators(e, e->displacement[0] SENSORS(e), z);
}
