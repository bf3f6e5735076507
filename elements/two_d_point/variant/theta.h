/* A torque only. */

static void outputs(Element *e)
{
    e->P_out.F[0] = 0.0;
    e->P_out.F[1] = 0.0;
    e->P_out.F[2] = e->p_in.T;
    e->p_in.omega = e->P_out.v[2];
}
