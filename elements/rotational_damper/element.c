/* Rotational damper between two shafts: the rod r and the case c.
 *
 *     w = w_r - w_c        t = d w
 *
 * d damping coefficient, N.m.s/rad, >= 0      w relative angular velocity, rad/s
 * t torque through from r to c, N.m: the damper transmits it from the body at r to that at c, so the torque on the body
 * at r is -t and that on the body at c is +t.
 *
 * With `work` false t = 0.  The shafts supply the power P = -(t_r w_r + t_c w_c), W, which is dissipated at once:
 * P = d w^2 >= 0.   Not modelled: dry friction, heating of the fluid.   Source: Newton's law of viscous friction. */

#define RATE w
#define FORCE t
#define INERTIA J_eff
#define PARTNER partner_inertia
#include "shared/axis_damper.h"
