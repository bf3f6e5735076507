/* Elementary functions over Real: sin, cos, tan, asin, acos, atan, atan2, exp, log, pow, tanh.
 *
 * The C libraries of platforms round differently, and an FMU links none.  These give the same bits wherever + - * / and
 * sqrt of doubles are rounded once to nearest: no fused multiply-add, no long double, no table that a machine makes.
 *
 * Special values are those of C99 Annex F; an invalid argument gives a positive quiet NaN on every machine.  Floating
 * point exception flags are not part of the result.
 *
 *             method                                                            derivative          set to 0 at
 *   sin cos   pi/2 taken off in three or four parts up to 2^20 (Cody & Waite),  cos, -sin
 *   tan       beyond with the bits of 2/pi that matter (Payne & Hanek);         1 / cos^2
 *             polynomials on -pi/4 .. pi/4; tan as quotient of two pairs
 *   asin      x + x^3 P(x^2) up to 1/2, else pi/2 - 2 asin sqrt((1 - |x|)/2)    1 / sqrt(1 - x^2)   -1, 1
 *   acos      likewise                                                          -1 / sqrt(1 - x^2)  -1, 1
 *   atan      atan(i/16) from a table, the rest by a polynomial; over pairs     1 / (1 + x^2)
 *   atan2     likewise                                        (x dy - y dx) / (x^2 + y^2)           (0, 0), infinity
 *   exp       2^(i/64) from a table, the rest by a polynomial (Tang)            exp
 *   log       log c from a table, log(1 + r) by a polynomial; over pairs        1 / x               0
 *   pow       exp(y log x) over pairs                          y x^(y-1) dx + x^y log x dy          see cc_pow
 *   tanh      x + x^3 P(x^2) up to 1/4, else 1 - 2 e/(1 + e) with e = exp(-2|x|)  1 - tanh^2, as 4 e/(1 + e)^2
 *
 * Where the value is NaN, and in a direction of 0, the derivative is 0.  Where exp overflows it is infinite.
 *
 * Worst errors measured against 60 digits at 10^5 points each, dense in hard places, in units of the last place of the
 * exact result, subnormal ones included; of the derivative: times a direction, where the product is above 2^-1022
 *             sin   cos   tan   asin  acos  atan  atan2 exp   log   pow   tanh
 *   value     0.56  0.56  0.59  0.61  0.64  0.51  0.55  0.52  0.51  0.52  0.53
 *   derivative 1.5  1.5   1.5   1.4   1.4   1.5   1.5   1.4   0.5   1.5   1.5
 *
 * A pair is the unevaluated sum of two doubles (Dekker, Numer. Math. 18 (1971) 224).  Sources: Muller, Elementary
 * Functions (3rd ed., 2016); Cody & Waite, Software Manual for the Elementary Functions (1980); Payne & Hanek, SIGNUM
 * Newsletter 18 (1983) 19; Tang, ACM TOMS 15 (1989) 144 and 16 (1990) 378.  Constants: elementary_coefficients.py. */
#ifndef CC_ELEMENTARY_H
#define CC_ELEMENTARY_H

#include "real.h"

#if defined __FAST_MATH__ || (defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ == 2)
#error "elementary.h needs doubles rounded as written: compile without -ffast-math, on x86 of 32 bits with -mfpmath=sse"
#endif

#include "elementary_circular.h"
#include "elementary_exponential.h"
#include "elementary_inverse.h"

/* --- Real versions --- */

#define CC_ELEMENTARY(call)                                                                                            \
    double direction = cc_dual_part(a), *wanted = direction != 0.0 ? &direction : 0;                                   \
    double value = call;                                                                                               \
    return cc_real(value, direction);
#define CC_ELEMENTARY_2(call)                                                                                          \
    double directions[2] = {cc_dual_part(a), cc_dual_part(b)};                                                         \
    double *wanted = directions[0] != 0.0 || directions[1] != 0.0 ? directions : 0;                                    \
    double value = call;                                                                                               \
    return cc_real(value, directions[0]);

/* Of an angle in rad. */
CC_API Real cc_sin(Real a) { CC_ELEMENTARY(cc_sin_at(re(a), 0, wanted)) }
CC_API Real cc_cos(Real a) { CC_ELEMENTARY(cc_sin_at(re(a), 1, wanted)) }
/* Both, for the time of one and a half. */
CC_API void cc_sin_cos(Real a, Real *sine, Real *cosine)
{
    double s, c;
    cc_sin_cos_at(re(a), &s, &c);
    int known = cc_is_finite(re(a));
    *sine = cc_real(s, known ? c * cc_dual_part(a) : 0.0);
    *cosine = cc_real(c, known ? -s * cc_dual_part(a) : 0.0);
}

/* Of an angle in rad; asin, acos and atan give one. */
CC_API Real cc_tan(Real a) { CC_ELEMENTARY(cc_tan_at(re(a), wanted)) }
CC_API Real cc_asin(Real a) { CC_ELEMENTARY(cc_asin_at(re(a), wanted)) }
CC_API Real cc_acos(Real a) { CC_ELEMENTARY(cc_acos_at(re(a), wanted)) }
CC_API Real cc_atan(Real a) { CC_ELEMENTARY(cc_atan_at(re(a), wanted)) }
/* e^a, natural logarithm, hyperbolic tangent. */
CC_API Real cc_exp(Real a) { CC_ELEMENTARY(cc_exp_at(re(a), wanted)) }
CC_API Real cc_log(Real a) { CC_ELEMENTARY(cc_log_at(re(a), wanted)) }
CC_API Real cc_tanh(Real a) { CC_ELEMENTARY(cc_tanh_at(re(a), wanted)) }

/* The angle of the point (b, a), from -pi to pi. */
CC_API Real cc_atan2(Real a, Real b) { CC_ELEMENTARY_2(cc_atan2_at(re(a), re(b), wanted)) }

/* a^b.  Derivative: that by b is set to 0 for a <= 0, where only integers b have a value; both are set to 0 for a or b
 * infinite and for a = 0, except that 0^1 has the derivative 1 by a. */
CC_API Real cc_pow(Real a, Real b) { CC_ELEMENTARY_2(cc_pow_at(re(a), re(b), wanted)) }

#undef CC_ELEMENTARY
#undef CC_ELEMENTARY_2

/* theta = 1/(1 - exp(-z)) - 1/z, z >= 0: the share of its change at which the mean of exp(-z t), 0 <= t <= 1, lies; 1/2
 * for small z, 1 for large ones.  Near 0 the powers of z, where the difference would be rounding. */
CC_API double cc_exponential_share(double z)
{
    double s = z * z;
    if (z < 0.25)
        return 0.5 + z * (1.0 / 12.0
                          + s * (-1.0 / 720.0 + s * (1.0 / 30240.0 + s * (-1.0 / 1209600.0 + s / 47900160.0))));
    return 1.0 / (1.0 - re(cc_exp(-z))) - 1.0 / z;
}

/* Its slope by z. */
CC_API double cc_exponential_share_slope(double z)
{
    double s = z * z;
    if (z < 0.25)
        return 1.0 / 12.0 + s * (-1.0 / 240.0 + s * (1.0 / 6048.0 + s * (-1.0 / 172800.0 + s / 5322240.0)));
    double less = re(cc_exp(-z));
    return 1.0 / s - less / ((1.0 - less) * (1.0 - less));
}

#endif
