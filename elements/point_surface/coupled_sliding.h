/* The coupling of a point with friction that has no memory. */

#if SLOT_F_FR

static double port_friction(const void *data, double N, double u) { return slot_F_fr(data, N, u); }

static void set_friction(const Element *e, CcPortLaw *port) { (void)e, port->friction = port_friction; }

#else

static void set_friction(const Element *e, CcPortLaw *port) { port->K_fr = e->K_fr, port->k_T = e->k_T; }

#endif

static inline void advance_friction(Element *e, int i, const CcPortLaw *law, const double from[3], double first)
{
    (void)e, (void)i, (void)law, (void)from, (void)first;
}

/* The energy that friction took in the interval before the sample, J, while the force f acted; *rubbed: the work of f
 * along the surface. */
static inline double work_of_friction(const Element *e, int i, const CcPortLaw *law, const double f[3], double *rubbed)
{
    const CcPort *port = (const CcPort *)e->port[i];
    const double *v = port->v, *v_0 = port->v_before, H_half = 0.5 * port->H;
    (void)law;
    *rubbed = -H_half * (f[0] * (v_0[0] + v[0]) + f[1] * (v_0[1] + v[1]));
    return *rubbed;
}

/* The force of the law at the sample, along the axes of point i. */
static void literal_force(const Element *e, int i, double R[3][3], const CcPortLaw *law, double f[3])
{
    const CcPort *port = (const CcPort *)e->port[i];
    (void)R;
    if (port->usable != 0.0)
        cc_law_at(law, port->r, port->v, f);
}

static inline void hold_side(Element *e, int i, const CcPortLaw *law) { (void)e, (void)i, (void)law; }
