/* Inertia that a torque turns.   phi' = w,   J w' = t
 *
 * J moment of inertia, kg.m^2, > 0    t sum of the torques on it, N.m    phi position, rad    w speed, rad/s
 * Energy, J: kinetic J w^2 / 2.   Source: Newton's second law. */

static void outputs(Element *e) { e->energy.kinetic = 0.5 * e->J * e->shaft.w * e->shaft.w; }

static void derivatives(Element *e) { e->der.shaft.w = e->shaft.t / e->J; }
