/* The body turns by small angles: its offset keeps its direction. */

static void turn_offset(const Element *e, Real x, Real y, Real *XP, Real *YP)
{
    (void)e;
    *XP = x;
    *YP = y;
}

static inline Real position(const Element *e, int k) { return (void)e, (void)k, 0.0; }

static inline void show_position(Element *e, Real s) { (void)e, (void)s; }
