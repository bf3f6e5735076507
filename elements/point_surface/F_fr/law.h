/* The friction force is the law F_fr of the recipe. */
#define SLOWEST 1e-150 /* m/s: a slip speed below this is none; dual numbers divide by no smaller number (real.h) */

/* Friction force over slip speed, N s/m; at rest its limit, so that derivatives there are those of the sliding
 * point. */
static inline Real friction_per_speed(const Element *e, Real N, Real speed)
{
    if (re(speed) > SLOWEST)
        return slot_F_fr(e, N, speed) / speed;
    return cc_dual_part(slot_F_fr(e, re(N), cc_real(0.0, CC_DUAL_STEP))) / CC_DUAL_STEP; /* in derivatives only */
}

static Real friction_force(const void *of, Real N, Real slip, const Real v_t[3], Real F_t[3])
{
    Real per_speed = friction_per_speed(of, N, slip);
    CC_UNROLL for (int k = 0; k < 3; k++)
        F_t[k] = per_speed * v_t[k];
    return per_speed * slip;
}

static inline void friction_indicators(const Element *e, int i, Indicators *z)
{
    slot_F_fr_indicators(e, i, cc_max(e->normal_force[i], 0.0), surface_slip(e, i), z);
}
