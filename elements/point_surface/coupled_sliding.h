/* The coupling of a point with friction that has no memory. */

#if SLOT_F_FR

static double port_friction(const void *data, double N, double u) { return slot_F_fr(data, N, u); }

static void set_friction(const Element *e, CcPortLaw *port) { (void)e, port->friction = port_friction; }

#else

static void set_friction(const Element *e, CcPortLaw *port) { port->K_fr = e->K_fr, port->k_T = e->k_T; }

#endif

static inline void remember_friction(Element *e) { (void)e; }

static inline void advance_friction(Element *e, int i, const CcPortLaw *law, double first)
{
    (void)e, (void)i, (void)law, (void)first;
}

static inline double energy_of_bristle(const Element *e, int i) { return (void)e, (void)i, 0.0; }

/* Energy that the friction of the work `rubbed` made beyond its law, J; *lost: what it took. */
static inline double made_by_friction(const Element *e, int i, const CcPortLaw *law, double rubbed, double *lost)
{
    (void)e, (void)i, (void)law;
    *lost = rubbed;
    return 0.0;
}

/* The force of the law at the sample, along the axes of point i. */
static void literal_force(const Element *e, int i, double R[3][3], const CcPortLaw *law, double f[3])
{
    const CcJointPort *port = (const CcJointPort *)e->port[i];
    (void)R;
    if (port->usable != 0.0)
        cc_law_at(law, port->r, port->v, f);
}

static inline void hold_side(Element *e, int i, const CcPortLaw *law) { (void)e, (void)i, (void)law; }
