/* Friction on the ramp. */
#include "shared/guide_ramp.h"

/* Friction over the speed along the line, N s/m. */
static Real friction_per_speed(const Element *e, const Guide *g, Real P1, Real P2)
{
    return guide_friction(e, g, cc_sqrt(P1 * P1 + P2 * P2));
}

static inline void friction_indicators(const Element *e, Indicators *z) { ramp_indicators(e, z); }
