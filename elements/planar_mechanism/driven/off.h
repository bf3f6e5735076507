/* No joint has a given motion. */

static inline int given_motion(const Element *e, int i, Real values[3])
{
    (void)e, (void)i, (void)values;
    return 0;
}

static inline void drive_joint(Element *e, const Work *work, int i, const Real p[3])
{
    (void)e, (void)work, (void)i, (void)p;
}

static inline void remember_drives(Element *e) { (void)e; }

static inline void watch_drives(Element *e, CcHost *host) { (void)e, (void)host; }
