/* Vectors and quaternions over Real.  Quaternions: scalar first, body to world. */
#ifndef CC_VECTOR_H
#define CC_VECTOR_H

#include "real.h"

/* a . b */
CC_API Real cc_dot(const Real a[3], const Real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* a . b, of n components */
CC_API Real cc_product(int n, const Real a[], const Real b[])
{
    Real sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* out = a x b; out may be a or b. */
CC_API void cc_cross(const Real a[3], const Real b[3], Real out[3])
{
    Real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* |a| of two components of common size */
CC_API double cc_pair_norm(const double a[2]) { return cc_sqrt(a[0] * a[0] + a[1] * a[1]); }

/* A power of two that brings n components to a size whose squares neither overflow nor vanish; 1 for a vector of zeros,
 * where the dual direction alone would grow. */
CC_API double cc_scale(const Real a[], int n)
{
    double square = 0.0, largest = 0.0;
    CC_UNROLL for (int i = 0; i < n; i++)
        square += re(a[i]) * re(a[i]);
    if (square > 1e-280 && square < 1e280) /* the usual case at once */
        return 1.0;
    CC_UNROLL for (int i = 0; i < n; i++)
        largest = re(cc_abs(a[i])) > largest ? re(cc_abs(a[i])) : largest;
    return largest > 1e150 ? 0x1p-600 : largest > 0.0 && largest < 1e-150 ? 0x1p600 : 1.0;
}

/* |a| of any finite vector.  At a = 0 the derivative is set to 0.  Derivatives are kept apart from what is scaled and
 * squared: at a small a they are not small beside it. */
CC_API Real cc_norm(const Real a[3])
{
    double scale = cc_scale(a, 3);
    if (!CC_IS_DUAL && scale == 1.0)
        return cc_sqrt(cc_dot(a, a));
    double b[3] = {re(a[0]) * scale, re(a[1]) * scale, re(a[2]) * scale};
    double length = __builtin_sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    double along = b[0] * cc_dual_part(a[0]) + b[1] * cc_dual_part(a[1]) + b[2] * cc_dual_part(a[2]);
    return cc_real(length * (1.0 / scale), length > 0.0 ? along / length : 0.0);
}

/* Rotation matrix of a quaternion of any length > 0: column j is body axis j in world components. */
CC_API void cc_rotation(const Real quaternion[4], Real R[3][3])
{
    double scale = cc_scale(quaternion, 4);
    int turned = re(quaternion[1]) != 0.0 || re(quaternion[2]) != 0.0 || re(quaternion[3]) != 0.0;
    if (!CC_IS_DUAL && !turned && scale == 1.0) { /* as of a fixed ground: what the formula gives */
        CC_UNROLL for (int i = 0; i < 3; i++)
            CC_UNROLL for (int j = 0; j < 3; j++)
                R[i][j] = i == j;
        return;
    }
    Real q[4] = {quaternion[0] * scale, quaternion[1] * scale, quaternion[2] * scale, quaternion[3] * scale};
    Real s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    Real wx = s * q[0] * q[1], wy = s * q[0] * q[2], wz = s * q[0] * q[3];
    Real xx = s * q[1] * q[1], xy = s * q[1] * q[2], xz = s * q[1] * q[3];
    Real yy = s * q[2] * q[2], yz = s * q[2] * q[3], zz = s * q[3] * q[3];
    R[0][0] = 1.0 - yy - zz, R[0][1] = xy - wz, R[0][2] = xz + wy;
    R[1][0] = xy + wz, R[1][1] = 1.0 - xx - zz, R[1][2] = yz - wx;
    R[2][0] = xz - wy, R[2][1] = yz + wx, R[2][2] = 1.0 - xx - yy;
}

/* A vector from body to world components, R of cc_rotation. */
CC_API void cc_to_world(Real R[3][3], const Real body[3], Real world[3])
{
    CC_UNROLL for (int i = 0; i < 3; i++)
        world[i] = R[i][0] * body[0] + R[i][1] * body[1] + R[i][2] * body[2];
}

/* A vector from world to body components. */
CC_API void cc_to_body(Real R[3][3], const Real world[3], Real body[3])
{
    CC_UNROLL for (int j = 0; j < 3; j++)
        body[j] = R[0][j] * world[0] + R[1][j] * world[1] + R[2][j] * world[2];
}

#endif
