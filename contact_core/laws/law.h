/* Support of user laws in C: sign, powers, tables, kinks, integrals.  fmu_builder/laws/c_source.py generates the rest.
 *
 * Table      y = c0 + c1 t + c2 t^2 + c3 t^3, t = x - x_k, on x_k <= x < x_k+1; before the first and after the last
 *            point y = y_end + slope (x - x_end), or NaN, which the FMI layer refuses, and names its place
 * Side       a function that changes sign where a law has a kink or a jump.  Where it has no value (the law is not
 *            evaluated there) it is 1.
 * Integral   of a law f over x from 0 to h >= 0: Gauss's rule with 12 points (exact for degree 23) between the kinks.
 *            The first piece is put on x = b s^3, so that powers such as x^(3/2) or x^2.2 lose nothing at 0. */
#ifndef CC_LAW_H
#define CC_LAW_H

#include "../base/elementary.h"
#include "../base/interval.h"

#define CC_MOST_LAW_KINKS 64 /* of one law; the builder refuses more */
#define CC_LAW_PIECES 32     /* in which kinks are looked for; two of one kind in a piece are overlooked */
#define CC_MOST_BREAKS 16    /* kinks at which an integral is split */

CC_API Real cc_sign(Real a) { return re(a) > 0.0 ? 1.0 : re(a) < 0.0 ? -1.0 : 0.0; }

/* a^(halves/2) for halves = 1 ... 8, by products and a square root. */
CC_API Real cc_half_power(Real a, int halves)
{
    Real square = a * a;
    Real whole = halves < 4 ? a : halves < 6 ? square : halves < 8 ? square * a : square * square;
    Real root = halves % 2 ? cc_sqrt(a) : 1.0;
    return halves < 2 ? root : halves % 2 ? whole * root : whole;
}

CC_API double cc_side(Real z) { return cc_is_finite(re(z)) ? re(z) : 1.0; }

/* --- tables --- */

typedef struct {
    const double *x;      /* n points, increasing */
    const double (*c)[4]; /* of n - 1 intervals */
    const double *integrals; /* from x_0 to each point */
    int n, ends;             /* ends: its number, 1 ..., if there is no value outside, else 0 */
    double outside[4];       /* value and slope before the first point, then after the last one */
} CcTable;

/* The NaN of a table without values outside: its number, if below 128, and x to 9 digits lie in the lower bits, which
 * sums and products propagate, so that the FMI layer finds its origin (instance.h). */
static inline double cc_no_value(int number, double x)
{
    unsigned long long rounded = cc_bits(x) + (1ull << 19);
    return cc_from_bits(0x7ff8ull << 48 | (number < 128 ? (unsigned long long)number << 44 : 0) | rounded >> 20);
}

/* The line that holds outside of the table: value and slope at its end, which is point *end; NULL inside. */
static inline const double *cc_table_outside(const CcTable *t, double x, int *end)
{
    *end = x < t->x[0] ? 0 : t->n - 1;
    return x < t->x[0] ? t->outside : x > t->x[t->n - 1] ? t->outside + 2 : 0;
}

CC_API Real cc_table(const CcTable *t, Real x)
{
    int end;
    const double *line = cc_table_outside(t, re(x), &end);
    if (line)
        return t->ends ? cc_no_value(t->ends, re(x)) : line[0] + line[1] * (x - t->x[end]);
    int k = cc_interval(t->x, t->n, re(x));
    const double *c = t->c[k];
    Real s = x - t->x[k];
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}

/* Of alternating sign between the points, zero at them. */
CC_API Real cc_table_side(const CcTable *t, Real x)
{
    if (re(x) <= t->x[0])
        return x - t->x[0];
    if (re(x) >= t->x[t->n - 1])
        return t->n % 2 ? x - t->x[t->n - 1] : t->x[t->n - 1] - x;
    int k = cc_interval(t->x, t->n, re(x));
    double a = t->x[k], b = t->x[k + 1];
    Real bow = (x - a) * (b - x) / (b - a);
    return k % 2 ? -bow : bow;
}

/* From x_0 to x. */
static inline Real cc_table_area(const CcTable *t, Real x)
{
    int end;
    const double *line = cc_table_outside(t, re(x), &end);
    if (line) {
        Real s = x - t->x[end];
        return t->ends ? cc_no_value(t->ends, re(x)) : t->integrals[end] + s * (line[0] + 0.5 * line[1] * s);
    }
    int k = cc_interval(t->x, t->n, re(x));
    const double *c = t->c[k];
    Real s = x - t->x[k];
    return t->integrals[k] + s * (c[0] + s * (c[1] / 2.0 + s * (c[2] / 3.0 + s * (c[3] / 4.0))));
}

/* From 0 to x. */
CC_API Real cc_table_integral(const CcTable *t, Real x) { return cc_table_area(t, x) - cc_table_area(t, 0.0); }

/* --- means, of which integrals in closed form are made: m(a) = 1/a int_0^a f(u) du, m' = (f - m)/a --- */

static inline Real cc_mean(double value, double f, Real a)
{
    return cc_real(value, (f - value) / re(a) * cc_dual_part(a));
}

#define CC_MEAN_AT_0(value, slope) cc_real(value, slope * cc_dual_part(a))

CC_API Real cc_mean_exp(Real a)
{
    double x = re(a);
    if (x == 0.0)
        return CC_MEAN_AT_0(1.0, 0.5);
    if (cc_magnitude(x) < 1.0) { /* e^x - 1 = 2 t/(1 - t) loses no digits */
        double t = cc_tanh_at(0.5 * x, 0);
        return cc_mean(2.0 * t / ((1.0 - t) * x), (1.0 + t) / (1.0 - t), a);
    }
    double e = cc_exp_at(x, 0);
    return cc_mean((e - 1.0) / x, e, a);
}

CC_API Real cc_mean_sin(Real a)
{
    double x = re(a), s, c;
    if (x == 0.0)
        return CC_MEAN_AT_0(0.0, 0.5);
    cc_sin_cos_at(0.5 * x, &s, &c); /* 1 - cos x = 2 sin(x/2)^2 */
    return cc_mean(2.0 * s * s / x, 2.0 * s * c, a);
}

CC_API Real cc_mean_cos(Real a)
{
    double x = re(a), s, c;
    if (x == 0.0)
        return CC_MEAN_AT_0(1.0, 0.0);
    cc_sin_cos_at(x, &s, &c);
    return cc_mean(s / x, c, a);
}

CC_API Real cc_mean_tanh(Real a)
{
    double x = re(a), t = cc_tanh_at(x, 0), u = cc_magnitude(x), y = -t * t, w = 1.0 + y;
    if (x == 0.0)
        return CC_MEAN_AT_0(0.0, 0.5);
    /* log cosh x = -log(1 - t^2)/2, with log(1 + y) = y log(w)/(w - 1); of large x = |x| + log(1 + e^-2|x|) - log 2 */
    double area = u > 1.0    ? u + (cc_log_at(1.0 + cc_exp_at(-2.0 * u, 0), 0) - 0x1.62e42fefa39efp-1)
                  : w == 1.0 ? -0.5 * y
                             : -0.5 * y * cc_log_at(w, 0) / (w - 1.0);
    return cc_mean(area / x, t, a);
}

#undef CC_MEAN_AT_0

/* --- integrals of other laws --- */

typedef Real (*CcLaw)(const void *e, Real x);
typedef void (*CcLawKinks)(const void *e, double x, double *z);

/* Points and weights of Gauss's rule on 0 .. 1. */
static const double cc_gauss[12][2] __attribute__((unused)) = {
    {0x1.2e1c4e37a2fdep-7, 0x1.8275d9dea6d8fp-6}, {0x1.88bc58023ba64p-5, 0x1.b60602bce6181p-5},
    {0x1.d73d4449dc328p-4, 0x1.47d7258f22d8fp-4}, {0x1.a6961f47f100fp-3, 0x1.a0163e6b1ab72p-4},
    {0x1.43ab96faba731p-2, 0x1.de3155c256ab5p-4}, {0x1.bfe1681c273c7p-2, 0x1.fe40ce6d4f025p-4},
    {0x1.200f4bf1ec61dp-1, 0x1.fe40ce6d4f025p-4}, {0x1.5e2a3482a2c67p-1, 0x1.de3155c256ab5p-4},
    {0x1.965a782e03bfcp-1, 0x1.a0163e6b1ab72p-4}, {0x1.c5185776c479bp-1, 0x1.47d7258f22d8fp-4},
    {0x1.e7743a7fdc45ap-1, 0x1.b60602bce6181p-5}, {0x1.fb478ec721741p-1, 0x1.8275d9dea6d8fp-6}};

/* Over a .. b, where the law is smooth but perhaps at 0. */
static inline Real cc_law_piece(CcLaw f, const void *e, double a, Real b)
{
    Real sum = 0.0, width = b - a;
    for (int i = 0; i < 12; i++) {
        double s = cc_gauss[i][0], weight = cc_gauss[i][1];
        sum += a == 0.0 ? 3.0 * s * s * weight * f(e, width * (s * s * s)) : weight * f(e, a + width * s);
    }
    return width * sum;
}

/* Over a .. b between two kinks: pieces that shrink towards a, so that a law may grow by e^20 there. */
static inline Real cc_law_smooth(CcLaw f, const void *e, double a, Real b)
{
    double eighth = a + 0.125 * (re(b) - a), half = a + 0.5 * (re(b) - a);
    return cc_law_piece(f, e, a, eighth) + (cc_law_piece(f, e, eighth, half) + cc_law_piece(f, e, half, b));
}

/* Where kink k changes its sign between a and b, to the last bit. */
static inline double cc_law_break(CcLawKinks kinks, const void *e, int k, double a, double b, int above_at_b)
{
    double z[CC_MOST_LAW_KINKS], middle = a + 0.5 * (b - a);
    while (middle > a && middle < b) {
        kinks(e, middle, z);
        if ((z[k] > 0.0) == above_at_b)
            b = middle;
        else
            a = middle;
        middle = a + 0.5 * (b - a);
    }
    return b;
}

/* From 0 to h >= 0, with `count` kinks. */
CC_API Real cc_law_integral(CcLaw f, CcLawKinks kinks, int count, const void *e, Real h)
{
    double breaks[CC_MOST_BREAKS], z[2][CC_MOST_LAW_KINKS];
    int found = 0;
    if (count)
        kinks(e, 0.0, z[0]);
    for (int i = 0; count && i < CC_LAW_PIECES; i++) {
        double a = re(h) * i / CC_LAW_PIECES, b = re(h) * (i + 1) / CC_LAW_PIECES;
        kinks(e, b, z[(i + 1) % 2]);
        for (int k = 0; k < count && found < CC_MOST_BREAKS; k++) {
            int above = z[(i + 1) % 2][k] > 0.0;
            if ((z[i % 2][k] > 0.0) == above)
                continue;
            double at = cc_law_break(kinks, e, k, a, b, above);
            int place = found++;
            for (; place > 0 && breaks[place - 1] > at; place--)
                breaks[place] = breaks[place - 1];
            breaks[place] = at;
        }
    }
    Real sum = 0.0;
    double from = 0.0;
    for (int i = 0; i < found; i++)
        if (breaks[i] > from && breaks[i] < re(h)) {
            sum += cc_law_smooth(f, e, from, breaks[i]);
            from = breaks[i];
        }
    return sum + cc_law_smooth(f, e, from, h);
}

#endif
