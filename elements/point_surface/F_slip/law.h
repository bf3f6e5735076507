/* The bristle holds up to the law F_slip of the recipe. */
#include "laws/bristle.h"

static inline Real bristle_limit(const Element *e, int i, Real N, Real slip)
{
    Real limit = cc_max(slot_F_slip(e, N, slip), 0.0);
    if (re(e->slipped[i]) == 0.0) /* at rest on the surface, however fast the bristle bends */
        limit = cc_sticking_limit(limit, slot_F_slip(e, N, 0.0));
    return limit;
}

static inline void limit_indicators(const Element *e, int i, Indicators *z)
{
    slot_F_slip_indicators(e, i, cc_max(e->normal_force[i], 0.0), surface_slip(e, i), z);
}

static inline void start_slipping(Element *e, int i, int slips) { e->slipped[i] = slips; }

/* Keep whether the tip slips.  Returns what accept does. */
static inline int keep_slipping(Element *e, int i)
{
    int slips = re(e->tip_slip[i]) > 0.0, changed = (re(e->slipped[i]) != 0.0) != slips;
    e->slipped[i] = slips;
    return changed ? CC_CHANGED : 0;
}
