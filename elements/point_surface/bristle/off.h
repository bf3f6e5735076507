/* Friction without memory: all of it is friction_force. */
#define FRICTION_OF_CONTACT friction_force

static inline void hold_by_bristle(Element *e, int i, Real R[3][3], const Real n[3], const Real v[3], int in_contact,
                                   CcContact *contact)
{
    (void)e, (void)i, (void)R, (void)n, (void)v, (void)in_contact, (void)contact;
}

static inline void book_sliding(Element *e, const CcContact *contact)
{
    e->power.friction += contact->friction_force * contact->slip_speed;
}

static inline void start_bristle(Element *e, int i, int slips) { (void)e, (void)i, (void)slips; }

static inline int accept_bristle(Element *e, int i)
{
    (void)e, (void)i;
    return 0;
}

static inline double bristle_energy_destroyed(const Element *e, int i)
{
    (void)e, (void)i;
    return 0.0;
}

static inline int bristle_changed(const Element *e)
{
    (void)e;
    return 0;
}

static inline void remember_bristle(Element *e) { (void)e; }
