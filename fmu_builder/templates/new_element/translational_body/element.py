"""Mass that a force moves along a line.   s' = v,   m v' = F

m mass, kg, > 0    F sum of the forces on it, N    s position, m    v speed, m/s
Energy, J: kinetic m v^2 / 2.   Source: Newton's second law."""


def outputs(e):
    e.energy.kinetic = 0.5 * e.m * e.slide.v**2


def derivatives(e):
    e.der.slide.v = e.slide.F / e.m
