/* What revolution and extrusion share: a profile of pieces, over whose corners the foot may jump.  `rival` is where it
 * may jump to. */
#include "oriented.h"

static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    CcFoot foot;
    int on = curved_foot(e, i, arm, R, n, &foot);
    for (int k = 0; k < 2; k++)
        e->edge[i][k] = foot.edge[k];
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->rival[i][k] = foot.rival[k];
    e->gap[i] = foot.gap;
    e->way[i] = foot.way;
    return on;
}

static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    return curved_covers(e, i, R, local);
}

static inline double surface_jump(const Element *e, int i)
{
    double from_rival = 0.0, from_place = 0.0, apart = 0.0;
    if (re(e->singular[i]) != 0.0) /* the last closest point is kept */
        return CC_SINGULAR;
    for (int k = 0; k < 3; k++) {
        double last = re(e->previous[i].foot[k]), rival = re(e->rival[i][k]), place = re(e->place[i][k]);
        from_rival += (rival - last) * (rival - last);
        from_place += (place - last) * (place - last);
        apart += (rival - place) * (rival - place);
    }
    return re(e->gap[i]) * (apart > 0.0 ? (from_rival - from_place) / apart : 1.0);
}

static inline Real surface_slip(const Element *e, int i)
{
    return surface_jump(e, i) < 0.0 ? e->previous[i].slip_speed : e->slip_speed[i];
}

/* Indicators of the ends of the profile and of its corners. */
static inline void profile_edges(const Element *e, int i, Indicators *z)
{
    double jump = surface_jump(e, i);
    z->edge_profile_from[i] = re(jump < 0.0 ? e->previous[i].edge[0] : e->edge[i][0]);
    z->edge_profile_to[i] = re(jump < 0.0 ? e->previous[i].edge[1] : e->edge[i][1]);
    z->jump[i] = jump;
    z->corner[i] = re(jump < 0.0 ? e->previous[i].way : e->way[i]);
}

static inline void keep_foot(Element *e, int i)
{
    keep_place(e, i);
    for (int k = 0; k < 2; k++)
        e->previous[i].edge[k] = e->edge[i][k];
    e->previous[i].way = e->way[i];
    e->previous[i].slip_speed = e->slip_speed[i];
}
