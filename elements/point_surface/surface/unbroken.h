/* Of surfaces without corners: one closest point follows the other without jumps. */
static inline double surface_jump(const Element *e, int i)
{
    (void)e, (void)i;
    return 1.0;
}

static inline Real surface_slip(const Element *e, int i) { return e->slip_speed[i]; }
