/* The equations of Lorenz.   x' = sigma (y - x)   y' = x (rho - z) - y   z' = x y - beta z
 *
 * sigma, rho, beta rates, 1/s; the terms without a rate have one of 1/s.  With 10, 28, 8/3 errors grow as
 * exp(0.906 t/s) on average: 8,600 times in 10 s, 7e7 times in 20 s.
 * Source: E. N. Lorenz, Deterministic nonperiodic flow, J. Atmos. Sci. 20 (1963). */

static void derivatives(Element *e)
{
    Real x = e->x[0], y = e->x[1], z = e->x[2];
    e->der.x[0] = e->sigma * (y - x);
    e->der.x[1] = x * (e->rho - z) - y;
    e->der.x[2] = x * y - e->beta * z;
}
