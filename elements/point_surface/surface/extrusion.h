/* A profile that is drawn out along z, between the ends of surface_z. */
#include "profile.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    (void)last; /* no axis */
    cc_extrusion(SURFACE_SPANS, SURFACE_SPAN_COUNT, (int)surface_profile_kind[0], surface_z, surface_side[0], local,
                 foot);
}

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_z_from[i] = re(e->place[i][2]) - surface_z[0];
    z->edge_z_to[i] = surface_z[1] - re(e->place[i][2]);
    profile_edges(e, i, z);
}
