/* The contact law of EULER's contactPS for one point: normal force with restitution, friction.
 *
 * Signs: depth h > 0 in contact; depth rate w = dh/dt > 0 while the point goes deeper; n is the outward unit normal of
 * the surface; v is the velocity of the point relative to the material of the surface at the point.
 *
 * Elastic force, N            F_e = C_F h                                     h > 0, else 0          spring.h
 * Elastic energy, J           U   = C_F h^2 / 2
 * Damping ratio, 1            d(w) = max(d_rest, min(d_comp, k_D w))          relative damping: multiplies F_e
 *                             d_comp =  (1 - C_r^2) k_E / Delta,       d_rest = -(1 - C_r^2) (1 - k_E) / Delta,
 *                             Delta  =  1 - k_E + C_r^2 k_E
 * Normal force, N             N = F_e (1 + d(w))                              never negative, as d_rest >= -1
 * Friction force, N           F_fr = K_fr N min(k_T |v_t|, 1)                 against the slip v_t = v + w n
 * Force on the point, N       F = N n - F_fr v_t / |v_t|                      no moment
 *
 * C_F   contact stiffness, N/m, >= 0            C_r  restitution coefficient, 1, 0 .. 1
 * K_fr  friction coefficient, 1, >= 0           k_D  slope of the damping ratio, s/m, >= 0
 * k_T   slope of the friction ramp, s/m, >= 0   k_E  share of the loss taken in compression, 1, 0 <= k_E < 1
 *
 * Whatever k_E is, a contact in which d stays on its limits returns C_r^2 of the energy it took: compression absorbs
 * E/Delta, restitution gives back C_r^2 E/Delta.  At speeds below d_comp/k_D the damping does not reach its limits and
 * the effective restitution is larger.
 *
 * Range: finite while N is; overflow gives infinity or NaN, which the FMI layer refuses.
 * Not modelled: sticking (the ramp creeps under a tangential load), adhesion, plastic deformation.
 *
 * Source: EULER manual, contactPS; limits d_comp and d_rest follow from the energy balance.
 */
#ifndef CC_CONTACT_H
#define CC_CONTACT_H

#include "../base/vector.h"
#include "friction.h"
#include "spring.h"

typedef struct {
    Real C_F, K_fr, C_r, k_D, k_E, k_T;
} CcContactLaw;

typedef struct {
    Real elastic_force;  /* F_e, N */
    Real damping_force;  /* F_e d, N, negative in restitution */
    Real normal_force;   /* N, N */
    Real friction_force; /* F_fr, N */
    Real slip_speed;     /* |v_t|, m/s */
    Real elastic_energy; /* U, J */
    Real force[3];       /* F on the point, N */
} CcContact;

/* Limits d_rest <= 0 <= d_comp of the damping ratio. */
typedef struct {
    Real rest, comp;
} CcDampingLimits;

CC_API CcDampingLimits cc_damping_limits(Real C_r, Real k_E)
{
    Real loss = 1.0 - C_r * C_r, delta = 1.0 - k_E + C_r * C_r * k_E;
    return (CcDampingLimits){-loss * (1.0 - k_E) / delta, loss * k_E / delta};
}

/* Damping ratio d(w) of the slope k_D, s/m, within its limits, for the depth rate w, m/s. */
CC_API Real cc_limited_damping(Real k_D, CcDampingLimits d, Real w) { return cc_clamp(k_D * w, d.rest, d.comp); }

CC_API Real cc_damping_ratio(const CcContactLaw *law, Real w)
{
    return cc_limited_damping(law->k_D, cc_damping_limits(law->C_r, law->k_E), w);
}

/* N of the elastic force F_e, N, at the damping ratio d. */
CC_API Real cc_damped_force(Real F_e, Real d) { return F_e * (1.0 + d); }

/* Zero where the damping ratio reaches its limits, as the depth rate w grows: first `rest`, then `comp`. */
CC_API void cc_damping_sides(const CcContactLaw *law, Real w, double *rest, double *comp)
{
    CcDampingLimits d = cc_damping_limits(law->C_r, law->k_E);
    double ratio = re(law->k_D * w);
    *rest = ratio - re(d.rest);
    *comp = ratio - re(d.comp);
}

/* What a contact is composed of: laws as functions of numbers, `of` what they belong to. */
typedef struct {
    Real (*elastic)(const void *of, Real h); /* F_e, N, at the depth h > 0 */
    Real (*energy)(const void *of, Real h);  /* U, J; 0: not asked for */
    Real (*damping)(const void *of, Real w); /* d, 1 */
    /* F_fr, N, of N >= 0 at the slip speed |v_t|; F_t, N, is against the slip.  0: none */
    Real (*friction)(const void *of, Real N, Real slip, const Real v_t[3], Real F_t[3]);
    const void *of;
} CcContactParts;

/* Forces of a point at depth h whose velocity relative to the surface is v; none unless h > 0. */
static inline void cc_contact_of(const CcContactParts *law, Real h, const Real n[3], const Real v[3], CcContact *out)
{
    Real w = -cc_dot(v, n), F_e = 0.0, d = 0.0;
    Real v_t[3] = {v[0] + w * n[0], v[1] + w * n[1], v[2] + w * n[2]};
    Real F_t[3] = {0.0 * v_t[0], 0.0 * v_t[1], 0.0 * v_t[2]};
    int touches = !(re(h) <= 0.0);
    out->slip_speed = cc_norm(v_t);
    out->friction_force = out->elastic_energy = 0.0;
    if (touches) {
        F_e = law->elastic(law->of, h);
        d = law->damping(law->of, w);
        if (law->energy)
            out->elastic_energy = law->energy(law->of, h);
    }
    Real N = cc_damped_force(F_e, d);
    if (touches && law->friction) /* where the surface pulls, nothing is pressed that could rub */
        out->friction_force = law->friction(law->of, cc_max(N, 0.0), out->slip_speed, v_t, F_t);
    out->elastic_force = F_e;
    out->damping_force = N - F_e;
    out->normal_force = N;
    CC_UNROLL for (int i = 0; i < 3; i++)
        out->force[i] = N * n[i] - F_t[i];
}

/* The laws of CcContactLaw. */
static inline Real cc_contact_elastic(const void *of, Real h)
{
    return cc_spring_force(((const CcContactLaw *)of)->C_F, h);
}

static inline Real cc_contact_energy(const void *of, Real h)
{
    return cc_spring_energy(((const CcContactLaw *)of)->C_F, h);
}

static inline Real cc_contact_damping(const void *of, Real w) { return cc_damping_ratio((const CcContactLaw *)of, w); }

static inline Real cc_contact_friction(const void *of, Real N, Real slip, const Real v_t[3], Real F_t[3])
{
    const CcContactLaw *law = of;
    return cc_ramp_force(law->K_fr, law->k_T, N, slip, v_t, F_t);
}

CC_API void cc_contact(const CcContactLaw *law, Real h, const Real n[3], const Real v[3], CcContact *out)
{
    const CcContactParts parts = {cc_contact_elastic, cc_contact_energy, cc_contact_damping, cc_contact_friction, law};
    cc_contact_of(&parts, h, n, v, out);
}

#endif
