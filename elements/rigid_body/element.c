/* Rigid body.  World components but for what ends in _B (body axes); R turns body components into world ones.
 *
 *     r' = v                   m v' = f + m g
 *     q' = (0, w + c) q / 2 + |w| (1 - |q|^2) q / 2
 *     L' = t,  L = J_m s       w = R J^-1 R^T L       e' = 2 t w / J_m
 *
 * r, v centre of mass, m, m/s      q orientation, body to world      w angular velocity, rad/s
 * m mass, kg, > 0      J inertia tensor about the centre of mass in body axes, kg m^2      g gravity, m/s^2
 * f, t sums of the forces at all ports, N, and of their moments about the centre of mass, N m
 * L angular momentum, N m s      J_m = (J_xx + J_yy + J_zz)/3, mean of the principal moments      s spin, rad/s
 *
 * Invariants.  In the exact motion the last term of q' and c are zero: they correct errors of the integration at the
 * rate |w|, so neither makes a system stiff.
 *   Momentum  The states are r, v, q, s and e.  L in world components is then constant to rounding, which body rates
 *             under Euler's equations are not; over J_m it has the size of an angular velocity, for the error control.
 *   Length    R is that of q/|q|, so the length of q moves nothing; the last term keeps it at 1.
 *   Energy    e = 2 T / J_m in the exact motion, T = L w / 2, and constant to its bits where t = 0.  There, and there
 *             only,
 *                 c = |w| (J_m e / 2 - T) G / (G^2 + eps L^2 w^2),   G = w x L
 *             G is the gradient of T over small turns of the body.  eps fades c out near the principal axes, where T
 *             depends little on the attitude and G vanishes.  Below 1e-30 rad/s c is 0.
 *
 * e spin energy, rad^2/s^2: e' = 2 t w / J_m.  All that is computed follows from states, inputs and parameters; memory
 * only marks accepted points that set e to 2 T / J_m: under moments and just after them, and where J changed.  Points
 * where e differs from it by more than errors of the integration do so too, for importers that set an attitude without
 * e.
 *
 * Source: Newton-Euler equations; corrections of this kind: Hairer, Lubich & Wanner, Geometric Numerical Integration,
 * IV.4 (projection) and Baumgarte, Comp. Meth. Appl. Mech. Eng. 1 (1972) 1. */
#include "base/vector.h"

/* What is the same at one point for all ports. */
typedef struct {
    Real R[3][3];
    Real L[3], w[3];
} Attitude;

static Real mean_moment(const Element *e) { return (e->J_xx + e->J_yy + e->J_zz) * (1.0 / 3.0); }

/* J x */
static void times_inertia(const Element *e, const Real x[3], Real out[3])
{
    out[0] = e->J_xx * x[0] + e->J_xy * x[1] + e->J_xz * x[2];
    out[1] = e->J_xy * x[0] + e->J_yy * x[1] + e->J_yz * x[2];
    out[2] = e->J_xz * x[0] + e->J_yz * x[1] + e->J_zz * x[2];
}

/* 1 of a value that is 0 and has the derivative 0. */
static int is_zero(Real a) { return re(a) == 0.0 && cc_dual_part(a) == 0.0; }

/* J^-1 b, by cofactors; those off the diagonal of a tensor in principal axes are zero. */
static void over_inertia(const Element *e, const Real b[3], Real out[3])
{
    if (is_zero(e->J_xy) && is_zero(e->J_xz) && is_zero(e->J_yz)) {
        Real xx = e->J_yy * e->J_zz, scale = 1.0 / (e->J_xx * xx);
        out[0] = xx * b[0] * scale;
        out[1] = e->J_xx * e->J_zz * b[1] * scale;
        out[2] = e->J_xx * e->J_yy * b[2] * scale;
        return;
    }
    Real xx = e->J_yy * e->J_zz - e->J_yz * e->J_yz, xy = e->J_xz * e->J_yz - e->J_xy * e->J_zz;
    Real xz = e->J_xy * e->J_yz - e->J_xz * e->J_yy, yy = e->J_xx * e->J_zz - e->J_xz * e->J_xz;
    Real yz = e->J_xy * e->J_xz - e->J_xx * e->J_yz, zz = e->J_xx * e->J_yy - e->J_xy * e->J_xy;
    Real scale = 1.0 / (e->J_xx * xx + e->J_xy * xy + e->J_xz * xz);
    out[0] = (xx * b[0] + xy * b[1] + xz * b[2]) * scale;
    out[1] = (xy * b[0] + yy * b[1] + yz * b[2]) * scale;
    out[2] = (xz * b[0] + yz * b[1] + zz * b[2]) * scale;
}

static void initial(Element *e)
{
    Real R[3][3], w_B[3], L_B[3], L[3];
    Real scale = cc_scale(e->q0, 4), square = 0.0;
    CC_UNROLL for (int i = 0; i < 4; i++)
        square += e->q0[i] * scale * (e->q0[i] * scale);
    CC_UNROLL for (int i = 0; i < 4; i++) /* a quaternion of zeros is refused, but may be evaluated */
        e->frame.q[i] = re(square) > 0.0 ? e->q0[i] * scale / cc_sqrt(square) : i == 0 ? 1.0 : 0.0;
    cc_rotation(e->frame.q, R);
    cc_to_body(R, e->w0, w_B);
    times_inertia(e, w_B, L_B);
    cc_to_world(R, L_B, L);
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->spin[k] = L[k] / mean_moment(e);
    e->spin_energy = cc_dot(e->spin, e->w0);
}

/* L and w of a spin. */
static void rotate(const Element *e, Real R[3][3], const Real spin[3], Real L[3], Real w[3])
{
    Real L_B[3], w_B[3], J_m = mean_moment(e);
    CC_UNROLL for (int k = 0; k < 3; k++)
        L[k] = J_m * spin[k];
    cc_to_body(R, L, L_B);
    over_inertia(e, L_B, w_B);
    cc_to_world(R, w_B, w);
}

#define NEAR_AXIS 1e-8  /* eps: c fades out within 1e-4 rad of a principal axis */
#define FAR 1e-2        /* share of e: a larger difference is no error of the integration */
#define SLOWEST 1e-30   /* rad/s: slower bodies do not turn within any run, and c has no effect */
#define USUAL_FROM 1e-4 /* rad/s: speeds whose powers are in range, also times those of J */
#define USUAL_TO 1e9

/* c, rad/s, at the speed |w|; w and L, and with its square J_m e, may be in any unit of size. */
static void pull_back(const Real w[3], const Real L[3], Real doubled, Real speed, Real c[3])
{
    Real G[3];
    cc_cross(w, L, G);
    Real size = cc_dot(G, G) + NEAR_AXIS * cc_dot(L, L) * cc_dot(w, w);
    Real pull = 0.5 * speed * (doubled - cc_dot(L, w)) / size;
    CC_UNROLL for (int k = 0; k < 3; k++)
        c[k] = pull * G[k];
}

/* c, rad/s.  Fourth powers of a small spin vanish, and over dual numbers a quotient squares its divisor once more:
 * there |w| is the unit. */
static void keep_energy(const Element *e, const Attitude *a, Real speed, Real c[3])
{
    Real doubled = mean_moment(e) * e->spin_energy, w[3], L[3];
    if (re(speed) > USUAL_FROM && re(speed) < USUAL_TO) {
        pull_back(a->w, a->L, doubled, speed, c);
    } else if (re(speed) > SLOWEST) {
        double unit = 1.0 / re(speed);
        CC_UNROLL for (int k = 0; k < 3; k++) {
            w[k] = a->w[k] * unit;
            L[k] = a->L[k] * unit;
        }
        pull_back(w, L, doubled * unit * unit, speed, c);
    }
}

static int is_pushed(const Element *e)
{
    return re(e->spin_rate[0]) != 0.0 || re(e->spin_rate[1]) != 0.0 || re(e->spin_rate[2]) != 0.0;
}

/* q' of the attitude, after spin_rate. */
static void turn(Element *e, const Attitude *a)
{
    Real c[3] = {0.0, 0.0, 0.0}, speed = cc_norm(a->w);
    const Real *q = e->frame.q;
    if (!is_pushed(e))
        keep_energy(e, a, speed, c);
    Real w[3] = {a->w[0] + c[0], a->w[1] + c[1], a->w[2] + c[2]};
    Real pull = 0.5 * speed * (1.0 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]));
    e->turning[0] = 0.5 * (-w[0] * q[1] - w[1] * q[2] - w[2] * q[3]) + pull * q[0];
    e->turning[1] = 0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]) + pull * q[1];
    e->turning[2] = 0.5 * (w[1] * q[0] + w[2] * q[1] - w[0] * q[3]) + pull * q[2];
    e->turning[3] = 0.5 * (w[2] * q[0] + w[0] * q[2] - w[1] * q[1]) + pull * q[3];
}

#if POINTS
#include FRAMES_FILE
#endif
#include POINTS_FILE

static void rates(Element *e)
{
    Attitude a;
    Real force[3], moment[3];
    cc_rotation(e->frame.q, a.R);
    rotate(e, a.R, e->spin, a.L, a.w);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        e->frame.w[k] = a.w[k];
        force[k] = e->frame.f[k];
        moment[k] = e->frame.t[k];
    }
    attach_points(e, &a, force, moment);
    Real per_mass = 1.0 / e->m, per_moment = 1.0 / mean_moment(e);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        e->acceleration[k] = force[k] * per_mass + e->g[k];
        e->spin_rate[k] = moment[k] * per_moment;
    }
    e->spin_power = 2.0 * cc_dot(e->spin_rate, a.w);
    turn(e, &a);
}

static void outputs(Element *e)
{
    rates(e);
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->angular_momentum[k] = mean_moment(e) * e->spin[k];
    e->energy.kinetic = 0.5 * (e->m * cc_dot(e->frame.v, e->frame.v) + cc_dot(e->angular_momentum, e->frame.w));
    e->energy.potential = -e->m * cc_dot(e->g, e->frame.r);
}

/* Keep J; 1 if it is another one than before. */
static int keep_inertia(Element *e)
{
    const Real J[6] = {e->J_xx, e->J_yy, e->J_zz, e->J_xy, e->J_xz, e->J_yz};
    int changed = 0;
    for (int k = 0; k < 6; k++) {
        changed |= re(J[k]) != re(e->previous.J[k]);
        e->previous.J[k] = J[k];
    }
    return changed;
}

static void start(Element *e)
{
    keep_inertia(e);
    e->previous.pushed = 1.0;
}

/* While moments act no computed value depends on e: only the first point after them is a jump. */
static int accept(Element *e, CcHost *host, double step)
{
    double now = re(cc_dot(e->spin, e->frame.w)), off = re(e->spin_energy) - now;
    (void)host, (void)step;
    if (is_pushed(e)) {
        e->previous.pushed = 1.0;
        e->spin_energy = now;
        return 0;
    }
    int is_stale = keep_inertia(e) || re(e->previous.pushed) != 0.0 || off > FAR * now || off < -FAR * now;
    e->previous.pushed = 0.0;
    if (!is_stale || off == 0.0)
        return 0;
    e->spin_energy = now;
    return CC_JUMPED;
}

/* Principal moments p, the largest first: eigenvalues of J by Jacobi's rotations, each of which makes one element off
 * the diagonal zero.  Golub & Van Loan, Matrix Computations, 8.5. */
static void principal_moments(const Element *e, double p[3])
{
    double a[3][3] = {{re(e->J_xx), re(e->J_xy), re(e->J_xz)},
                      {re(e->J_xy), re(e->J_yy), re(e->J_yz)},
                      {re(e->J_xz), re(e->J_yz), re(e->J_zz)}};
    for (int sweep = 0; sweep < 12; sweep++) /* six do, for convergence is quadratic */
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++) {
                if (a[i][j] == 0.0)
                    continue;
                int k = 3 - i - j;
                double tau = (a[j][j] - a[i][i]) / (2.0 * a[i][j]), root = __builtin_sqrt(1.0 + tau * tau);
                double t = tau < 0.0 ? -1.0 / (root - tau) : 1.0 / (root + tau);
                double c = 1.0 / __builtin_sqrt(1.0 + t * t), s = t * c, from_i = a[i][k], from_j = a[j][k];
                a[i][i] -= t * a[i][j];
                a[j][j] += t * a[i][j];
                a[i][j] = a[j][i] = 0.0;
                a[i][k] = a[k][i] = c * from_i - s * from_j;
                a[j][k] = a[k][j] = s * from_i + c * from_j;
            }
    CC_UNROLL for (int i = 0; i < 3; i++)
        p[i] = a[i][i];
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (p[j] > p[i]) {
                double larger = p[j];
                p[j] = p[i];
                p[i] = larger;
            }
}

#define LEAST_MOMENT 1e-12 /* of the largest one: below it the smallest is rounding */
#define TYPED_DIGITS 1e-6  /* relative: what tensors of flat bodies lose when they are written with six digits */

static void check(const Element *e, CcHost *host)
{
    double p[3], square = 0.0;
    CC_UNROLL for (int i = 0; i < 4; i++)
        square += re(e->q0[i]) * re(e->q0[i]);
    if (!(square >= 0.25))
        cc_fail(host, "q0 = (%g, %g, %g, %g): the length of a quaternion must be 1 and is below 0.5", re(e->q0[0]),
                re(e->q0[1]), re(e->q0[2]), re(e->q0[3]));
    if (!(re(e->J_xx) > 0.0 && re(e->J_yy) > 0.0 && re(e->J_zz) > 0.0))
        return; /* reported by their own names */
    principal_moments(e, p);
    if (!(p[2] > LEAST_MOMENT * p[0]))
        cc_fail(host, "the inertia tensor with J_xx = %g, J_yy = %g, J_zz = %g, J_xy = %g, J_xz = %g, J_yz = %g kg.m2 "
                "is not positive definite: its principal moments are %g, %g and %g kg.m2, and all must be greater than "
                "0; elements off the diagonal must be smaller", re(e->J_xx), re(e->J_yy), re(e->J_zz), re(e->J_xy),
                re(e->J_xz), re(e->J_yz), p[0], p[1], p[2]);
    else if (!(p[0] <= (p[1] + p[2]) * (1.0 + TYPED_DIGITS)))
        cc_fail(host, "the inertia tensor with J_xx = %g, J_yy = %g, J_zz = %g, J_xy = %g, J_xz = %g, J_yz = %g kg.m2 "
                "is that of no body: its largest principal moment %g kg.m2 is greater than the sum of the other two, "
                "%g and %g kg.m2", re(e->J_xx), re(e->J_yy), re(e->J_zz), re(e->J_xy), re(e->J_xz), re(e->J_yz), p[0],
                p[1], p[2]);
}
