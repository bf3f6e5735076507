/* What a force that is held over communication steps does wrong, to first order in their length.
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

#include "../base/elementary_constants.h"
#include "../base/real.h"

/* The product of growth and N. */
CC_API double cc_hold_product(double lag) { return 0.25 * CC_PI_HI * CC_PI_HI * (1.0 + 2.0 * lag); }

CC_API double cc_hold_growth(double lag, double N) { return cc_hold_product(lag) / N; }

/* N, of which that is the growth. */
CC_API double cc_hold_steps(double lag, double growth) { return cc_hold_product(lag) / growth; }

CC_API double cc_hold_braking(double lag, double z) { return (1.0 + 2.0 * lag) * z / (2.0 * 2.718281828459045); }

#endif
