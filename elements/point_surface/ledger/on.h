/* Balances of impulse, contact time and energies. */

static inline void book_rates(Element *e, int i, int in_contact) { e->contact_rate[i] = in_contact; }

static inline void book_friction(Element *e, double energy) { e->energy.friction += energy; }

static inline void close_ledger(Element *e)
{
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.damping - e->energy.friction
                         - e->energy.switched;
}

static inline void start_impulse(Element *e, int i)
{
    e->present_contact[i].impulse_before = e->impulse[i];
    e->last_contact[i].impulse = 0.0;
}

static inline void record_impulse(Element *e, int i)
{
    e->last_contact[i].impulse = e->impulse[i] - e->present_contact[i].impulse_before;
    e->present_contact[i].impulse_before = e->impulse[i];
}
