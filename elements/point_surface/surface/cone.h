/* A cone with the half angle surface_angle, drawn between the ends of surface_z. */
#include "shared/cone_foot.h"

#include "oriented.h"
#include "smooth.h"

static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    return curved_covers(e, i, R, local);
}

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_z_from[i] = re(e->place[i][2]) - surface_z[0];
    z->edge_z_to[i] = surface_z[1] - re(e->place[i][2]);
}
