/* A force along x. */

static void outputs(Element *e)
{
    Real XP, YP, F = e->p_in.F, *v = e->P_out.v;
    turn_offset(e, 0.0, e->YP, &XP, &YP);
    e->P_out.F[0] = F;
    e->P_out.F[1] = 0.0;
    e->P_out.F[2] = -F * YP;
    e->p_in.v = v[0] - YP * v[2];
    show_position(e, position(e, 0) + XP);
}
