/* The force is sampled at communication points and held between them: coupled.h. */
#include "../coupled.h"

/* Whether hold_force replaces all that the law gives at point i. */
static inline int is_without_law(const Element *e, int i, int on_demand)
{
    return !BRISTLE && re(e->held[i]) != 0.0 && !on_demand;
}

/* All points are sampled at once; what held forces did is booked when the interval is over. */
static inline void book_held_powers(Element *e)
{
    if (re(e->held[0]) != 0.0)
        e->power.damping = e->power.friction = e->power.work = 0.0;
}

/* Energy of point i that accept() switches, or that its bristle loses, J: no sample books it again. */
static inline void note_switched(Element *e, int i, double energy)
{
#if LEDGER
    e->accepted_energy[i] += energy;
#else
    (void)e, (void)i, (void)energy;
#endif
}

static inline void note_relaxed(Element *e, int i, double energy)
{
#if LEDGER
    e->sampled_energy[i] -= energy;
#else
    (void)e, (void)i, (void)energy;
#endif
}

static inline void start_watch(Element *e) { (void)e; }

static inline void watch_step(Element *e, int i, CcHost *host) { (void)e, (void)i, (void)host; }
