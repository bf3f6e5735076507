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

#if VARIANT == VARIANT_THETA

static void outputs(Element *e)
{
    e->P_out.F[0] = 0.0;
    e->P_out.F[1] = 0.0;
    e->P_out.F[2] = e->p_in.T;
    e->p_in.omega = e->P_out.v[2];
}

#else

/* From the centre of mass to the point, along x and y. */
static void offset(const Element *e, Real *XP, Real *YP)
{
#if VARIANT == VARIANT_X
    Real x = 0.0, y = e->YP;
#elif VARIANT == VARIANT_Y
    Real x = e->XP, y = 0.0;
#else
    Real x = e->XP, y = e->YP;
#endif
#if LARGE_ANGLE
    Real cosine = cc_cos(e->P_out.r[2]), sine = cc_sin(e->P_out.r[2]);
    *XP = x * cosine - y * sine;
    *YP = x * sine + y * cosine;
#else
    *XP = x;
    *YP = y;
#endif
}

static void outputs(Element *e)
{
    Real XP, YP, F = e->p_in.F, *v = e->P_out.v;
    offset(e, &XP, &YP);
#if VARIANT == VARIANT_X
    e->P_out.F[0] = F;
    e->P_out.F[1] = 0.0;
    e->P_out.F[2] = -F * YP;
    e->p_in.v = v[0] - YP * v[2];
#elif VARIANT == VARIANT_Y
    e->P_out.F[0] = 0.0;
    e->P_out.F[1] = F;
    e->P_out.F[2] = F * XP;
    e->p_in.v = v[1] + XP * v[2];
#else
    Real cosine = cc_cos(e->theta), sine = cc_sin(e->theta);
    Real Fx = cosine * F, Fy = sine * F;
    e->P_out.F[0] = Fx;
    e->P_out.F[1] = Fy;
    e->P_out.F[2] = Fy * XP - Fx * YP;
    e->p_in.v = cosine * v[0] + sine * v[1] + XP * sine * v[2] - YP * cosine * v[2];
#endif
#if LARGE_ANGLE
#if VARIANT == VARIANT_X
    e->p_in.s = e->P_out.r[0] + XP;
#elif VARIANT == VARIANT_Y
    e->p_in.s = e->P_out.r[1] + YP;
#else
    e->p_in.s = cosine * (e->P_out.r[0] + XP) + sine * (e->P_out.r[1] + YP);
#endif
#endif
}

#endif
