/* Friction with memory for one point: an elastic, damped bristle that a dry slider holds on the surface.
 *
 * The bristle is fixed to the point.  Its tip lies on the surface and slips there only under the limit of friction, so
 * the tangential force is that of a spring and a damper side by side, in series with a slider:
 *
 * Deflection, m               z     of the bristle, in the material of the surface and in the tangent plane
 * Force that holds, N         F_h = k z_t + c v_t          z_t = z - (n z) n
 * Limit, N                    L   = mu N, or a law of N and |v_t|; while the tip sticks at least that of |v_t| = 0
 * Force, N                    F   = F_h min(1, L/|F_h|)    -F acts on the point, F on the surface
 * Rate, m/s                   z'  = (F - k z)/c            = v_t while |F_h| <= L: the tip sticks
 * Slip of the tip, m/s        v_s = v_t - z'_t             = F_h (1 - L/|F_h|)/c, along F
 * Energy, J                   U   = k z^2/2
 * Dissipated power, W         P   = F v_t - U' = L |v_s| + c z'^2 >= 0
 *
 * k  stiffness of the bristle, N/m, > 0         n    unit normal of the surface
 * c  damping of the bristle, N s/m, > 0         v_t  velocity of the point along the surface, relative to its material
 *
 * Stiction.  Below the limit z' = v_t holds exactly: no speed is needed to make a force.  A body that is held under a
 * constant load T < L stays T/k from where the bristle was relaxed.  A load that swings below the limit moves it to
 * and fro on one line, without drift and, except for c, without hysteresis.  (LuGre's bristle slips at every load, and
 * drifts.)
 * Sliding.  |F| = L exactly.  z follows the limit, the direction of slip and a surface that turns with the time
 * constant c/k.  No equation needs the rate of N, and nothing jumps: with N the force goes to zero.
 * Turning surfaces.  z is kept in the frame of the surface, so it turns with its body.  Where the normal turns in that
 * frame, as on a ball, the part of z along n decays with the time constant c/k: it is at most the share c/k times the
 * rate at which n turns of the length of z, and has no part in the force.
 *
 * Choice of c.  A sticking body of the mass m follows m z'' + c z' + k z: c = 2 D sqrt(k m) damps it with the ratio D.
 * A small c makes sliding stiff: the rate is k/c.
 *
 * Not modelled: creep below the limit (there is none), rolling and spin of the point.
 *
 * Sources: the slider with a spring is Prandtl's, ZAMM 8 (1928) 85; Dahl, The Aerospace Corp. TOR-0158 (1968); elastic
 * up to the limit against the drift of LuGre: Dupont, Hayward, Armstrong & Altpeter, IEEE Trans. Autom. Control 47
 * (2002) 787; the drift: Rill, Schaeffer & Schuderer, Multibody Syst. Dyn. (2023), doi 10.1007/s11044-023-09909-5.  The
 * damper beside the spring replaces a rule for plastic flow: the model is one differential equation for any N(t). */
#ifndef CC_BRISTLE_H
#define CC_BRISTLE_H

#include "../base/vector.h"

#define CC_NO_FORCE 1e-150 /* N: the slider does not move for less, and nothing is divided by less (real.h) */

typedef struct {
    Real force[3];   /* F, N */
    Real rate[3];    /* z', m/s */
    Real friction;   /* |F|, N */
    Real slip;       /* |v_s|, m/s */
    Real energy;     /* U, J */
    Real dissipated; /* P, W */
    Real side;       /* (|F_h| - L)/c, m/s: positive where the tip slips, negative where it sticks */
} CcBristle;

/* The limit while the tip sticks: L, but at least that of |v_t| = 0. */
CC_API Real cc_sticking_limit(Real L, Real at_rest) { return cc_max(at_rest, L); }

/* U of a bristle whose deflection has the square z^2, m^2. */
CC_API Real cc_bristle_energy(Real k, Real square) { return 0.5 * k * square; }

CC_API void cc_bristle(Real k, Real c, Real limit, const Real z[3], const Real n[3], const Real v_t[3], CcBristle *out)
{
    Real along = cc_dot(z, n), F_h[3];
    for (int i = 0; i < 3; i++)
        F_h[i] = k * (z[i] - along * n[i]) + c * v_t[i];
    Real needed = cc_norm(F_h);
    int slips = re(needed) > re(cc_max(limit, CC_NO_FORCE));
    Real share = slips ? limit / needed : 1.0;
    out->friction = slips ? limit : needed;
    out->slip = slips ? (needed - limit) / c : 0.0;
    out->side = (needed - limit) / c;
    for (int i = 0; i < 3; i++) {
        out->force[i] = share * F_h[i];
        out->rate[i] = slips ? (out->force[i] - k * z[i]) / c : v_t[i] - k / c * (along * n[i]);
    }
    out->energy = cc_bristle_energy(k, cc_dot(z, z));
    out->dissipated = out->friction * out->slip + c * cc_dot(out->rate, out->rate);
}

#endif
