/* No forces at points. */

static inline void push_points(Element *e, Work *work) { (void)e, (void)work; }

static inline void fail_of_point(const Element *e, int fault, CcHost *host) { (void)e, (void)fault, (void)host; }
