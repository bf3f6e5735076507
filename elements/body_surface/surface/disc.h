/* A disc of the radius surface_radius. */
#include "surfaces/disc.h"
#include "surfaces/foot.h"

#include "flat.h"

static inline unsigned surface_at(const Real local[3], unsigned near, CcFoot *foot)
{
    double inside;
    Real depth = cc_disc(surface_radius[0], local, &inside);
    flat_foot(local, depth, inside >= 0.0, foot);
    return near;
}
