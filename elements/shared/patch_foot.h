/* A patch of bicubic pieces, from control points or through heights: CcPatch of the constants of structure.py. */
#include "surfaces/patch.h"

enum {
    SURFACE_SPANS_U = sizeof surface_spans_u / (sizeof(CcPatchSpan)),
    SURFACE_SPANS_V = sizeof surface_spans_v / (sizeof(CcPatchSpan)),
};
_Static_assert(sizeof(CcPatchSpan) == 19 * sizeof(double), "a span is 19 numbers of surface_spans_u");

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    const CcPatch patch = {
        .spans = {(const CcPatchSpan *)surface_spans_u, (const CcPatchSpan *)surface_spans_v},
        .control = surface_control,
        .boxes = surface_boxes,
        .count = {SURFACE_SPANS_U, SURFACE_SPANS_V},
        .components = (int)surface_patch[0],
        .columns = (int)surface_patch[1],
        .closed = {(int)surface_patch[2], (int)surface_patch[3]},
        .reach = {surface_reach[0], surface_reach[1]},
    };
    cc_patch(&patch, surface_side[0], local, last, foot);
}
