/* Spring and damper between a slide and a fixed anchor.   F = -k (s - anchor) - c v
 *
 * F force on the body, N    k stiffness, N/m, > 0    c damping, N.s/m, >= 0    s, v position and speed of the slide
 * Energies, J: elastic k (s - anchor)^2 / 2; damping int c v^2 dt, never falling.   Source: Hooke's law. */

static void outputs(Element *e)
{
    Real stretch = e->slide.s - e->anchor, rate = e->slide.v;
    e->slide.F = -e->work * (e->k * stretch + e->c * rate);
    e->energy.elastic = e->work * 0.5 * e->k * stretch * stretch;
    e->power.damping = e->work * e->c * rate * rate;
}
