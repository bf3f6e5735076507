/* Bits of doubles, and arithmetic of pairs, for the elementary functions. */
#ifndef CC_ELEMENTARY_PAIRS_H
#define CC_ELEMENTARY_PAIRS_H

#include "elementary_constants.h"
#include "real.h"

#define CC_NEAREST_INTEGER 0x1.8p52 /* added and taken away rounds to an integer; its last bits are that integer */
#define CC_NAN __builtin_nan("")
#define CC_INFINITY __builtin_inf()

static inline unsigned long long cc_bits(double a)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}

static inline double cc_from_bits(unsigned long long bits)
{
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

static inline double cc_magnitude(double a) { return cc_from_bits(cc_bits(a) & ~0ull >> 1); }
static inline double cc_with_sign(double magnitude, double sign)
{
    return cc_from_bits(cc_bits(magnitude) | (cc_bits(sign) & 1ull << 63));
}

/* a cut to its first 53 - dropped bits. */
static inline double cc_cut(double a, int dropped) { return cc_from_bits(cc_bits(a) >> dropped << dropped); }

static inline double cc_power_of_two(int k) { return cc_from_bits((unsigned long long)(k + 1023) << 52); } /* normal */

/* a 2^k for |k| < 4000; rounded more than once if the result is subnormal. */
static inline double cc_times_power_of_two(double a, int k)
{
    double quarter = cc_power_of_two(k / 4);
    return a * quarter * quarter * quarter * cc_power_of_two(k - 3 * (k / 4));
}

/* a + b, exact for |a| >= |b|, a = 0, or a sum that is a double. */
static inline CcPair cc_pair(double a, double b)
{
    double hi = a + b;
    return (CcPair){hi, b - (hi - a)};
}

/* a + b, exact. */
static inline CcPair cc_pair_sum(double a, double b)
{
    double hi = a + b, b_in_hi = hi - a;
    return (CcPair){hi, (a - (hi - b_in_hi)) + (b - b_in_hi)};
}

/* a b to 2^-104 of it. */
static inline CcPair cc_pair_product(double a, double b)
{
    double a_hi = cc_cut(a, 27), a_lo = a - a_hi, b_hi = cc_cut(b, 27), b_lo = b - b_hi;
    double hi = a * b;
    return (CcPair){hi, (((a_hi * b_hi - hi) + a_hi * b_lo) + a_lo * b_hi) + a_lo * b_lo};
}

/* a / b to about 2^-100 of it. */
static inline CcPair cc_pair_ratio(CcPair a, CcPair b)
{
    double hi = a.hi / b.hi;
    CcPair back = cc_pair_product(hi, b.hi);
    return (CcPair){hi, ((((a.hi - back.hi) - back.lo) + a.lo) - hi * b.lo) / b.hi};
}

/* a^2 + b^2. */
static inline CcPair cc_pair_squares(double a, double b)
{
    CcPair aa = cc_pair_product(a, a), bb = cc_pair_product(b, b);
    CcPair sum = cc_pair_sum(aa.hi, bb.hi);
    return cc_pair(sum.hi, sum.lo + (aa.lo + bb.lo));
}

/* --- double versions ---
 *
 * `direction` of a function (*_at): in, the direction of its argument; out, that of its value.  NULL if not wanted. */

/* NaN for the argument x, which is one or allows no other value. */
static inline double cc_undefined(double x, double *direction)
{
    if (direction)
        *direction = 0.0;
    return x != x ? x + x : CC_NAN;
}

#endif
