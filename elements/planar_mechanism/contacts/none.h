/* No point lies on a profile. */

static inline int holds(const Element *e, int k)
{
    (void)e, (void)k;
    return 1;
}

static inline void show_contacts(Element *e, const Work *work) { (void)e, (void)work; }

static inline void contact_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }

static inline void start_contacts(Element *e, Work *work) { (void)e, (void)work; }

static inline int pass_contacts(Element *e, CcHost *host, double step)
{
    (void)e, (void)host, (void)step;
    return 0;
}

static inline int is_pulled(const Element *e)
{
    (void)e;
    return 0;
}
