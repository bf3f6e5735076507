/* What plane and disc share: one normal, the z axis of the surface's frame, and a foot that is always the only one. */
#define SURFACE_FLAT 1

static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    Real local[3];
    double inside;
    int on;
    cc_to_body(R, arm, local);
    e->distance[i] = -flat_depth(local, &on, &inside);
    flat_edge(e, i, inside);
    e->place[i][0] = local[0];
    e->place[i][1] = local[1];
    CC_UNROLL for (int k = 0; k < 3; k++)
        n[k] = R[k][2];
    return on;
}

static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    double inside;
    int on;
    (void)e, (void)i, (void)R;
    flat_depth(local, &on, &inside);
    return on;
}

static inline void keep_foot(Element *e, int i) { (void)e, (void)i; }

static inline const char *surface_turning(void) { return "turn it over: surface.q by half a turn about its x"; }

#include "unbroken.h"
