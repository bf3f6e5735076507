/* The pieces of a profile, surface_profile. */
#include "surfaces/profile.h"

#define SURFACE_SPANS ((const CcSpan *)surface_profile)
enum { SURFACE_SPAN_COUNT = sizeof surface_profile / (sizeof(CcSpan)) };
_Static_assert(sizeof(CcSpan) == 12 * sizeof(double), "a span is 12 numbers of surface_profile");
