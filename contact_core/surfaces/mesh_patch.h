/* The curved triangles of a mesh: point-normal triangles, and the point of one that is closest to a given point.
 *
 * A triangle has corners a, b, c, each with a position p, m, and a unit normal n.  Its patch is the cubic
 *
 *     S(x, y, z) = sum 3!/(i! j! k!) x^i y^j z^k b_ijk,    i + j + k = 3,   x + y + z = 1,   x, y, z >= 0
 *
 * with b_300 = p_a, b_030 = p_b, b_003 = p_c.  From a corner with the normal n along an edge e to the next one lies
 *
 *     b_210 = p_a + t/3,     t = e - (e n) n            where both triangles at the edge have this normal,
 *                            t = (e l) l / (l l),       l = n x n',  where the other one has the normal n' (a crease)
 *
 * and b_111 = E + (E - V)/2, E the mean of the six points beside the corners, V that of the corners.  Both triangles at
 * an edge find the same four points of it: the surface has no gaps, its normal is continuous at corners, and differs
 * at edges by the order of the square of their length; at creases as the part has it.  A plane stays one.
 *
 * Closest point of a patch: Newton's method for |S - P|^2, its quadratic model minimized over the triangle in each
 * step, so that the edges need no cases.  It begins at the closest point of the flat triangle.
 *
 * Source: Vlachos, Peters, Boyd, Mitchell (2001), Curved PN triangles.  Not taken: their quadratic normals.  The normal
 * is that of S, or the distance would have no gradient along it, and the force no energy. */
#ifndef CC_MESH_PATCH_H
#define CC_MESH_PATCH_H

#include "foot.h"

typedef struct {
    double position[3]; /* m */
    double normal[3];
} CcMeshCorner;

typedef struct {
    unsigned corner[3];
    unsigned beyond[3]; /* the triangle behind the edge from corner k to k + 1, CC_MESH_BORDER without one */
    float bulge;        /* distance of the patch from the flat triangle at most, m; 0: it is flat */
    unsigned marks;
} CcMeshTriangle;

#define CC_MESH_BORDER 0xffffffffu
/* Marks of edge k: a crease at its first, at its second corner; of corner k: it lies on the border. */
#define CC_MESH_CREASE(k, second) (1u << (k) << ((second) ? 3 : 0))
#define CC_MESH_RIM(k) (64u << (k))

enum { CC_MESH_WIDTH = 8, CC_MESH_MOST_LEVELS = 8 };

/* Least and greatest x, y, z of the boxes of a node; those of none are infinitely far off. */
typedef struct {
    float low[3][CC_MESH_WIDTH], high[3][CC_MESH_WIDTH];
} CcMeshNode;

typedef struct {
    const CcMeshTriangle *triangles;
    const CcMeshCorner *corners;
    const CcMeshNode *nodes;         /* box k of node n is around node 8 n + k of the next level, or triangle */
    const unsigned *level_at;        /* the first node of each level */
    unsigned triangle_count, levels; /* of nodes */
} CcMesh;

#define CC_MESH_ON_EDGE(zero) ((zero) == 1 || (zero) == 2 || (zero) == 4)

/* A patch at a place: S, its derivatives by y and z while x = 1 - y - z. */
typedef struct {
    double S[3], S_y[3], S_z[3], S_yy[3], S_yz[3], S_zz[3];
} CcMeshJet;

typedef struct {
    double y, z;     /* weights of corners b and c */
    double point[3]; /* m */
    double square;   /* of its distance, m2 */
    unsigned triangle;
    unsigned zero; /* bit k: the weight of corner k is 0, at an edge or a corner */
} CcMeshHit;

/* The corner of another triangle at the same position, or this one. */
CC_API const CcMeshCorner *cc_mesh_other_corner(const CcMesh *m, unsigned triangle, const CcMeshCorner *corner)
{
    const CcMeshTriangle *t = &m->triangles[triangle];
    for (int k = 0; k < 3; k++) {
        const CcMeshCorner *one = &m->corners[t->corner[k]];
        if (one->position[0] == corner->position[0] && one->position[1] == corner->position[1]
            && one->position[2] == corner->position[2])
            return one;
    }
    return corner;
}

/* x, y, z, 0 side by side in the registers of the processor; where they lie in an argument depends on the processor, so
 * functions take their address. */
typedef double CcMeshLanes __attribute__((vector_size(32), aligned(16)));
#define CC_MESH_LANES(a) ((CcMeshLanes){(a)[0], (a)[1], (a)[2], 0.0})

/* A third of what an edge e has across the normal n of one of its corners. */
CC_API void cc_mesh_third(const CcMeshLanes *e, const CcMeshLanes *n, CcMeshLanes *third)
{
    CcMeshLanes en = *e * *n;
    *third = (*e - (en[0] + en[1] + en[2]) * *n) / 3.0;
}

/* The same at a crease: along it, which is the edge k of a triangle.  `second`: at its second corner. */
CC_API void cc_mesh_third_of_crease(const CcMesh *m, const CcMeshTriangle *t, int k, int second, const CcMeshLanes *e,
                                    CcMeshLanes *third)
{
    const CcMeshCorner *from = &m->corners[t->corner[second ? (k + 1) % 3 : k]];
    const double *n = from->normal, *o = cc_mesh_other_corner(m, t->beyond[k], from)->normal;
    double l[3] = {n[1] * o[2] - n[2] * o[1], n[2] * o[0] - n[0] * o[2], n[0] * o[1] - n[1] * o[0]};
    double square = l[0] * l[0] + l[1] * l[1] + l[2] * l[2];
    *third = ((*e)[0] * l[0] + (*e)[1] * l[1] + (*e)[2] * l[2]) / square * CC_MESH_LANES(l) / 3.0;
}

/* The ten points of a patch: the corners; on each edge beside its first and its second one; b_111. */
CC_API void cc_mesh_net(const CcMesh *m, const CcMeshTriangle *t, CcMeshLanes b[10])
{
    CcMeshLanes n[3];
    for (int k = 0; k < 3; k++) {
        const CcMeshCorner *corner = &m->corners[t->corner[k]];
        b[k] = CC_MESH_LANES(corner->position);
        n[k] = CC_MESH_LANES(corner->normal);
    }
    for (int k = 0; k < 3; k++) {
        int next = k < 2 ? k + 1 : 0;
        CcMeshLanes e = b[next] - b[k], first, second;
        cc_mesh_third(&e, &n[k], &first);
        cc_mesh_third(&e, &n[next], &second);
        if (t->marks & CC_MESH_CREASE(k, 0))
            cc_mesh_third_of_crease(m, t, k, 0, &e, &first);
        if (t->marks & CC_MESH_CREASE(k, 1))
            cc_mesh_third_of_crease(m, t, k, 1, &e, &second);
        b[3 + 2 * k] = b[k] + first;
        b[4 + 2 * k] = b[next] - second;
    }
    b[9] = (b[3] + b[4] + b[5] + b[6] + b[7] + b[8]) / 4.0 - (b[0] + b[1] + b[2]) / 6.0;
}

CC_API void cc_mesh_put(const CcMeshLanes *a, double out[3])
{
    CC_UNROLL for (int i = 0; i < 3; i++)
        out[i] = (*a)[i];
}

/* By de Casteljau's algorithm. */
CC_APART void cc_mesh_jet(const CcMeshLanes b[10], double y, double z, CcMeshJet *j)
{
    double x = 1.0 - y - z;
    CcMeshLanes aa = x * b[0] + y * b[3] + z * b[8], ab = x * b[3] + y * b[4] + z * b[9];
    CcMeshLanes bb = x * b[4] + y * b[1] + z * b[5], bc = x * b[9] + y * b[5] + z * b[6];
    CcMeshLanes cc = x * b[7] + y * b[6] + z * b[2], ac = x * b[8] + y * b[9] + z * b[7];
    CcMeshLanes la = x * aa + y * ab + z * ac, lb = x * ab + y * bb + z * bc, lc = x * ac + y * bc + z * cc;
    CcMeshLanes S = x * la + y * lb + z * lc, S_y = 3.0 * (lb - la), S_z = 3.0 * (lc - la);
    CcMeshLanes S_yy = 6.0 * (bb - 2.0 * ab + aa), S_yz = 6.0 * (bc - ab - ac + aa);
    CcMeshLanes S_zz = 6.0 * (cc - 2.0 * ac + aa);
    cc_mesh_put(&S, j->S);
    cc_mesh_put(&S_y, j->S_y);
    cc_mesh_put(&S_z, j->S_z);
    cc_mesh_put(&S_yy, j->S_yy);
    cc_mesh_put(&S_yz, j->S_yz);
    cc_mesh_put(&S_zz, j->S_zz);
}

/* The corners of a flat triangle as its patch. */
CC_API void cc_mesh_flat_jet(const CcMesh *m, const CcMeshTriangle *t, double y, double z, CcMeshJet *j)
{
    const double *a = m->corners[t->corner[0]].position, *b = m->corners[t->corner[1]].position;
    const double *c = m->corners[t->corner[2]].position;
    CC_UNROLL for (int i = 0; i < 3; i++) {
        j->S_y[i] = b[i] - a[i];
        j->S_z[i] = c[i] - a[i];
        j->S[i] = a[i] + (y * j->S_y[i] + z * j->S_z[i]);
        j->S_yy[i] = j->S_yz[i] = j->S_zz[i] = 0.0;
    }
}

/* How y and z change along the edge on which the weights `zero` are 0. */
CC_API const double *cc_mesh_edge_step(unsigned zero)
{
    static const double step[3][2] = {{1.0, 0.0}, {-1.0, 1.0}, {0.0, -1.0}};
    return step[zero == 4 ? 0 : zero];
}

/* A quadratic in (y, z): g_y y + g_z z + (h_yy y^2 + 2 h_yz y z + h_zz z^2)/2, positive definite. */
typedef struct {
    double g_y, g_z, h_yy, h_yz, h_zz;
} CcMeshModel;

CC_API double cc_mesh_model_at(const CcMeshModel *q, double y, double z)
{
    return q->g_y * y + q->g_z * z + 0.5 * (q->h_yy * y * y + q->h_zz * z * z) + q->h_yz * y * z;
}

/* Its least value on the way from (y_0, z_0) to (y_1, z_1); stored if it is less than `least`.  `zero` on the way, and
 * at its ends. */
CC_API void cc_mesh_model_edge(const CcMeshModel *q, const double from[2], const double to[2], const unsigned zero[3],
                               double *least, double place[2], unsigned *where)
{
    double y = to[0] - from[0], z = to[1] - from[1];
    double slope = (q->g_y + q->h_yy * from[0] + q->h_yz * from[1]) * y
                   + (q->g_z + q->h_yz * from[0] + q->h_zz * from[1]) * z;
    double way = -slope / (q->h_yy * y * y + 2.0 * q->h_yz * y * z + q->h_zz * z * z);
    unsigned on = way <= 0.0 ? zero[1] : way >= 1.0 ? zero[2] : zero[0];
    way = way <= 0.0 ? 0.0 : way >= 1.0 ? 1.0 : way;
    double at[2] = {from[0] + way * y, from[1] + way * z}, value = cc_mesh_model_at(q, at[0], at[1]);
    if (value < *least) {
        *least = value;
        place[0] = at[0];
        place[1] = at[1];
        *where = on;
    }
}

/* On which edge of the triangle y, z >= 0, y + z <= 1 a quadratic is least that is least at `place`, outside of it. */
CC_APART unsigned cc_mesh_model_outside(const CcMeshModel *q, double place[2])
{
    static const double corner[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}};
    static const unsigned zero[3][3] = {{4, 6, 5}, {1, 5, 3}, {2, 3, 6}}; /* edges a b, b c, c a, and their ends */
    double least = __builtin_inf(), weight[3] = {place[1], 1.0 - place[0] - place[1], place[0]};
    unsigned where = 0;
    for (int k = 0; k < 3; k++) /* edges that the least value of all lies beyond */
        if (!(weight[k] > 0.0))
            cc_mesh_model_edge(q, corner[k], corner[(k + 1) % 3], zero[k], &least, place, &where);
    return where;
}

/* Where in the triangle y, z >= 0, y + z <= 1 a quadratic is least; returns which weights are 0 there.  Inline, as
 * cc_mesh_model: a quadratic that has just been stored is slow to read, in pairs of its numbers above all. */
static inline unsigned cc_mesh_model_least(const CcMeshModel *q, double place[2])
{
    double det = q->h_yy * q->h_zz - q->h_yz * q->h_yz;
    place[0] = (q->h_yz * q->g_z - q->h_zz * q->g_y) / det;
    place[1] = (q->h_yz * q->g_y - q->h_yy * q->g_z) / det;
    if (place[0] > 0.0 && place[1] > 0.0 && place[0] + place[1] < 1.0)
        return 0;
    return cc_mesh_model_outside(q, place);
}

CC_API double cc_mesh_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* |S - P|^2/2 around (y, z), r = S - P, without what makes it concave.  Returns 1 if nothing had to be left out. */
static inline int cc_mesh_model(const CcMeshJet *j, const double r[3], double y, double z, CcMeshModel *q)
{
    double E = cc_mesh_dot(j->S_y, j->S_y), F = cc_mesh_dot(j->S_y, j->S_z), G = cc_mesh_dot(j->S_z, j->S_z);
    q->h_yy = E + cc_mesh_dot(r, j->S_yy);
    q->h_yz = F + cc_mesh_dot(r, j->S_yz);
    q->h_zz = G + cc_mesh_dot(r, j->S_zz);
    double size = E * G - F * F;
    int convex = q->h_yy > 0.0 && q->h_yy * q->h_zz - q->h_yz * q->h_yz > 1e-9 * size;
    if (!convex) {
        q->h_yy = E;
        q->h_yz = F;
        q->h_zz = G;
    }
    q->g_y = cc_mesh_dot(r, j->S_y) - q->h_yy * y - q->h_yz * z;
    q->g_z = cc_mesh_dot(r, j->S_z) - q->h_yz * y - q->h_zz * z;
    return convex;
}

/* The closest point of the flat triangle. */
CC_API void cc_mesh_flat_nearest(const CcMesh *m, const CcMeshTriangle *t, const double P[3], CcMeshHit *hit)
{
    CcMeshJet j;
    CcMeshModel q;
    double r[3], place[2];
    cc_mesh_flat_jet(m, t, 0.0, 0.0, &j);
    CC_UNROLL for (int i = 0; i < 3; i++)
        r[i] = j.S[i] - P[i];
    q.h_yy = cc_mesh_dot(j.S_y, j.S_y);
    q.h_yz = cc_mesh_dot(j.S_y, j.S_z);
    q.h_zz = cc_mesh_dot(j.S_z, j.S_z);
    q.g_y = cc_mesh_dot(r, j.S_y);
    q.g_z = cc_mesh_dot(r, j.S_z);
    hit->zero = cc_mesh_model_least(&q, place);
    hit->y = place[0];
    hit->z = place[1];
    hit->square = 0.0;
    CC_UNROLL for (int i = 0; i < 3; i++) {
        hit->point[i] = j.S[i] + (hit->y * j.S_y[i] + hit->z * j.S_z[i]);
        hit->square += (hit->point[i] - P[i]) * (hit->point[i] - P[i]);
    }
}

/* Newton's method along the edge on which a hit lies, where the model of the patch was not its own. */
CC_API void cc_mesh_along_edge(const CcMeshLanes b[10], const double P[3], CcMeshHit *hit)
{
    enum { MOST = 20 };
    const double *s = cc_mesh_edge_step(hit->zero);
    for (int count = 0; count < MOST; count++) {
        CcMeshJet j;
        cc_mesh_jet(b, hit->y, hit->z, &j);
        double slope = 0.0, bend = 0.0;
        for (int i = 0; i < 3; i++) {
            double C = s[0] * j.S_y[i] + s[1] * j.S_z[i], r = j.S[i] - P[i];
            double C_2 = s[0] * s[0] * j.S_yy[i] + 2.0 * s[0] * s[1] * j.S_yz[i] + s[1] * s[1] * j.S_zz[i];
            slope += r * C;
            bend += C * C + r * C_2;
        }
        double way = -slope / bend, y = hit->y + way * s[0], z = hit->z + way * s[1];
        if (!(bend > 0.0 && y >= 0.0 && z >= 0.0 && y + z <= 1.0))
            return;
        hit->y = y;
        hit->z = z;
        if (__builtin_fabs(way) < 1e-9)
            return;
    }
}

/* The closest point of a patch, from that of its flat triangle. */
CC_API void cc_mesh_patch_nearest(const CcMesh *m, const CcMeshTriangle *t, const double P[3], CcMeshHit *hit)
{
    enum { MOST = 40 };
    CcMeshLanes b[10];
    double r[3], from[2] = {hit->y, hit->z}, before = __builtin_inf();
    int whole = 1;
    cc_mesh_net(m, t, b);
    for (int count = 0; count < MOST; count++) {
        CcMeshJet j;
        CcMeshModel q;
        double to[2];
        cc_mesh_jet(b, hit->y, hit->z, &j);
        CC_UNROLL for (int i = 0; i < 3; i++)
            r[i] = j.S[i] - P[i];
        hit->square = cc_mesh_dot(r, r);
        if (hit->square > before * (1.0 + 1e-10) + 1e-28 * cc_mesh_dot(j.S, j.S)) { /* too far: half the way */
            hit->y = 0.5 * (hit->y + from[0]);
            hit->z = 0.5 * (hit->z + from[1]);
            hit->zero = 0;
            continue;
        }
        before = hit->square;
        whole = cc_mesh_model(&j, r, hit->y, hit->z, &q);
        unsigned zero = cc_mesh_model_least(&q, to);
        double y = to[0] - hit->y, z = to[1] - hit->z;
        from[0] = hit->y;
        from[1] = hit->z;
        hit->y = to[0];
        hit->z = to[1];
        hit->zero = zero;
        if (__builtin_fabs(y) + __builtin_fabs(z) < 1e-9) { /* the next step would be a square of this one */
            if (!whole)
                break;
            CC_UNROLL for (int i = 0; i < 3; i++) {
                hit->point[i] = j.S[i] + (j.S_y[i] * y + j.S_z[i] * z);
                r[i] = hit->point[i] - P[i];
            }
            hit->square = cc_mesh_dot(r, r);
            return;
        }
    }
    CcMeshJet j;
    if (CC_MESH_ON_EDGE(hit->zero))
        cc_mesh_along_edge(b, P, hit);
    cc_mesh_jet(b, hit->y, hit->z, &j);
    hit->square = 0.0;
    CC_UNROLL for (int i = 0; i < 3; i++) {
        hit->point[i] = j.S[i];
        hit->square += (j.S[i] - P[i]) * (j.S[i] - P[i]);
    }
}

#endif
