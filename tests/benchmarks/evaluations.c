/* Evaluations of point_surface alone, without the FMI layer: a point that moves through the surface. */
#define CC_API static __attribute__((unused))
#pragma GCC diagnostic ignored "-Wunused-function" /* of an element only evaluations are timed */
#include "element_run.h"

/* n evaluations of the element at its start values, its points moved by at most `way` along each axis about `place`;
 * the sum keeps the compiler from leaving any out, *touching counts the contacts. */
__attribute__((visibility("default"))) double evaluations(const double *start, const double place[3], double way,
                                                          long n, long *touching)
{
    static Element e;
    double *block = (double *)&e, sum = 0.0;
    unsigned random = 1;
    for (int i = 0; i < CC_VARIABLES; i++)
        block[i] = start[i];
    for (long k = 0; k < n; k++) {
        for (int i = 0; i < POINTS; i++)
            for (int j = 0; j < 3; j++) {
                random = random * 1664525u + 1013904223u;
                double share = (double)(random >> 8) / 8388608.0 - 1.0;
                e.point[i].r[j] = place[j] + way * share;
                e.point[i].v[j] = share;
            }
        cc_evaluate(&e, 0);
        sum += e.surface.f[0] + e.surface.f[2];
        *touching += e.in_contact[0] != 0.0;
    }
    return sum;
}
