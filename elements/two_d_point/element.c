/* Point of a body in the plane, at the offset (XP, YP) from its centre of mass: transmits the force F of one line, or
 * a torque T, to the body, and the velocity (v1, v2, v3 = omega) of the body to the line.
 *
 *              P_out.F                                             p_in.v
 *   X          (F, 0, -F YP)                                       v1 - YP v3
 *   Y          (0, F, F XP)                                        v2 + XP v3
 *   theta      (0, 0, T)                                           omega = v3
 *   XY         (F cos th, F sin th, F (XP sin th - YP cos th))     cos th v1 + sin th v2 + (XP sin th - YP cos th) v3
 *
 * F, N, T, N.m: on the body, at p_in.      XP, YP offsets, m.      th = theta angle of the line from the x-axis, rad.
 * With the row B of numbers in front of v1, v2, v3, p_in.v = B v and P_out.F = B^T F: no power is lost, F B v = F B v.
 * B is constant, so all this holds for a body that turns by small angles.   Source: 20-sim, TwoDPoint.
 *
 * With large_angle, which is not in 20-sim, (XP, YP) turns with the body by its angle a = P_out.r[3]; the line keeps
 * its direction.  Then p_in.s = cos th (x + X) + sin th (y + Y) with the turned offset (X, Y), and s' = p_in.v. */
#include "base/elementary.h"

#if VARIANT != VARIANT_THETA
#include LARGE_ANGLE_FILE
#endif
#include VARIANT_FILE
