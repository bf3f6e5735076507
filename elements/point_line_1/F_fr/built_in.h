/* Friction on the ramp. */
#include "shared/guide_ramp.h"

/* Friction over the speed along the line, N s/m. */
static Real friction_per_speed(const Element *e, const Guide *g, Real P) { return guide_friction(e, g, P); }

static inline void friction_indicators(const Element *e, Indicators *z) { ramp_indicators(e, z); }
