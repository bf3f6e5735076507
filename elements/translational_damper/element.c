/* Translational damper between two bodies on a line: at the rod r and at the case c.
 *
 *     v = v_r - v_c        F = d v
 *
 * d damping coefficient, N.s/m, >= 0      v relative velocity, m/s
 * F force through from r to c, N: the damper transmits it from the body at r to that at c, so the force on the body at
 * r is -F and that on the body at c is +F.
 *
 * With `work` false F = 0.  The bodies supply the power P = -(F_r v_r + F_c v_c), W, which is dissipated at once:
 * P = d v^2 >= 0.   Not modelled: dry friction, heating of the fluid.   Source: Newton's law of viscous friction. */

#define RATE v
#define FORCE F
#define INERTIA m_eff
#define PARTNER partner_mass
#include "shared/axis_damper.h"
