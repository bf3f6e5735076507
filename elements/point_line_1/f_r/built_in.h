/* The elastic force is that of a linear spring, F_r = k_r delta. */

/* F_r over delta, N/m. */
static Real stiffness(const Element *e, Real delta) { return (void)delta, e->k_r; }

static Real elastic_energy(const Element *e) { return cc_spring_energy(e->k_r, e->displacement); }

static int law_changed(const Element *e) { return re(e->k_r) != re(e->previous.k_r); }

static void exchange_law(Element *e) { cc_exchange(&e->k_r, &e->previous.k_r); }

static void keep_law(Element *e) { e->previous.k_r = e->k_r; }

static inline void elastic_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
