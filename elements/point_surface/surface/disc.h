/* A disc of the radius surface_radius. */
#include "surfaces/disc.h"

/* As of the plane; *inside is the way of the foot inside the edge, m. */
static inline Real flat_depth(const Real local[3], int *on, double *inside)
{
    Real depth = cc_disc(surface_radius[0], local, inside);
    *on = *inside >= 0.0;
    return depth;
}

static inline void flat_edge(Element *e, int i, double inside) { e->edge[i] = inside; }

static inline void surface_edges(const Element *e, int i, Indicators *z) { z->edge_radius[i] = re(e->edge[i]); }

#include "flat.h"
