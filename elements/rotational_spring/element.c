/* Rotational spring between two shafts: the rod r and the case c.
 *
 *     w = w_r - w_c        theta' = w        t = k theta
 *
 * k spring rate, N.m/rad, > 0      theta deformation, rad, theta0 at the start      w relative angular velocity, rad/s
 * t torque through from r to c, N.m: the spring takes it from the body at r and hands it to that at c, so the torque
 * on the body at r is -t and that on the body at c is +t.  The shafts put in the power P = -(-t w_r + t w_c) = t w.
 *
 * With the structure `angles` the shafts give their angles phi, rad, too, and
 *
 *     theta = theta0 + phi_r - phi_c
 *
 * takes the place of theta' = w: theta is no state, and no error of a coupling remains in it.
 *
 * With `work` false t = 0 while theta follows the shafts.  Energy k theta^2/2, J, that switching or a new k destroys
 * or makes is booked in energy.switched:  work = U - U_start + switched.   Source: Simscape, spring.ssc. */

static Real stiffness(const Element *e) { return re(e->work) != 0.0 ? e->k : 0.0; }

static void outputs(Element *e)
{
#if ANGLES
    e->theta = e->theta0 + (e->r.phi - e->c.phi); /* angles first: after many turns nothing of theta0 is lost */
#endif
    e->w = e->r.w - e->c.w;
    e->t = stiffness(e) * e->theta;
    e->r.t = -e->t;
    e->c.t = e->t;
    e->energy.elastic = 0.5 * e->t * e->theta;
    e->power.work = e->t * e->w;
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.elastic - e->energy.start) - e->energy.switched;
#endif
}

static void start(Element *e)
{
    outputs(e);
    e->energy.start = e->energy.elastic;
    e->energy.switched = 0.0;
    e->previous.stiffness = stiffness(e);
}

/* Inputs and parameters jump where theta does not: all that the stored energy changes by at one theta is switched. */
static int accept(Element *e, CcHost *host, double step)
{
    Real switched = 0.5 * (e->previous.stiffness - stiffness(e)) * e->theta * e->theta;
    e->previous.stiffness = stiffness(e);
    e->energy.switched += switched;
    (void)host, (void)step;
    return LEDGER && re(switched) != 0.0;
}
