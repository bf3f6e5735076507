/* A patch of bicubic pieces, from control points or through heights: CcPatch of the constants of structure.py. */
#include "shared/patch_foot.h"

#include "oriented.h"

static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    CcFoot foot;
    int on = curved_foot(e, i, arm, R, n, &foot);
    for (int k = 0; k < 4; k++)
        e->edge[i][k] = foot.edge[k];
    return on;
}

static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    return curved_covers(e, i, R, local);
}

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_u_from[i] = re(e->edge[i][0]);
    z->edge_u_to[i] = re(e->edge[i][1]);
    z->edge_v_from[i] = re(e->edge[i][2]);
    z->edge_v_to[i] = re(e->edge[i][3]);
}

static inline void keep_foot(Element *e, int i) { keep_place(e, i); }

#include "unbroken.h"
