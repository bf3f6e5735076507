/* The force of a point that is about to pass an edge of the drawn part of the surface, or the limit depth. */
#ifndef COUPLED_EDGES_H
#define COUPLED_EDGES_H

#define CUTS 30 /* bisections of an interval: rounding, for all that is known of it */

/* 1 if point i is within the limits of the contact the time T from now; x and its rate w, when the interval with the
 * acceleration alpha begins at the time begin. */
static int within_limits(Element *e, int i, double R[3][3], double T, double begin, double x, double w, double alpha)
{
    double ahead[3], h = x + (T - begin) * (w - 0.5 * (T - begin) * alpha);
    ahead_of(e, i, T, ahead);
    return surface_covers(e, i, R, ahead) && h <= e->D_max;
}

/* Leave of the force of point i the share of its interval before the point passes an edge of the drawn part or the
 * limit depth: the impulse is that of a force that ends there. */
static void end_at_edge(Element *e, int i, double R[3][3], double step)
{
    CcJointPort *port = port_of(e, i);
    CcPartner *p = &partner_of(e, i)->partner;
    int L = cc_lag(p->lag);
    double x = -port->r[2], w = -port->v[2], alpha = 0.0;
    if (port->usable == 0.0 || !(port->f[2] > 0.0) || cc_is_mismatched(&p->rule)) /* its velocity shows no way */
        return;
    for (int k = L; k >= 0; k--) {
        alpha = p->a[2] + p->turn[2] + cc_dot(p->W[2], p->f[k]);
        if (k > 0) {
            x += step * (w - 0.5 * step * alpha);
            w -= step * alpha;
        }
    }
    double begin = L * step, low = 0.0, high = 1.0;
    if (within_limits(e, i, R, begin + step, begin, x, w, alpha))
        return;
    for (int cut = 0; cut < CUTS; cut++) {
        double middle = 0.5 * (low + high);
        if (within_limits(e, i, R, begin + middle * step, begin, x, w, alpha))
            low = middle;
        else
            high = middle;
    }
    cut_wrench(e, i, low - 1.0);
    for (int k = 0; k < 3; k++)
        port->f[k] = p->f[0][k] = low * port->f[k];
}

#endif
