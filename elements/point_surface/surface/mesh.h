/* A mesh of triangles, surface_mesh, in the binary or in a file (base/data.h).  `place` has a fourth number, the
 * triangle on which it lies: with it the search for the next closest point begins. */
#include "surfaces/mesh.h"

/* As oriented.h has it, with a fourth number of `last`. */
static inline unsigned mesh_closest(const Real arm[3], Real R[3][3], const Real last[4], CcFoot *foot)
{
    CcMesh mesh = cc_mesh_of(surface_mesh);
    Real local[3];
    cc_to_body(R, arm, local);
    return cc_mesh(&mesh, surface_side[0], local, (unsigned)cc_index(re(last[3]), (int)mesh.triangle_count), foot);
}

static inline void surface_closest(const Real arm[3], Real R[3][3], const Real last[4], CcFoot *foot)
{
    mesh_closest(arm, R, last, foot);
}

static inline void surface_normal(Real R[3][3], const CcFoot *foot, Real n[3]) { cc_to_world(R, foot->normal, n); }

#include "curved.h"

static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    CcFoot foot;
    e->place[i][3] = mesh_closest(arm, R, e->previous[i].foot, &foot);
    e->edge[i] = foot.edge[0];
    return curved_place(e, i, R, n, &foot);
}

static inline int surface_covers(Element *e, int i, Real R[3][3], const Real local[3])
{
    return curved_covers(e, i, R, local);
}

static inline void surface_edges(const Element *e, int i, Indicators *z) { z->edge_border[i] = re(e->edge[i]); }

static inline void keep_foot(Element *e, int i)
{
    keep_place(e, i);
    e->previous[i].foot[3] = e->place[i][3];
}

/* The closest point may jump where the mesh is thin; its distance does not. */
#include "unbroken.h"
