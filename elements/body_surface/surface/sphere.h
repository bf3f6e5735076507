/* A sphere of the radius surface_radius. */
#include "surfaces/sphere.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    cc_sphere(surface_radius[0], surface_side[0], local, last, foot);
}

#include "curved.h"
