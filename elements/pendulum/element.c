/* Pendulum: a rigid body on a hinge.  All vectors in world components.
 *
 *     J phi'' = t - k (phi - phi_free) - d w + (n x c) m g + (n x p) f,     w = phi'
 *
 * phi angle about the axis n, |n| = 1, rad, by the right-hand rule      w angular velocity, rad/s      m mass, kg
 * J moment of inertia about the axis, kg m^2      c, p centre of mass and tip from the pivot, m, given at phi = 0
 * k spring rate, N m/rad      d damping, N m s/rad      g gravity, m/s^2      t torque at the port hinge, N m
 * f force at the port tip, N
 *
 * Vectors fixed in the body turn by Rodrigues' formula, with b = a - n (n a):
 *     a -> n (n a) + b cos phi + (n x a) sin phi,     n x a -> (n x a) cos phi - b sin phi.
 * The tip has the velocity w n x p, the centre of mass the acceleration a = phi'' n x c + w^2 n x (n x c) with
 * n x (n x c) = n (n c) - c, so the hinge holds the body with the force m (a - g) - f.
 *
 * Energies, J: kinetic J w^2/2, potential -m g r_c, elastic k (phi - phi_free)^2/2;  work = int (t w + f v) dt
 *     work = kinetic + potential + elastic - start + damping + switched,  switched what changed parameters take away.
 *
 * Not modelled: play and friction of the hinge, moments of the hinge across its axis.   Source: Newton's second law. */
#include "base/elementary.h"
#include "base/vector.h"
#include "laws/damper.h"
#include "laws/spring.h"

typedef struct {
    Real n[3], sine, cosine;
} Turn;

static inline __attribute__((always_inline)) Turn turn_of(const Element *e)
{
    Turn turn;
    Real length = cc_norm(e->axis), scale = re(length) > 0.0 ? 1.0 / length : 0.0;
    cc_sin_cos(e->hinge.phi, &turn.sine, &turn.cosine);
    CC_UNROLL for (int k = 0; k < 3; k++) /* an axis of zeros is refused, but may be evaluated */
        turn.n[k] = e->axis[k] * scale;
    return turn;
}

/* The vector a, given at phi = 0, turned with the body: its part across the axis, all of it, and n x a. */
static void turned(const Turn *turn, const Real a[3], Real out[3], Real now[3], Real across[3])
{
    Real along = cc_dot(turn->n, a), aside[3];
    cc_cross(turn->n, a, aside);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        Real own = turn->n[k] * along, before = a[k] - own;
        out[k] = before * turn->cosine + aside[k] * turn->sine;
        now[k] = own + out[k];
        across[k] = aside[k] * turn->cosine - before * turn->sine;
    }
}

static inline __attribute__((always_inline)) void move(Element *e, int on_demand)
{
    Turn turn = turn_of(e);
    Real w = e->hinge.w, stretch = e->hinge.phi - e->phi_free, weight[3], center[3];
    Real c_out[3], c_across[3], p_out[3], p[3], p_across[3];
    turned(&turn, e->center, c_out, center, c_across);
    turned(&turn, e->tip.offset, p_out, p, p_across);
    CC_UNROLL for (int k = 0; k < 3; k++)
        weight[k] = e->m * e->g[k];
    Real push = cc_dot(p_across, e->tip.f), per_moment = 1.0 / e->J;
    Real moment = (e->hinge.t - cc_spring_force(e->k, stretch) - cc_damper_force(e->d, w))
                  + (cc_dot(c_across, weight) + push);
    e->angular_acceleration = moment * per_moment;
    CC_UNROLL for (int k = 0; k < 3; k++) {
        e->tip.r[k] = e->pivot[k] + p[k];
        e->tip.v[k] = w * p_across[k];
    }
    e->power.damping = e->d * w * w;
    e->power.work = (e->hinge.t + push) * w;
    if (!on_demand)
        return;
    CC_UNROLL for (int k = 0; k < 3; k++) {
        Real acceleration = e->angular_acceleration * c_across[k] - w * w * c_out[k];
        e->bearing_force[k] = e->m * acceleration - weight[k] - e->tip.f[k];
        e->mass_center[k] = center[k] + e->pivot[k];
    }
    e->energy.kinetic = 0.5 * e->J * w * w;
    e->energy.potential = -cc_dot(weight, e->mass_center);
    e->energy.elastic = cc_spring_energy(e->k, stretch);
#if LEDGER
    e->energy.residual = e->energy.work
                         - (e->energy.kinetic + e->energy.potential + e->energy.elastic - e->energy.start)
                         - e->energy.damping - e->energy.switched;
#endif
}

static void outputs(Element *e) { move(e, 1); }
static void rates(Element *e) { move(e, 0); }

static void remember(Element *e)
{
    e->previous.m = e->m;
    e->previous.J = e->J;
    e->previous.k = e->k;
    e->previous.phi_free = e->phi_free;
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->previous.g[k] = e->g[k];
}

static void start(Element *e)
{
    outputs(e);
    e->energy.start = e->energy.kinetic + e->energy.potential + e->energy.elastic;
    e->energy.switched = 0.0;
    remember(e);
}

static int is_unchanged(const Element *e)
{
    int same = re(e->m) == re(e->previous.m) && re(e->J) == re(e->previous.J) && re(e->k) == re(e->previous.k);
    CC_UNROLL for (int k = 0; k < 3; k++)
        same &= re(e->g[k]) == re(e->previous.g[k]);
    return same && re(e->phi_free) == re(e->previous.phi_free);
}

/* Parameters jump where phi and w do not: a change of the stored energy at one point is switched energy. */
static int accept(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    if (is_unchanged(e))
        return 0;
    outputs(e); /* the mass centre is computed on demand */
    Real stretch = e->hinge.phi - e->phi_free, before = e->hinge.phi - e->previous.phi_free, lifted = 0.0;
    CC_UNROLL for (int k = 0; k < 3; k++)
        lifted += (e->m * e->g[k] - e->previous.m * e->previous.g[k]) * e->mass_center[k];
    Real switched = 0.5 * (e->previous.J - e->J) * e->hinge.w * e->hinge.w + lifted
                    + (cc_spring_energy(e->previous.k, before) - cc_spring_energy(e->k, stretch));
    remember(e);
    e->energy.switched += switched;
    return LEDGER && re(switched) != 0.0;
}

#define TYPED_DIGITS 1e-6 /* relative: what a point mass on a string loses when J is written with six digits */

static void check(const Element *e, CcHost *host)
{
    Real length = cc_norm(e->axis), across[3];
    if (re(length) == 0.0) {
        cc_fail(host, "axis = (0, 0, 0) has no direction: it must not be zero");
        return;
    }
    cc_cross(e->axis, e->center, across);
    double distance = re(cc_norm(across) / length), least = re(e->m) * distance * distance;
    if (re(e->J) > 0.0 && re(e->m) > 0.0 && !(re(e->J) >= least * (1.0 - TYPED_DIGITS)))
        cc_fail(host, "J = %g kg.m2 is that of no body: with m = %g kg and center %g m from the axis it must be at "
                "least m times the square of that, %g kg.m2", re(e->J), re(e->m), distance, least);
}
