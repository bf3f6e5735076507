/* A tree of rigid bodies in the plane: each hangs on its parent, or on the ground, by one revolute or prismatic joint.
 *
 * Body i has axes of its own, x along e_i = (cos theta_i, sin theta_i), and its origin r_i at its joint.  With d_i from
 * the parent's origin to r_i, a_i the place of the joint in the parent p and alpha_i the angle of its axes against the
 * parent's
 *
 *     revolute    theta_i = theta_p + alpha_i + q_i,   d_i = R_p a_i
 *     prismatic   theta_i = theta_p + alpha_i,         d_i = R_p a_i + q_i e_i        it slides along its own x axis
 *
 *     M(q) qdd + F(q, qd) + Q = 0      M mass matrix, F inertial forces at qdd = 0, Q applied forces
 *
 * in which neither M nor F is formed.  Each body's equations are written about its origin in world axes, and the joints
 * are eliminated from the tips to the ground (articulated bodies): for an acceleration A = (angular, x, y) of its
 * origin, body i with all it carries needs the force (moment, x, y)
 *
 *     I_i A + p_i     with s_i the direction of the joint, U = I s, D = s U, u = tau - s p, and towards the parent
 *     I - U U^T / D,  p + U u / D,     and back:  qdd = (u - U A) / D
 *
 * So M^-1 times a vector costs time proportional to the number of bodies, and no matrix.
 *
 * The coordinate of a driven joint is given, with its speed and acceleration: all of I goes to the parent, 1/D = 0, and
 * its acceleration counts among those without qdd.
 *
 * q rad or m, qd, qdd its derivatives, tau the force of a joint on its coordinate, N.m or N, positive along +q.
 * Range: mass > 0 and inertia > 0.   Rounding: lengths are measured from joint to joint, not from the ground.
 *
 * Source: Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7; equations as in Lipinski, Modelowanie
 * Inzynierskie 37 (2009) 193, (9) to (13). */
#ifndef CC_MECHANISM_H
#define CC_MECHANISM_H

#include "../base/elementary.h"

typedef struct {
    int parent; /* -1 the ground, else less than its own number */
    int slides; /* 1 prismatic, 0 revolute */
    int driven; /* 1 if q, qd and qdd are given */
    Real drive; /* its qdd then, rad/s^2 or m/s^2 */
    Real place[2];  /* of its joint in the parent's axes, m */
    Real angle;     /* of its axes against the parent's at q = 0, rad */
    Real mass;      /* kg */
    Real inertia;   /* about the centre of mass, kg m^2 */
    Real centre[2]; /* of mass in its own axes, m */
} CcBody;

/* Position and motion of a body, and its articulated inertia with all it carries. */
typedef struct {
    Real theta;      /* rad */
    Real e[2], c[2]; /* its x axis; from its origin to its centre of mass, m */
    Real d[2], r[2]; /* from the parent's origin to its own; its origin, m */
    Real w, v[2];    /* rad/s, m/s of its origin */
    Real alpha, a[2]; /* rad/s^2, m/s^2 of its origin, if all qdd that are not driven were 0 */
    Real I[6];       /* aa ax ay xx xy yy, of articulated bodies */
    Real U[3], D;
    Real W;          /* 1/D, 0 of a driven joint */
} CcMove;

CC_API Real cc_along(const Real a[2], const Real b[2]) { return a[0] * b[0] + a[1] * b[1]; }

/* The component out of the plane of a x b. */
CC_API Real cc_turn(const Real a[2], const Real b[2]) { return a[0] * b[1] - a[1] * b[0]; }

/* A vector of the body's axes in those of the world; of the ground where the body is -1. */
CC_API void cc_in_world(const CcMove m[], int body, const Real own[2], Real world[2])
{
    Real x = own[0], y = own[1];
    if (body >= 0) {
        const Real *e = m[body].e;
        x = e[0] * own[0] - e[1] * own[1];
        y = e[1] * own[0] + e[0] * own[1];
    }
    world[0] = x;
    world[1] = y;
}

/* Where a point of the body's axes is, m. */
CC_API void cc_point_of(const CcMove m[], int body, const Real own[2], Real P[2])
{
    cc_in_world(m, body, own, P);
    for (int k = 0; k < 2 && body >= 0; k++)
        P[k] += m[body].r[k];
}

/* Velocity of the body at the world's point P, and its acceleration there without qdd. */
CC_API void cc_point_motion(const CcMove m[], int body, const Real P[2], Real v[2], Real a[2])
{
    v[0] = v[1] = a[0] = a[1] = 0.0;
    if (body < 0)
        return;
    const CcMove *b = &m[body];
    Real out[2] = {P[0] - b->r[0], P[1] - b->r[1]};
    v[0] = b->v[0] - b->w * out[1];
    v[1] = b->v[1] + b->w * out[0];
    for (int k = 0; k < 2; k++)
        a[k] = b->a[k] - b->w * b->w * out[k];
    a[0] -= b->alpha * out[1];
    a[1] += b->alpha * out[0];
}

/* Positions. */
CC_API void cc_tree_place(int n, const CcBody bodies[], const Real q[], CcMove m[])
{
    for (int i = 0; i < n; i++) {
        const CcBody *b = &bodies[i];
        int p = b->parent;
        m[i].theta = b->angle + (p >= 0 ? m[p].theta : 0.0) + (b->slides ? 0.0 : q[i]);
        cc_sin_cos(m[i].theta, &m[i].e[1], &m[i].e[0]);
        cc_in_world(m, i, b->centre, m[i].c);
        cc_in_world(m, p, b->place, m[i].d);
        for (int k = 0; k < 2; k++) {
            m[i].d[k] += b->slides ? q[i] * m[i].e[k] : 0.0;
            m[i].r[k] = (p >= 0 ? m[p].r[k] : 0.0) + m[i].d[k];
        }
    }
}

/* Velocities, and accelerations without qdd, after positions. */
CC_API void cc_tree_move(int n, const CcBody bodies[], const Real qd[], CcMove m[])
{
    for (int i = 0; i < n; i++) {
        int p = bodies[i].parent;
        Real w = p >= 0 ? m[p].w : 0.0, slide = bodies[i].slides ? qd[i] : 0.0;
        const Real *d = m[i].d, *e = m[i].e;
        Real across[2] = {-e[1], e[0]};
        m[i].w = w + (bodies[i].slides ? 0.0 : qd[i]);
        m[i].v[0] = (p >= 0 ? m[p].v[0] : 0.0) - w * d[1] + slide * e[0];
        m[i].v[1] = (p >= 0 ? m[p].v[1] : 0.0) + w * d[0] + slide * e[1];
        Real alpha = p >= 0 ? m[p].alpha : 0.0, drive = bodies[i].driven ? bodies[i].drive : 0.0;
        m[i].alpha = alpha + (bodies[i].slides ? 0.0 : drive);
        for (int k = 0; k < 2; k++)
            m[i].a[k] = (p >= 0 ? m[p].a[k] : 0.0) - w * w * d[k] + 2.0 * w * slide * across[k]
                        + (bodies[i].slides ? drive * e[k] : 0.0);
        m[i].a[0] -= alpha * d[1];
        m[i].a[1] += alpha * d[0];
    }
}

/* The joint's direction times a force (moment, x, y) about the body's origin. */
CC_API Real cc_joint_share(int slides, const CcMove *m, const Real force[3])
{
    return slides ? cc_along(m->e, force + 1) : force[0];
}

/* I, U and D, after positions.  D, kg m^2 or kg: inertia that a joint moves, all joints behind it free. */
CC_API void cc_tree_factor(int n, const CcBody bodies[], CcMove m[])
{
    for (int i = 0; i < n; i++) {
        Real mass = bodies[i].mass, *I = m[i].I, *c = m[i].c;
        I[0] = bodies[i].inertia + mass * cc_along(c, c);
        I[1] = -mass * c[1];
        I[2] = mass * c[0];
        I[3] = I[5] = mass;
        I[4] = 0.0;
    }
    for (int i = n - 1; i >= 0; i--) {
        Real *I = m[i].I, *U = m[i].U, *e = m[i].e;
        int p = bodies[i].parent;
        if (bodies[i].slides) {
            U[0] = I[1] * e[0] + I[2] * e[1];
            U[1] = I[3] * e[0] + I[4] * e[1];
            U[2] = I[4] * e[0] + I[5] * e[1];
        } else {
            U[0] = I[0];
            U[1] = I[1];
            U[2] = I[2];
        }
        m[i].D = cc_joint_share(bodies[i].slides, &m[i], U);
        m[i].W = bodies[i].driven ? 0.0 : 1.0 / m[i].D;
        if (p < 0)
            continue;
        Real share[3] = {U[0] * m[i].W, U[1] * m[i].W, U[2] * m[i].W}, *d = m[i].d, *parent = m[p].I;
        Real aa = I[0] - share[0] * U[0], ax = I[1] - share[0] * U[1], ay = I[2] - share[0] * U[2];
        Real xx = I[3] - share[1] * U[1], xy = I[4] - share[1] * U[2], yy = I[5] - share[2] * U[2];
        Real x = ax - d[1] * xx + d[0] * xy, y = ay - d[1] * xy + d[0] * yy; /* about the parent's origin */
        parent[0] += aa - d[1] * (ax + x) + d[0] * (ay + y);
        parent[1] += x;
        parent[2] += y;
        parent[3] += xx;
        parent[4] += xy;
        parent[5] += yy;
    }
}

/* qdd = M^-1 (tau - forces of p at the joints), after cc_tree_factor; 0 of driven joints.
 * p: for each body the force (moment about its origin, x, y) that it needs at qdd = 0, N.m, N; is changed. */
CC_API void cc_tree_solve(int n, const CcBody bodies[], const CcMove m[], const Real tau[], Real p[][3], Real qdd[])
{
    for (int i = n - 1; i >= 0; i--) {
        const Real *U = m[i].U, *d = m[i].d;
        qdd[i] = (tau[i] - cc_joint_share(bodies[i].slides, &m[i], p[i])) * m[i].W; /* u / D until the way back */
        if (bodies[i].parent < 0)
            continue;
        Real *parent = p[bodies[i].parent];
        Real x = p[i][1] + U[1] * qdd[i], y = p[i][2] + U[2] * qdd[i];
        parent[0] += p[i][0] + U[0] * qdd[i] + d[0] * y - d[1] * x;
        parent[1] += x;
        parent[2] += y;
    }
    for (int i = 0; i < n; i++) { /* p becomes the accelerations A */
        const Real *U = m[i].U, *d = m[i].d, *e = m[i].e;
        const Real *parent = bodies[i].parent >= 0 ? p[bodies[i].parent] : 0;
        Real a = parent ? parent[0] : 0.0, x = parent ? parent[1] - a * d[1] : 0.0;
        Real y = parent ? parent[2] + a * d[0] : 0.0;
        qdd[i] -= (U[0] * a + U[1] * x + U[2] * y) * m[i].W;
        p[i][0] = a + (bodies[i].slides ? 0.0 : qdd[i]);
        p[i][1] = x + (bodies[i].slides ? qdd[i] * e[0] : 0.0);
        p[i][2] = y + (bodies[i].slides ? qdd[i] * e[1] : 0.0);
    }
}

/* p of cc_tree_solve without qdd and without forces but gravity g, m/s^2: the inertial forces F of the bodies. */
CC_API void cc_tree_inertial(int n, const CcBody bodies[], const CcMove m[], const Real g[2], Real p[][3])
{
    for (int i = 0; i < n; i++) {
        const Real *c = m[i].c;
        for (int k = 0; k < 2; k++) /* mass times acceleration of the centre of mass, less its weight */
            p[i][k + 1] = bodies[i].mass * (m[i].a[k] - m[i].w * m[i].w * c[k] - g[k]);
        p[i][1] -= bodies[i].mass * m[i].alpha * c[1];
        p[i][2] += bodies[i].mass * m[i].alpha * c[0];
        p[i][0] = bodies[i].inertia * m[i].alpha + cc_turn(c, p[i] + 1);
    }
}

/* A force f, N, on the body at the world's point P. */
CC_API void cc_tree_push(const CcMove m[], int body, const Real P[2], const Real f[2], Real p[][3])
{
    if (body < 0)
        return;
    Real out[2] = {P[0] - m[body].r[0], P[1] - m[body].r[1]};
    p[body][0] -= cc_turn(out, f);
    p[body][1] -= f[0];
    p[body][2] -= f[1];
}

#endif
