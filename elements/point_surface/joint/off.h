/* One point. */

static inline void start_joint(Element *e, const CcCouplingOptions *options) { (void)e, (void)options; }

static void answer_ports(Element *e, const CcPortLaw *law, const CcCouplingOptions *options, double step)
{
    cc_remember(partner_of(e, 0), port_of(e, 0));
    cc_separate_step(1, partner_of(e, 0), port_of(e, 0), law, options, step);
}

static inline void cut_wrench(Element *e, int i, double more) { (void)e, (void)i, (void)more; }

static inline void repeat_wrench(Element *e, int k) { (void)e, (void)k; }

static const CcPartner *normal_partner(Element *e, int i) { return &partner_of(e, i)->partner; }

/* Share of the recent changes of motion that is explained. */
static double trust_of(Element *e, int i)
{
    const CcPartner *p = &partner_of(e, i)->partner;
    return cc_model_trust(&p->model, cc_lag(p->lag), p->model.use != 0.0);
}
