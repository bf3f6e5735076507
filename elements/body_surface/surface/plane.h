/* A plane, drawn between the ends of surface_x and surface_y. */
#include "surfaces/foot.h"
#include "surfaces/plane.h"

#include "flat.h"

static inline unsigned surface_at(const Real local[3], unsigned near, CcFoot *foot)
{
    int on;
    Real depth = cc_plane(surface_x, surface_y, local, &on);
    flat_foot(local, depth, on, foot);
    return near;
}
