/* A mesh: the closest of its triangles, curved (mesh_patch.h) or flat, and what a surface computes there.
 *
 * Search.  Each node of a tree has eight boxes, each around all that lies below it, on the last level a triangle.  A
 * box is left out if it is farther off than the best triangle so far, which is first that of `last`: along a path the
 * search finds little more than this one.  Nothing is kept between two searches.  Boxes have single precision and are
 * rounded outwards; they only leave out, and what decides is computed in double precision.
 *
 * Q inside a patch      n its normal, h = -(P - Q) n
 * Q on an edge          n = s (P - Q)/|P - Q|,  h = -s |P - Q|,  s the sign of (P - Q) n_e,  n_e the sum of the normals
 *                       of both patches; at P = Q n is their mean
 * Q on a corner         the same, n_e the sum of the normals of all patches there, weighted by their angles
 * Q on the border       n the normal of the patch or of the corner; Q and h are those of the plane across it, so that
 *                       the surface continues straight, and Q is not on the drawn part
 *
 * h is the distance from the surface, with a sign, and its gradient is -n wherever it has one: on curved and on flat
 * triangles a force along n that depends on h has an energy.  On flat ones n turns at edges.
 *
 * Singular: where two places that are apart are closest within rounding, or P is at or beyond the centre of curvature.
 * There the place that was found first is kept, that of `last`, and derivatives are those at the fixed n.
 *
 * Source of the sign at corners: Baerentzen & Aanaes (2005), Signed distance computation using the angle weighted
 * pseudonormal.
 *
 * One family of functions: the search for the closest triangle, and what it gives. */
#ifndef CC_MESH_H
#define CC_MESH_H

#include "mesh_patch.h"

/* The beginning of the data of a mesh, which fmu_builder/model/mesh_tree.py packs: little-endian, without gaps. */
typedef struct {
    unsigned triangles, corners, levels;
    unsigned nodes_at, triangles_at, corners_at; /* bytes from here */
    unsigned level_at[CC_MESH_MOST_LEVELS];      /* its first node */
    unsigned spare[2];
} CcMeshData;

CC_API CcMesh cc_mesh_of(const void *bytes_of_mesh)
{
    const CcMeshData *data = bytes_of_mesh;
    const char *bytes = bytes_of_mesh;
    CcMesh m = {(const CcMeshTriangle *)(const void *)(bytes + data->triangles_at),
                (const CcMeshCorner *)(const void *)(bytes + data->corners_at),
                (const CcMeshNode *)(const void *)(bytes + data->nodes_at),
                data->level_at,
                data->triangles,
                data->levels};
    return m;
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

typedef struct {
    CcMeshHit hit;
    int ambiguous; /* another place is as close */
} CcMeshSearch;

#define CC_MESH_TIE 0x1p-48 /* of squared distances that rounding may have swapped */
#define CC_MESH_APART 1e-6  /* square of the angle at P, rad2, beyond which two places are not one */

CC_API void cc_mesh_try(const CcMesh *m, unsigned triangle, const double P[3], CcMeshSearch *best)
{
    const CcMeshTriangle *t = &m->triangles[triangle];
    CcMeshHit hit;
    double limit = best->hit.square * (1.0 + CC_MESH_TIE);
    cc_mesh_flat_nearest(m, t, P, &hit);
    if (t->bulge > 0.0f) {
        if (hit.square > limit) {
            double least = __builtin_sqrt(hit.square) - t->bulge;
            if (least > 0.0 && least * least > limit)
                return;
        }
        cc_mesh_patch_nearest(m, t, P, &hit);
    }
    if (!(hit.square <= limit))
        return;
    hit.triangle = triangle;
    int closer = hit.square < best->hit.square * (1.0 - CC_MESH_TIE);
    if (closer) {
        best->ambiguous = 0;
    } else {
        double apart = 0.0;
        for (int i = 0; i < 3; i++)
            apart += (hit.point[i] - best->hit.point[i]) * (hit.point[i] - best->hit.point[i]);
        if (apart > CC_MESH_APART * hit.square) {
            best->ambiguous = 1; /* the first one is kept */
            return;
        }
    }
    if (hit.square < best->hit.square)
        best->hit = hit;
}

/* A point between two of single precision. */
typedef struct {
    float below[3], above[3];
} CcMeshPlace;

#define CC_MESH_SHORT (1.0f - 0x1p-20f) /* more than six roundings to single precision take away */
#define CC_MESH_FAR 1e18f               /* m: squares of what is farther off have no place in single precision */

/* No box that holds a triangle is that far, so it only keeps differences from the ends of empty ones, which lie at
 * infinity, numbers. */
CC_API float cc_mesh_near(float x)
{
    x = x < CC_MESH_FAR ? x : CC_MESH_FAR;
    return x > -CC_MESH_FAR ? x : -CC_MESH_FAR;
}

CC_API void cc_mesh_place(const double P[3], CcMeshPlace *place)
{
    for (int i = 0; i < 3; i++) {
        double size = __builtin_fabs(P[i]);
        float below = (float)(P[i] - 0x1p-23 * size), above = (float)(P[i] + 0x1p-23 * size);
        place->below[i] = cc_mesh_near(below);
        place->above[i] = cc_mesh_near(above);
    }
}

/* Squared distances of a point from the boxes of a node, or less. */
static inline void cc_mesh_boxes(const CcMeshNode *node, const CcMeshPlace *P, float square[CC_MESH_WIDTH])
{
    for (int k = 0; k < CC_MESH_WIDTH; k++)
        square[k] = 0.0f;
    CC_UNROLL for (int i = 0; i < 3; i++) {
        float after = P->above[i], before = P->below[i];
        for (int k = 0; k < CC_MESH_WIDTH; k++) { /* side by side in the registers of the processor */
            float below = node->low[i][k] - after, above = before - node->high[i][k];
            float off = below > above ? below : above;
            off = off > 0.0f ? off : 0.0f;
            square[k] += off * off;
        }
    }
    for (int k = 0; k < CC_MESH_WIDTH; k++)
        square[k] *= CC_MESH_SHORT;
}

/* Up to where a search goes on, as a number of single precision: rounding keeps the order. */
CC_API float cc_mesh_limit(const CcMeshSearch *best)
{
    double limit = best->hit.square * (1.0 + CC_MESH_TIE);
    return limit < 1e38 ? (float)limit : 1e38f;
}

/* The rest of a search whose first triangle is likely the closest: few boxes are within the limit, and the processor
 * foresees which. */
CC_API void cc_mesh_check(const CcMesh *m, const double P[3], const CcMeshPlace *place, unsigned first,
                          CcMeshSearch *best)
{
    struct {
        float square;
        unsigned level, index; /* on the last level of triangles */
    } stack[CC_MESH_MOST_LEVELS * (CC_MESH_WIDTH - 1) + 2];
    float limit = cc_mesh_limit(best);
    int count = 1;
    stack[0].square = 0.0f;
    stack[0].level = stack[0].index = 0;
    while (count > 0) {
        unsigned level = stack[--count].level, index = stack[count].index;
        if (stack[count].square > limit)
            continue;
        if (level == m->levels) {
            if (index != first) {
                cc_mesh_try(m, index, P, best);
                limit = cc_mesh_limit(best);
            }
            continue;
        }
        float square[CC_MESH_WIDTH];
        cc_mesh_boxes(&m->nodes[m->level_at[level] + index], place, square);
        int from = count;
        for (unsigned k = 0; k < CC_MESH_WIDTH; k++) {
            if (!(square[k] <= limit))
                continue;
            int at = count++; /* the closest last */
            for (; at > from && stack[at - 1].square < square[k]; at--)
                stack[at] = stack[at - 1];
            stack[at].square = square[k];
            stack[at].level = level + 1;
            stack[at].index = CC_MESH_WIDTH * index + k;
        }
    }
}

/* The boxes of a node as keys, in the order in which a search looks at them: the bits of the squared distance, which
 * are in order as it is not negative, and below them the number of the box, of equally near ones the last first. */
typedef struct {
    unsigned long long key[CC_MESH_WIDTH];
    unsigned index; /* of the node on its level */
} CcMeshBoxes;

#define CC_MESH_LOOKED_AT (~0ull)

CC_API unsigned long long cc_mesh_key(float square, unsigned k)
{
    union {
        float number;
        unsigned bits;
    } of = {square};
    return (unsigned long long)of.bits * CC_MESH_WIDTH + (CC_MESH_WIDTH - 1 - k);
}

CC_API unsigned long long cc_mesh_less(unsigned long long a, unsigned long long b) { return a < b ? a : b; }

CC_API unsigned long long cc_mesh_least(const unsigned long long key[CC_MESH_WIDTH])
{
    return cc_mesh_less(cc_mesh_less(cc_mesh_less(key[0], key[1]), cc_mesh_less(key[2], key[3])),
                        cc_mesh_less(cc_mesh_less(key[4], key[5]), cc_mesh_less(key[6], key[7])));
}

static inline void cc_mesh_open(const CcMesh *m, unsigned level, unsigned index, const CcMeshPlace *P,
                                CcMeshBoxes *boxes)
{
    float square[CC_MESH_WIDTH];
    if (level + 1 == m->levels) { /* its triangles are on their way while their boxes are compared */
        const char *triangles = (const char *)(m->triangles + CC_MESH_WIDTH * index);
        CC_UNROLL for (unsigned at = 0; at < CC_MESH_WIDTH * sizeof *m->triangles; at += 64)
            __builtin_prefetch(triangles + at);
    }
    cc_mesh_boxes(&m->nodes[m->level_at[level] + index], P, square);
    boxes->index = index;
    CC_UNROLL for (unsigned k = 0; k < CC_MESH_WIDTH; k++)
        boxes->key[k] = cc_mesh_key(square[k], k);
}

/* The rest of any other search.  Nothing foresees which box is the nearest, so it is found without a branch: that
 * halves the time. */
CC_API void cc_mesh_descend(const CcMesh *m, const double P[3], const CcMeshPlace *place, unsigned first,
                            CcMeshSearch *best)
{
    CcMeshBoxes stack[CC_MESH_MOST_LEVELS];
    unsigned long long limit = cc_mesh_key(cc_mesh_limit(best), 0);
    unsigned level = 0;
    cc_mesh_open(m, 0, 0, place, stack);
    for (;;) {
        CcMeshBoxes *boxes = &stack[level];
        unsigned long long nearest = cc_mesh_least(boxes->key);
        unsigned k = CC_MESH_WIDTH - 1 - (unsigned)(nearest % CC_MESH_WIDTH), index = CC_MESH_WIDTH * boxes->index + k;
        if (nearest > limit) {
            if (level-- == 0)
                return;
            continue;
        }
        boxes->key[k] = CC_MESH_LOOKED_AT;
        if (level + 1 < m->levels) {
            level++;
            cc_mesh_open(m, level, index, place, &stack[level]);
        } else if (index != first) {
            cc_mesh_try(m, index, P, best);
            limit = cc_mesh_key(cc_mesh_limit(best), 0);
        }
    }
}

/* The closest place of a mesh.   first  a triangle that is likely close, m->triangle_count without one */
CC_APART void cc_mesh_nearest(const CcMesh *m, const double P[3], unsigned first, CcMeshSearch *best)
{
    CcMeshPlace place;
    best->hit.square = __builtin_inf();
    best->hit.triangle = best->hit.zero = 0;
    best->hit.y = best->hit.z = best->hit.point[0] = best->hit.point[1] = best->hit.point[2] = 0.0;
    best->ambiguous = 0;
    cc_mesh_place(P, &place);
    if (first < m->triangle_count)
        cc_mesh_try(m, first, P, best);
    if (first < m->triangle_count && best->hit.zero == 0)
        cc_mesh_check(m, P, &place, first, best);
    else
        cc_mesh_descend(m, P, &place, first, best);
}

/* ---- the foot ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double normal[3]; /* n, or n_e, of any length; of a place inside a patch none */
    double inside;    /* way of Q inside the border, m, as far as its triangle has some */
    int on_border;
} CcMeshSide;

CC_API void cc_mesh_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

CC_API void cc_mesh_scale(double a[3])
{
    double length = __builtin_sqrt(cc_mesh_dot(a, a));
    for (int i = 0; i < 3; i++)
        a[i] /= length;
}

CC_API void cc_mesh_jet_of(const CcMesh *m, const CcMeshTriangle *t, double y, double z, CcMeshJet *j)
{
    CcMeshLanes b[10];
    if (t->bulge > 0.0f) {
        cc_mesh_net(m, t, b);
        cc_mesh_jet(b, y, z, j);
    } else {
        cc_mesh_flat_jet(m, t, y, z, j);
    }
}

/* The unit normal of a patch, and if `angle` is given that between its edges there, which is for corners. */
CC_API void cc_mesh_normal(const CcMesh *m, const CcMeshTriangle *t, double y, double z, double n[3], double *angle)
{
    CcMeshJet j;
    cc_mesh_jet_of(m, t, y, z, &j);
    cc_mesh_cross(j.S_y, j.S_z, n);
    if (angle) {
        double one[3], two[3];
        for (int i = 0; i < 3; i++) { /* to the two other corners */
            one[i] = y > 0.5 ? j.S_z[i] - j.S_y[i] : j.S_y[i];
            two[i] = y > 0.5 ? -j.S_y[i] : z > 0.5 ? -j.S_z[i] : j.S_z[i];
            one[i] = z > 0.5 ? j.S_y[i] - j.S_z[i] : one[i];
        }
        *angle = re(cc_atan2(__builtin_sqrt(cc_mesh_dot(n, n)), cc_mesh_dot(one, two)));
    }
    cc_mesh_scale(n);
}

/* Which corner of a triangle lies where corner k of another one does; -1 if none does. */
CC_API int cc_mesh_corner_at(const CcMesh *m, const CcMeshTriangle *t, const double position[3])
{
    for (int k = 0; k < 3; k++) {
        const double *p = m->corners[t->corner[k]].position;
        if (p[0] == position[0] && p[1] == position[1] && p[2] == position[2])
            return k;
    }
    return -1;
}

/* n_e at corner k: once around it, from one side of the border to the other if there is one. */
CC_API void cc_mesh_corner_normal(const CcMesh *m, const CcMeshTriangle *t, int k, double n[3])
{
    enum { MOST = 4096 };
    static const double at[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}};
    const double *position = m->corners[t->corner[k]].position;
    const CcMeshTriangle *now = t;
    n[0] = n[1] = n[2] = 0.0;
    for (int turn = 0; turn < 2; turn++) { /* the other way round if a border ended the first */
        int corner = k;
        now = t;
        for (int count = 0; count < MOST; count++) {
            double one[3], angle;
            if (!(turn && now == t)) {
                cc_mesh_normal(m, now, at[corner][0], at[corner][1], one, &angle);
                for (int i = 0; i < 3; i++)
                    n[i] += angle * one[i];
            }
            unsigned next = now->beyond[turn ? corner : (corner + 2) % 3];
            if (next == CC_MESH_BORDER)
                break;
            now = &m->triangles[next];
            corner = cc_mesh_corner_at(m, now, position);
            if (now == t || corner < 0)
                return;
        }
    }
}

/* The normal at a hit, and where the border is. */
CC_API void cc_mesh_side(const CcMesh *m, const CcMeshHit *hit, CcMeshSide *side)
{
    const CcMeshTriangle *t = &m->triangles[hit->triangle];
    side->on_border = 0;
    side->inside = 1.0;
    unsigned rims = t->marks / CC_MESH_RIM(0) & 7u;
    for (int k = 0; k < 3 && rims; k++) {
        const double *p = m->corners[t->corner[k]].position, *q = m->corners[t->corner[(k + 1) % 3]].position;
        double e[3], to[3], across[3];
        for (int i = 0; i < 3; i++) {
            e[i] = q[i] - p[i];
            to[i] = hit->point[i] - p[i];
        }
        double way = __builtin_sqrt(cc_mesh_dot(to, to));
        if ((rims >> k & 1u) && way < side->inside)
            side->inside = way;
        cc_mesh_cross(e, to, across);
        way = __builtin_sqrt(cc_mesh_dot(across, across) / cc_mesh_dot(e, e));
        if (t->beyond[k] == CC_MESH_BORDER && way < side->inside)
            side->inside = way;
    }
    if (hit->zero == 0)
        return;
    if (CC_MESH_ON_EDGE(hit->zero)) {
        int k = hit->zero == 4 ? 0 : (int)hit->zero;
        cc_mesh_normal(m, t, hit->y, hit->z, side->normal, 0);
        side->on_border = t->beyond[k] == CC_MESH_BORDER;
        if (side->on_border)
            return;
        const CcMeshTriangle *o = &m->triangles[t->beyond[k]];
        static const double at[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}};
        double weight[3] = {1.0 - hit->y - hit->z, hit->y, hit->z}, n[3], y = 0.0, z = 0.0;
        for (int i = 0; i < 2; i++) {
            int from = (k + i) % 3, to = cc_mesh_corner_at(m, o, m->corners[t->corner[from]].position);
            y += to < 0 ? 0.0 : weight[from] * at[to][0];
            z += to < 0 ? 0.0 : weight[from] * at[to][1];
        }
        cc_mesh_normal(m, o, y, z, n, 0);
        for (int i = 0; i < 3; i++)
            side->normal[i] += n[i];
    } else {
        int k = hit->zero == 6 ? 0 : hit->zero == 5 ? 1 : 2;
        cc_mesh_corner_normal(m, t, k, side->normal);
        side->on_border = (t->marks & CC_MESH_RIM(k)) != 0;
    }
}

/* Q inside a patch; in real numbers a last step of Newton's method, which gives derivatives. */
CC_API void cc_mesh_inner_foot(const CcMesh *m, const CcMeshHit *hit, const Real P[3], CcFoot *foot)
{
    const CcMeshTriangle *t = &m->triangles[hit->triangle];
    CcMeshJet j;
    CcMeshModel q;
    double r[3], n[3];
    cc_mesh_jet_of(m, t, hit->y, hit->z, &j);
    if (t->bulge > 0.0f) {
        for (int i = 0; i < 3; i++)
            r[i] = j.S[i] - re(P[i]);
        int convex = cc_mesh_model(&j, r, 0.0, 0.0, &q);
        double det = q.h_yy * q.h_zz - q.h_yz * q.h_yz;
        Real a = 0.0, b = 0.0, y = 0.0, z = 0.0, S_y[3], S_z[3], N[3];
        for (int i = 0; i < 3; i++) {
            a += (P[i] - j.S[i]) * j.S_y[i];
            b += (P[i] - j.S[i]) * j.S_z[i];
        }
        foot->singular |= !convex;
        if (convex) {
            y = (q.h_zz * a - q.h_yz * b) / det;
            z = (q.h_yy * b - q.h_yz * a) / det;
        }
        for (int i = 0; i < 3; i++) {
            foot->point[i] = j.S[i] + (j.S_y[i] * y + j.S_z[i] * z);
            S_y[i] = j.S_y[i] + (j.S_yy[i] * y + j.S_yz[i] * z);
            S_z[i] = j.S_z[i] + (j.S_yz[i] * y + j.S_zz[i] * z);
        }
        cc_cross(S_y, S_z, N);
        Real length = cc_norm(N);
        foot->depth = 0.0;
        for (int i = 0; i < 3; i++) {
            foot->normal[i] = N[i] / length;
            foot->depth += (foot->point[i] - P[i]) * foot->normal[i];
        }
        return;
    }
    cc_mesh_cross(j.S_y, j.S_z, n);
    cc_mesh_scale(n);
    foot->depth = 0.0;
    for (int i = 0; i < 3; i++) {
        foot->depth += (j.S[i] - P[i]) * n[i];
        foot->normal[i] = n[i];
    }
    for (int i = 0; i < 3; i++)
        foot->point[i] = P[i] + foot->depth * n[i];
}

/* Q on an edge, as far as it moves along it, and the unit normal of its patch there. */
CC_API void cc_mesh_edge_point(const CcMesh *m, const CcMeshHit *hit, const Real P[3], Real Q[3], Real n[3])
{
    CcMeshJet j;
    const double *s = cc_mesh_edge_step(hit->zero);
    cc_mesh_jet_of(m, &m->triangles[hit->triangle], hit->y, hit->z, &j);
    double C[3], slope = 0.0;
    Real along = 0.0, S_y[3], S_z[3];
    for (int i = 0; i < 3; i++) {
        C[i] = s[0] * j.S_y[i] + s[1] * j.S_z[i];
        double bend = s[0] * s[0] * j.S_yy[i] + 2.0 * s[0] * s[1] * j.S_yz[i] + s[1] * s[1] * j.S_zz[i];
        slope += C[i] * C[i] + (j.S[i] - re(P[i])) * bend;
        along += (P[i] - j.S[i]) * C[i];
    }
    along = slope > 0.0 ? along / slope : 0.0;
    for (int i = 0; i < 3; i++) {
        Q[i] = j.S[i] + C[i] * along;
        S_y[i] = j.S_y[i] + (s[0] * j.S_yy[i] + s[1] * j.S_yz[i]) * along;
        S_z[i] = j.S_z[i] + (s[0] * j.S_yz[i] + s[1] * j.S_zz[i]) * along;
    }
    cc_cross(S_y, S_z, n);
    Real length = cc_norm(n);
    for (int i = 0; i < 3; i++)
        n[i] /= length;
}

/* Q on an edge or a corner. */
CC_API void cc_mesh_outer_foot(const CcMesh *m, const CcMeshHit *hit, const Real P[3], CcMeshSide *side, CcFoot *foot)
{
    Real out[3], Q[3], n[3];
    cc_mesh_scale(side->normal);
    if (CC_MESH_ON_EDGE(hit->zero)) {
        cc_mesh_edge_point(m, hit, P, Q, n);
    } else {
        for (int i = 0; i < 3; i++)
            Q[i] = hit->point[i];
    }
    if (!(side->on_border && CC_MESH_ON_EDGE(hit->zero)))
        for (int i = 0; i < 3; i++)
            n[i] = side->normal[i];
    for (int i = 0; i < 3; i++)
        out[i] = P[i] - Q[i];
    Real away = cc_norm(out), above = cc_dot(out, n);
    double sign = re(above) >= 0.0 ? 1.0 : -1.0, size = 0.0;
    for (int i = 0; i < 3; i++)
        size += __builtin_fabs(re(Q[i]));
    int flat = side->on_border || re(away) <= CC_SINGULAR * size || re(away) == 0.0;
    foot->depth = flat ? -above : -sign * away;
    for (int i = 0; i < 3; i++) {
        foot->normal[i] = flat ? n[i] : sign * (out[i] / away);
        foot->point[i] = side->on_border ? P[i] - above * n[i] : Q[i];
    }
}

/* The foot of P, from a search that begins at the triangle `last`; returns the triangle on which Q lies. */
CC_API unsigned cc_mesh(const CcMesh *m, double side, const Real P[3], unsigned last, CcFoot *foot)
{
    double at[3] = {re(P[0]), re(P[1]), re(P[2])};
    CcMeshSearch found;
    CcMeshSide border;
    cc_mesh_nearest(m, at, last, &found);
    const CcMeshHit *hit = &found.hit;
    border.inside = 1.0;
    border.on_border = 0;
    foot->singular = found.ambiguous;
    if (hit->zero || m->triangles[hit->triangle].marks >= CC_MESH_RIM(0))
        cc_mesh_side(m, hit, &border);
    if (hit->zero == 0)
        cc_mesh_inner_foot(m, hit, P, foot);
    else
        cc_mesh_outer_foot(m, hit, P, &border, foot);
    double beyond = 0.0;
    for (int i = 0; i < 3; i++)
        beyond += (re(foot->point[i]) - hit->point[i]) * (re(foot->point[i]) - hit->point[i]);
    foot->on = !border.on_border || beyond == 0.0;
    foot->edge[0] = border.on_border ? -__builtin_sqrt(beyond) : border.inside;
    foot->depth = side * foot->depth;
    for (int i = 0; i < 3; i++)
        foot->normal[i] = side * foot->normal[i];
    return hit->triangle;
}

#endif
