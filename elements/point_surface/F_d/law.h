/* The damping ratio is the law F_d of the recipe.  Below -1 the surface would pull: without allow_adhesion it stays -1
 * there, and accepted points at which that is so are counted. */

static Real damping_ratio(const void *of, Real w)
{
    Real d = slot_F_d((const Element *)of, w);
    return ALLOW_ADHESION ? d : cc_max(d, -1.0);
}

/* Scalars of a law of damping are not remembered. */
static inline int damping_changed(const Element *e) { return (void)e, 0; }
static inline void exchange_damping(Element *e) { (void)e; }
static inline void remember_damping(Element *e) { (void)e; }

static inline void damping_indicators(const Element *e, int i, Real w, Indicators *z)
{
    z->pull[i] = cc_side(1.0 + slot_F_d(e, w));
    slot_F_d_indicators(e, i, w, z);
}

#if ALLOW_ADHESION

static inline void start_clipping(Element *e, int i) { (void)e, (void)i; }

static inline void count_clipped(Element *e, int i, CcHost *host) { (void)e, (void)i, (void)host; }

#else

static inline void start_clipping(Element *e, int i) { e->clipped_count[i] = 0.0; }

static inline void count_clipped(Element *e, int i, CcHost *host)
{
    double w = re(e->depth_rate[i]), factor = 1.0 + re(slot_F_d(e, w));
    if (re(e->in_contact[i]) == 0.0 || !(factor < 0.0))
        return;
    if (re(e->clipped_count[i]) == 0.0)
        cc_report(host, CC_WARNING, "contact",
                  "point %d: 1 + F_d = %g at the depth rate %g m/s would pull; the normal force is 0 there "
                  "(logged once, see clipped_count; [structure] allow_adhesion = true lets it pull)", i + 1, factor, w);
    e->clipped_count[i] += 1.0;
}

#endif
