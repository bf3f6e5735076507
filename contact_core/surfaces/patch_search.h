/* The closest point of all pieces of a patch: a search that leaves nothing out.
 *
 * Boxes around groups of CC_PATCH_GROUP x CC_PATCH_GROUP pieces are the leaves of a tree of fours; a box farther off
 * than the closest place so far is left out.  Of a piece, and of parts of it, the control points of Bezier bound
 * D = S - P, its derivatives, and so f and H of patch.h, by ranges (convex hull).  A part is
 *
 *   left out    if D is longer than the distance so far, or f has one sign along u or v: nothing is stationary there.
 *               If the sign leads to an edge of the surface the part shrinks to that edge
 *   settled     if H is positive: it has one minimum, which cc_patch_descend finds
 *   halved      otherwise
 *
 * Source: Johnson & Cohen, A framework for efficient minimum distance computations, ICRA 1998, 3678. */
#ifndef CC_PATCH_SEARCH_H
#define CC_PATCH_SEARCH_H

#include "patch_place.h"

#define CC_PATCH_GROUP 4
#define CC_PATCH_MOST 4096 /* parts that a search looks at: more are as close only about a centre of curvature */
#define CC_PATCH_LEVELS 24 /* of the tree: groups doubled that often */
#define CC_PATCH_TIE 1e-12 /* of the squared distance: rounding */

typedef struct {
    double low, high;
} CcRange;

static inline CcRange cc_range_plus(CcRange a, CcRange b) { return (CcRange){a.low + b.low, a.high + b.high}; }
static inline CcRange cc_range_minus(CcRange a, CcRange b) { return (CcRange){a.low - b.high, a.high - b.low}; }

CC_API CcRange cc_range_times(CcRange a, CcRange b)
{
    double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    double low = p < q ? p : q, high = p < q ? q : p, low_2 = r < s ? r : s, high_2 = r < s ? s : r;
    return (CcRange){low < low_2 ? low : low_2, high > high_2 ? high : high_2};
}

CC_API CcRange cc_range_square(CcRange a)
{
    double p = a.low * a.low, q = a.high * a.high;
    return (CcRange){a.low <= 0.0 && a.high >= 0.0 ? 0.0 : p < q ? p : q, p < q ? q : p};
}

CC_API CcRange cc_range_dot(const CcRange a[3], const CcRange b[3])
{
    CcRange sum = cc_range_times(a[0], b[0]);
    sum = cc_range_plus(sum, cc_range_times(a[1], b[1]));
    return cc_range_plus(sum, cc_range_times(a[2], b[2]));
}

CC_API CcRange cc_range_length(const CcRange a[3])
{
    return cc_range_plus(cc_range_plus(cc_range_square(a[0]), cc_range_square(a[1])), cc_range_square(a[2]));
}

typedef struct {
    const CcPatchSpan *span[2];
    double net[4][4][4]; /* control values; three and four components relative to P */
    double offset[2];    /* of u and v, whole periods */
    int first[2], last[2]; /* along u and v the piece is that at the first or last edge */
} CcPatchPiece;

/* Bezier points of the four functions of a span, of their first and of their second derivatives, between t[0] and t[1]:
 * the polar forms of polynomials. */
CC_API void cc_patch_bezier(const CcPatchSpan *span, const double t[2], double out[3][4][4])
{
    double per = 1.0 / span->length;
    for (int k = 0; k < 4; k++) {
        const double *c = span->basis[k];
        for (int i = 0; i < 4; i++) {
            double x = t[i > 0], y = t[i > 1], z = t[i > 2];
            out[0][i][k] = c[0] + c[1] * (x + y + z) / 3.0 + c[2] * (x * y + x * z + y * z) / 3.0 + c[3] * x * y * z;
        }
        for (int i = 0; i < 3; i++) {
            double x = t[i > 0], y = t[i > 1];
            out[1][i][k] = (c[1] + c[2] * (x + y) + 3.0 * c[3] * x * y) * per;
        }
        for (int i = 0; i < 2; i++)
            out[2][i][k] = (2.0 * c[2] + 6.0 * c[3] * t[i]) * (per * per);
    }
}

/* Ranges of A and its derivatives, in the order of cc_patch_at, over a part of a piece; D is A over the weights. */
CC_API void cc_patch_ranges(const CcPatch *s, const CcPatchPiece *piece, const double t[2][2],
                            CcRange A[CC_S_ALL][4], CcRange D[3])
{
    static const int order[CC_S_ALL][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    double bezier[2][3][4][4], weight[4][4];
    for (int d = 0; d < 2; d++)
        cc_patch_bezier(piece->span[d], t[d], bezier[d]);
    for (int c = s->components - 1; c >= 0; c--) { /* the weights first */
        double along[3][4][4]; /* by order along v, Bezier point along v, control point along u */
        for (int n = 0; n < 3; n++)
            for (int j = 0; j < 4 - n; j++)
                for (int k = 0; k < 4; k++) {
                    const double *b = bezier[1][n][j], *a = piece->net[c][k];
                    along[n][j][k] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
                }
        for (int m = 0; m < CC_S_ALL; m++) {
            int n = order[m][0], of_v = order[m][1];
            CcRange range = {__builtin_inf(), -__builtin_inf()}, quotient = range;
            for (int i = 0; i < 4 - n; i++)
                for (int j = 0; j < 4 - of_v; j++) {
                    const double *b = bezier[0][n][i], *a = along[of_v][j];
                    double x = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
                    range.low = x < range.low ? x : range.low;
                    range.high = x > range.high ? x : range.high;
                    if (m == CC_S && c == 3)
                        weight[i][j] = x;
                    if (m == CC_S && c < 3) {
                        x /= s->components == 4 ? weight[i][j] : 1.0;
                        quotient.low = x < quotient.low ? x : quotient.low;
                        quotient.high = x > quotient.high ? x : quotient.high;
                    }
                }
            A[m][c] = range;
            if (m == CC_S && c < 3)
                D[c] = quotient;
        }
    }
}

/* Ranges of D and its derivatives over a part of a piece. */
CC_API void cc_patch_bounds(const CcPatch *s, const CcPatchPiece *piece, const double P[3], const double t[2][2],
                            CcRange D[CC_S_ALL][3])
{
    CcRange A[CC_S_ALL][4];
    cc_patch_ranges(s, piece, t, A, D[CC_S]);
    if (s->components == 1) {
        D[CC_S][2] = (CcRange){D[CC_S][0].low - P[2], D[CC_S][0].high - P[2]};
        for (int d = 0; d < 2; d++) {
            double start = piece->span[d]->start + piece->offset[d] - P[d], length = piece->span[d]->length;
            D[CC_S][d] = (CcRange){start + t[d][0] * length, start + t[d][1] * length};
        }
        for (int m = CC_S_U; m < CC_S_ALL; m++) {
            D[m][0] = (CcRange){m == CC_S_U, m == CC_S_U};
            D[m][1] = (CcRange){m == CC_S_V, m == CC_S_V};
            D[m][2] = A[m][0];
        }
        return;
    }
    for (int m = CC_S_U; m < CC_S_ALL; m++)
        for (int c = 0; c < 3; c++)
            D[m][c] = A[m][c];
    if (s->components == 3)
        return;
    CcRange w = A[CC_S][3], per = {1.0 / w.high, 1.0 / w.low}, W[CC_S_ALL];
    for (int m = CC_S_U; m < CC_S_ALL; m++)
        W[m] = cc_range_times(A[m][3], per);
    for (int c = 0; c < 3; c++) {
        for (int m = CC_S_U; m < CC_S_ALL; m++) {
            D[m][c] = cc_range_times(A[m][c], per);
            D[m][c] = cc_range_minus(D[m][c], cc_range_times(D[CC_S][c], W[m]));
        }
        for (int i = 0; i < 2; i++) {
            CcRange once = cc_range_times(D[CC_S_U + i][c], W[CC_S_U + i]);
            D[i ? CC_S_VV : CC_S_UU][c] = cc_range_minus(D[i ? CC_S_VV : CC_S_UU][c], cc_range_plus(once, once));
            D[CC_S_UV][c] = cc_range_minus(D[CC_S_UV][c], cc_range_times(D[CC_S_U + i][c], W[CC_S_V - i]));
        }
    }
}

typedef struct {
    CcPatchPlace best;
    double last[3]; /* of several places as close the one next to it is kept */
    int left;       /* parts that may still be looked at */
    int tied;       /* another place is as close as the best one */
} CcPatchSearch;

static inline double cc_patch_apart(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* Keeps a place if it is closer than the best one, or as close and closer to the last one. */
CC_API void cc_patch_keep(const CcPatchPlace *place, CcPatchSearch *search)
{
    CcPatchPlace *best = &search->best;
    if (place->square < best->square * (1.0 - CC_PATCH_TIE)) {
        *best = *place;
        search->tied = 0;
    } else if (place->square <= best->square * (1.0 + CC_PATCH_TIE)
               && cc_patch_apart(place->point, best->point) > 0x1p-20 * best->square) {
        search->tied = 1;
        if (cc_patch_apart(place->point, search->last) < cc_patch_apart(best->point, search->last))
            *best = *place;
    }
}

/* The place of least distance that is found from the middle of a part. */
CC_API void cc_patch_try(const CcPatch *s, const double P[3], const CcPatchPart *part, CcPatchSearch *search)
{
    CcPatchPlace place;
    for (int d = 0; d < 2; d++)
        place.at[d] = 0.5 * (part->low[d] + part->high[d]);
    cc_patch_descend(s, P, part, &place);
    cc_patch_keep(&place, search);
}

/* All places of a piece that may be closer than the best one. */
CC_API void cc_patch_piece(const CcPatch *s, const double P[3], const CcPatchPiece *piece, CcPatchSearch *search)
{
    enum { DEEPEST = 12 };
    struct {
        double t[2][2];
        int depth;
    } parts[3 * DEEPEST + 1] = {{{{0.0, 1.0}, {0.0, 1.0}}, 0}};
    int count = 1;
    while (count > 0 && search->left-- > 0) {
        double t[2][2];
        int depth = parts[--count].depth, out = 0, edge[2] = {0, 0};
        __builtin_memcpy(t, parts[count].t, sizeof t);
        CcRange D[CC_S_ALL][3], H[3], f[2];
        for (int again = 1; again && !out;) {
            again = 0;
            cc_patch_bounds(s, piece, P, (const double(*)[2])t, D);
            if (cc_range_length(D[CC_S]).low >= search->best.square)
                out = 1;
            for (int d = 0; d < 2 && !out; d++) {
                f[d] = cc_range_dot(D[CC_S], D[CC_S_U + d]);
                int side = f[d].high < 0.0; /* the end to which the distance falls */
                if (edge[d] || !(f[d].low > 0.0 || f[d].high < 0.0))
                    continue;
                if (t[d][side] == side && (side ? piece->last[d] : piece->first[d])) {
                    t[d][!side] = t[d][side];
                    edge[d] = again = 1;
                } else {
                    out = 1;
                }
            }
        }
        if (out)
            continue;
        H[0] = cc_range_plus(cc_range_length(D[CC_S_U]), cc_range_dot(D[CC_S], D[CC_S_UU]));
        H[1] = cc_range_plus(cc_range_dot(D[CC_S_U], D[CC_S_V]), cc_range_dot(D[CC_S], D[CC_S_UV]));
        H[2] = cc_range_plus(cc_range_length(D[CC_S_V]), cc_range_dot(D[CC_S], D[CC_S_VV]));
        double across = cc_range_square(H[1]).high;
        int convex = (edge[0] || H[0].low > 0.0) && (edge[1] || H[2].low > 0.0)
                     && (edge[0] || edge[1] || H[0].low * H[2].low > across);
        if (convex || depth == DEEPEST) {
            CcPatchPart part;
            for (int d = 0; d < 2; d++) {
                const CcPatchSpan *span = piece->span[d];
                part.low[d] = span->start + piece->offset[d] + t[d][0] * span->length;
                part.high[d] = span->start + piece->offset[d] + t[d][1] * span->length;
            }
            cc_patch_try(s, P, &part, search);
            continue;
        }
        for (int q = 0; q < 4; q++) { /* halves along u and v, one of what is an edge */
            if ((edge[0] && q / 2) || (edge[1] && q % 2))
                continue;
            parts[count].depth = depth + 1;
            for (int d = 0; d < 2; d++) {
                double middle = 0.5 * (t[d][0] + t[d][1]);
                int upper = d ? q % 2 : q / 2;
                parts[count].t[d][0] = upper && !edge[d] ? middle : t[d][0];
                parts[count].t[d][1] = !upper && !edge[d] ? middle : t[d][1];
            }
            count++;
        }
    }
}

/* Squared distance of P from the box around the control points of a piece: at most that from the piece. */
CC_API double cc_patch_hull(const CcPatch *s, const CcPatchPiece *piece, const double P[3])
{
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
        const CcPatchSpan *span = piece->span[c < 2 ? c : 0];
        double low = __builtin_inf(), high = -low;
        if (s->components == 1 && c < 2) {
            low = span->start + piece->offset[c] - P[c];
            high = low + span->length;
        } else {
            for (int k = 0; k < 16; k++) {
                double x = s->components == 1 ? piece->net[0][k / 4][k % 4] - P[2] : piece->net[c][k / 4][k % 4];
                x /= s->components == 4 ? piece->net[3][k / 4][k % 4] : 1.0;
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
        }
        double off = low > 0.0 ? low : high < 0.0 ? high : 0.0;
        square += off * off;
    }
    return square;
}

/* A group of pieces, of the surface moved by `offset`. */
CC_API void cc_patch_group(const CcPatch *s, const double P[3], const int group[2], const double offset[2],
                           CcPatchSearch *search)
{
    int end[2], i[2];
    for (int d = 0; d < 2; d++) {
        end[d] = CC_PATCH_GROUP * (group[d] + 1);
        end[d] = end[d] < s->count[d] ? end[d] : s->count[d];
    }
    for (i[0] = CC_PATCH_GROUP * group[0]; i[0] < end[0]; i[0]++)
        for (i[1] = CC_PATCH_GROUP * group[1]; i[1] < end[1]; i[1]++) {
            CcPatchPiece piece;
            for (int d = 0; d < 2; d++) {
                piece.span[d] = &s->spans[d][i[d]];
                piece.offset[d] = offset[d];
                piece.first[d] = !s->closed[d] && i[d] == 0;
                piece.last[d] = !s->closed[d] && i[d] == s->count[d] - 1;
            }
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 4; l++) {
                    int row = (int)piece.span[0]->first + k, column = (int)piece.span[1]->first + l;
                    const double *a = &s->control[(row * s->columns + column) * s->components];
                    for (int c = 0; c < s->components; c++) /* A - w P, the weight of three components being 1 */
                        piece.net[c][k][l] = a[c] - (s->components == 1 || c == 3 ? 0.0
                                                     : s->components == 4         ? a[3] * P[c]
                                                                                  : P[c]);
                }
            if (cc_patch_hull(s, &piece, P) < search->best.square)
                cc_patch_piece(s, P, &piece, search);
        }
}

/* Squared distance of P from a box: its least and greatest coordinates. */
CC_API double cc_patch_box(const double box[6], const double P[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double off = box[k] > P[k] ? box[k] - P[k] : P[k] > box[3 + k] ? P[k] - box[3 + k] : 0.0;
        square += off * off;
    }
    return square;
}

/* Nodes of the tree along u and v at a level, 0: the groups; the root is that which has one node. */
static inline int cc_patch_nodes(const CcPatch *s, int d, int level)
{
    int groups = (s->count[d] + CC_PATCH_GROUP - 1) / CC_PATCH_GROUP;
    return (groups + (1 << level) - 1) >> level;
}

typedef struct {
    const double *boxes[CC_PATCH_LEVELS]; /* of each level; those of the groups come first in the table */
    int top;
} CcPatchTree;

CC_API CcPatchTree cc_patch_tree(const CcPatch *s)
{
    CcPatchTree tree = {{s->boxes}, 0};
    for (int nodes; (nodes = cc_patch_nodes(s, 0, tree.top) * cc_patch_nodes(s, 1, tree.top)) > 1; tree.top++)
        tree.boxes[tree.top + 1] = tree.boxes[tree.top] + 6 * nodes;
    return tree;
}

typedef struct {
    double square; /* squared distance of the box */
    int level, at[2];
} CcPatchNode;

/* The nodes below one, the nearest one last; returns their number. */
CC_API int cc_patch_below(const CcPatch *s, const CcPatchTree *tree, const double P[3], CcPatchNode node,
                          CcPatchNode out[4])
{
    int count = 0, level = node.level - 1, wide = cc_patch_nodes(s, 1, level);
    for (int q = 0; q < 4; q++) {
        CcPatchNode one = {0.0, level, {2 * node.at[0] + q / 2, 2 * node.at[1] + q % 2}};
        if (one.at[0] >= cc_patch_nodes(s, 0, level) || one.at[1] >= wide)
            continue;
        one.square = cc_patch_box(tree->boxes[level] + 6 * (one.at[0] * wide + one.at[1]), P);
        int k = count++;
        for (; k > 0 && out[k - 1].square < one.square; k--)
            out[k] = out[k - 1];
        out[k] = one;
    }
    return count;
}

/* The surface moved by `offset`. */
CC_API void cc_patch_copy(const CcPatch *s, const CcPatchTree *tree, const double P[3], const double offset[2],
                          CcPatchSearch *search)
{
    CcPatchNode nodes[3 * CC_PATCH_LEVELS + 1] = {{0.0, tree->top, {0, 0}}};
    double moved[3] = {P[0], P[1], P[2]};
    for (int d = 0; d < 2; d++)
        moved[d] -= s->components == 1 ? offset[d] : 0.0;
    for (int count = 1; count > 0 && search->left > 0;) {
        CcPatchNode node = nodes[--count];
        if (node.square >= search->best.square)
            continue;
        if (node.level == 0)
            cc_patch_group(s, P, node.at, offset, search);
        else
            count += cc_patch_below(s, tree, moved, node, nodes + count);
    }
}

/* Where to begin: of heights below or above P, else the piece next to P of the group whose box is next to it. */
CC_API void cc_patch_guess(const CcPatch *s, const double P[3], double at[2])
{
    double nearest = __builtin_inf();
    at[0] = P[0];
    at[1] = P[1];
    if (s->components == 1)
        return;
    CcPatchTree tree = cc_patch_tree(s);
    CcPatchNode node = {0.0, tree.top, {0, 0}}, below[4];
    while (node.level > 0)
        node = below[cc_patch_below(s, &tree, P, node, below) - 1];
    for (int q = 0; q < CC_PATCH_GROUP * CC_PATCH_GROUP; q++) {
        int i = CC_PATCH_GROUP * node.at[0] + q / CC_PATCH_GROUP, j = CC_PATCH_GROUP * node.at[1] + q % CC_PATCH_GROUP;
        if (i >= s->count[0] || j >= s->count[1])
            continue;
        const CcPatchSpan *u = &s->spans[0][i], *v = &s->spans[1][j];
        int row = (int)u->first + 1, column = (int)v->first + 1;
        const double *a = &s->control[(row * s->columns + column) * s->components];
        const double *b = a + (s->columns + 1) * s->components; /* both from the middle of the piece's control points */
        double middle[3], per_a = s->components == 4 ? 0.5 / a[3] : 0.5, per_b = s->components == 4 ? 0.5 / b[3] : 0.5;
        for (int k = 0; k < 3; k++)
            middle[k] = a[k] * per_a + b[k] * per_b;
        double square = cc_patch_apart(middle, P);
        if (square < nearest) {
            nearest = square;
            at[0] = u->start + 0.5 * u->length;
            at[1] = v->start + 0.5 * v->length;
        }
    }
}

/* The closest place of all, `place` at first; returns 1 if others are as close, or if that is not known. */
CC_APART int cc_patch_search(const CcPatch *s, const double P[3], const double last[3], const CcPatchPart *whole,
                             CcPatchPlace *place)
{
    CcPatchSearch search = {*place, {last[0], last[1], last[2]}, CC_PATCH_MOST, 0};
    CcPatchTree tree = cc_patch_tree(s);
    double near[2] = {0.0, 0.0};
    int copies[2];
    for (int d = 0; d < 2; d++) { /* heights repeat: the closest place is at most half a period from P along x and y */
        copies[d] = s->closed[d] && s->components == 1;
        if (copies[d])
            near[d] = cc_patch_offset(s, d, P[d]);
    }
    for (int i = 0; i < (copies[0] ? 3 : 1); i++)
        for (int j = 0; j < (copies[1] ? 3 : 1); j++) {
            static const double turn[3] = {0.0, 1.0, -1.0}; /* the copy of P itself first */
            double offset[2] = {near[0], near[1]};
            if (copies[0])
                offset[0] += turn[i] * cc_patch_period(s, 0);
            if (copies[1])
                offset[1] += turn[j] * cc_patch_period(s, 1);
            cc_patch_copy(s, &tree, P, offset, &search);
        }
    if (search.left <= 0) { /* too many to compare: the last one, if it is as close */
        CcPatchPlace kept;
        cc_patch_guess(s, last, kept.at);
        cc_patch_descend(s, last, whole, &kept);
        kept.square = cc_patch_apart(kept.point, P);
        cc_patch_keep(&kept, &search);
    }
    *place = search.best;
    cc_patch_descend(s, P, whole, place); /* out of the part in which it was found */
    return search.tied || search.left <= 0;
}

#endif
