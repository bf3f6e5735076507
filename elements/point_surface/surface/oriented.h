/* Curved surfaces with an orientation: closest_in_frame works in the surface's frame. */
static inline void surface_closest(const Real arm[3], Real R[3][3], const Real last[3], CcFoot *foot)
{
    Real local[3];
    cc_to_body(R, arm, local);
    closest_in_frame(local, last, foot);
}

static inline void surface_normal(Real R[3][3], const CcFoot *foot, Real n[3]) { cc_to_world(R, foot->normal, n); }

#include "curved.h"
