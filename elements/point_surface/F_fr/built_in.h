/* Friction on the ramp of friction.h. */

static Real friction_force(const void *of, Real N, Real slip, const Real v_t[3], Real F_t[3])
{
    const Element *e = of;
    return cc_ramp_force(e->K_fr, e->k_T, N, slip, v_t, F_t);
}

static inline void friction_indicators(const Element *e, int i, Indicators *z)
{
    z->full_friction[i] = cc_full_friction(e->k_T, surface_slip(e, i));
}
