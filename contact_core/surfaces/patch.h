/* A smooth surface S(u, v) of bicubic pieces: a patch of B-splines or NURBS, or heights over a rectangular grid.
 *
 * On the piece of span i along u and span j along v, with the four cubic functions B_k of each span,
 *
 *     A(u, v) = sum over k, l of B_k(u) B_l(v) a_(i+k)(j+l),     a control values
 *
 *   1 component    S = (u, v, A): heights
 *   3 components   S = A
 *   4 components   S = (A_1, A_2, A_3)/A_4: control points times their weights, and the weights
 *
 * Normal N = S_u x S_v out of the material.  Knots that are simple, or of heights over a grid, leave no jump of the
 * curvature, so that depth, normal and their first derivatives are continuous.
 *
 * Closest point of P, D = S - P:    f = (D S_u, D S_v) = 0,    slopes of |D|^2/2, whose second derivatives are
 *                                   H = (S_u S_u + D S_uu, S_u S_v + D S_uv, S_v S_v + D S_vv)
 *
 * It is sought by Newton's method from a place next to P, the same for every history of P.  The ball of the radius
 * `reach` that touches the surface at any of its points from above or from below meets it nowhere else: what is found
 * within the reach is the closest point of all.  Anything farther off, or at an edge, is compared with the whole
 * surface by patch_search.h.
 *
 * Edges: where the closest point of what is drawn lies at an edge, and P beyond it, the surface continues along its
 * tangent plane there, and is not drawn.  A direction that is closed has no edge; heights repeat over it.
 *
 * Derivatives: one step of Newton's method over Real, as in profile.h.  Singular: H has no inverse, or two places are
 * as close, or more of them than the search compares; the one next to `last` is kept.
 *
 * Source: Piegl & Tiller, The NURBS Book, 2nd ed. (1997), sections 4.5 and 6.1. */
#ifndef CC_PATCH_H
#define CC_PATCH_H

#include "patch_search.h"

CC_API void cc_patch(const CcPatch *s, double side, const Real P[3], const Real last[3], CcFoot *foot)
{
    double target[3] = {re(P[0]), re(P[1]), re(P[2])};
    CcPatchPart whole = cc_patch_whole(s);
    CcPatchPlace place;
    cc_patch_guess(s, target, place.at);
    cc_patch_descend(s, target, &whole, &place);
    double reach = s->reach[place.sideways > 0.0];
    int tied = 0;
    if (!place.settled || place.edge || !(place.square < reach * reach)) {
        const double before[3] = {re(last[0]), re(last[1]), re(last[2])};
        tied = cc_patch_search(s, target, before, &whole, &place);
    }

    Real at[2] = {place.at[0], place.at[1]}, S[CC_S_ALL][3], f[2], H[3], move[2];
    int held[2];
    cc_patch_at(s, at, S);
    cc_patch_slopes(S, P, f, H);
    for (int d = 0; d < 2; d++)
        held[d] = (place.at[d] <= whole.low[d] && re(f[d]) > 0.0) || (place.at[d] >= whole.high[d] && re(f[d]) < 0.0);
    foot->singular = !cc_patch_step(S, f, H, held, move) || tied;
    if (!foot->singular) {
        for (int d = 0; d < 2; d++)
            at[d] += move[d];
        cc_patch_at(s, at, S);
    }
    Real n[3], D[3], h = 0.0;
    cc_cross(S[CC_S_U], S[CC_S_V], n);
    Real length = cc_norm(n);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        n[k] = n[k] / length;
        D[k] = S[CC_S][k] - P[k];
        h += D[k] * n[k];
    }
    foot->on = 1;
    for (int d = 0; d < 2; d++) { /* ways across the edges u = const, v = const */
        double t[3], square = 0.0, over = 0.0, along = 0.0, other = 0.0;
        for (int k = 0; k < 3; k++) {
            along += re(S[1 + d][k]) * re(S[2 - d][k]);
            other += re(S[2 - d][k]) * re(S[2 - d][k]);
        }
        for (int k = 0; k < 3; k++) {
            t[k] = re(S[1 + d][k]) - along / other * re(S[2 - d][k]);
            square += t[k] * t[k];
            over += re(D[k]) * t[k];
        }
        double per = __builtin_sqrt(square);
        over = over < 0.0 ? over / per : -over / per;
        int from = held[d] && place.at[d] <= whole.low[d];
        foot->edge[2 * d] = s->closed[d] ? 1.0 : from ? over : (re(at[d]) - whole.low[d]) * per;
        foot->edge[2 * d + 1] = s->closed[d] ? 1.0 : held[d] && !from ? over : (whole.high[d] - re(at[d])) * per;
        foot->on &= foot->edge[2 * d] >= 0.0 && foot->edge[2 * d + 1] >= 0.0;
    }
    foot->depth = side * h;
    CC_UNROLL for (int k = 0; k < 3; k++) {
        foot->normal[k] = side * n[k];
        foot->point[k] = P[k] + h * n[k];
    }
}

#endif
