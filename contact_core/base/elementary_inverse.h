/* asin, acos, atan and atan2 of doubles. */
#ifndef CC_ELEMENTARY_INVERSE_H
#define CC_ELEMENTARY_INVERSE_H

#include "elementary_pairs.h"

/* asin x - x for |x| <= 1/2 */
static inline double cc_asin_rest(double x)
{
    double z = x * x, zz = z * z, z4 = zz * zz;
    const double *c = cc_asin_tail;
    double low = (c[0] + z * c[1]) + zz * (c[2] + z * c[3]);
    double middle = (c[4] + z * c[5]) + zz * (c[6] + z * c[7]);
    double high = (c[8] + z * c[9]) + zz * (c[10] + z * c[11]) + z4 * (c[12] + z * c[13]);
    return x * z * (low + z4 * (middle + z4 * high));
}

/* asin sqrt((1 - a)/2) for 1/2 <= a <= 1 */
static inline CcPair cc_asin_of_complement(double a)
{
    double square = 0.5 * (1.0 - a), root = __builtin_sqrt(square);
    CcPair back = cc_pair_product(root, root);
    double missing = root > 0.0 ? ((square - back.hi) - back.lo) / (2.0 * root) : 0.0;
    return cc_pair(root, missing + cc_asin_rest(root));
}

/* d asin x = dx / sqrt((1 - x)(1 + x)) */
static inline void cc_asin_direction(double x, double *direction)
{
    CcPair a = cc_pair_sum(1.0, -x), b = cc_pair_sum(1.0, x);
    CcPair square = cc_pair_product(a.hi, b.hi);
    square.lo += a.hi * b.lo + a.lo * b.hi;
    double root = __builtin_sqrt(square.hi);
    if (root > 0.0) {
        CcPair back = cc_pair_product(root, root);
        *direction /= root + (((square.hi - back.hi) - back.lo) + square.lo) / (2.0 * root);
    } else
        *direction = 0.0;
}

static inline double cc_asin_at(double x, double *direction)
{
    double a = cc_magnitude(x);
    if (!(a <= 1.0))
        return cc_undefined(x, direction);
    if (direction)
        cc_asin_direction(x, direction);
    if (a < 0x1p-27)
        return x;
    if (a < 0.5)
        return x + cc_asin_rest(x);
    CcPair half = cc_asin_of_complement(a);
    CcPair value = cc_pair(CC_HALF_PI_HI, -2.0 * half.hi);
    return cc_with_sign(value.hi + (value.lo + (CC_HALF_PI_LO - 2.0 * half.lo)), x);
}

static inline double cc_acos_at(double x, double *direction)
{
    double a = cc_magnitude(x);
    if (!(a <= 1.0))
        return cc_undefined(x, direction);
    if (direction) {
        cc_asin_direction(x, direction);
        *direction = -*direction;
    }
    if (a < 0.5) {
        CcPair value = cc_pair(CC_HALF_PI_HI, -x);
        return value.hi + (value.lo + (CC_HALF_PI_LO - cc_asin_rest(x)));
    }
    CcPair half = cc_asin_of_complement(a);
    if (x > 0.0)
        return 2.0 * (half.hi + half.lo);
    CcPair value = cc_pair(CC_PI_HI, -2.0 * half.hi);
    return value.hi + (value.lo + (CC_PI_LO - 2.0 * half.lo));
}

/* atan(n/d) for 0 < n <= d, 2^-500 < d < 2^500:  atan n/d = atan c + atan((n - c d)/(d + c n)) with c = i/16, 5 bits */
static inline CcPair cc_atan_pair(double n, double d)
{
    int i = (int)(n / d * 16.0 + 0.49999); /* a little less than 1/2: c is at most 2 n/d, so n - c d_hi is exact */
    double c = (double)i * 0.0625;
    double d_hi = cc_cut(d, 27), n_hi = cc_cut(n, 27);
    CcPair numerator = cc_pair_sum(n - c * d_hi, -(c * (d - d_hi)));
    CcPair denominator = cc_pair(d, c * n_hi);
    denominator = cc_pair(denominator.hi, denominator.lo + c * (n - n_hi));
    CcPair t = cc_pair_ratio(numerator, denominator);
    double z = t.hi * t.hi;
    const double *p = cc_atan_tail;
    double rest = t.hi * z * (p[0] + z * (p[1] + z * (p[2] + z * (p[3] + z * p[4]))));
    CcPair sum = cc_pair(cc_atan_table[i].hi, t.hi);
    return cc_pair(sum.hi, sum.lo + (cc_atan_table[i].lo + t.lo + rest));
}

static inline double cc_atan_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double a = cc_magnitude(x);
    if (direction) {
        if (a < 0x1p500) {
            CcPair square = cc_pair_squares(1.0, x);
            *direction /= square.hi + square.lo;
        } else
            *direction = *direction / a / a;
    }
    if (a < 0x1p-27)
        return x;
    if (a > 0x1p60)
        return cc_with_sign(CC_HALF_PI_HI, x);
    if (a <= 1.0)
        return cc_with_sign(cc_atan_pair(a, 1.0).hi, x);
    CcPair complement = cc_atan_pair(1.0, a);
    CcPair value = cc_pair(CC_HALF_PI_HI, -complement.hi);
    return cc_with_sign(value.hi + (value.lo + (CC_HALF_PI_LO - complement.lo)), x);
}

/* directions: of y and of x; the first takes that of the value. */
static inline double cc_atan2_at(double y, double x, double *directions)
{
    if (x != x || y != y)
        return cc_undefined(x != x ? x : y, directions);
    double a = cc_magnitude(y), b = cc_magnitude(x);
    int x_negative = (int)(cc_bits(x) >> 63);
    if (!(a < CC_INFINITY) || !(b < CC_INFINITY) || (a == 0.0 && b == 0.0)) {
        if (directions)
            directions[0] = 0.0; /* what it tends to at infinity */
        double angle = x_negative ? CC_PI_HI : 0.0;
        if (a > b)
            angle = CC_HALF_PI_HI;
        else if (a == b && a != 0.0)
            angle = x_negative ? CC_THREE_QUARTERS_PI : 0.5 * CC_HALF_PI_HI;
        return cc_with_sign(angle, y);
    }
    double largest = a > b ? a : b;
    double scale = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-100 ? 0x1p600 : 1.0;
    double n = a * scale, d = b * scale;
    if (directions) {
        CcPair square = cc_pair_squares(n, d);
        CcPair by_y = cc_pair_ratio((CcPair){d, 0.0}, square), by_x = cc_pair_ratio((CcPair){n, 0.0}, square);
        double of_y = (by_y.hi + by_y.lo) * (directions[0] * scale);
        double of_x = (by_x.hi + by_x.lo) * (directions[1] * scale);
        directions[0] = (x_negative ? -of_y : of_y) - (cc_bits(y) >> 63 ? -of_x : of_x);
    }
    CcPair angle; /* of (b, a), in 0 .. pi/2 */
    if (n < d * 0x1p-28) {
        if (!x_negative)
            return y / x;
        angle = (CcPair){n / d, 0.0};
    } else if (d < n * 0x1p-28)
        angle = cc_pair(CC_HALF_PI_HI, CC_HALF_PI_LO - d / n);
    else if (n <= d)
        angle = cc_atan_pair(n, d);
    else {
        CcPair complement = cc_atan_pair(d, n);
        angle = cc_pair(CC_HALF_PI_HI, -complement.hi);
        angle.lo += CC_HALF_PI_LO - complement.lo;
    }
    if (x_negative) {
        CcPair supplement = cc_pair(CC_PI_HI, -angle.hi);
        angle = (CcPair){supplement.hi, supplement.lo + (CC_PI_LO - angle.lo)};
    }
    return cc_with_sign(angle.hi + angle.lo, y);
}

#endif
