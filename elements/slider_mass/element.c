/* Mass that slides along a line.   s' = v,   m v' = F
 *
 * m mass, kg, > 0      F sum of the forces on it along the line, N      s position, m      v velocity, m/s
 * Energy, J: kinetic m v^2 / 2.   Source: Newton's second law. */

static void outputs(Element *e) { e->energy.kinetic = 0.5 * e->m * e->p.v * e->p.v; }

static void derivatives(Element *e) { e->der.p.v = e->p.F / e->m; }
