/* The force along V2 is that of a linear spring, F_r2 = k_r2 delta2. */
static Real second_force(const Element *e, Real delta) { return cc_spring_force(e->k_r2, delta); }

static Real second_energy(const Element *e) { return cc_spring_energy(e->k_r2, e->displacement[1]); }

static int second_changed(const Element *e) { return re(e->k_r2) != re(e->previous.k_r2); }

static void exchange_second(Element *e) { cc_exchange(&e->k_r2, &e->previous.k_r2); }

static void keep_second(Element *e) { e->previous.k_r2 = e->k_r2; }

static inline void second_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
