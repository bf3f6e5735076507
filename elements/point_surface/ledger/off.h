/* No balances. */

static inline void book_rates(Element *e, int i, int in_contact) { (void)e, (void)i, (void)in_contact; }

static inline void book_friction(Element *e, double energy) { (void)e, (void)energy; }

static inline void close_ledger(Element *e) { (void)e; }

static inline void start_impulse(Element *e, int i) { (void)e, (void)i; }

static inline void record_impulse(Element *e, int i) { (void)e, (void)i; }
