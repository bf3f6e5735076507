/* Inertia that turns about a fixed axis.   phi' = w,   J w' = t
 *
 * J moment of inertia, kg.m^2, > 0      t sum of the torques on it, N.m      phi angle, rad      w rad/s
 * Energy, J: kinetic J w^2 / 2.   Source: Newton's second law. */

static void outputs(Element *e) { e->energy.kinetic = 0.5 * e->J * e->p.w * e->p.w; }

static void derivatives(Element *e) { e->der.p.w = e->p.t / e->J; }
