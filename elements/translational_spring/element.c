/* Translational spring between two bodies on a line: at the rod r and at the case c.
 *
 *     v = v_r - v_c        x' = v        F = k x
 *
 * k spring rate, N/m, > 0      x deformation, m, x0 at the start      v relative velocity, m/s
 * F force through from r to c, N: the spring takes it from the body at r and hands it to that at c, so the force on
 * the body at r is -F and that on the body at c is +F.  The bodies put in the power P = -(-F v_r + F v_c) = F v.
 *
 * With the structure `positions` the bodies give their positions s, m, too, and
 *
 *     x = x0 + s_r - s_c
 *
 * takes the place of x' = v: x is no state, and no error of a coupling remains in it.
 *
 * With `work` false F = 0 while x follows the bodies.  Energy k x^2/2, J, that switching or a new k destroys or makes
 * is booked in energy.switched:  work = U - U_start + switched.   Source: Hooke's law. */

static Real stiffness(const Element *e) { return re(e->work) != 0.0 ? e->k : 0.0; }

static void outputs(Element *e)
{
#if POSITIONS
    e->x = e->x0 + (e->r.s - e->c.s); /* positions first: far from the origin nothing of x0 is lost */
#endif
    e->v = e->r.v - e->c.v;
    e->F = stiffness(e) * e->x;
    e->r.F = -e->F;
    e->c.F = e->F;
    e->energy.elastic = 0.5 * e->F * e->x;
    e->power.work = e->F * e->v;
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

/* Inputs and parameters jump where x does not: all that the stored energy changes by at one x is switched. */
static int accept(Element *e, CcHost *host, double step)
{
    Real switched = 0.5 * (e->previous.stiffness - stiffness(e)) * e->x * e->x;
    e->previous.stiffness = stiffness(e);
    e->energy.switched += switched;
    (void)host, (void)step;
    return LEDGER && re(switched) != 0.0;
}
