/* A cylinder of the radius surface_radius, drawn between the ends of surface_z. */
#include "surfaces/cylinder.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    cc_cylinder(surface_radius[0], surface_z, surface_side[0], local, last, foot);
}
