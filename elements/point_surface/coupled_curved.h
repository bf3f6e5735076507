/* The axes of the coupling on a curved surface: t_1 is turned into the tangent plane from sample to sample. */

/* The axes of the coupling at point i: t_1 of the sample before, turned into the tangent plane of now. */
static void find_axes(Element *e, int i, Real R[3][3])
{
    CcPlace *place = &port_of(e, i)->place;
    double *t = place->axes[0], *n = place->axes[2];
    cc_to_body(R, e->normal[i], n);
    double across = cc_dot(t, n);
    CC_UNROLL for (int k = 0; k < 3; k++)
        t[k] -= across * n[k];
    double length = cc_norm(t);
    if (!(length > 0.5)) { /* n turned by more than 60 degrees: any tangent, the coupling begins anew */
        int least = cc_abs(n[0]) <= cc_abs(n[1]) && cc_abs(n[0]) <= cc_abs(n[2]) ? 0
                    : cc_abs(n[1]) <= cc_abs(n[2])                               ? 1
                                                                                 : 2;
        CC_UNROLL for (int k = 0; k < 3; k++)
            t[k] = (k == least) - n[least] * n[k];
        length = cc_norm(t);
        cc_coupling_rewind(partner_of(e, i));
    }
    CC_UNROLL for (int k = 0; k < 3; k++)
        t[k] /= length;
    cc_cross(n, t, place->axes[1]);
}

/* c of partner.h: what the axes of point i add to the components of its velocity by turning, since the sample
 * before. */
static void find_turn(Element *e, int i, const CcPlace *before)
{
    const CcJointPort *port = port_of(e, i);
    CcPartner *p = &partner_of(e, i)->partner;
    p->turn[0] = p->turn[1] = p->turn[2] = 0.0;
    if (p->begun == 0.0)
        return;
    double V[3], turned = 0.5 / p->H; /* V in the surface's frame: d(E V) = E_mean dV + dE V_mean, E the axes */
    CC_UNROLL for (int k = 0; k < 3; k++) {
        V[k] = 0.0;
        CC_UNROLL for (int j = 0; j < 3; j++)
            V[k] += before->axes[j][k] * p->v[j] + port->place.axes[j][k] * port->v[j];
    }
    CC_UNROLL for (int j = 0; j < 3; j++)
        CC_UNROLL for (int k = 0; k < 3; k++)
            p->turn[j] += turned * (port->place.axes[j][k] - before->axes[j][k]) * V[k];
}

/* The velocity along the axes of point i, and what these add to it by turning. */
static void sample_velocity(Element *e, int i, Real R[3][3], const double relative[3])
{
    CcJointPort *port = port_of(e, i);
    CcPlace before = port->place;
    double u[3];
    find_axes(e, i, R);
    cc_to_body(R, relative, u);
    port->v[0] = cc_dot(u, port->place.axes[0]);
    port->v[1] = cc_dot(u, port->place.axes[1]);
    port->v[2] = cc_dot(relative, e->normal[i]); /* as is_stale has it, to the bit */
    find_turn(e, i, &before);
}

/* The force f of point i, along its axes, in world components where it will be when the surface has turned to R_T. */
static void turn_force(Element *e, int i, double R_T[3][3], const double f[3])
{
    const CcJointPort *port = port_of(e, i);
    CcFoot foot;
    double n[3], t_1[3], t_2[3];
    surface_closest(e->held_arm[i], R_T, e->place[i], &foot);
    surface_normal(R_T, &foot, n);
    cc_to_world(R_T, port->place.axes[0], t_1);
    double across = cc_dot(t_1, n);
    CC_UNROLL for (int k = 0; k < 3; k++)
        t_1[k] -= across * n[k];
    double length = cc_norm(t_1);
    CC_UNROLL for (int k = 0; k < 3; k++)
        t_1[k] = length > 0.0 ? t_1[k] / length : 0.0;
    cc_cross(n, t_1, t_2);
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->held_force[i][k] = f[0] * t_1[k] + f[1] * t_2[k] + f[2] * n[k];
}
