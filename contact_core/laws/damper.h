/* A viscous damper along one coordinate.
 *
 * Force, N or N m     F = d v          Dissipated power, W     P = F v = d v^2 >= 0
 *
 * d  damping coefficient, N s/m or N m s/rad, >= 0     v  speed of its ends apart, m/s or rad/s
 * Source: Newton's law of viscous friction. */
#ifndef CC_DAMPER_LAW_H
#define CC_DAMPER_LAW_H

#include "../base/real.h"

CC_API Real cc_damper_force(Real d, Real v) { return d * v; }

#endif
