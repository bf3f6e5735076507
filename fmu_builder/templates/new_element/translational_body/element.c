/* Mass that a force moves along a line.   s' = v,   m v' = F
 *
 * m mass, kg, > 0    F sum of the forces on it, N    s position, m    v speed, m/s
 * Energy, J: kinetic m v^2 / 2.   Source: Newton's second law. */

static void outputs(Element *e) { e->energy.kinetic = 0.5 * e->m * e->slide.v * e->slide.v; }

static void derivatives(Element *e) { e->der.slide.v = e->slide.F / e->m; }
