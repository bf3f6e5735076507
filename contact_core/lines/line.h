/* A line through points that bodies carry, as spans between neighbours, and the rate at which each span changes.
 *
 * Point i lies at p_i in the coordinates of its body b:  r_i = o_b + R_b p_i,  r_i' = v_b + w_b x (R_b p_i).  Without
 * carriers the line is at rest in the coordinates of its points: the frame of the one body that carries it all.
 *
 * Chord c_i = r_(i+1) - r_i.  A span is r(u), 0 <= u <= 1, from point i to the next, and its direction tau(u):
 *
 *   polyline   r = r_i + u c_i                            error of the line h^2/8 curvature, h spacing
 *              tau = (1 - u) T_i + u T_(i+1)              T_i unit, halves the angle of both chords at point i; at an
 *                                                         open end it is that of the chord
 *   spline     r = cubic of Hermite, tau = dr/du          order 3; one tangent direction at each point
 *              dr/du at point i = D_i m_i,  m_i = (D_i q_(i-1) + D_(i-1) q_i) / (D_(i-1) + D_i)
 *              D_i = sqrt|c_i|, q_i = c_i/D_i             centripetal Catmull-Rom; at an open end the parabola through
 *                                                         its three points, with two points the chord
 *
 * Both are local: a span depends on four points only.  Rates (r_t, tau_t) are those at a fixed u.
 *
 * Closed lines: the first point follows the last; it is listed once.
 *
 * Source of the centripetal choice: Yuksel, Schaefer & Keyser, Computer-Aided Design 43 (2011) 747: no loops, no
 * cusps. */
#ifndef CC_LINE_H
#define CC_LINE_H

#include <stddef.h>

#include "../base/vector.h"

typedef struct {
    const double *points; /* p_i: x, y, z of each, m */
    const double *bodies; /* b of each, counted from 0; NULL if there is one body */
    int count, closed, spline;
    double spacing; /* greatest distance of neighbours that one body carries, m */
} CcLine;

typedef struct {
    Real r[3], v[3], w[3]; /* o_b, m; v_b, m/s; w_b, rad/s */
    Real R[3][3];          /* body to world */
} CcCarrier;

typedef struct {
    Real r[3], v[3]; /* r_i, m; r_i', m/s */
} CcLinePoint;

typedef struct {
    Real r[4][3], r_t[4][3];     /* r(u) = r[0] + r[1] u + r[2] u^2 + r[3] u^3, m, and its rate */
    Real tau[3][3], tau_t[3][3]; /* tau(u) = tau[0] + tau[1] u + tau[2] u^2, and its rate */
    Real from[3], to[3];         /* directions at both ends: those of the spans beside it, to the bit */
    Real end[3];                 /* r_(i+1), m */
    Real length;                 /* |c_i|, m */
    int moving;                  /* 0: the line is at rest, its rates are not set */
} CcLineSpan;

CC_API void cc_carrier(const Real r[3], const Real q[4], const Real v[3], const Real w[3], CcCarrier *out)
{
    for (int k = 0; k < 3; k++) {
        out->r[k] = r[k];
        out->v[k] = v[k];
        out->w[k] = w[k];
    }
    cc_rotation(q, out->R);
}

CC_API int cc_line_spans(const CcLine *line) { return line->closed ? line->count : line->count - 1; }

/* The index of a point or span; closed lines continue it beyond both ends. */
CC_API int cc_line_index(const CcLine *line, int i)
{
    return !line->closed ? i : i < 0 ? i + line->count : i >= line->count ? i - line->count : i;
}

CC_API void cc_line_point(const CcLine *line, const CcCarrier carriers[], int i, CcLinePoint *out)
{
    const double *p = line->points + 3 * (long)i;
    if (!carriers) {
        for (int k = 0; k < 3; k++) {
            out->r[k] = p[k];
            out->v[k] = 0.0;
        }
        return;
    }
    const CcCarrier *body = &carriers[line->bodies ? (int)line->bodies[i] : 0];
    Real arm[3];
    for (int k = 0; k < 3; k++)
        arm[k] = body->R[k][0] * p[0] + body->R[k][1] * p[1] + body->R[k][2] * p[2];
    cc_cross(body->w, arm, out->v);
    for (int k = 0; k < 3; k++) {
        out->r[k] = body->r[k] + arm[k];
        out->v[k] += body->v[k];
    }
}

/* A chord: c, its length, and for the line at hand q = c/|c| or c/D; all with their rates. */
typedef struct {
    Real c[3], c_t[3], q[3], q_t[3];
    Real length, root, root_t; /* |c|, D and D' (spline) */
} CcChord;

CC_API void cc_chord(const CcLinePoint *a, const CcLinePoint *b, int spline, int moving, CcChord *out)
{
    for (int k = 0; k < 3; k++) {
        out->c[k] = b->r[k] - a->r[k];
        out->c_t[k] = b->v[k] - a->v[k];
    }
    out->length = cc_sqrt(cc_dot(out->c, out->c));
    out->root = spline ? cc_sqrt(out->length) : 1.0;
    out->root_t = 0.0;
    Real inverse = 1.0 / (spline ? out->root : out->length);
    for (int k = 0; k < 3; k++) {
        out->q[k] = out->c[k] * inverse;
        out->q_t[k] = 0.0;
    }
    if (!moving)
        return;
    Real length_t = cc_dot(out->c, out->c_t) / out->length; /* |c|' */
    Real divisor_t = length_t;
    if (spline) {
        out->root_t = length_t / (2.0 * out->root);
        divisor_t = out->root_t;
    }
    for (int k = 0; k < 3; k++)
        out->q_t[k] = (out->c_t[k] - out->q[k] * divisor_t) * inverse;
}

/* T_i or m_i between two chords, and its rate. */
CC_API void cc_line_direction(const CcChord *a, const CcChord *b, int spline, int moving, Real T[3], Real T_t[3])
{
    Real n[3], n_t[3], inverse, inverse_t; /* T = n inverse */
    for (int k = 0; k < 3; k++)
        n[k] = spline ? b->root * a->q[k] + a->root * b->q[k] : a->q[k] + b->q[k];
    inverse = 1.0 / (spline ? a->root + b->root : cc_sqrt(cc_dot(n, n)));
    for (int k = 0; k < 3; k++)
        T[k] = n[k] * inverse;
    if (!moving)
        return;
    if (spline) {
        for (int k = 0; k < 3; k++)
            n_t[k] = b->root_t * a->q[k] + b->root * a->q_t[k] + a->root_t * b->q[k] + a->root * b->q_t[k];
        inverse_t = -(a->root_t + b->root_t) * inverse * inverse;
    } else {
        for (int k = 0; k < 3; k++)
            n_t[k] = a->q_t[k] + b->q_t[k];
        inverse_t = -cc_dot(n, n_t) * inverse * inverse * inverse;
    }
    for (int k = 0; k < 3; k++)
        T_t[k] = n_t[k] * inverse + n[k] * inverse_t;
}

/* Directions at open ends, or their rates, from those of the chord, q. */
CC_API void cc_line_ends(const Real q[3], int has_before, int has_after, int parabola, Real T[2][3])
{
    for (int k = 0; k < 3; k++) {
        if (!has_before)
            T[0][k] = parabola ? 2.0 * q[k] - T[1][k] : q[k];
        if (!has_after)
            T[1][k] = parabola ? 2.0 * q[k] - T[0][k] : q[k];
    }
}

/* Component k of the polynomials of a span, or of their rates: from r_i, the chord c, dr/du at both ends (spline) and T
 * at both (polyline). */
CC_API void cc_line_coefficients(int spline, int k, Real r_i, Real c, Real a, Real b, Real T[2][3], Real r[4][3],
                                 Real tau[3][3])
{
    r[0][k] = r_i;
    if (spline) {
        r[1][k] = a;
        r[2][k] = 3.0 * c - 2.0 * a - b;
        r[3][k] = a + b - 2.0 * c;
        for (int j = 0; j < 3; j++)
            tau[j][k] = (j + 1) * r[j + 1][k];
    } else {
        r[1][k] = c;
        r[2][k] = r[3][k] = 0.0;
        tau[0][k] = T[0][k];
        tau[1][k] = T[1][k] - T[0][k];
        tau[2][k] = 0.0;
    }
}

/* Span i from the point i to the next, 0 <= i < cc_line_spans.  Never inlined, as its callers: over dual numbers their
 * memory together would exceed a page, the most that Windows lets a function use without a stack probe. */
CC_APART void cc_line_span(const CcLine *line, const CcCarrier carriers[], int i, CcLineSpan *out)
{
    int last = line->count - 1, spline = line->spline, moving = carriers != NULL;
    int has_before = line->closed || i > 0, has_after = line->closed || i + 1 < last;
    CcLinePoint at[4];
    CcChord chord[3];
    Real T[2][3], T_t[2][3];
    cc_line_point(line, carriers, i, &at[1]);
    cc_line_point(line, carriers, cc_line_index(line, i + 1), &at[2]);
    cc_chord(&at[1], &at[2], spline, moving, &chord[1]);
    if (has_before) {
        cc_line_point(line, carriers, cc_line_index(line, i - 1), &at[0]);
        cc_chord(&at[0], &at[1], spline, moving, &chord[0]);
        cc_line_direction(&chord[0], &chord[1], spline, moving, T[0], T_t[0]);
    }
    if (has_after) {
        cc_line_point(line, carriers, cc_line_index(line, i + 2), &at[3]);
        cc_chord(&at[2], &at[3], spline, moving, &chord[2]);
        cc_line_direction(&chord[1], &chord[2], spline, moving, T[1], T_t[1]);
    }
    int parabola = spline && (has_before || has_after);
    cc_line_ends(chord[1].q, has_before, has_after, parabola, T);
    out->moving = moving;
    out->length = chord[1].length;
    Real D = chord[1].root, D_t = chord[1].root_t;
    for (int k = 0; k < 3; k++) {
        out->from[k] = T[0][k];
        out->to[k] = T[1][k];
        out->end[k] = at[2].r[k];
        cc_line_coefficients(spline, k, at[1].r[k], chord[1].c[k], D * T[0][k], D * T[1][k], T, out->r, out->tau);
    }
    if (!moving)
        return;
    cc_line_ends(chord[1].q_t, has_before, has_after, parabola, T_t);
    for (int k = 0; k < 3; k++) {
        Real a_t = D_t * T[0][k] + D * T_t[0][k], b_t = D_t * T[1][k] + D * T_t[1][k];
        cc_line_coefficients(spline, k, at[1].v[k], chord[1].c_t[k], a_t, b_t, T_t, out->r_t, out->tau_t);
    }
}

/* A polynomial of vectors, a[0] + a[1] u + ..., of the given number of coefficients. */
CC_API void cc_line_polynomial(Real a[][3], int count, Real u, Real out[3])
{
    for (int k = 0; k < 3; k++) {
        Real sum = a[count - 1][k];
        for (int j = count - 2; j >= 0; j--)
            sum = sum * u + a[j][k];
        out[k] = sum;
    }
}

/* Its derivative by u. */
CC_API void cc_line_slope(Real a[][3], int count, Real u, Real out[3])
{
    for (int k = 0; k < 3; k++) {
        Real sum = (count - 1) * a[count - 1][k];
        for (int j = count - 2; j >= 1; j--)
            sum = sum * u + j * a[j][k];
        out[k] = sum;
    }
}

#endif
