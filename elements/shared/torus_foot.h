/* A torus, surface_radius: of its circle, and of the tube. */
#include "surfaces/torus.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    cc_torus(surface_radius[0], surface_radius[1], surface_side[0], local, last, foot);
}
