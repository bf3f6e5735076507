/* A mesh of triangles, surface_mesh. */
#include "base/elementary.h"
#include "surfaces/mesh.h"

#define SURFACE_FLAT 0

static inline unsigned surface_at(const Real local[3], unsigned near, CcFoot *foot)
{
    CcMesh mesh = cc_mesh_of(surface_mesh);
    return cc_mesh(&mesh, surface_side[0], local, near, foot);
}
