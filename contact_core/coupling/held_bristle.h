/* The bristle of bristle.h over an interval on which its force is held: friction with memory in plain co-simulation.
 *
 * While the body holds the force its contact point goes the way s along the surface, a parabola, and the bristle, whose
 * force is constant too, relaxes: c z' = F - k z.  Frame: tangents; F acts on the surface, -F on the point.
 *
 * Way, m          s   = s_0 - H^2/2 W F,    s_0 = H u + H^2/2 (a + W_tn N)
 * Bristle, m      z_1 = z + (F - k z)/K,    K = k/(1 - exp(-k H/c))        exact for constant F;  K > k/2
 * Sticks          z_1 - z = s:              (1 + H^2/2 K W) F = k z + K s_0
 * Slips           where that exceeds L:     (1 + H^2/2 K W + m) F = k z + K s_0,  m > 0 such that |F| = L:
 *                                           then the way of the tip, s - (z_1 - z) = m F/K, is along F
 * Energy, J       F s = k z_1^2/2 - k z^2/2 + (K - k/2)|z_1 - z|^2 + F (way of the tip): both losses are positive, at
 *                 any H.  (K - k/2) H is c for small steps, and more where k H > c
 *
 * At rest F = k z: a held body stays where it is, for ever.  When the way of an interval is known, z is moved by it: by
 * s while |k z + K s| <= L, else to where F = L along that.  What a prediction missed never makes a held body creep; by
 * how much the held force differs from this one, times s, is the energy it made.
 *
 * k N/m and c N s/m of the bristle, > 0     L limit of friction, N     z deflection, m     H length of the interval, s
 * u, a, W  slip, m/s, acceleration without the force, m/s^2, and admittance, 1/kg, of the point (energy_force.h) */
#ifndef CC_HELD_BRISTLE_H
#define CC_HELD_BRISTLE_H

#include "../base/elementary.h"
#include "../base/vector.h"

#define CC_LEAST_LIMIT 1e-60 /* N: below, products vanish and there is no force */
#define CC_LIMIT_STEPS 30 /* of the iteration for m; in two dimensions it ends after a few */

/* K. */
CC_API double cc_bristle_stiffness(double k, double c, double H)
{
    return c / H + k * cc_exponential_share(k * H / c);
}

/* F = (A + m)^-1 b, A symmetric and positive. */
CC_API void cc_solve_pair(double A[2][2], double m, const double b[2], double F[2])
{
    double p = A[0][0] + m, q = A[0][1], r = A[1][1] + m, d = p * r - q * q;
    F[0] = (r * b[0] - q * b[1]) / d;
    F[1] = (p * b[1] - q * b[0]) / d;
}

/* F of the interval. */
CC_API void cc_hold_bristle(double k, double K, double L, double H, const double W[3][3], const double s_0[2],
                            const double z[2], double F[2])
{
    double half = 0.5 * H * H * K, A[2][2], b[2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            A[i][j] = (i == j) + half * W[i][j];
        b[i] = k * z[i] + K * s_0[i];
    }
    cc_solve_pair(A, 0.0, b, F);
    double size = cc_pair_norm(F), m = 0.0;
    L = L > CC_LEAST_LIMIT ? L : 0.0;
    if (!(size > L)) {
        F[0] = L > 0.0 ? F[0] : 0.0, F[1] = L > 0.0 ? F[1] : 0.0;
        return;
    }
    for (int step = 0; step < CC_LIMIT_STEPS && L > 0.0 && size > L * (1.0 + 1e-14); step++) {
        double G[2];
        cc_solve_pair(A, m, F, G); /* -dF/dm; Newton's iteration for 1/|F| = 1/L, which rises to m */
        m += (size / L - 1.0) * (size * size) / (F[0] * G[0] + F[1] * G[1]);
        cc_solve_pair(A, m, b, F);
        size = cc_pair_norm(F);
    }
    for (int i = 0; i < 2; i++)
        F[i] *= L > 0.0 ? L / size : 0.0;
}

/* Move z over an interval on which the point went the way s; returns 1 if the tip slipped. */
CC_API int cc_move_bristle(double k, double K, double L, const double s[2], double z[2])
{
    double F[2] = {k * z[0] + K * s[0], k * z[1] + K * s[1]}, size = cc_pair_norm(F);
    int slips = size > L;
    double share = slips && L > CC_LEAST_LIMIT ? L / size : 0.0;
    for (int i = 0; i < 2; i++)
        z[i] += slips ? (share * F[i] - k * z[i]) / K : s[i];
    return slips;
}

#endif
