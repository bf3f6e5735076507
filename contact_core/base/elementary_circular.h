/* sin, cos and tan of a double. */
#ifndef CC_ELEMENTARY_CIRCULAR_H
#define CC_ELEMENTARY_CIRCULAR_H

#include "elementary_pairs.h"

/* Takes the nearest multiple n of pi/2 from a finite x; returns the last two bits of n.
 * |x| >= 2^20: of the product of x = m 2^e with 2/pi, the bits of weight 4 and more are left out before it is formed;
 * 190 bits behind the point remain, of which at most 62 or so are zeros for any double (Muller, 11.4). */
static __attribute__((noinline)) int cc_reduce_large(double x, CcPair *rest)
{
    unsigned long long m = (cc_bits(x) & ~0ull >> 12) | 1ull << 52;
    int e = (int)(cc_bits(x) >> 52 & 0x7FF) - 1075;
    int first = e - 2 + 64; /* of the table's bits; weight of the product there: 2 */
    unsigned long long carry[2] = {0, 0}, product[6];
    unsigned long long factor[2] = {m & 0xFFFFFFFF, m >> 32};
    unsigned long long limb[6];
    for (int i = 0; i < 6; i++) { /* least significant first */
        const unsigned *word = cc_two_over_pi + first / 32 + 5 - i;
        limb[i] = (((unsigned long long)word[0] << 32 | word[1]) << first % 32 >> 32) & 0xFFFFFFFF;
        product[i] = 0;
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i + j < 6; i++) {
            unsigned long long sum = factor[j] * limb[i] + product[i + j] + carry[j];
            product[i + j] = sum & 0xFFFFFFFF;
            carry[j] = sum >> 32;
        }
    unsigned long long high = product[5] << 32 | product[4], middle = product[3] << 32 | product[2];
    unsigned long long low = product[1] << 32 | product[0];
    int quadrant = (int)(high >> 62);
    high = high << 2 | middle >> 62; /* the fraction, of weight 1/2 and less */
    middle = middle << 2 | low >> 62;
    low <<= 2;
    int negative = (int)(high >> 63); /* at 1/2 and more the next multiple is nearer */
    if (negative) {
        quadrant++;
        low = 0 - low;
        middle = ~middle + (low == 0);
        high = ~high + (low == 0 && middle == 0);
    }
    int shift = 0;
    for (; !(high >> 63) && shift < 128; shift++) {
        high = high << 1 | middle >> 63;
        middle = middle << 1 | low >> 63;
        low <<= 1;
    }
    double scale = cc_power_of_two(-53 - shift);
    double f_hi = (double)(long long)(high >> 11) * scale;
    double f_lo = (double)(long long)((high << 53 | middle >> 11) >> 11) * (scale * 0x1p-53);
    if (negative != (x < 0.0))
        f_hi = -f_hi, f_lo = -f_lo;
    CcPair y = cc_pair_product(f_hi, CC_HALF_PI_HI);
    *rest = cc_pair(y.hi, y.lo + (f_hi * CC_HALF_PI_LO + f_lo * CC_HALF_PI_HI));
    return (x < 0.0 ? -quadrant : quadrant) & 3;
}

/* The same for any finite x.  The products with n < 2^20 are exact, and so is the first difference. */
static inline int cc_reduce(double x, CcPair *rest)
{
    if (cc_magnitude(x) < 0.785) {
        *rest = (CcPair){x, 0.0};
        return 0;
    }
    if (cc_magnitude(x) >= 0x1p20)
        return cc_reduce_large(x, rest);
    double shifted = x * CC_TWO_OVER_PI + CC_NEAREST_INTEGER;
    double n = shifted - CC_NEAREST_INTEGER;
    double y = x - n * CC_HALF_PI_1;
    if (cc_magnitude(y) > 0x1p-13) { /* then it is above n pi/2's second part */
        CcPair z = cc_pair(y, -(n * CC_HALF_PI_2));
        *rest = cc_pair(z.hi, z.lo - n * CC_HALF_PI_34);
    } else {
        CcPair z = cc_pair_sum(y, -(n * CC_HALF_PI_2));
        CcPair w = cc_pair_sum(z.hi, -(n * CC_HALF_PI_3));
        *rest = cc_pair_sum(w.hi, (w.lo + z.lo) - n * CC_HALF_PI_4);
    }
    return (int)(cc_bits(shifted) & 3);
}

/* sin y for |y| <= pi/4.  t^3/6 is exact for the first 9 bits t of y, and y^3 - t^3 = (y - t)(y^2 + y t + t^2). */
static inline CcPair cc_sin_pair(CcPair y)
{
    double z = y.hi * y.hi, zz = z * z, t = cc_cut(y.hi, 44), ttt = t * t * t;
    const double *c = cc_sin_tail;
    double tail = (c[0] + zz * (c[2] + zz * c[4])) + z * (c[1] + zz * (c[3] + zz * c[5]));
    CcPair sum = cc_pair(y.hi, CC_SIN_3_HI * ttt);
    double cubic = CC_SIN_3_LO * ttt + CC_SIN_3 * (y.hi - t) * (z + t * (y.hi + t));
    return cc_pair(sum.hi, sum.lo + (cubic + (y.hi * zz * tail + y.lo * (1.0 - 0.5 * z))));
}

/* cos y for |y| <= pi/4.  t^2/2 is exact for the first 26 bits t of y. */
static inline CcPair cc_cos_pair(CcPair y)
{
    double z = y.hi * y.hi, zz = z * z, t = cc_cut(y.hi, 27);
    const double *c = cc_cos_tail;
    double tail = (c[0] + zz * (c[2] + zz * c[4])) + z * (c[1] + zz * (c[3] + zz * c[5]));
    CcPair sum = cc_pair(1.0, -0.5 * (t * t));
    double square = 0.5 * ((y.hi - t) * (y.hi + t)) + y.hi * y.lo;
    return cc_pair(sum.hi, sum.lo + (zz * tail - square));
}

/* sin(x + quadrants pi/2) */
static inline double cc_sin_at(double x, int quadrants, double *direction)
{
    if (!cc_is_finite(x))
        return cc_undefined(x, direction);
    CcPair y;
    int n = cc_reduce(x, &y) + quadrants;
    CcPair value = n & 1 ? cc_cos_pair(y) : cc_sin_pair(y);
    if (direction) {
        CcPair slope = n & 1 ? cc_sin_pair(y) : cc_cos_pair(y);
        *direction *= (n + 1) & 2 ? -slope.hi : slope.hi;
    }
    if (!quadrants && cc_magnitude(x) < 0x1p-27) /* also keeps the sign of 0 */
        return x;
    return n & 2 ? -value.hi : value.hi;
}

/* sin x and cos x at once, with the bits of cc_sin_at. */
static inline void cc_sin_cos_at(double x, double *sine, double *cosine)
{
    if (!cc_is_finite(x)) {
        *sine = *cosine = cc_undefined(x, 0);
        return;
    }
    CcPair y;
    int n = cc_reduce(x, &y);
    double s = cc_sin_pair(y).hi, c = cc_cos_pair(y).hi;
    double across = n & 1 ? c : s, along = n & 1 ? s : c;
    *sine = cc_magnitude(x) < 0x1p-27 ? x : n & 2 ? -across : across;
    *cosine = (n + 1) & 2 ? -along : along;
}

static inline double cc_tan_at(double x, double *direction)
{
    if (!cc_is_finite(x))
        return cc_undefined(x, direction);
    if (cc_magnitude(x) < 0x1p-27) /* the derivative is 1 + x^2 */
        return x;
    CcPair y;
    int odd = cc_reduce(x, &y) & 1;
    CcPair s = cc_sin_pair(y), c = cc_cos_pair(y);
    CcPair divisor = odd ? s : c;
    if (direction) {
        CcPair square = cc_pair_product(divisor.hi, divisor.hi);
        *direction /= square.hi + (square.lo + 2.0 * (divisor.hi * divisor.lo));
    }
    CcPair value = odd ? cc_pair_ratio((CcPair){-c.hi, -c.lo}, s) : cc_pair_ratio(s, c);
    return value.hi + value.lo;
}

#endif
