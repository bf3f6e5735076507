/* Evaluations and searches of a guide alone, without the FMI layer: a point that runs along the line. */
#define CC_API static __attribute__((unused))
#pragma GCC diagnostic ignored "-Wunused-function" /* of an element only evaluations are timed */
#include "element_run.h"

static Element e;

/* Make the element ready at its start values. */
__attribute__((visibility("default"))) void ready(const double *start_values)
{
    double *block = (double *)&e;
    for (int i = 0; i < CC_VARIABLES; i++)
        block[i] = start_values[i];
    start(&e);
}

/* n evaluations as in a step: the point goes from where it was by `way` along the circle of 1 m about the z-axis, 2 mm
 * off, its foot tracked from the span before.  The sum keeps the compiler from leaving any out; *on counts. */
__attribute__((visibility("default"))) double evaluations(double way, double rise, long n, long *on)
{
    double x = e.point.r[0], y = e.point.r[1], sum = 0.0, c = 1.0 - 0.5 * way * way;
    for (long k = 0; k < n; k++) {
        double next = c * x - way * y;
        y = c * y + way * x;
        x = next;
        e.point.r[0] = x, e.point.r[1] = y, e.point.r[2] += way * rise;
        e.point.v[0] = -y, e.point.v[1] = x, e.point.v[2] = rise;
        cc_evaluate(&e, 0);
        e.span = e.foot_span;
        sum += e.point.f[0] + e.body[0].t[2];
        *on += e.on != 0.0;
    }
    return sum;
}

/* n searches of the whole line, from places that go round; returns the sum of the spans. */
__attribute__((visibility("default"))) double searches(long n)
{
    double sum = 0.0, x = e.point.r[0], y = e.point.r[1];
    for (long k = 0; k < n; k++) {
        double next = 0.8 * x - 0.6 * y;
        y = 0.8 * y + 0.6 * x;
        x = next;
        e.point.r[0] = x, e.point.r[1] = y;
        guide_search(&e);
        sum += e.span;
    }
    return sum;
}
