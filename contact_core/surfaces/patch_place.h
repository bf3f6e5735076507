/* Places on a surface of bicubic pieces, as patch.h describes it.
 *
 * S and its derivatives, and the place of least distance that Newton's method finds. */
#ifndef CC_PATCH_PLACE_H
#define CC_PATCH_PLACE_H

#include "foot.h"

typedef struct {
    double start, length; /* in the parameter */
    double first;         /* number of the first of its four control values */
    double basis[4][4];   /* of each function the coefficients of t^0 ... t^3, t = (u - start)/length */
} CcPatchSpan;

typedef struct {
    const CcPatchSpan *spans[2]; /* along u and v */
    const double *control;       /* rows along u, `columns` long, of control values with `components` */
    const double *boxes;         /* of patch_search.h */
    int count[2], closed[2], columns, components; /* count: spans */
    double reach[2]; /* above and below, m */
} CcPatch;

/* Length of all spans along u (d = 0) or v. */
CC_API double cc_patch_period(const CcPatch *s, int d)
{
    const CcPatchSpan *last = &s->spans[d][s->count[d] - 1];
    return last->start + last->length - s->spans[d][0].start;
}

/* Whole periods that lie between the first span and `at`, times their length; 0 if the direction is not closed. */
CC_API double cc_patch_offset(const CcPatch *s, int d, double at)
{
    if (!s->closed[d])
        return 0.0;
    double start = s->spans[d][0].start, period = cc_patch_period(s, d), turns = (at - start) / period;
    if (!(turns > -0x1p52 && turns < 0x1p52)) /* no place in the period is left of it */
        return at - start;
    double whole = (double)(long long)turns;
    return (whole > turns ? whole - 1.0 : whole) * period;
}

/* The span in which `at` lies; the first or last one beyond them. */
CC_API int cc_patch_span(const CcPatch *s, int d, double at)
{
    int low = 0, high = s->count[d] - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (at < s->spans[d][middle].start)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

/* What out[] of cc_patch_at holds. */
enum { CC_S, CC_S_U, CC_S_V, CC_S_UU, CC_S_UV, CC_S_VV, CC_S_ALL };

/* S and its derivatives at (u, v). */
CC_APART void cc_patch_at(const CcPatch *s, const Real at[2], Real out[CC_S_ALL][3])
{
    Real basis[2][3][4], A[CC_S_ALL][4] = {{0.0}};
    int first[2];
    double offset[2];
    for (int d = 0; d < 2; d++) {
        offset[d] = cc_patch_offset(s, d, re(at[d]));
        const CcPatchSpan *span = &s->spans[d][cc_patch_span(s, d, re(at[d]) - offset[d])];
        first[d] = (int)span->first;
        double per = 1.0 / span->length;
        Real t = (at[d] - offset[d] - span->start) * per;
        CC_UNROLL for (int k = 0; k < 4; k++) {
            const double *c = span->basis[k];
            basis[d][0][k] = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
            basis[d][1][k] = (c[1] + t * (2.0 * c[2] + t * (3.0 * c[3]))) * per;
            basis[d][2][k] = (2.0 * c[2] + t * (6.0 * c[3])) * (per * per);
        }
    }
    for (int c = 0; c < s->components; c++)
        for (int k = 0; k < 4; k++) {
            const double *row = &s->control[((first[0] + k) * s->columns + first[1]) * s->components + c];
            Real along[3] = {0.0, 0.0, 0.0};
            CC_UNROLL for (int l = 0; l < 4; l++)
                CC_UNROLL for (int order = 0; order < 3; order++)
                    along[order] += row[l * s->components] * basis[1][order][l];
            A[CC_S][c] += basis[0][0][k] * along[0];
            A[CC_S_U][c] += basis[0][1][k] * along[0];
            A[CC_S_V][c] += basis[0][0][k] * along[1];
            A[CC_S_UU][c] += basis[0][2][k] * along[0];
            A[CC_S_UV][c] += basis[0][1][k] * along[1];
            A[CC_S_VV][c] += basis[0][0][k] * along[2];
        }
    if (s->components == 1) {
        CC_UNROLL for (int i = 0; i < CC_S_ALL; i++) {
            out[i][0] = i == CC_S ? at[0] : i == CC_S_U;
            out[i][1] = i == CC_S ? at[1] : i == CC_S_V;
            out[i][2] = A[i][0];
        }
        return;
    }
    if (s->components == 4) { /* derivatives of the quotient; those of S w = A, solved for the highest of S */
        Real per = 1.0 / A[CC_S][3], w_u = A[CC_S_U][3] * per, w_v = A[CC_S_V][3] * per;
        Real w_uu = A[CC_S_UU][3] * per, w_uv = A[CC_S_UV][3] * per, w_vv = A[CC_S_VV][3] * per;
        CC_UNROLL for (int c = 0; c < 3; c++) {
            Real S = A[CC_S][c] *= per;
            Real S_u = A[CC_S_U][c] = A[CC_S_U][c] * per - S * w_u;
            Real S_v = A[CC_S_V][c] = A[CC_S_V][c] * per - S * w_v;
            A[CC_S_UU][c] = A[CC_S_UU][c] * per - 2.0 * S_u * w_u - S * w_uu;
            A[CC_S_UV][c] = A[CC_S_UV][c] * per - S_u * w_v - S_v * w_u - S * w_uv;
            A[CC_S_VV][c] = A[CC_S_VV][c] * per - 2.0 * S_v * w_v - S * w_vv;
        }
    }
    CC_UNROLL for (int i = 0; i < CC_S_ALL; i++)
        CC_UNROLL for (int c = 0; c < 3; c++)
            out[i][c] = A[i][c];
}

/* f and H of the head at the place S; returns |D|^2. */
CC_API Real cc_patch_slopes(Real S[CC_S_ALL][3], const Real P[3], Real f[2], Real H[3])
{
    Real D[3] = {S[CC_S][0] - P[0], S[CC_S][1] - P[1], S[CC_S][2] - P[2]};
    f[0] = cc_dot(D, S[CC_S_U]);
    f[1] = cc_dot(D, S[CC_S_V]);
    H[0] = cc_dot(S[CC_S_U], S[CC_S_U]) + cc_dot(D, S[CC_S_UU]);
    H[1] = cc_dot(S[CC_S_U], S[CC_S_V]) + cc_dot(D, S[CC_S_UV]);
    H[2] = cc_dot(S[CC_S_V], S[CC_S_V]) + cc_dot(D, S[CC_S_VV]);
    return cc_dot(D, D);
}

/* The step of Newton's method in the directions that are not held; returns 0 if H has no positive inverse there. */
CC_API int cc_patch_step(Real S[CC_S_ALL][3], const Real f[2], const Real H[3], const int held[2], Real step[2])
{
    double E = re(cc_dot(S[CC_S_U], S[CC_S_U])), G = re(cc_dot(S[CC_S_V], S[CC_S_V]));
    step[0] = step[1] = 0.0;
    if (held[0] && held[1])
        return 1;
    if (held[0] || held[1]) {
        int d = held[0];
        if (!(re(H[2 * d]) > CC_SINGULAR * (d ? G : E)))
            return 0;
        step[d] = -f[d] / H[2 * d];
        return 1;
    }
    Real det = H[0] * H[2] - H[1] * H[1];
    if (!(re(det) > CC_SINGULAR * E * G && re(H[0]) > 0.0))
        return 0;
    step[0] = (H[1] * f[1] - H[2] * f[0]) / det;
    step[1] = (H[1] * f[0] - H[0] * f[1]) / det;
    return 1;
}

typedef struct {
    double low[2], high[2]; /* of u and v */
} CcPatchPart;

/* All of the surface; without limits where it is closed. */
CC_API CcPatchPart cc_patch_whole(const CcPatch *s)
{
    CcPatchPart whole;
    for (int d = 0; d < 2; d++) {
        double start = s->spans[d][0].start;
        whole.low[d] = s->closed[d] ? -__builtin_inf() : start;
        whole.high[d] = s->closed[d] ? __builtin_inf() : start + cc_patch_period(s, d);
    }
    return whole;
}

typedef struct {
    double at[2];
    double square;   /* squared distance, m^2 */
    double point[3]; /* S there, to CC_PATCH_NEAR */
    double sideways; /* D N: its sign says on which side P lies */
    int edge;        /* `at` is held at a limit of the part */
    int settled;     /* Newton's method converged */
} CcPatchPlace;

#define CC_PATCH_NEAR 1e-6 /* of a span: a step of Newton's method behind which the next one is within rounding */

/* The place of least distance in a part of the surface that Newton's method finds from place->at.  Where H is not
 * positive the step is that of Gauss and Newton, which leads downhill; a step that leads uphill is halved. */
CC_APART void cc_patch_descend(const CcPatch *s, const double P[3], const CcPatchPart *part, CcPatchPlace *place)
{
    enum { MOST_STEPS = 40 };
    Real target[3] = {P[0], P[1], P[2]}, S[CC_S_ALL][3], f[2], H[3], move[2], n[3];
    double from[2] = {0.0, 0.0}, step[2] = {0.0, 0.0}, before = __builtin_inf();
    place->settled = 0;
    for (int i = 0; i < MOST_STEPS && !place->settled; i++) {
        Real at[2];
        for (int d = 0; d < 2; d++) {
            double clamped = place->at[d] > part->low[d] ? place->at[d] : part->low[d];
            place->at[d] = clamped < part->high[d] ? clamped : part->high[d];
            at[d] = place->at[d];
        }
        cc_patch_at(s, at, S);
        place->square = re(cc_patch_slopes(S, target, f, H));
        if (place->square > before) { /* uphill */
            for (int d = 0; d < 2; d++)
                place->at[d] = from[d] + (step[d] *= 0.5);
            continue;
        }
        int held[2];
        for (int d = 0; d < 2; d++)
            held[d] = (place->at[d] <= part->low[d] && re(f[d]) > 0.0)
                      || (place->at[d] >= part->high[d] && re(f[d]) < 0.0);
        place->edge = held[0] || held[1];
        if (!cc_patch_step(S, f, H, held, move)) {
            H[0] = cc_dot(S[CC_S_U], S[CC_S_U]);
            H[1] = cc_dot(S[CC_S_U], S[CC_S_V]);
            H[2] = cc_dot(S[CC_S_V], S[CC_S_V]);
            cc_patch_step(S, f, H, held, move);
        }
        before = place->square;
        place->settled = 1;
        for (int d = 0; d < 2; d++) {
            double length = s->spans[d][cc_patch_span(s, d, place->at[d] - cc_patch_offset(s, d, place->at[d]))].length;
            double far = 0.5 * cc_patch_period(s, d), way = cc_is_finite(re(move[d])) ? re(move[d]) : 0.0;
            step[d] = way > far ? far : way < -far ? -far : way;
            place->settled &= step[d] <= CC_PATCH_NEAR * length && step[d] >= -CC_PATCH_NEAR * length;
            from[d] = place->at[d];
            place->at[d] += step[d];
        }
    }
    for (int d = 0; d < 2; d++) /* the last step may lead over a limit by rounding */
        place->at[d] = place->at[d] < part->low[d]    ? part->low[d]
                       : place->at[d] > part->high[d] ? part->high[d]
                                                      : place->at[d];
    cc_cross(S[CC_S_U], S[CC_S_V], n);
    place->sideways = 0.0;
    for (int k = 0; k < 3; k++) {
        place->point[k] = re(S[CC_S][k]);
        place->sideways += (place->point[k] - P[k]) * re(n[k]);
    }
}

#endif
