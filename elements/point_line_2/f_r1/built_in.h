/* The force along V1 is that of a linear spring, F_r1 = k_r1 delta1. */
static Real first_force(const Element *e, Real delta) { return cc_spring_force(e->k_r1, delta); }

static Real first_energy(const Element *e) { return cc_spring_energy(e->k_r1, e->displacement[0]); }

static int first_changed(const Element *e) { return re(e->k_r1) != re(e->previous.k_r1); }

static void exchange_first(Element *e) { cc_exchange(&e->k_r1, &e->previous.k_r1); }

static void keep_first(Element *e) { e->previous.k_r1 = e->k_r1; }

static inline void first_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
