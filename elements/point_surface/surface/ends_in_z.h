/* A surface that is drawn between the ends of surface_z. */
static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    return curved_covers(e, i, R, local);
}

static inline void surface_edges(const Element *e, int i, Indicators *z)
{
    z->edge_z_from[i] = re(e->place[i][2]) - surface_z[0];
    z->edge_z_to[i] = surface_z[1] - re(e->place[i][2]);
}
