/* The admittance of the bodies at one port, from what their accelerations answer to forces.
 *
 * Over an interval the port sees the mean acceleration y = a + W f, a of everything else, W symmetric and positive
 * (1/kg, 3 x 3; frame of the surface, normal z).  Changes from one interval to another, s of f and q of y, remove what
 * is constant of a.  What others do changes a by about as much in each interval, so over m intervals s/m and q/m are
 * learned: a force that changes fast shows the answer, beside one that changes slowly it is lost.  W is the symmetric
 * matrix of least
 *
 *     sum 0.8^n sum w_i (q_n - W s_n)_i^2 + e |W - W_0|^2     n the age of a secant, i its rows; |.| Frobenius' norm
 *     rho_i^2 = 2 (sigma/(m H))^2 + 0.1 r_i + 1e-9 W_nn^2 tr sum 0.8^n s s'
 *     w_i = min(1, rho_z^2/rho_i^2),   e = rho_z^2/W_nn^2
 *
 * W_0 is what was known before, a guess that is off by W_nn; rho_i is the noise of a row: sigma that of v, r_i what W
 * leaves of the row, discounted.  A W_nn that is given counts a hundred times.  Two forces in different directions
 * determine the answer in their plane, slip by the normal force included; forces along one line leave the rest as it
 * was.  With forces along one line W_0 in the other directions shows in W_nn, too: a W_0 of which sum s' W_0 s is more
 * than four times sum s' q, or less than a quarter, counts in the size that makes both equal.  Where that gives no
 * positive W the tangential entries of W_0 are too small for the coupling c = W_xn that is
 * seen: a rigid body in the plane has (W_xx - 1/m)(W_nn - 1/m) = c^2, amid its range W_xx = W_nn/2 + 2 c^2/W_nn.  Where
 * that is not enough e grows.
 *
 * Friction that slides keeps the forces along one line, s_t = -K s_n: the rows show W_nn - K c and c - K W_xx alone,
 * and a spring across, which changes q_t, looks like c.  With one weight for all rows W_nn would follow that c.  The
 * spring leaves r_t, in flight already, so the tangential row counts less, and the normal one keeps W_nn.  W_xx takes
 * what is left of any size, in fine steps: so W_xx <= 30 W_nn.
 *
 * Sources: symmetric Procrustes problem: Higham, BIT 28 (1988) 133; admittance of a rigid body: Stronge, Impact
 * Mechanics (2018), 3. */
#ifndef CC_ADMITTANCE_H
#define CC_ADMITTANCE_H

#include "../base/factor.h"
#include "../base/vector.h"
#include "lag.h"

#define CC_TANGENT_TO_NORMAL 2.0 /* first guess of W_xx / W_nn: a particle has 1, a solid sphere 3.5 */
#define CC_MOST_ADMITTANCE 1e60  /* 1/kg: with more, products of what is sensible overflow */
#define CC_SECANT_FORGETS 0.8    /* share of the sums that a secant leaves */
#define CC_SURE 100.0            /* weight of a given W_nn in |W - W_0|^2 */
#define CC_SECANT_GROSS 4.0      /* sum s' q over sum s' W_0 s, or its inverse, of a W_0 that is off by its size */
#define CC_SECANT_ROUNDING 1e-9  /* of the trace of sum s s': least weight of what was known, */
#define CC_SECANT_LEFT 0.1       /* and of what W leaves of the secants, squared: in rho^2 */
#define CC_ACROSS_LEFT 1e-3      /* of what W_nt explains beside N: what W may leave then */
#define CC_LEAST_ANGLE 0.02      /* of W_xx W_nn: least W_xx W_nn - c^2, and */
#define CC_LEAST_VOLUME 1e-3     /* of the product of the diagonal: least determinant */
#define CC_MOST_WEIGHINGS 24     /* times that e grows tenfold */
#define CC_MOST_TANGENT 30.0     /* most W_xx / W_nn: of an arm of 5.4 radii of gyration */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double ss[3][3], qs[3][3]; /* sums of s s', N^2, and q s', N m/s^2 */
    double left[3] CC_FROM(0); /* r_i, m^2/s^4 */
} CcSecants;

CC_API void cc_apply_admittance(double W[3][3], const double f[3], double y[3])
{
    CC_UNROLL for (int i = 0; i < 3; i++)
        y[i] = cc_dot(W[i], f);
}

/* W = w along the normal, CC_TANGENT_TO_NORMAL times as much across it. */
CC_APART void cc_guess_admittance(double W[3][3], double w)
{
    w = w < CC_MOST_ADMITTANCE ? w : CC_MOST_ADMITTANCE;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = i != j ? 0.0 : i == 2 ? w : CC_TANGENT_TO_NORMAL * w;
}

/* 1 if W is positive with a margin. */
CC_APART int cc_is_admittance(double W[3][3])
{
    double minor = W[1][1] * W[2][2] - W[1][2] * W[1][2], other = W[0][0] * W[2][2] - W[0][2] * W[0][2];
    double volume = W[0][0] * minor - W[0][1] * (W[0][1] * W[2][2] - W[1][2] * W[0][2])
                  + W[0][2] * (W[0][1] * W[1][2] - W[1][1] * W[0][2]);
    return W[2][2] > 0.0 && W[2][2] < CC_MOST_ADMITTANCE && minor > CC_LEAST_ANGLE * W[1][1] * W[2][2]
        && other > CC_LEAST_ANGLE * W[0][0] * W[2][2] && volume > CC_LEAST_VOLUME * W[0][0] * W[1][1] * W[2][2];
}

/* The tangential entries within the range of bodies; a W that is positive stays so. */
CC_APART void cc_limit_admittance(double W[3][3])
{
    for (int i = 0; i < 2; i++) {
        double most = CC_MOST_TANGENT * W[2][2], scale = W[i][i] > most ? cc_sqrt(most / W[i][i]) : 1.0;
        for (int j = 0; j < 3; j++)
            W[i][j] *= scale, W[j][i] *= scale;
    }
}

/* diag(1, 1, s) W diag(1, 1, s): it stays positive, and the rest of W with it within the range of bodies. */
CC_APART void cc_scale_normal(double W[3][3], double s)
{
    for (int i = 0; i < 3; i++)
        W[i][2] *= s, W[2][i] *= s;
    cc_limit_admittance(W);
}

/* The least squares by the six entries of W, with the weights w of the rows. */
CC_API void cc_solve_admittance(const CcSecants *secants, const double w[3], double e, double sure, double W_0[3][3],
                                double W[3][3])
{
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double M[36] = {0.0}, b[6];
    int pivots[6];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            int row = 6 * at[i][j];
            double more = row == 30 ? 2.0 * e * (sure - 1.0) : 0.0; /* W_nn */
            b[at[i][j]] = w[i] * secants->qs[i][j] + w[j] * secants->qs[j][i] + (2.0 * e + more) * W_0[i][j];
            M[row + at[i][j]] += more;
            for (int k = 0; k < 3; k++) {
                M[row + at[i][k]] += w[i] * secants->ss[k][j] + (k == j ? e : 0.0);
                M[row + at[k][j]] += w[j] * secants->ss[i][k] + (k == i ? e : 0.0);
            }
        }
    cc_factor(6, M, pivots);
    cc_factor_solve(6, M, pivots, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = b[at[i][j]];
}

/* Forget the answers; what others do stays. */
CC_API void cc_forget_secants(CcSecants *secants)
{
    __builtin_memset(secants->ss, 0, sizeof secants->ss);
    __builtin_memset(secants->qs, 0, sizeof secants->qs);
}

/* What no force explains of a change of y, m/s^2: all of it in flight. */
CC_API void cc_leave_of_secants(CcSecants *secants, const double left[3])
{
    for (int i = 0; i < 3; i++)
        secants->left[i] = cc_faded(CC_SECANT_FORGETS, secants->left[i]) + left[i] * left[i];
}

/* 1 if W_nt explains far more than W leaves, and rounding: W_nt S_tt W_tn - (W_nt S_tn)^2/S_nn, without what is in
 * proportion to N, S = sum s s'. */
CC_API int cc_shows_across(const CcSecants *secants, double W[3][3])
{
    double all = 0.0, along = 0.0, normal = secants->ss[2][2];
    for (int i = 0; i < 2; i++) {
        all += W[2][i] * (secants->ss[i][0] * W[2][0] + secants->ss[i][1] * W[2][1]);
        along += W[2][i] * secants->ss[i][2];
    }
    double left = secants->left[2] + CC_SECANT_ROUNDING * W[2][2] * W[2][2] * normal;
    return normal > 0.0 && left < CC_ACROSS_LEFT * (all - along * along / normal);
}

/* Bring a guess to the size that the secants show, where it is off by far. */
CC_API void cc_size_admittance(const CcSecants *secants, double W_0[3][3])
{
    double seen = 0.0, expected = 0.0;
    for (int i = 0; i < 3; i++) {
        seen += secants->qs[i][i];
        expected += cc_dot(W_0[i], secants->ss[i]);
    }
    double size = expected > 0.0 ? seen / expected : 0.0;
    int far = size > CC_SECANT_GROSS || size < 1.0 / CC_SECANT_GROSS;
    if (!far || !(size > 0.0 && size < CC_MOST_ADMITTANCE))
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W_0[i][j] *= size;
}

/* Learn W from one more secant: the force changed by s, N, and the acceleration by q, m/s^2, in each interval, with
 * noise of the standard deviation `noise`, m/s^2.  sure: weight of W_nn as it was, 1 or CC_SURE. */
CC_API void cc_learn_admittance(CcSecants *secants, const double s[3], const double q[3], double noise, double sure,
                                double W[3][3])
{
    double found[3][3], W_0[3][3], answer[3], rho[3], w[3], trace = 0.0;
    __builtin_memcpy(W_0, W, sizeof W_0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            secants->ss[i][j] = CC_SECANT_FORGETS * secants->ss[i][j] + s[i] * s[j];
            secants->qs[i][j] = CC_SECANT_FORGETS * secants->qs[i][j] + q[i] * s[j];
            trace += i == j ? secants->ss[i][j] : 0.0;
        }
    if (sure == 1.0)
        cc_size_admittance(secants, W_0);
    for (int i = 0; i < 3; i++) /* squared */
        rho[i] = 2.0 * noise * noise + CC_SECANT_LEFT * secants->left[i]
               + CC_SECANT_ROUNDING * trace * W_0[2][2] * W_0[2][2];
    for (int i = 0; i < 3; i++)
        w[i] = rho[2] < rho[i] ? rho[2] / rho[i] : 1.0;
    double e = rho[2] / (W_0[2][2] * W_0[2][2]);
    cc_solve_admittance(secants, w, e, sure, W_0, found);
    for (int n = 0; n < CC_MOST_WEIGHINGS && !cc_is_admittance(found); n++) {
        for (int i = 0; i < 2 && n == 0 && found[2][2] > 0.0; i++) {
            double middle = 0.5 * found[2][2] + 2.0 * found[i][2] * found[i][2] / found[2][2];
            W_0[i][i] = W_0[i][i] > middle ? W_0[i][i] : middle;
        }
        cc_solve_admittance(secants, w, e, sure, W_0, found);
        e *= 10.0;
    }
    if (!cc_is_admittance(found)) { /* no numbers to calculate with */
        *secants = (CcSecants){.left = {0.0}};
        return;
    }
    cc_limit_admittance(found);
    __builtin_memcpy(W, found, sizeof found);
    cc_apply_admittance(W, s, answer);
    for (int i = 0; i < 3; i++)
        answer[i] -= q[i];
    cc_leave_of_secants(secants, answer);
}

#endif
