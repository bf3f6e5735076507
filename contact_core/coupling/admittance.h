/* The admittance of the bodies at one port, from what their accelerations answer to forces.
 *
 * Over an interval the port sees the mean acceleration y = a + W f, a of everything else, W symmetric and positive
 * (1/kg, 3 x 3; frame of the surface, normal z).  Changes from one interval to another, s of f and q of y, remove what
 * is constant of a, and W is the symmetric matrix of least
 *
 *     sum 0.8^n |q_n - W s_n|^2 + e |W - W_0|^2          n the age of a secant; |.| Frobenius' norm of a matrix
 *     W A + A W = C + C',   A = sum 0.8^n s s' + e I,   C = sum 0.8^n q s' + e W_0
 *
 * W_0 is what was known before, e = (2 (sigma/H)^2 + 0.1 r)/W_nn^2 + 1e-9 tr sum s s' weighs it as a guess that is off
 * by W_nn: sigma noise of v, r what W leaves of the secants, discounted.  A W_nn that is given counts a hundred times.
 * Two forces in different directions determine the answer in their plane, slip by the normal force included; forces
 * along one line leave the rest as it was.  Where that gives no positive W the tangential entries of W_0 are too small
 * for the coupling c = W_xn that is seen: a rigid body in the plane has (W_xx - 1/m)(W_nn - 1/m) = c^2, amid its range
 * W_xx = W_nn/2 + 2 c^2/W_nn.  Where that is not enough e grows.  Friction that slides is proportional to the normal
 * force, so the forces are nearly along one line, and what others do to the body meanwhile looks like an answer to the
 * little that is off it: of any size, in fine steps.  So W_xx <= 30 W_nn.
 *
 * Sources: symmetric Procrustes problem: Higham, BIT 28 (1988) 133; admittance of a rigid body: Stronge, Impact
 * Mechanics (2018), 3. */
#ifndef CC_ADMITTANCE_H
#define CC_ADMITTANCE_H

#include "../base/factor.h"
#include "../base/vector.h"

#define CC_TANGENT_TO_NORMAL 2.0 /* first guess of W_xx / W_nn: a particle has 1, a solid sphere 3.5 */
#define CC_MOST_ADMITTANCE 1e60  /* 1/kg: with more, products of what is sensible overflow */
#define CC_SECANT_FORGETS 0.8    /* share of the sums that a secant leaves */
#define CC_SURE 100.0            /* weight of a given W_nn in |W - W_0|^2 */
#define CC_SECANT_ROUNDING 1e-9  /* of the trace of sum s s': least weight of what was known, */
#define CC_SECANT_LEFT 0.1       /* and of what W leaves of the secants, squared */
#define CC_LEAST_ANGLE 0.02      /* of W_xx W_nn: least W_xx W_nn - c^2, and */
#define CC_LEAST_VOLUME 1e-3     /* of the product of the diagonal: least determinant */
#define CC_MOST_WEIGHINGS 24     /* times that e grows tenfold */
#define CC_MOST_TANGENT 30.0     /* most W_xx / W_nn: of an arm of 5.4 radii of gyration */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double ss[3][3], qs[3][3]; /* sums of s s', N^2, and q s', N m/s^2 */
    double left CC_FROM(0);    /* r, m^2/s^4 */
} CcSecants;

CC_API void cc_apply_admittance(double W[3][3], const double f[3], double y[3])
{
    CC_UNROLL for (int i = 0; i < 3; i++)
        y[i] = cc_dot(W[i], f);
}

/* W = w along the normal, CC_TANGENT_TO_NORMAL times as much across it. */
CC_API void cc_guess_admittance(double W[3][3], double w)
{
    w = w < CC_MOST_ADMITTANCE ? w : CC_MOST_ADMITTANCE;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = i != j ? 0.0 : i == 2 ? w : CC_TANGENT_TO_NORMAL * w;
}

/* 1 if W is positive with a margin. */
CC_API int cc_is_admittance(double W[3][3])
{
    double minor = W[1][1] * W[2][2] - W[1][2] * W[1][2], other = W[0][0] * W[2][2] - W[0][2] * W[0][2];
    double volume = W[0][0] * minor - W[0][1] * (W[0][1] * W[2][2] - W[1][2] * W[0][2])
                  + W[0][2] * (W[0][1] * W[1][2] - W[1][1] * W[0][2]);
    return W[2][2] > 0.0 && W[2][2] < CC_MOST_ADMITTANCE && minor > CC_LEAST_ANGLE * W[1][1] * W[2][2]
        && other > CC_LEAST_ANGLE * W[0][0] * W[2][2] && volume > CC_LEAST_VOLUME * W[0][0] * W[1][1] * W[2][2];
}

/* The tangential entries within the range of bodies; a W that is positive stays so. */
CC_API void cc_limit_admittance(double W[3][3])
{
    for (int i = 0; i < 2; i++) {
        double most = CC_MOST_TANGENT * W[2][2], scale = W[i][i] > most ? cc_sqrt(most / W[i][i]) : 1.0;
        for (int j = 0; j < 3; j++)
            W[i][j] *= scale, W[j][i] *= scale;
    }
}

/* The least squares by the six entries of W. */
CC_API void cc_solve_admittance(const CcSecants *secants, double e, double sure, double W_0[3][3], double W[3][3])
{
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double M[36] = {0.0}, b[6];
    int pivots[6];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            int row = 6 * at[i][j];
            double more = row == 30 ? 2.0 * e * (sure - 1.0) : 0.0; /* W_nn */
            b[at[i][j]] = secants->qs[i][j] + secants->qs[j][i] + (2.0 * e + more) * W_0[i][j];
            M[row + at[i][j]] += more;
            for (int k = 0; k < 3; k++) {
                M[row + at[i][k]] += secants->ss[k][j] + (k == j ? e : 0.0);
                M[row + at[k][j]] += secants->ss[i][k] + (k == i ? e : 0.0);
            }
        }
    cc_factor(6, M, pivots);
    cc_factor_solve(6, M, pivots, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = b[at[i][j]];
}

/* Learn W from one more secant: the force changed by s, N, and the acceleration by q, m/s^2, with noise of the standard
 * deviation `noise`, m/s^2.  sure: weight of W_nn as it was, 1 or CC_SURE. */
CC_API void cc_learn_admittance(CcSecants *secants, const double s[3], const double q[3], double noise, double sure,
                                double W[3][3])
{
    double found[3][3], W_0[3][3], answer[3], trace = 0.0;
    __builtin_memcpy(W_0, W, sizeof W_0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            secants->ss[i][j] = CC_SECANT_FORGETS * secants->ss[i][j] + s[i] * s[j];
            secants->qs[i][j] = CC_SECANT_FORGETS * secants->qs[i][j] + q[i] * s[j];
            trace += i == j ? secants->ss[i][j] : 0.0;
        }
    double variance = 2.0 * noise * noise + CC_SECANT_LEFT * secants->left;
    double e = variance / (W[2][2] * W[2][2]) + CC_SECANT_ROUNDING * trace;
    cc_solve_admittance(secants, e, sure, W_0, found);
    for (int n = 0; n < CC_MOST_WEIGHINGS && !cc_is_admittance(found); n++) {
        for (int i = 0; i < 2 && n == 0 && found[2][2] > 0.0; i++) {
            double middle = 0.5 * found[2][2] + 2.0 * found[i][2] * found[i][2] / found[2][2];
            W_0[i][i] = W_0[i][i] > middle ? W_0[i][i] : middle;
        }
        cc_solve_admittance(secants, e, sure, W_0, found);
        e *= 10.0;
    }
    if (!cc_is_admittance(found)) { /* no numbers to calculate with */
        *secants = (CcSecants){.left = 0.0};
        return;
    }
    cc_limit_admittance(found);
    __builtin_memcpy(W, found, sizeof found);
    cc_apply_admittance(W, s, answer);
    secants->left *= CC_SECANT_FORGETS;
    for (int i = 0; i < 3; i++)
        secants->left += (q[i] - answer[i]) * (q[i] - answer[i]);
}

#endif
