/* Balances of work and losses. */

static void close_ledger(Element *e)
{
    e->energy.residual = e->energy.work + e->energy.changed - (e->energy.total - e->energy.start) - e->energy.damping
                         - e->energy.impact;
#if FRICTION
    e->energy.residual -= e->energy.friction;
#endif
}

static inline void book_work(Element *e, Real work) { e->energy.work += work; }
