/* Surfaces that a plane curve, the profile, sweeps: turned about the z axis, or moved along it.
 *
 * The profile is a chain of spans of cubic polynomials in (p, q), m:  C(u) = a + b u + c u^2 + d u^3,  0 <= u <= 1; a
 * straight span has c = d = 0.  Material lies to the left of the direction of travel, so that the normal is
 * n = (q', -p')/|C'|, and a closed profile travelled counterclockwise is full.
 *
 *   revolution   p = distance from the axis, q = z
 *   extrusion    p = x, q = y, the same for every z
 *
 * Closest point Q of P: f(u) = (C - P) C' is half the derivative of the squared distance, a polynomial of degree 5 on
 * a span.  In Bernstein form its coefficients change sign at least as often as it has zeros, and by an even number more
 * often: spans are halved until each part has none or one, and that one is bracketed.  Newton's method never leaves the
 * bracket, and the bracket is halved wherever the method is slow, so that all minima are found; of equal ones the first
 * along the profile is taken.  A span whose control points lie in a box farther off than the closest point so far is
 * left out.
 *
 * Ends: an open profile continues straight beyond its ends, and is not drawn there; only where an end is the closest
 * point of what is drawn does Q lie there.  An end on the axis of a revolution is a point of the surface as any other.
 * Corners: where the closest point is a corner, n points from it to P, or away.
 *
 * Where n is not smooth: below a corner that stands out, at its bisector, Q jumps from one piece to the other, and n
 * with it, but not the depth.  A profile with corners reports the rival, the next nearest of the places where the
 * distance has a minimum, and of the gap, how much farther off than Q it is: that becomes 0 where Q jumps.  Below a
 * corner that stands back n begins to turn where Q comes to the corner: `way` is how far it has to go, along the
 * profile, and negative at the corner.  Without corners n is smooth at every depth within the reach of the profile.
 *
 * Derivatives: one step of Newton's method over Real from the u found, u - f/f', moves it by rounding and gives
 * du = -df/f' to it.  Singular: where f' vanishes, a centre of curvature.
 *
 * Sources: Schneider, Solving the nearest-point-on-curve problem, Graphics Gems (1990) 607; Lane & Riesenfeld, Bounds
 * on a polynomial, BIT 21 (1981) 112. */
#ifndef CC_PROFILE_H
#define CC_PROFILE_H

#include "foot.h"

typedef struct {
    double p[4], q[4]; /* a, b, c, d of both coordinates, m */
    double box[4];     /* least p, least q, greatest p, greatest q of the control points, m */
} CcSpan;

/* What a profile is: sum of these. */
enum {
    CC_PROFILE_CLOSED = 1,    /* its last point is its first */
    CC_PROFILE_CORNERS = 2,   /* spans may meet at an angle */
    CC_PROFILE_AXIS_FROM = 4, /* its first point lies on the axis p = 0 of a revolution */
    CC_PROFILE_AXIS_TO = 8    /* its last point does */
};

#define CC_NO_CORNER 1.0 /* m, gap and way where there is none */

typedef struct {
    Real depth, normal[2], point[2];
    double edge[2];  /* way of Q inside the first and the last end, m, negative beyond; 1 if there is none */
    double rival[2]; /* Q itself if there is none */
    double gap;      /* distance of P from the rival minus that from Q, m; 1 if there is none */
    double way;      /* of Q to a corner at which it stays, m, negative at it by that of P to where Q leaves; or 1 */
    int on, singular;
} CcProfileFoot;

/* C, C' or C'' of a span: k = 0, 1, 2. */
CC_API Real cc_span(const double c[4], int k, Real u)
{
    if (k == 0)
        return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
    if (k == 1)
        return c[1] + u * (2.0 * c[2] + u * (3.0 * c[3]));
    return 2.0 * c[2] + u * (6.0 * c[3]);
}

typedef struct {
    double square; /* squared distance, m^2 */
    double u;
    int span;
} CcNearest;

CC_API double cc_at(const double c[4], double u) { return c[0] + u * (c[1] + u * (c[2] + u * c[3])); }

CC_API void cc_try(const CcSpan *s, int span, double u, const double P[2], CcNearest *best)
{
    double x = cc_at(s->p, u) - P[0], y = cc_at(s->q, u) - P[1], square = x * x + y * y;
    if (square < best->square) {
        best->square = square;
        best->u = u;
        best->span = span;
    }
}

/* The zero of the polynomial f of degree 5 between low and high, where f < 0 and f > 0. */
CC_API double cc_bracketed_zero(const double f[6], double low, double high)
{
    double u = 0.5 * (low + high), before = high - low;
    for (int i = 0; i < 2100 && low < u && u < high; i++) { /* halving alone ends in at most 1075 */
        double value = f[5], slope = 0.0;
        for (int k = 4; k >= 0; k--) {
            slope = slope * u + value;
            value = value * u + f[k];
        }
        if (value == 0.0)
            return u;
        if (value < 0.0)
            low = u;
        else
            high = u;
        double move = value / slope, next = u - move, size = move < 0.0 ? -move : move;
        if (size <= 0x1p-53 * u)
            return u;
        /* Newton's method, unless it leaves the bracket, has no slope, or moves by more than half the move before. */
        u = next > low && next < high && size <= 0.5 * before ? next : 0.5 * (low + high);
        before = size < high - low ? size : high - low;
    }
    return u;
}

/* Minima of the distance inside a span. */
CC_API void cc_search_span(const CcSpan *s, int span, const double P[2], CcNearest *best)
{
    enum { DEGREE = 5, DEEPEST = 24 };
    double a[2] = {s->p[0] - P[0], s->q[0] - P[1]};
    double ab = a[0] * s->p[1] + a[1] * s->q[1], ac = a[0] * s->p[2] + a[1] * s->q[2];
    double ad = a[0] * s->p[3] + a[1] * s->q[3], bb = s->p[1] * s->p[1] + s->q[1] * s->q[1];
    double bc = s->p[1] * s->p[2] + s->q[1] * s->q[2], bd = s->p[1] * s->p[3] + s->q[1] * s->q[3];
    double cc = s->p[2] * s->p[2] + s->q[2] * s->q[2], cd = s->p[2] * s->p[3] + s->q[2] * s->q[3];
    double dd = s->p[3] * s->p[3] + s->q[3] * s->q[3];
    if (cc == 0.0 && dd == 0.0) { /* straight */
        double u = -ab / bb;
        if (u > 0.0 && u < 1.0)
            cc_try(s, span, u, P, best);
        return;
    }
    const double f[DEGREE + 1] = {ab, bb + 2.0 * ac, 3.0 * (bc + ad), 2.0 * cc + 4.0 * bd, 5.0 * cd, 3.0 * dd};
    struct {
        double low, high, b[DEGREE + 1];
    } parts[DEEPEST + 1];
    int count = 1;
    parts[0].low = 0.0;
    parts[0].high = 1.0;
    for (int i = 0; i <= DEGREE; i++)
        parts[0].b[i] = f[0] + i * (f[1] / 5.0) + i * (i - 1) * (f[2] / 20.0) + i * (i - 1) * (i - 2) * (f[3] / 60.0)
                        + i * (i - 1) * (i - 2) * (i - 3) * (f[4] / 120.0) + (i == 5 ? f[5] : 0.0);
    while (count > 0) {
        int top = --count, changes = 0, last = 0;
        double *b = parts[top].b, low = parts[top].low, high = parts[top].high, middle = 0.5 * (low + high);
        for (int i = 0; i <= DEGREE; i++) {
            int sign = b[i] > 0.0 ? 1 : b[i] < 0.0 ? -1 : 0;
            changes += sign * last < 0;
            last = sign ? sign : last;
        }
        if (changes == 0 || (changes == 1 && (b[0] > 0.0 || last < 0)))
            continue; /* no zero inside, or one that is a maximum */
        if (changes == 1) {
            cc_try(s, span, cc_bracketed_zero(f, low, high), P, best);
            continue;
        }
        cc_try(s, span, middle, P, best); /* a zero there changes no sign of either half */
        if (high - low < 0x1p-23)
            continue; /* zeros that lie as close as this are at the same distance, to rounding */
        double left[DEGREE + 1];
        for (int j = 0; j <= DEGREE; j++) { /* de Casteljau: b becomes the right half */
            left[j] = b[0];
            for (int i = 0; i < DEGREE - j; i++)
                b[i] = 0.5 * (b[i] + b[i + 1]);
        }
        double right[DEGREE + 1];
        for (int i = 0; i <= DEGREE; i++)
            right[i] = b[i];
        for (int i = 0; i <= DEGREE; i++) {
            parts[top].b[i] = right[i];
            parts[top + 1].b[i] = left[i];
        }
        parts[top].low = parts[top + 1].high = middle;
        parts[top].high = high;
        parts[top + 1].low = low;
        count = top + 2; /* the left half first */
    }
}

/* The corner V between two directions of travel. */
CC_API void cc_corner(const Real V[2], const double before[2], const double after[2], const Real P[2],
                      CcProfileFoot *foot)
{
    Real out[3] = {P[0] - V[0], P[1] - V[1], 0.0}, away = cc_norm(out);
    double l_1 = __builtin_sqrt(before[0] * before[0] + before[1] * before[1]);
    double l_2 = __builtin_sqrt(after[0] * after[0] + after[1] * after[1]);
    Real mean[2] = {before[1] / l_1 + after[1] / l_2, -before[0] / l_1 - after[0] / l_2};
    double above = re(out[0]) * re(mean[0]) + re(out[1]) * re(mean[1]) >= 0.0 ? 1.0 : -1.0;
    foot->singular = re(away) == 0.0;
    foot->depth = -above * away;
    foot->point[0] = V[0];
    foot->point[1] = V[1];
    if (foot->singular)
        cc_direction(mean, 2, foot->normal);
    else
        for (int i = 0; i < 2; i++)
            foot->normal[i] = above * (out[i] / away);
}

/* X as the rival, if no place so far is nearer to P.  `closest` is the distance of P from Q. */
CC_API void cc_try_rival(const double P[2], double x, double y, double closest, CcProfileFoot *foot)
{
    double gap = __builtin_sqrt((x - P[0]) * (x - P[0]) + (y - P[1]) * (y - P[1])) - closest;
    if (gap < foot->gap) {
        foot->gap = gap;
        foot->rival[0] = x;
        foot->rival[1] = y;
    }
}

/* Point k of a chain of straight spans, k <= count, and the unit directions of travel before and behind it; on the
 * axis of a revolution the other half of the section follows.  Returns 1 at an end that nothing follows, 2 at the
 * first one. */
CC_API int cc_joint(const CcSpan spans[], int count, int kind, int k, double V[2], double t[2][2])
{
    int closed = kind & CC_PROFILE_CLOSED, end = closed ? 0 : k == 0 ? 2 : k == count ? 1 : 0;
    const CcSpan *around[2] = {&spans[k > 0 ? k - 1 : closed ? count - 1 : 0], &spans[k < count ? k : count - 1]};
    V[0] = k < count ? spans[k].p[0] : spans[k - 1].p[0] + spans[k - 1].p[1];
    V[1] = k < count ? spans[k].q[0] : spans[k - 1].q[0] + spans[k - 1].q[1];
    for (int i = 0; i < 2; i++) {
        double p = around[i]->p[1], q = around[i]->q[1], length = __builtin_sqrt(p * p + q * q);
        t[i][0] = p / length;
        t[i][1] = (end == 2 && i == 0) || (end == 1 && i == 1) ? -q / length : q / length;
    }
    return end && !(kind & (end == 2 ? CC_PROFILE_AXIS_FROM : CC_PROFILE_AXIS_TO)) ? end : 0;
}

/* Rival, gap and way among straight spans.  Q lies inside the span `own`, or at the point k = -1 - own. */
CC_API void cc_find_rival(const CcSpan spans[], int count, int kind, const double P[2], double closest, int own,
                          CcProfileFoot *foot)
{
    int closed = (kind & CC_PROFILE_CLOSED) != 0;
    for (int k = 0; k < count; k++) {
        const CcSpan *s = &spans[k];
        int tip = (k == 0 && (kind & CC_PROFILE_AXIS_FROM)) || (k == count - 1 && (kind & CC_PROFILE_AXIS_TO));
        for (int side = 1; side >= (tip ? -1 : 1); side -= 2) { /* and its image on the other side of the axis */
            double along = (side * P[0] - s->p[0]) * s->p[1] + (P[1] - s->q[0]) * s->q[1];
            double u = along / (s->p[1] * s->p[1] + s->q[1] * s->q[1]);
            if (u > 0.0 && u < 1.0 && (own != k || side < 0))
                cc_try_rival(P, side * (s->p[0] + u * s->p[1]), s->q[0] + u * s->q[1], closest, foot);
        }
    }
    for (int k = 0; k <= count - closed; k++) {
        double V[2], t[2][2];
        int end = cc_joint(spans, count, kind, k, V, t);
        double out[2] = {P[0] - V[0], P[1] - V[1]};
        double behind = out[0] * t[0][0] + out[1] * t[0][1], ahead = out[0] * t[1][0] + out[1] * t[1][1];
        if ((behind > 0.0 || end == 2) && (ahead < 0.0 || end == 1) && own != -1 - k)
            cc_try_rival(P, V[0], V[1], closest, foot);
        int own_before = own >= 0 && own == (k > 0 ? k - 1 : closed ? count - 1 : -1), own_behind = own == k;
        double turn = t[0][0] * t[1][1] - t[0][1] * t[1][0];
        double side = t[own_behind][0] * out[1] - t[own_behind][1] * out[0];
        double way = own == -1 - k                                          ? -(behind < -ahead ? behind : -ahead)
                     : !(own_before || own_behind) || !(turn * side < 0.0) ? CC_NO_CORNER
                     : own_behind                                           ? ahead
                                                                            : -behind;
        if (!end && way < foot->way)
            foot->way = way;
    }
}

CC_API void cc_profile(const CcSpan spans[], int count, int kind, const Real P[2], CcProfileFoot *foot)
{
    double at[2] = {re(P[0]), re(P[1])};
    CcNearest best = {__builtin_inf(), 0.0, 0};
    for (int k = 0; k < count; k++)
        cc_try(&spans[k], k, 0.0, at, &best);
    cc_try(&spans[count - 1], count - 1, 1.0, at, &best);
    for (int k = 0; k < count; k++) {
        const double *box = spans[k].box;
        double x = box[0] > at[0] ? box[0] - at[0] : at[0] > box[2] ? at[0] - box[2] : 0.0;
        double y = box[1] > at[1] ? box[1] - at[1] : at[1] > box[3] ? at[1] - box[3] : 0.0;
        if (x * x + y * y < best.square)
            cc_search_span(&spans[k], k, at, &best);
    }

    enum { SMOOTH, BEYOND_FROM, BEYOND_TO, CORNER } place = SMOOTH;
    int closed = kind & CC_PROFILE_CLOSED, span = best.span;
    int own = span; /* of cc_find_rival */
    double overshoot = 0.0;
    foot->on = 1;
    foot->singular = 0;
    if (best.u == 0.0 || best.u == 1.0) {
        /* One of the points where spans meet, or an end: the span before it and the one behind, if there are. */
        int next = best.u == 0.0 ? span : span + 1 < count ? span + 1 : closed ? 0 : -1;
        int before = best.u == 1.0 ? span : span > 0 ? span - 1 : closed ? count - 1 : -1;
        const CcSpan *s = &spans[span];
        double V[2] = {cc_at(s->p, best.u), cc_at(s->q, best.u)};
        double out[2] = {at[0] - V[0], at[1] - V[1]}, t[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
        if (before >= 0) {
            const CcSpan *b = &spans[before];
            t[0][0] = b->p[1] + 2.0 * b->p[2] + 3.0 * b->p[3];
            t[0][1] = b->q[1] + 2.0 * b->q[2] + 3.0 * b->q[3];
        }
        if (next >= 0) {
            t[1][0] = spans[next].p[1];
            t[1][1] = spans[next].q[1];
        }
        int mirrored = (before < 0 && (kind & CC_PROFILE_AXIS_FROM)) || (next < 0 && (kind & CC_PROFILE_AXIS_TO));
        if (mirrored) { /* the other half of the section through the axis */
            int i = before < 0;
            t[!i][0] = t[i][0];
            t[!i][1] = -t[i][1];
        }
        double behind = out[0] * t[0][0] + out[1] * t[0][1], ahead = out[0] * t[1][0] + out[1] * t[1][1];
        int beyond = (before < 0 && ahead < 0.0) || (next < 0 && behind > 0.0);
        if (beyond && !mirrored) {
            int i = before < 0;
            double length = __builtin_sqrt(t[i][0] * t[i][0] + t[i][1] * t[i][1]);
            overshoot = (i ? -ahead : behind) / length;
            place = i ? BEYOND_FROM : BEYOND_TO;
            own = i ? -1 : -1 - count;
            foot->on = 0;
        } else if ((mirrored || ((kind & CC_PROFILE_CORNERS) && before >= 0 && next >= 0)) && behind > 0.0
                   && ahead < 0.0) {
            Real corner[2] = {V[0], V[1]};
            cc_corner(corner, t[0], t[1], P, foot);
            place = CORNER;
            own = next >= 0 ? -1 - next : -1 - count;
        } else if (ahead < 0.0 && before >= 0) {
            own = span = before;
            best.u = 1.0;
        } else if (behind > 0.0 && next >= 0) {
            own = span = next;
            best.u = 0.0;
        }
    }
    if (place != CORNER) {
        const CcSpan *s = &spans[span];
        Real u = best.u, C[2] = {cc_span(s->p, 0, u), cc_span(s->q, 0, u)};
        Real t[2] = {cc_span(s->p, 1, u), cc_span(s->q, 1, u)}, square = t[0] * t[0] + t[1] * t[1];
        Real out[2] = {P[0] - C[0], P[1] - C[1]};
        if (place != SMOOTH) { /* on the straight line beyond the end */
            Real along = (out[0] * t[0] + out[1] * t[1]) / square;
            C[0] += along * t[0];
            C[1] += along * t[1];
        } else {
            Real bend = cc_span(s->p, 2, u) * out[0] + cc_span(s->q, 2, u) * out[1], slope = square - bend;
            foot->singular = re(cc_abs(slope)) <= CC_SINGULAR * re(square);
            if (!foot->singular) {
                u += (out[0] * t[0] + out[1] * t[1]) / slope;
                for (int i = 0; i < 2; i++) {
                    C[i] = cc_span(i ? s->q : s->p, 0, u);
                    t[i] = cc_span(i ? s->q : s->p, 1, u);
                }
            }
        }
        Real length = cc_sqrt(t[0] * t[0] + t[1] * t[1]);
        foot->normal[0] = t[1] / length;
        foot->normal[1] = -t[0] / length;
        foot->depth = (C[0] - P[0]) * foot->normal[0] + (C[1] - P[1]) * foot->normal[1];
        foot->point[0] = C[0];
        foot->point[1] = C[1];
    }
    for (int i = 0; i < 2; i++) {
        const CcSpan *s = &spans[i ? count - 1 : 0];
        int axis = kind & (i ? CC_PROFILE_AXIS_TO : CC_PROFILE_AXIS_FROM);
        double x = re(foot->point[0]) - cc_at(s->p, i), y = re(foot->point[1]) - cc_at(s->q, i);
        foot->edge[i] = closed || axis                                  ? 1.0
                        : place == (i ? BEYOND_TO : BEYOND_FROM) ? -overshoot
                                                                 : __builtin_sqrt(x * x + y * y);
        foot->rival[i] = re(foot->point[i]);
    }
    foot->gap = foot->way = CC_NO_CORNER;
    if (kind & CC_PROFILE_CORNERS)
        cc_find_rival(spans, count, kind, at, __builtin_sqrt(best.square), own, foot);
}

/* The profile turned about the z axis. */
CC_API void cc_revolution(const CcSpan spans[], int count, int kind, double side, const Real P[3], const Real last[3],
                          CcFoot *foot)
{
    double size = re(cc_abs(P[2]));
    for (int k = 0; k < count; k++)
        size = spans[k].box[2] > size ? spans[k].box[2] : size;
    Real d, e[2];
    CcProfileFoot plane;
    int on_axis = cc_radial(P, last, size, &d, e);
    Real section[2] = {d, P[2]};
    cc_profile(spans, count, kind, section, &plane);
    foot->singular = plane.singular || (on_axis && re(plane.point[0]) > CC_SINGULAR * size);
    foot->on = plane.on && re(plane.point[0]) >= 0.0;
    foot->depth = side * plane.depth;
    for (int i = 0; i < 2; i++) {
        foot->normal[i] = side * (plane.normal[0] * e[i]);
        foot->point[i] = plane.point[0] * e[i];
        foot->edge[i] = plane.edge[i];
        foot->rival[i] = plane.rival[0] * re(e[i]);
    }
    foot->rival[2] = plane.rival[1];
    foot->gap = plane.gap;
    foot->way = plane.way;
    foot->normal[2] = side * plane.normal[1];
    foot->point[2] = plane.point[1];
}

/* The profile moved along z; drawn part z[0] <= z <= z[1]. */
CC_API void cc_extrusion(const CcSpan spans[], int count, int kind, const double z[2], double side, const Real P[3],
                         CcFoot *foot)
{
    CcProfileFoot plane;
    cc_profile(spans, count, kind, P, &plane);
    foot->singular = plane.singular;
    foot->on = plane.on && re(P[2]) >= z[0] && re(P[2]) <= z[1];
    foot->depth = side * plane.depth;
    for (int i = 0; i < 2; i++) {
        foot->normal[i] = side * plane.normal[i];
        foot->point[i] = plane.point[i];
        foot->edge[i] = plane.edge[i];
        foot->rival[i] = plane.rival[i];
    }
    foot->rival[2] = re(P[2]);
    foot->gap = plane.gap;
    foot->way = plane.way;
    foot->normal[2] = 0.0;
    foot->point[2] = P[2];
}

#endif
