/* The foot FLP of a point P on a line: where the plane through P across the line, the base plane, meets it.
 *
 * Gate of point i, m       G_i = (P - r_i) T_i            P has passed the plane across the line at point i if > 0
 * The foot lies on span i if G_i >= 0 > G_(i+1), at the u of
 *                          g(u) = (P - r(u)) tau(u) = 0,  g(0) >= 0 > g(1)
 *   polyline   a quadratic, solved in closed form
 *   spline     Newton's method within the bracket, which is halved wherever that is slow: the closest point
 * Unit tangent             t = tau/|tau|
 * Distance, m              d = P - FLP,  d t = 0
 * Margin, 1                1 - kappa d N = -g_u / (r_u tau)     kappa N: curvature vector of the line
 *
 * The margin is 1 on the line, 0 on its evolute, where the foot jumps; d t/d P grows as its inverse.
 *
 * Rates, with v_P the velocity of P in the same coordinates:
 *   u'   = -((v_P - r_t) tau + (P - r) tau_t) / g_u
 *   FLP' = r_t + r_u u',   tau' = tau_t + tau_u u',   t' = (tau' - t (t tau'))/|tau|
 *
 * Tracking: from the span of the foot before, span after span in the direction the gates show.  So the foot never jumps
 * to another part of a line that comes close to itself, and the cost of a step depends on the motion of the foot, not
 * on the number of points.
 * Ends of an open line: P is off where it has passed the plane at an end and the foot is there: a line that turns by
 * more than half a turn crosses the infinite plane elsewhere as well.
 *
 * Searching: the chord closest to P.  Of n points it looks at every 64th; between two of them it skips what lies
 * farther off than the greatest spacing allows. */
#ifndef CC_LINE_FOOT_H
#define CC_LINE_FOOT_H

#include "line.h"

enum { CC_LINE_BEFORE = -1, CC_LINE_ON = 0, CC_LINE_BEYOND = 1, CC_LINE_LOST = 2 };

typedef struct {
    int span;       /* of the foot */
    int place;      /* CC_LINE_ON; beyond the first or the last point; lost: no span has a foot */
    Real u;         /* on the span */
    Real passed[2]; /* G at both ends of the span, m */
    Real length;    /* of its chord, m */
    Real point[3], point_t[3];     /* FLP, m, and its rate, m/s */
    Real tangent[3], tangent_t[3]; /* t and its rate, 1/s */
    Real away[3];                  /* d, m */
    Real margin;
} CcLineFoot;

/* u of g = 0 where g(0) = g_0 >= 0, g(1) = g_1 <= 0 and a = g''/2; the form without cancellation. */
CC_API Real cc_quadratic_foot(Real g_0, Real g_1, Real a)
{
    Real b = g_1 - g_0 - a;
    Real root = cc_sqrt(b * b - 4.0 * a * g_0);
    if (re(b) > 0.0)
        return (b + root) / (-2.0 * a);
    Real q = 0.5 * (root - b);
    return re(q) > 0.0 ? g_0 / q : (Real)0.0;
}

/* u of g = 0 on a spline's span, by Newton's method over double, and its last step over Real for the derivative. */
CC_API Real cc_spline_foot(const CcLineSpan *s, const Real P[3], double guess)
{
    double low = 0.0, high = 1.0, u = guess, before = 1.0;
    double r[4][3], at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = re(P[k]) - re(s->r[0][k]);
        for (int j = 0; j < 4; j++)
            r[j][k] = re(s->r[j][k]);
    }
    for (int step = 0; step < 1100; step++) { /* halving alone ends before */
        double g = 0.0, g_u = 0.0;
        for (int k = 0; k < 3; k++) {
            double d = at[k] - u * (r[1][k] + u * (r[2][k] + u * r[3][k]));
            double tau = r[1][k] + u * (2.0 * r[2][k] + u * 3.0 * r[3][k]), tau_u = 2.0 * r[2][k] + u * 6.0 * r[3][k];
            g += d * tau;
            g_u += d * tau_u - tau * tau;
        }
        if (g >= 0.0)
            low = u;
        else
            high = u;
        double move = -g / g_u, next = u + move, size = move < 0.0 ? -move : move;
        if (size <= 0x1p-50)
            break;
        int fast = next > low && next < high && size <= 0.5 * before;
        u = fast ? next : 0.5 * (low + high);
        before = fast ? size : high - low;
        if (high - low <= 0x1p-52)
            break;
    }
    Real real = u, g = 0.0, g_u = 0.0;
    for (int k = 0; k < 3; k++) {
        Real d = (P[k] - s->r[0][k]) - real * (s->r[1][k] + real * (s->r[2][k] + real * s->r[3][k]));
        Real tau = s->r[1][k] + real * (2.0 * s->r[2][k] + real * 3.0 * s->r[3][k]);
        g += d * tau;
        g_u += d * (2.0 * s->r[2][k] + real * 6.0 * s->r[3][k]) - tau * tau;
    }
    return re(g_u) < 0.0 ? cc_clamp(real - g / g_u, 0.0, 1.0) : real;
}

/* All of the foot on a span whose gates are passed[0] >= 0 >= passed[1]. */
CC_APART void cc_span_foot(const CcLine *line, CcLineSpan *s, const Real P[3], const Real v_P[3], CcLineFoot *foot)
{
    Real d_0[3] = {P[0] - s->r[0][0], P[1] - s->r[0][1], P[2] - s->r[0][2]};
    Real u, r_u[3], r_t[3], tau[3], tau_u[3], tau_t[3], r[3], d[3];
    if (line->spline) {
        double behind = re(foot->passed[0]), ahead = re(foot->passed[1]);
        u = cc_spline_foot(s, P, behind > ahead ? behind / (behind - ahead) : 0.5);
    } else {
        u = cc_quadratic_foot(foot->passed[0], foot->passed[1], -cc_dot(s->r[1], s->tau[1]));
    }
    cc_line_polynomial(s->r, 4, u, r);
    cc_line_slope(s->r, 4, u, r_u);
    cc_line_polynomial(s->tau, 3, u, tau);
    cc_line_slope(s->tau, 3, u, tau_u);
    for (int k = 0; k < 3; k++)
        r_t[k] = tau_t[k] = 0.0;
    if (s->moving) {
        cc_line_polynomial(s->r_t, 4, u, r_t);
        cc_line_polynomial(s->tau_t, 3, u, tau_t);
    }
    Real g_u = 0.0, g_t = 0.0;
    for (int k = 0; k < 3; k++) {
        d[k] = d_0[k] - (r[k] - s->r[0][k]);
        g_u += d[k] * tau_u[k] - r_u[k] * tau[k];
        g_t += (v_P[k] - r_t[k]) * tau[k] + d[k] * tau_t[k];
    }
    Real scale = 1.0 / cc_sqrt(cc_dot(tau, tau));
    Real u_t = re(g_u) < 0.0 ? -g_t / g_u : (Real)0.0;
    foot->u = u;
    foot->length = s->length;
    foot->margin = -g_u / cc_dot(r_u, tau);
    Real along = 0.0;
    for (int k = 0; k < 3; k++) {
        foot->point[k] = r[k];
        foot->point_t[k] = r_t[k] + r_u[k] * u_t;
        foot->away[k] = d[k];
        foot->tangent[k] = tau[k] * scale;
        foot->tangent_t[k] = (tau_t[k] + tau_u[k] * u_t) * scale;
        along += foot->tangent[k] * foot->tangent_t[k];
    }
    for (int k = 0; k < 3; k++)
        foot->tangent_t[k] -= foot->tangent[k] * along;
}

/* The foot of P, which moves at v_P, tracked from the span `from`.
 *
 * Off an open line the span is that of the end; u, point and tangent are then those of the end itself. */
CC_APART void cc_line_track(const CcLine *line, const CcCarrier carriers[], const Real P[3], const Real v_P[3],
                            int from, CcLineFoot *foot)
{
    int spans = cc_line_spans(line), span = from < 0 ? 0 : from >= spans ? spans - 1 : from, direction = 0;
    CcLineSpan s;
    foot->place = CC_LINE_LOST;
    for (int step = 0; step <= spans && foot->place == CC_LINE_LOST; step++) {
        cc_line_span(line, carriers, span, &s);
        Real d_0[3], d_1[3];
        for (int k = 0; k < 3; k++) {
            d_0[k] = P[k] - s.r[0][k];
            d_1[k] = P[k] - s.end[k];
        }
        foot->passed[0] = cc_dot(d_0, s.from);
        foot->passed[1] = cc_dot(d_1, s.to);
        if (re(foot->passed[0]) < 0.0 && direction <= 0) {
            if (!line->closed && span == 0)
                foot->place = CC_LINE_BEFORE;
            else
                span = cc_line_index(line, span - 1);
            direction = -1;
        } else if (re(foot->passed[1]) >= 0.0 && direction >= 0) {
            if (!line->closed && span == spans - 1)
                foot->place = re(foot->passed[1]) > 0.0 ? CC_LINE_BEYOND : CC_LINE_ON;
            else
                span = cc_line_index(line, span + 1);
            direction = 1;
        } else {
            foot->place = CC_LINE_ON;
        }
    }
    foot->span = span;
    if (foot->place == CC_LINE_ON) {
        cc_span_foot(line, &s, P, v_P, foot);
        return;
    }
    int end = foot->place == CC_LINE_BEYOND;
    const Real *at = end ? s.end : s.r[0], *T = end ? s.to : s.from;
    Real scale = 1.0 / cc_sqrt(cc_dot(T, T));
    foot->u = end;
    foot->length = s.length;
    foot->margin = foot->place == CC_LINE_LOST ? 0.0 : 1.0;
    for (int k = 0; k < 3; k++) {
        foot->point[k] = at[k];
        foot->tangent[k] = T[k] * scale;
        foot->point_t[k] = foot->tangent_t[k] = 0.0;
        foot->away[k] = P[k] - at[k];
    }
}

/* ---- search ---------------------------------------------------------------------------------------------------- */

/* P in the coordinates in which point i is listed. */
CC_API void cc_line_seen(const CcLine *line, const CcCarrier carriers[], int i, const double P[3], double out[3])
{
    const CcCarrier *body = carriers ? &carriers[line->bodies ? (int)line->bodies[i] : 0] : NULL;
    for (int k = 0; k < 3; k++)
        out[k] = body ? (P[0] - re(body->r[0])) * re(body->R[0][k]) + (P[1] - re(body->r[1])) * re(body->R[1][k])
                            + (P[2] - re(body->r[2])) * re(body->R[2][k])
                      : P[k];
}

/* Squared distance of P from point i, m^2. */
CC_API double cc_line_square(const CcLine *line, int i, const double seen[3])
{
    const double *p = line->points + 3 * (long)i;
    double x = p[0] - seen[0], y = p[1] - seen[1], z = p[2] - seen[2];
    return x * x + y * y + z * z;
}

/* Squared distance of P from the chord of span i, m^2. */
CC_API double cc_chord_square(const CcLine *line, const CcCarrier carriers[], int i, const double P[3])
{
    CcLinePoint a, b;
    cc_line_point(line, carriers, i, &a);
    cc_line_point(line, carriers, cc_line_index(line, i + 1), &b);
    double c[3], d[3], cc = 0.0, dc = 0.0, square = 0.0;
    for (int k = 0; k < 3; k++) {
        c[k] = re(b.r[k]) - re(a.r[k]);
        d[k] = P[k] - re(a.r[k]);
        cc += c[k] * c[k];
        dc += d[k] * c[k];
    }
    double u = cc > 0.0 ? dc / cc : 0.0;
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    for (int k = 0; k < 3; k++) {
        double x = d[k] - u * c[k];
        square += x * x;
    }
    return square;
}

/* The span whose chord is closest to P, the first of equal ones.  On the inner side of a bend the foot may lie on the
 * span beside it: cc_line_track goes there. */
CC_API int cc_line_search(const CcLine *line, const CcCarrier carriers[], const Real P[3])
{
    enum { BLOCK = 64 };
    double at[3] = {re(P[0]), re(P[1]), re(P[2])}, seen[3], best = __builtin_inf();
    int spans = cc_line_spans(line), found = 0;
    if (line->bodies) { /* neighbours on different bodies can be any distance apart: every span is looked at */
        for (int i = 0; i < spans; i++) {
            double square = cc_chord_square(line, carriers, i, at);
            if (square < best) {
                best = square;
                found = i;
            }
        }
        return found;
    }
    cc_line_seen(line, carriers, 0, at, seen);
    double limit = __builtin_inf(); /* squared distance within which a point of the closest chord lies */
    for (int i = 0; i < line->count; i += BLOCK) {
        double square = cc_line_square(line, i, seen);
        if (square < limit)
            limit = square;
    }
    double half = 0.5 * line->spacing, reach = (0.5 * BLOCK) * line->spacing;
    limit = 1.0001 * limit + half * half;
    for (int first = 0; first < spans; first += BLOCK) {
        int end = first + BLOCK < spans ? first + BLOCK : spans, middle = first + BLOCK / 2;
        middle = middle < line->count ? middle : line->count - 1;
        double radius = __builtin_sqrt(limit) + reach;
        if (cc_line_square(line, middle, seen) > radius * radius)
            continue;
        for (int i = first; i < end; i++) {
            double square = cc_line_square(line, i, seen);
            int next = cc_line_index(line, i + 1);
            if (square > limit && cc_line_square(line, next, seen) > limit)
                continue;
            square = cc_chord_square(line, carriers, i, at);
            if (square < best) {
                best = square;
                found = i;
                double better = 1.0001 * square + half * half;
                limit = better < limit ? better : limit;
            }
        }
    }
    return found;
}

#endif
