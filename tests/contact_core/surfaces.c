/* The surfaces over dual numbers, behind one function. */
#define CC_API static __attribute__((unused))
#define CC_DUAL
#include "surfaces/cone.h"
#include "surfaces/cylinder.h"
#include "surfaces/disc.h"
#include "surfaces/profile.h"
#include "surfaces/sphere.h"
#include "surfaces/torus.h"

/* out: depth, normal, closest point.  a: the surface's own numbers, in the order of its function. */
__attribute__((visibility("default"))) void feet(int surface, const double *a, const CcSpan *spans, int count, int kind,
                                                 int n, Real (*P)[3], Real (*last)[3], Real (*out)[7])
{
    for (int i = 0; i < n; i++) {
        CcFoot foot = {0};
        double inside;
        switch (surface) {
        case 0: cc_sphere(a[0], a[1], P[i], last[i], &foot); break;
        case 1: cc_cylinder(a[0], a + 1, a[3], P[i], last[i], &foot); break;
        case 2: cc_cone(a, a + 2, a[4], P[i], last[i], &foot); break;
        case 3: cc_torus(a[0], a[1], a[2], P[i], last[i], &foot); break;
        case 4: cc_revolution(spans, count, kind, a[0], P[i], last[i], &foot); break;
        case 5: cc_extrusion(spans, count, kind, a, a[2], P[i], &foot); break;
        default: foot.depth = cc_disc(a[0], P[i], &inside);
        }
        out[i][0] = foot.depth;
        for (int k = 0; k < 3; k++) {
            out[i][1 + k] = foot.normal[k];
            out[i][4 + k] = foot.point[k];
        }
    }
}
