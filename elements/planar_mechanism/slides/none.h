/* No prismatic joint is a port. */

static inline void show_slide(Element *e, int i, Real *force) { (void)e, (void)i, (void)force; }
