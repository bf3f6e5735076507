/* A profile that turns about z. */
#include "profile_spans.h"

static inline void closest_in_frame(const Real local[3], const Real last[3], CcFoot *foot)
{
    cc_revolution(SURFACE_SPANS, SURFACE_SPAN_COUNT, (int)surface_profile_kind[0], surface_side[0], local, last, foot);
}
