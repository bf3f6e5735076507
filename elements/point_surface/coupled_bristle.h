/* The coupling of a point with a bristle: held_bristle.h. */

#if SLOT_F_SLIP

static double port_limit(const void *data, double N, double u) { return slot_F_slip(data, N, u); }

static void set_friction(const Element *e, CcPortLaw *port)
{
    port->k_B = e->k_B, port->c_B = e->c_B;
    port->limit = port_limit;
}

static void remember_limit(Element *e) { (void)e; }

static void limit_before(const Element *e, CcPortLaw *law) { (void)e, (void)law; }

#else

static void set_friction(const Element *e, CcPortLaw *port)
{
    port->k_B = e->k_B, port->c_B = e->c_B;
    port->K_fr = e->K_fr;
}

static void remember_limit(Element *e) { e->sampled_K_fr = e->K_fr; }

static void limit_before(const Element *e, CcPortLaw *law) { law->K_fr = e->sampled_K_fr; }

#endif

/* The law of the sample is that of the interval to come. */
static void remember_friction(Element *e)
{
    e->sampled_c_B = e->c_B;
    remember_limit(e);
}

/* The law of the interval before the sample: a parameter may have changed since. */
static CcPortLaw friction_before(const Element *e, const CcPortLaw *law)
{
    CcPortLaw before = *law;
    before.c_B = e->sampled_c_B;
    limit_before(e, &before);
    return before;
}

static double energy_of_bristle(const Element *e, int i) { return bristle_energy(e, i, e->k_B); }

/* What the interval before the sample was to the bristle of point i: the way s of the point along the surface, and the
 * deflection before and after.  `first`: length of an interval before the first sample, on which the force of the start
 * acted, s; 0 if there was none. */
static void advance_friction(Element *e, int i, const CcPortLaw *now, double first)
{
    const CcPortLaw before = friction_before(e, now), *law = &before;
    const CcJointPort *port = port_of(e, i);
    CcCoupling *c = partner_of(e, i);
    const CcPartner *p = &c->partner;
    double z[3] = {0.0, 0.0, 0.0}, s[2], H = p->H + first;
    int passed = (p->begun != 0.0 && e->held[i] != 0.0) || first > 0.0; /* else it is a state, and there already */
    for (int k = 0; k < DEFLECTIONS; k++)
        z[k] = e->deflection[i][k];
    along_tangents(&port->place, z, c->z);
    for (int j = 0; j < 2; j++) {
        s[j] = cc_rule_place(p->rule.beta, H, e->slid[i][j], port->v[j] - p->v[j]);
        e->bristle_way[i][j] = passed ? s[j] : 0.0;
        e->bristle_before[i][j] = c->z[j];
    }
    if (!passed)
        return;
    double across = energy_of_bristle(e, i) - cc_bristle_energy(law->k_B, c->z[0] * c->z[0] + c->z[1] * c->z[1]);
    book_friction(e, across); /* lost as the tangents turned */
    note_relaxed(e, i, across);
    double L = cc_bristle_limit(law, p->f[first > 0.0 ? 0 : cc_lag(p->lag)][2], cc_pair_norm(p->v), c->slips != 0.0);
    if (port->usable != 0.0 && -port->r[2] > 0.0)
        c->slips = cc_move_bristle(law->k_B, cc_bristle_stiffness(law->k_B, law->c_B, H), L, s, c->z);
    else
        c->z[0] = c->z[1] = c->slips = 0.0;
    for (int k = 0; k < DEFLECTIONS; k++)
        e->deflection[i][k] = c->z[0] * port->place.axes[0][k] + c->z[1] * port->place.axes[1][k];
}

/* Energy that the friction of the work `rubbed` made beyond the law of the bristle, J; *lost: what it took
 * (held_bristle.h). */
static inline double made_by_friction(const Element *e, int i, const CcPortLaw *law, double rubbed, double *lost)
{
    const double *s = e->bristle_way[i], *z_0 = e->bristle_before[i], *z = ((const CcCoupling *)e->partner[i])->z;
    double H = ((const CcJointPort *)e->port[i])->H, stored = 0.0;
    double K = cc_bristle_stiffness(law->k_B, e->sampled_c_B, H);
    *lost = 0.0;
    for (int j = 0; j < 2; j++) {
        double change = z[j] - z_0[j], F = law->k_B * z_0[j] + K * change;
        stored += 0.5 * law->k_B * (z[j] + z_0[j]) * change;
        *lost += (K - 0.5 * law->k_B) * change * change + F * (s[j] - change);
    }
    return stored + *lost - rubbed;
}

/* The force of the law at the sample, along the axes of point i. */
static void literal_force(const Element *e, int i, double R[3][3], const CcPortLaw *law, double f[3])
{
    double F[3];
    (void)law;
    cc_to_body(R, e->point[i].f, F);
    for (int k = 0; k < 3; k++)
        f[k] = cc_dot(((const CcJointPort *)e->port[i])->place.axes[k], F);
}

/* As the continuous bristle has it: positive where the tip slips, negative by what is left to the limit. */
static void hold_side(Element *e, int i, const CcPortLaw *law)
{
    const CcJointPort *port = port_of(e, i);
    double left = cc_pair_norm(port->f) - cc_bristle_limit(law, port->f[2], cc_pair_norm(port->v), 0);
    e->held_side[i] = partner_of(e, i)->slips != 0.0 ? cc_pair_norm(port->v) : (left < 0.0 ? left : 0.0) / law->c_B;
}
