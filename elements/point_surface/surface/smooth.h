/* What sphere, cylinder, cone and torus share. */
static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    CcFoot foot;
    return curved_foot(e, i, arm, R, n, &foot);
}

static inline void keep_foot(Element *e, int i) { keep_place(e, i); }

/* One closest point follows the other without jumps. */
static inline double surface_jump(const Element *e, int i)
{
    (void)e, (void)i;
    return 1.0;
}

static inline Real surface_slip(const Element *e, int i) { return e->slip_speed[i]; }
