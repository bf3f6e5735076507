/* Rotational spring between two shafts: the rod r and the case c.
 *
 *     w = w_r - w_c        theta' = w        t = k theta
 *
 * k spring rate, N.m/rad, > 0      theta deformation, rad, theta0 at the start      w relative angular velocity, rad/s
 * t torque through from r to c, N.m: the spring transmits it from the body at r to that at c, so the torque on the body
 * at r is -t and that on the body at c is +t.  The shafts supply the power P = -(-t w_r + t w_c) = t w.
 *
 * With the structure `angles` the ports have the angles phi of the shafts, rad, too, and
 *
 *     theta = theta0 + phi_r - phi_c
 *
 * takes the place of theta' = w: theta is no state, and no error of a coupling remains in it.
 *
 * With `work` false t = 0 while theta follows the shafts.  Energy k theta^2/2, J, removed or added by switching or a
 * new k is booked in energy.switched:  work = U - U_start + switched.   Source: Simscape, spring.ssc. */

#define DEFORMATION theta
#define START theta0
#define RATE w
#define FORCE t
#define PLACE phi
#define BY_PLACE ANGLES
#define INERTIA J_eff
#define PARTNER partner_inertia
#include "shared/axis_spring.h"
