/* A plane, drawn between the ends of surface_x and surface_y. */
#include "surfaces/plane.h"

/* Depth of what lies at `local` in the surface's frame; *on is 1 if its foot is on the drawn part. */
static inline Real flat_depth(const Real local[3], int *on, double *inside)
{
    *inside = 0.0;
    return cc_plane(surface_x, surface_y, local, on);
}

static inline void flat_edge(Element *e, int i, double inside) { (void)e, (void)i, (void)inside; }

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_x_from[i] = re(e->place[i][0]) - surface_x[0];
    z->edge_x_to[i] = surface_x[1] - re(e->place[i][0]);
    z->edge_y_from[i] = re(e->place[i][1]) - surface_y[0];
    z->edge_y_to[i] = surface_y[1] - re(e->place[i][1]);
}

#include "flat.h"
