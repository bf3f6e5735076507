/* What several points show of the bodies that hold their forces is identified together: joint_coupling.h. */

static CcMobility *mobility_of(Element *e) { return (CcMobility *)e->mobility; }

static void start_joint(Element *e, const CcCouplingOptions *options) { cc_joint_start(mobility_of(e), options); }

static void answer_ports(Element *e, const CcPortLaw *law, const CcCouplingOptions *options, double step)
{
    cc_joint_step(mobility_of(e), POINTS, partner_of(e, 0), port_of(e, 0), law, options, step);
}

/* The force of point i changes by the share `more` of it. */
static void cut_wrench(Element *e, int i, double more)
{
    const CcJointPort *port = port_of(e, i);
    double change[3];
    for (int k = 0; k < 3; k++)
        change[k] = more * port->f[k];
    cc_add_wrench(&port->place, change, mobility_of(e)->S[0]);
}

/* The wrench k intervals ago is that of one interval later. */
static void repeat_wrench(Element *e, int k)
{
    for (int j = 0; j < 6; j++)
        mobility_of(e)->S[k][j] = mobility_of(e)->S[k - 1][j];
}

/* What gives the normal force of point i: what is known of it, or of the mean of all. */
static const CcPartner *normal_partner(Element *e, int i)
{
    const CcMobility *m = mobility_of(e);
    return m->loose < CC_MOST_LOOSE && m->heaves != 0.0 ? &m->heave.partner : &partner_of(e, i)->partner;
}

/* Share of the recent changes of the twist that is explained, of all points; or of the motion along the normal, of
 * their mean or of each that is on its own. */
static double trust_of(Element *e, int i)
{
    const CcPartner *p = normal_partner(e, i);
    const CcMobility *m = mobility_of(e);
    return m->loose >= CC_MOST_LOOSE || m->heaves != 0.0
               ? cc_model_trust(&p->model, cc_lag(p->lag), p->model.use != 0.0)
               : cc_mobility_trust(m);
}
