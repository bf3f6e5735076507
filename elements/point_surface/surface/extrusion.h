/* A profile that is drawn out along z, between the ends of surface_z. */
#include "shared/extrusion_foot.h"

#include "profile.h"

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_z_from[i] = re(e->place[i][2]) - surface_z[0];
    z->edge_z_to[i] = surface_z[1] - re(e->place[i][2]);
    profile_edges(e, i, z);
}
