/* Meshes over dual numbers, behind two functions: the foot, and the search alone. */
#define CC_API static __attribute__((unused))
#define CC_DUAL
#include "base/elementary.h"
#include "surfaces/mesh.h"

/* out: depth, normal, closest point.  whole: on the drawn part, singular, triangle.  last: where each search begins. */
__attribute__((visibility("default"))) void mesh_feet(const CcMeshData *data, double side, int n, Real (*P)[3],
                                                      unsigned *last, Real (*out)[7], int (*whole)[3], double *edge)
{
    CcMesh mesh = cc_mesh_of(data);
    for (int i = 0; i < n; i++) {
        CcFoot foot = {0};
        unsigned triangle = cc_mesh(&mesh, side, P[i], last[i], &foot);
        out[i][0] = foot.depth;
        for (int k = 0; k < 3; k++) {
            out[i][1 + k] = foot.normal[k];
            out[i][4 + k] = foot.point[k];
        }
        whole[i][0] = foot.on;
        whole[i][1] = foot.singular;
        whole[i][2] = (int)triangle;
        edge[i] = foot.edge[0];
    }
}

/* Distances; `path`: each search begins where the one before ended, else from the root. */
__attribute__((visibility("default"))) void mesh_distances(const CcMeshData *data, int path, int n, double (*P)[3],
                                                           double *distance)
{
    CcMesh mesh = cc_mesh_of(data);
    unsigned last = mesh.triangle_count;
    for (int i = 0; i < n; i++) {
        CcMeshSearch found;
        cc_mesh_nearest(&mesh, P[i], path ? last : mesh.triangle_count, &found);
        last = found.hit.triangle;
        distance[i] = __builtin_sqrt(found.hit.square);
    }
}
