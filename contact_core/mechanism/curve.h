/* Plane curves (x(s), y(s)), from <= s <= to, and the point of one that is closest to a point P.
 *
 * Foot:  g(s) = (C - P) C' = 0 by Newton's method from a parameter near by, g' = C' C' + (C - P) C''; where P is beyond
 * nine tenths of the way to the centre of curvature, C' C' alone steps downhill.  If this does not end, and the foot
 * may be far away, Newton's method begins again at the closest of many points.  A closed curve is periodic; an open one
 * continues straight beyond its ends.  Derivatives: one step over Real from the s found.
 *
 * Spline: cubic polynomials between n knots, c0 + c1 t + c2 t^2 + c3 t^3 with t = s - s_k; beyond the knots the outer
 * polynomials continue. */
#ifndef CC_CURVE_H
#define CC_CURVE_H

#include "../base/interval.h"

#define CC_FOOT_STEPS 50
#define CC_FOOT_NEAR 1e-9   /* share of the parameter's range: from here one step more is exact */
#define CC_FOOT_LEAST 0.1   /* share of C' C' below which g' makes no step: a tenth of the way to its centre is left */
#define CC_FOOT_PIECES 256  /* in which the closest point is looked for first */

/* values: f, f', f'' of y = f(x) at x, or x, x', x'', y, y', y'' at s.  of, number: what the curve belongs to. */
typedef void (*CcShape)(const void *of, int number, Real at, Real values[]);

typedef struct {
    CcShape shape;
    const void *of;
    int number, closed;
    int leaps; /* 1 if the foot may be far from the last one: the curve was moved, or the point flies */
    double from, to;
} CcCurve;

/* x, x', x'', y, y', y'' at s, which may lie beyond the ends. */
CC_API void cc_curve_at(const CcCurve *curve, Real s, Real values[6])
{
    Real inside = s;
    if (!curve->closed)
        inside = cc_clamp(s, curve->from, curve->to);
    curve->shape(curve->of, curve->number, inside, values);
    if (re(inside) == re(s))
        return;
    for (int k = 0; k < 6; k += 3) {
        values[k] += values[k + 1] * (s - inside);
        values[k + 2] = 0.0;
    }
}

/* The step of Newton's method towards the foot of P; downhill where g' is at most `least` of C' C'. */
CC_API Real cc_foot_step(const Real values[6], const Real P[2], double least)
{
    Real dx = values[0] - P[0], dy = values[3] - P[1];
    Real square = values[1] * values[1] + values[4] * values[4];
    Real slope = square + dx * values[2] + dy * values[5];
    return -(dx * values[1] + dy * values[4]) / (re(slope) > least * re(square) ? slope : square);
}

/* The parameter of the closest of CC_FOOT_PIECES + 1 points of the curve. */
CC_API double cc_curve_nearest(const CcCurve *curve, const Real P[2])
{
    double best = curve->from, least = __builtin_inf();
    for (int i = 0; i <= CC_FOOT_PIECES; i++) {
        Real values[6];
        double s = curve->from + (curve->to - curve->from) * i / CC_FOOT_PIECES;
        cc_curve_at(curve, s, values);
        double dx = re(values[0] - P[0]), dy = re(values[3] - P[1]), square = dx * dx + dy * dy;
        if (square < least) {
            least = square;
            best = s;
        }
    }
    return best;
}

/* Moves s to the foot of P near it.  Returns whether there is one. */
CC_API int cc_approach_foot(const CcCurve *curve, double *s, const Real P[2], double least)
{
    double range = curve->to - curve->from, last = range;
    for (int step = 0; step < CC_FOOT_STEPS; step++) {
        Real values[6];
        cc_curve_at(curve, *s, values);
        double way = re(cc_foot_step(values, P, least)), size = __builtin_fabs(way), most = 0.5 * last + 0.02 * range;
        if (!cc_is_finite(way))
            return 0;
        *s += size <= most ? way : way > 0.0 ? most : -most;
        last = size;
        if (curve->closed)
            *s -= *s >= curve->to ? range : *s < curve->from ? -range : 0.0;
        if (size <= CC_FOOT_NEAR * range)
            return 1;
    }
    return 0;
}

/* The foot of P near s, or of a curve that leaps anywhere; NaN if there is none.  values: the curve there. */
CC_API Real cc_curve_foot(const CcCurve *curve, double s, const Real P[2], Real values[6])
{
    const Real at[2] = {re(P[0]), re(P[1])};
    int is_foot = cc_approach_foot(curve, &s, at, CC_FOOT_LEAST);
    if (!is_foot && curve->leaps) {
        s = cc_curve_nearest(curve, at);
        is_foot = cc_approach_foot(curve, &s, at, 0.0);
    }
    cc_curve_at(curve, s, values);
    Real found = is_foot ? s + cc_foot_step(values, P, 0.0) : __builtin_nan("");
    cc_curve_at(curve, found, values);
    return found;
}

/* Value, first and second derivative of a spline; c holds 4 coefficients for each of n - 1 intervals. */
CC_API void cc_spline(const double knots[], const double c[], int n, Real s, Real values[3])
{
    int k = cc_interval(knots, n, re(s));
    const double *a = c + 4 * k;
    Real t = s - knots[k];
    values[0] = a[0] + t * (a[1] + t * (a[2] + t * a[3]));
    values[1] = a[1] + t * (2.0 * a[2] + t * (3.0 * a[3]));
    values[2] = 2.0 * a[2] + t * (6.0 * a[3]);
}

/* Of alternating sign between the inner knots of a spline, zero at them. */
CC_API double cc_spline_side(const double knots[], int n, double s)
{
    int k = cc_interval(knots, n, s);
    double width = knots[k + 1] - knots[k], after = (s - knots[k]) / width, before = (knots[k + 1] - s) / width;
    double bow = k == 0 ? before : k == n - 2 ? after : after * before;
    return k % 2 ? -bow : bow;
}

#endif
