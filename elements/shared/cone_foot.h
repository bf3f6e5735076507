/* A cone with the half angle surface_angle, drawn between the ends of surface_z. */
#include "surfaces/cone.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    cc_cone(surface_angle, surface_z, surface_side[0], local, last, foot);
}
