/* A force at the angle theta. */

static void outputs(Element *e)
{
    Real XP, YP, F = e->p_in.F, *v = e->P_out.v;
    turn_offset(e, e->XP, e->YP, &XP, &YP);
    Real cosine = cc_cos(e->theta), sine = cc_sin(e->theta);
    Real Fx = cosine * F, Fy = sine * F;
    e->P_out.F[0] = Fx;
    e->P_out.F[1] = Fy;
    e->P_out.F[2] = Fy * XP - Fx * YP;
    e->p_in.v = cosine * v[0] + sine * v[1] + XP * sine * v[2] - YP * cosine * v[2];
    show_position(e, cosine * (position(e, 0) + XP) + sine * (position(e, 1) + YP));
}
