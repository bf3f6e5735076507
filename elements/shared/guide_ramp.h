/* Friction of a guide on the ramp of friction.h. */
#ifndef CC_GUIDE_RAMP_H
#define CC_GUIDE_RAMP_H

/* Friction over the speed along the line, N s/m. */
static Real guide_friction(const Element *e, const Guide *g, Real P)
{
    Real speed = cc_abs(g->v_long);
    return e->K_fr * P * cc_friction_per_slip(e->k_T, speed);
}

static inline void ramp_indicators(const Element *e, Indicators *z)
{
    z->full_friction = cc_full_friction(e->k_T, cc_abs(e->v_long));
}

#endif
