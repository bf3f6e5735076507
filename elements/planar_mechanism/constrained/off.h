/* A tree of bodies without constraints. */

static inline void describe_constraints(const Element *e, Work *work) { (void)e, (void)work; }

static inline void meet_constraints(Element *e, Work *work) { cc_tree_place(JOINTS, work->bodies, e->q, work->m); }

static inline void push_rows(const Element *e, const Work *work, Real p[JOINTS][3]) { (void)e, (void)work, (void)p; }

static inline void constrain(Element *e, Work *work) { (void)e, (void)work; }

static inline void start_constraints(Element *e) { (void)e; }

static inline void check_constraints(const Element *e, CcHost *host) { (void)e, (void)host; }

static inline int settle_constraints(Element *e, CcHost *host, double step)
{
    (void)host, (void)step;
    e->begun = 1.0;
    return 0;
}
