/* exp, log, pow and tanh of doubles. */
#ifndef CC_ELEMENTARY_EXPONENTIAL_H
#define CC_ELEMENTARY_EXPONENTIAL_H

#include "elementary_pairs.h"

/* exp(x + x_lo) = pair 2^exponent with 0.99 < pair < 2, for |x| <= 1400; error 2^-60. */
static inline CcPair cc_exp_pair(double x, double x_lo, int *exponent)
{
    double shifted = x * CC_EXP_PER_STEP + CC_NEAREST_INTEGER;
    double n = shifted - CC_NEAREST_INTEGER;
    int steps = (int)n;
    double r = (x - n * CC_EXP_STEP_HI) + (x_lo - n * CC_EXP_STEP_LO), rr = r * r;
    const double *c = cc_exp_tail;
    double p = r + rr * ((c[0] + r * c[1]) + rr * ((c[2] + r * c[3]) + rr * c[4]));
    CcPair power = cc_exp_table[steps & 63];
    *exponent = (steps - (steps & 63)) / 64;
    return cc_pair(power.hi, power.lo + power.hi * p);
}

/* a 2^k for 0.99 < a < 2, rounded once also where the result is subnormal. */
static inline double cc_scaled(CcPair a, int k)
{
    double value = a.hi + a.lo;
    if (k >= -1022 && k <= 1023 && (value >= 1.0 || k > -1022))
        return value * cc_power_of_two(k);
    if (k > 1023)
        return k > 1024 ? CC_INFINITY : value * 0x1p1023 * 2.0;
    if (k < -1076)
        return 0.0;
    double base = cc_power_of_two(-1022 - k); /* its last bit is the last bit of the result */
    CcPair sum = cc_pair(base, a.hi);
    return (sum.hi + (sum.lo + a.lo) - base) * cc_power_of_two(k + 1022) * 0x1p-1022;
}

static inline double cc_exp_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double value;
    if (x > 710.0)
        value = CC_INFINITY;
    else if (x < -746.0)
        value = 0.0;
    else {
        int k;
        CcPair power = cc_exp_pair(x, 0.0, &k);
        value = cc_scaled(power, k);
    }
    if (direction)
        *direction *= value;
    return value;
}

/* log x for finite x > 0; error 2^-67 of it.  x = m 2^e; mantissa and exponent on request.
 *
 * m/c - 1 = r_hi + r_lo exactly: 22 bits from the first bits of m, 42 from the others.  All high parts are multiples of
 * 2^-42 below 2^10, so their sum is exact, and so is r_hi^2.
 * log(1 + r) = r_hi + r_lo - r_hi^2/2 - r_lo (r_hi + r_lo/2) + r^3 P(r) */
static inline CcPair cc_log_pair(double x, double *mantissa, int *exponent)
{
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    unsigned long long from_start = cc_bits(x) - cc_bits(CC_LOG_START);
    int i = (int)(from_start >> 45 & 127);
    double m = cc_from_bits(cc_bits(x) - (from_start & 0xFFFull << 52));
    e += (int)((long long)(from_start & 0xFFFull << 52) / (1ll << 52));
    double m_hi = (m + 0x1.8p32) - 0x1.8p32; /* multiple of 2^-20 */
    double r_hi = m_hi * cc_log_table[i].inverse - 1.0, r_lo = (m - m_hi) * cc_log_table[i].inverse;
    double r = r_hi + r_lo, rr = r * r;
    const double *c = cc_log_tail;
    double tail = (c[0] + r * c[1]) + rr * ((c[2] + r * c[3]) + rr * ((c[4] + r * c[5]) + rr * c[6]));
    CcPair sum = cc_pair((double)e * CC_LOG_2_HI + cc_log_table[i].hi + r_hi, r_lo);
    CcPair all = cc_pair(sum.hi, -0.5 * (r_hi * r_hi));
    double low = (double)e * CC_LOG_2_LO + cc_log_table[i].lo;
    low = ((sum.lo + all.lo) + low) - r_lo * (r_hi + 0.5 * r_lo);
    if (mantissa)
        *mantissa = m, *exponent = e;
    return cc_pair(all.hi, low + r * rr * tail);
}

static inline double cc_log_at(double x, double *direction)
{
    if (direction)
        *direction = x > 0.0 ? *direction / x : 0.0;
    if (x == 0.0)
        return -CC_INFINITY;
    if (!(x > 0.0))
        return cc_undefined(x, direction);
    return x < CC_INFINITY ? cc_log_pair(x, 0, 0).hi : x;
}

/* 0 if y is not an integer, 1 if it is odd, 2 if it is even. */
static inline int cc_parity(double y)
{
    if (cc_magnitude(y) >= 0x1p53)
        return 2;
    long long n = (long long)y;
    return (double)n != y ? 0 : n & 1 ? 1 : 2;
}

/* x^y where x or y is 0, infinite or NaN, x^0 with x > 0 excepted. */
static inline double cc_pow_special(double x, double y)
{
    double a = cc_magnitude(x);
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (x != x)
        return x + x;
    if (y != y)
        return y + y;
    if (cc_magnitude(y) == CC_INFINITY)
        return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? CC_INFINITY : 0.0;
    double magnitude = (a > 1.0) == (y > 0.0) ? CC_INFINITY : 0.0;
    return cc_parity(y) == 1 ? cc_with_sign(magnitude, x) : magnitude;
}

/* directions: of x and of y; the first takes that of the value. */
static inline double cc_pow_at(double x, double y, double *directions)
{
    double a = cc_magnitude(x);
    if (!(a > 0.0) || !(a < CC_INFINITY) || !cc_is_finite(y)) {
        if (directions)
            directions[0] = x == 0.0 && y == 1.0 ? directions[0] : 0.0;
        return cc_pow_special(x, y);
    }
    int parity = x < 0.0 ? cc_parity(y) : 2;
    if (parity == 0)
        return cc_undefined(x, directions);
    double sign = parity == 1 ? -1.0 : 1.0;
    double mantissa;
    int e, k;
    CcPair logarithm = cc_log_pair(a, &mantissa, &e);
    double estimate = y * logarithm.hi;
    CcPair power = {1.0, 0.0};
    k = estimate > 0.0 ? 2900 : -2900; /* makes value and derivatives infinite or 0 */
    if (cc_magnitude(estimate) < 1400.0) {
        CcPair exponent = cc_pair_product(y, logarithm.hi);
        power = cc_exp_pair(exponent.hi, exponent.lo + y * logarithm.lo, &k);
    }
    if (directions) {
        CcPair per_x = cc_pair_ratio(power, (CcPair){mantissa, 0.0});
        int shift = cc_magnitude(y) < 0x1p-200 ? 900 : -2; /* y / 4 times the pair cannot overflow */
        double scaled = y * cc_power_of_two(shift);
        CcPair by_x = cc_pair_product(per_x.hi, scaled);
        double of_x = (by_x.hi + (by_x.lo + per_x.lo * scaled)) * directions[0];
        of_x = cc_times_power_of_two(x < 0.0 ? -sign * of_x : of_x, k - e - shift);
        double of_y = 0.0;
        if (x > 0.0) {
            CcPair by_y = cc_pair_product(power.hi, logarithm.hi);
            by_y.lo += power.hi * logarithm.lo + power.lo * logarithm.hi;
            of_y = cc_times_power_of_two((by_y.hi + by_y.lo) * directions[1], k);
        }
        directions[0] = of_x + of_y;
    }
    return sign * cc_scaled(power, k);
}

static inline double cc_tanh_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double a = cc_magnitude(x);
    if (a < 0.25) {
        double z = x * x, zz = z * z;
        const double *c = cc_tanh_tail;
        double low = (c[0] + z * c[1]) + zz * (c[2] + z * c[3]), high = (c[4] + z * c[5]) + zz * (c[6] + z * c[7]);
        double value = a < 0x1p-28 ? x : x + x * z * (low + zz * zz * high);
        if (direction)
            *direction *= 1.0 - value * value;
        return value;
    }
    if (a > 22.0) { /* e is below 1e-19 */
        if (direction)
            *direction *= 4.0 * cc_exp_at(-2.0 * a, 0);
        return cc_with_sign(1.0, x);
    }
    int k;
    CcPair e = cc_exp_pair(-2.0 * a, 0.0, &k);
    double scale = cc_power_of_two(k);
    e = (CcPair){e.hi * scale, e.lo * scale};
    CcPair sum = cc_pair(1.0, e.hi);
    sum.lo += e.lo;
    CcPair q = cc_pair_ratio((CcPair){2.0 * e.hi, 2.0 * e.lo}, sum);
    if (direction) { /* 1 - (1 - q)^2 = q (2 - q) */
        CcPair d = cc_pair(2.0, -q.hi), slope = cc_pair_product(q.hi, d.hi);
        *direction *= slope.hi + (slope.lo + (q.lo * d.hi + q.hi * (d.lo - q.lo)));
    }
    CcPair value = cc_pair(1.0, -q.hi);
    return cc_with_sign(value.hi + (value.lo - q.lo), x);
}

#endif
