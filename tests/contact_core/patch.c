/* cc_patch over dual numbers. */
#define CC_API static __attribute__((unused))
#define CC_DUAL
#include "surfaces/patch.h"

/* out: depth, normal, closest point. */
__attribute__((visibility("default"))) void feet(const CcPatch *patch, double side, int n, Real (*P)[3], Real (*out)[7])
{
    const Real nowhere[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; i++) {
        CcFoot foot;
        cc_patch(patch, side, P[i], nowhere, &foot);
        out[i][0] = foot.depth;
        for (int k = 0; k < 3; k++) {
            out[i][1 + k] = foot.normal[k];
            out[i][4 + k] = foot.point[k];
        }
    }
}
