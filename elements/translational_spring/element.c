/* Translational spring between two bodies on a line: at the rod r and at the case c.
 *
 *     v = v_r - v_c        x' = v        F = k x
 *
 * k spring rate, N/m, > 0      x deformation, m, x0 at the start      v relative velocity, m/s
 * F force through from r to c, N: the spring transmits it from the body at r to that at c, so the force on the body at
 * r is -F and that on the body at c is +F.  The bodies supply the power P = -(-F v_r + F v_c) = F v.
 *
 * With the structure `positions` the ports have the positions s of the bodies, m, too, and
 *
 *     x = x0 + s_r - s_c
 *
 * takes the place of x' = v: x is no state, and no error of a coupling remains in it.
 *
 * With `work` false F = 0 while x follows the bodies.  Energy k x^2/2, J, removed or added by switching or a new k is
 * booked in energy.switched:  work = U - U_start + switched.   Source: Hooke's law. */

#define DEFORMATION x
#define START x0
#define RATE v
#define FORCE F
#define PLACE s
#define BY_PLACE POSITIONS
#define INERTIA m_eff
#define PARTNER partner_mass
#include "shared/axis_spring.h"
