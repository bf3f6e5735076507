/* All profiles are polynomials without ends. */

static inline void set_shape(const Element *e, int k, int hold, CcConstraint *one)
{
    (void)e, (void)k, (void)hold, (void)one;
}

static inline double inside(const Element *e, int i)
{
    (void)e, (void)i;
    return 1.0;
}

static inline void shape_indicators(const Element *e, int i, Indicators *z) { (void)e, (void)i, (void)z; }

static inline void find_feet(Element *e, Work *work, const Real q[]) { (void)e, (void)work, (void)q; }

static inline void keep_feet(Element *e) { (void)e; }

static inline void show_place(Element *e, int i, Real at) { (void)e, (void)i, (void)at; }

static inline int follow_profiles(Element *e, CcHost *host, const CcMove m[])
{
    (void)e, (void)host, (void)m;
    return 0;
}

static inline void check_tangents(const Element *e, const Work *work, CcHost *host) { (void)e, (void)work, (void)host; }
