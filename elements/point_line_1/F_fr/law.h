/* The friction force is the law F_fr of the recipe. */

/* Friction over the speed along the line, N s/m. */
static Real friction_per_speed(const Element *e, const Guide *g, Real P)
{
    Real speed = cc_abs(g->v_long);
    return guide_ratio(slot_F_fr(e, P, speed SENSORS(e)), speed, slot_F_fr(e, re(P), GUIDE_AT_ZERO SENSORS(e)));
}

static inline void friction_indicators(const Element *e, Indicators *z)
{
    slot_F_fr_indicators(e, e->P, cc_abs(e->v_long) SENSORS(e), z);
}
