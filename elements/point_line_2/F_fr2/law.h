/* The friction force is the law F_fr2 of the recipe. */

/* Its second argument: P2, or P of both. */
static Real second_of(Real P1, Real P2) { return FR2_ARGS == FR2_ARGS_P1_P ? cc_sqrt(P1 * P1 + P2 * P2) : P2; }

/* Friction over the speed along the line, N s/m. */
static Real friction_per_speed(const Element *e, const Guide *g, Real P1, Real P2)
{
    Real speed = cc_abs(g->v_long), second = second_of(P1, P2);
    return guide_ratio(slot_F_fr2(e, P1, second, speed SENSORS(e)), speed,
                       slot_F_fr2(e, re(P1), re(second), GUIDE_AT_ZERO SENSORS(e)));
}

static inline void friction_indicators(const Element *e, Indicators *z)
{
    slot_F_fr2_indicators(e, e->P1, second_of(e->P1, e->P2), cc_abs(e->v_long) SENSORS(e), z);
}
