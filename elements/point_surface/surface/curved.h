/* What all curved surfaces share.  Of the kind: surface_closest, the closest point to what lies at `arm` from the
 * origin of the surface's frame, in world components, `last` the closest point before; surface_normal, the normal
 * there. */
#define SURFACE_FLAT 0

/* What surface_foot keeps of a foot. */
static inline int curved_place(Element *e, int i, Real R[3][3], Real n[3], const CcFoot *foot)
{
    e->distance[i] = -foot->depth;
    e->singular[i] = foot->singular;
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->place[i][k] = foot->point[k];
    surface_normal(R, foot, n);
    return foot->on;
}

/* As surface_foot, with the whole foot. */
static inline int curved_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3], CcFoot *foot)
{
    surface_closest(arm, R, e->previous[i].foot, foot);
    return curved_place(e, i, R, n, foot);
}

static inline int curved_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    Real arm[3];
    CcFoot foot;
    cc_to_world(R, local, arm);
    surface_closest(arm, R, e->place[i], &foot);
    return foot.on;
}

static inline void keep_place(Element *e, int i)
{
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->previous[i].foot[k] = e->place[i][k];
}

static inline const char *surface_turning(void)
{
    return surface_side[0] > 0.0 ? "turn it inside out: [surface] side = \"inside\""
                                 : "turn it inside out: [surface] side = \"outside\"";
}
