/* Sums and functions in the order of operations of arithmetic.py, which says what they are: both give the same bits. */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

#include <stdint.h>

#define INDEPENDENT 0x1p-26
#define NEWTON_STEPS 6
#define RANGE 32.0
#define ROOT_OF_RANGE 4.0
#define SMALLEST 0x1p-200
#define LARGEST 0x1p200
#define SERIES 0.5
#define LARGEST_ANGLE 1e6

/* Of two numbers as Python's max and min: the first one where one is no number. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double smaller(double a, double b)
{
    return b < a ? b : a;
}

static double size_of(double x)
{
    return __builtin_fabs(x);
}

static int is_number(double x)
{
    return x * 0.0 == 0.0;
}

static double dot(const double *a, const double *b, uint64_t n)
{
    double total = 0.0;
    for (uint64_t i = 0; i < n; i++)
        total += a[i] * b[i];
    return total;
}

static void copy(double *to, const double *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = from[i];
}

static void clear(double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        values[i] = 0.0;
}

static int any(const double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (values[i] != 0.0)
            return 1;
    return 0;
}

static double largest_of(const double *values, uint64_t n)
{
    double largest = 0.0;
    for (uint64_t i = 0; i < n; i++)
        largest = larger(largest, size_of(values[i]));
    return largest;
}

/* For n unknowns: direction[n][n], along[n][n], length[n], part[n], rest[n], left[n], number[n] */
typedef struct {
    double *direction, *along, *length, *part, *rest, *left;
    uint64_t *number;
} LeastSquares;

static void take_along(double *from, double part, const double *direction, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        from[i] = from[i] - part * direction[i];
}

/* columns: `count` of them, each of n numbers, one after the other */
static void least_squares(const LeastSquares *w, const double *columns, uint64_t count, const double *goal, uint64_t n,
                          double *c)
{
    uint64_t kept = 0;
    copy(w->left, goal, n);
    clear(c, count);
    for (uint64_t k = 0; k < count && kept < n; k++) {
        const double *column = columns + k * n;
        double *along = w->along + kept * n, *direction = w->direction + kept * n;
        copy(w->rest, column, n);
        clear(along, kept);
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t j = 0; j < kept; j++) {
                double part = dot(w->direction + j * n, w->rest, n);
                take_along(w->rest, part, w->direction + j * n, n);
                along[j] += part;
            }
        double length = __builtin_sqrt(dot(w->rest, w->rest, n));
        if (!(length > INDEPENDENT * __builtin_sqrt(dot(column, column, n))))
            continue;
        for (uint64_t i = 0; i < n; i++)
            direction[i] = w->rest[i] / length;
        w->number[kept] = k;
        w->length[kept] = length;
        w->part[kept] = dot(direction, w->left, n);
        take_along(w->left, w->part[kept], direction, n);
        kept++;
    }
    for (uint64_t j = kept; j-- > 0;) {
        double total = w->part[j];
        for (uint64_t i = j + 1; i < kept; i++)
            total -= w->along[i * n + j] * c[w->number[i]];
        c[w->number[j]] = total / w->length[j];
    }
}

static double power_of_two_fifths(double x)
{
    double factor = 1.0;
    x = smaller(larger(x, SMALLEST), LARGEST);
    for (; x > RANGE; x /= RANGE)
        factor *= ROOT_OF_RANGE;
    for (; x < 1.0 / RANGE; x *= RANGE)
        factor /= ROOT_OF_RANGE;
    double fourth = __builtin_sqrt(__builtin_sqrt(x)), y = fourth * __builtin_sqrt(fourth);
    for (int k = 0; k < NEWTON_STEPS; k++) {
        fourth = y * y * (y * y);
        y = y - (fourth * y - x * x) / (5.0 * fourth);
    }
    return factor * y;
}

static void sine_cosine(double x, double *sine, double *cosine)
{
    *sine = *cosine = __builtin_nan("");
    if (!(x <= LARGEST_ANGLE))
        return;
    int doublings = 0;
    for (; x > SERIES; doublings++)
        x /= 2.0;
    double square = x * x, s = 1.0, c = 1.0;
    for (int k = 14; k > 0; k -= 2) {
        s = 1.0 - s * square / (k * (k + 1.0));
        c = 1.0 - c * square / (k * (k - 1.0));
    }
    s *= x;
    for (int k = 0; k < doublings; k++) {
        double before = s;
        s = 2.0 * s * c;
        c = 1.0 - 2.0 * before * before;
    }
    *sine = s;
    *cosine = c;
}

/* The quaternion q after a rotation by the vector `angle`. */
static void turn(double *q, const double *angle)
{
    double size = __builtin_sqrt(dot(angle, angle, 3)), s, a, b[3];
    sine_cosine(size / 2.0, &s, &a);
    double over_size = size < 1e-8 ? 0.5 : s / size;
    for (int i = 0; i < 3; i++)
        b[i] = angle[i] * over_size;
    const double *v = q + 1;
    double first = a * q[0] - dot(b, v, 3);
    double x = a * v[0] + q[0] * b[0] + (b[1] * v[2] - b[2] * v[1]);
    double y = a * v[1] + q[0] * b[1] + (b[2] * v[0] - b[0] * v[2]);
    double z = a * v[2] + q[0] * b[2] + (b[0] * v[1] - b[1] * v[0]);
    q[0] = first;
    q[1] = x;
    q[2] = y;
    q[3] = z;
}

#endif
