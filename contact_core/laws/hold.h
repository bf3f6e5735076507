/* What a force that is held over communication steps does wrong, to first order in their length, and the step to take.
 *
 * Growth, exponent, 1   (1 + 2 L) pi^2/(4 N)     a rebound, or a swing in half a period, is exp(growth) times too large
 * Braking, share, 1     (1 + 2 L) z/(2 e)        of its start, by which a damper makes a speed wrong at most
 *
 * L   intervals from the sample of the motion to the one on which its force acts: 0 under Gauss-Seidel, 1 under Jacobi
 * N   communication steps in the contact, or in half a period
 * z   length of a step over the time constant m/d of a mass m and a damper d
 *
 * The force is that of positions, so on average it is 1/2 + L steps late.  elements/shared/held_force.h derives both;
 * fmu_builder/model/step_advice.py has the same in Python. */
#ifndef CC_HOLD_H
#define CC_HOLD_H

#include "../base/elementary.h"
#include "../base/elementary_constants.h"
#include "../base/real.h"

#define CC_HOLD_LONGEST 1e60 /* s, of a step that is advised: with more, products overflow */

/* The product of growth and N. */
CC_API double cc_hold_product(double lag) { return 0.25 * CC_PI_HI * CC_PI_HI * (1.0 + 2.0 * lag); }

CC_API double cc_hold_growth(double lag, double N) { return cc_hold_product(lag) / N; }

/* N, of which that is the growth. */
CC_API double cc_hold_steps(double lag, double growth) { return cc_hold_product(lag) / growth; }

CC_API double cc_hold_braking(double lag, double z) { return (1.0 + 2.0 * lag) * z / (2.0 * 2.718281828459045); }

/* Growth of a swing of omega, rad/s, in half a period of steps H: pi omega tau/2, for the delay tau of the force, L H
 * where the element integrates speeds, (L + 1/2) H where it is given positions.  Gauss-Seidel with speeds makes none up
 * to omega H = 2, where x_n+1 - (2 - omega^2 H^2) x_n + x_n-1 = 0. */
CC_API double cc_hold_swing_growth(double lag, double omega, int by_place, double H)
{
    double delay = lag + (by_place ? 0.5 : 0.0), half = 0.5 * omega * H;
    if (delay > 0.0 || !(half > 1.0))
        return CC_PI_HI * half * delay;
    return CC_PI_HI / half * re(cc_log(half + cc_sqrt(half * half - 1.0)));
}

/* The step, s, up to which the force of the stiffness k and the damping d on the inverse mass W is right with several
 * elements on one body: omega H = 1/2, d W H = 1/2; 0 for the W of 0 that is unknown. */
CC_API double cc_hold_step_advised(double W, double k, double d)
{
    if (!(W > 0.0) || !(k > 0.0 || d > 0.0))
        return 0.0;
    double swung = k > 0.0 ? 0.5 / cc_sqrt(k * W) : CC_HOLD_LONGEST;
    double braked = d > 0.0 ? 0.5 / (d * W) : CC_HOLD_LONGEST, step = braked < swung ? braked : swung;
    return step < CC_HOLD_LONGEST ? step : CC_HOLD_LONGEST;
}

#endif
