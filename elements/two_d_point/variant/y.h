/* A force along y. */

static void outputs(Element *e)
{
    Real XP, YP, F = e->p_in.F, *v = e->P_out.v;
    turn_offset(e, e->XP, 0.0, &XP, &YP);
    e->P_out.F[0] = 0.0;
    e->P_out.F[1] = F;
    e->P_out.F[2] = F * XP;
    e->p_in.v = v[1] + XP * v[2];
    show_position(e, position(e, 1) + YP);
}
