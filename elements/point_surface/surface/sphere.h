/* A sphere of the radius surface_radius.  A ball has no orientation, so its foot lies in axes of the world. */
#include "surfaces/sphere.h"

static inline void surface_closest(const Real arm[3], Real R[3][3], const Real last[3], CcFoot *foot)
{
    (void)R;
    cc_sphere(surface_radius[0], surface_side[0], arm, last, foot);
}

static inline void surface_normal(Real R[3][3], const CcFoot *foot, Real n[3])
{
    (void)R;
    CC_UNROLL for (int k = 0; k < 3; k++)
        n[k] = foot->normal[k];
}

#include "curved.h"
#include "edgeless.h"
#include "smooth.h"
