/* A profile that is drawn out along z, between the ends of surface_z. */
#include "profile_spans.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    (void)last; /* no axis */
    cc_extrusion(SURFACE_SPANS, SURFACE_SPAN_COUNT, (int)surface_profile_kind[0], surface_z, surface_side[0], local,
                 foot);
}
