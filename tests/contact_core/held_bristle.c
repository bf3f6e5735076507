/* One interval of a bristle whose force is held. */
#define CC_API static __attribute__((unused))
#include "coupling/held_bristle.h"

#define EXPORT __attribute__((visibility("default")))

/* numbers: k, c, L, H, W (3 x 3), s_0 (2), z (2).  Writes F, the way s and the deflection at the end; returns K. */
EXPORT double interval(const double numbers[17], double F[2], double s[2], double z_1[2])
{
    double k = numbers[0], c = numbers[1], L = numbers[2], H = numbers[3];
    const double(*W)[3] = (const double(*)[3])(numbers + 4), *s_0 = numbers + 13, *z = numbers + 15;
    double K = cc_bristle_stiffness(k, c, H);
    cc_hold_bristle(k, K, L, H, W, s_0, z, F);
    for (int i = 0; i < 2; i++) {
        s[i] = s_0[i] - 0.5 * H * H * (W[i][0] * F[0] + W[i][1] * F[1]);
        z_1[i] = z[i];
    }
    cc_move_bristle(k, K, L, s, z_1);
    return K;
}
