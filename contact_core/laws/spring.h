/* A linear spring along one coordinate.
 *
 * Force, N or N m     F = k x          Energy, J     U = k x^2/2          so F = dU/dx
 *
 * k  stiffness, N/m or N m/rad, >= 0     x  deformation, m or rad; of a contact the depth
 * Source: Hooke's law. */
#ifndef CC_SPRING_LAW_H
#define CC_SPRING_LAW_H

#include "../base/real.h"

CC_API Real cc_spring_force(Real k, Real x) { return k * x; }

CC_API Real cc_spring_energy(Real k, Real x) { return 0.5 * k * x * x; }

#endif
