"""Spring and damper between a slide and a fixed anchor.   F = -k (s - anchor) - c v

F force on the body, N    k stiffness, N/m, > 0    c damping, N.s/m, >= 0    s, v position and speed of the slide
Energies, J: elastic k (s - anchor)^2 / 2; damping int c v^2 dt, never falling.   Source: Hooke's law."""


def outputs(e):
    stretch = e.slide.s - e.anchor
    e.slide.F = -e.work * (e.k * stretch + e.c * e.slide.v)
    e.energy.elastic = e.work * 0.5 * e.k * stretch**2
    e.power.damping = e.work * e.c * e.slide.v**2
