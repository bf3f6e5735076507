/* No revolute joint is a port. */

static inline void show_shaft(Element *e, int i, Real *torque) { (void)e, (void)i, (void)torque; }
