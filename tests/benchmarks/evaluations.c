/* Evaluations of point_surface, or with SKIN of body_surface, alone, without the FMI layer: points, or a body, that
 * move through the surface. */
#define CC_API static __attribute__((unused))
#pragma GCC diagnostic ignored "-Wunused-function" /* of an element only evaluations are timed */
#include "element_run.h"

#ifdef SKIN
enum { MOVED = 1 };
#define MOVED_PORT(i) e.body
#define TOUCHES e.contact_samples
#else
enum { MOVED = POINTS };
#define MOVED_PORT(i) e.point[i]
#define TOUCHES e.in_contact[0]
#endif

/* n evaluations of the element at its start values, what moves by at most `way` along each axis about `place`;
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
        for (int i = 0; i < MOVED; i++)
            for (int j = 0; j < 3; j++) {
                random = random * 1664525u + 1013904223u;
                double share = (double)(random >> 8) / 8388608.0 - 1.0;
                MOVED_PORT(i).r[j] = place[j] + way * share;
                MOVED_PORT(i).v[j] = share;
            }
        cc_evaluate(&e, 0);
        sum += e.surface.f[0] + e.surface.f[2];
        *touching += TOUCHES != 0.0;
    }
    return sum;
}
