/* The mean of several contact ports of one body, along their common normal, as one port (coupling.h): heave.
 *
 *     r, v     mean of r_i, v_i                            N = sum N_i
 *     F_e(x) = sum F_e(x + x_i - mean x), likewise U       the body is taken to have been turned as it is now
 *     1 + d(w) = sum F_e(x_i) (1 + d(w + w_i - mean w))/sum F_e(x_i)
 *
 * with the rates w_i at the end of the interval under the forces of joint_force.h.  Steep damping ends the turning of
 * a body within it: what the rates differ from their mean by counts 1/(1 + (z/2)^2), z = H W_nn F_e(x_i) d'(0)/2.
 *
 * Where its motion along the normal does not depend on how it turns, as that of a pad on a controlled axis, this port
 * sees a mass that a spring and a damper hold, and a load on it, which the mobility B does not describe.  There the sum
 * of the normal forces is that of this port, and so is it where a load presses the body on after a first touch
 * (lawful_motion.h).  What it has more than joint_force.h the ports share in
 * the ratio of their F_e, which turns nothing.
 *
 * What friction does along the normal is what the model misses: it ends both.  Where the model (partner_model.h, (1))
 * explains this motion with one lag alone, that is the lag of the ports: an axis keeps the wrenches from showing it. */
#ifndef CC_JOINT_HEAVE_H
#define CC_JOINT_HEAVE_H

#include "coupling.h"
#include "mobility.h"

#define CC_PARALLEL 1e-12  /* 1 - cos of the angle between two normals */
#define CC_HEAVE_STEEP 2.0 /* z at which half of what the rates differ by is left */

/* The law of all ports at one mean depth. */
typedef struct {
    const CcPortLaw *law;
    const CcJointPort *port;
    int n;
    double mean; /* of the depths at the sample, m */
} CcHeaveLaw;

/* Sum of F_e or U of all points at the mean depth h. */
CC_API double cc_heave_sum(const CcHeaveLaw *d, double (*of)(const void *data, double h), double h)
{
    double sum = 0.0;
    for (int i = 0; i < d->n; i++)
        sum += of(d->law->data, h - d->port[i].r[2] - d->mean);
    return sum;
}

CC_API double cc_heave_elastic(const void *data, double h)
{
    const CcHeaveLaw *d = data;
    return cc_heave_sum(d, d->law->elastic, h);
}

CC_API double cc_heave_energy(const void *data, double h)
{
    const CcHeaveLaw *d = data;
    return cc_heave_sum(d, d->law->energy, h);
}

CC_API double cc_heave_damping(const void *data, double w)
{
    const CcHeaveLaw *d = data;
    double mean = 0.0;
    for (int i = 0; i < d->n; i++)
        mean += d->port[i].share * cc_port_damping(d->law, w + d->port[i].turns);
    return mean;
}

/* 1 if all ports have one normal, and a force that is held can act at each. */
CC_API int cc_can_heave(int n, const CcCoupling c[], const CcJointPort port[])
{
    for (int i = 0; i < n; i++)
        if (port[i].usable == 0.0 || c[i].form.e != 0.0
            || cc_dot(port[0].place.axes[2], port[i].place.axes[2]) < 1.0 - CC_PARALLEL)
            return 0;
    return 1;
}

/* What the ports remember of the interval that ended, as their mean does. */
CC_API void cc_heave_remember(CcPartner *p, int n, const CcCoupling c[])
{
    p->r[2] = p->v[2] = 0.0, p->H = c[0].partner.H;
    __builtin_memset(p->f, 0, sizeof p->f);
    for (int i = 0; i < n; i++) {
        p->r[2] += c[i].partner.r[2] / n, p->v[2] += c[i].partner.v[2] / n;
        for (int k = 0; k < CC_KEPT_FORCES; k++)
            p->f[k][2] += c[i].partner.f[k][2];
    }
}

/* The lag by which alone the motion of the mean is explained, or `now`. */
CC_API int cc_heave_lag(const CcPartner *p, int now)
{
    int exact = p->model.use != 0.0 ? cc_model_exact_lag(&p->model) : -1;
    return exact < 0 ? now : exact;
}

/* 1 where the mean is a mass that a spring or a damper holds, and nothing else moves it. */
CC_API int cc_heave_is_held(const CcPartner *p)
{
    int lag = cc_lag(p->lag);
    double missed = cc_sqrt(p->model.lag[lag].miss);
    if (p->model.use == 0.0 || missed > CC_LAWFUL_STEADY * p->W[2][2] * p->f_largest)
        return 0;
    CcLoadedMass on = {.body = cc_held_mass(&p->model, lag)};
    return cc_is_held(&on);
}

/* What each port has of F_e, and how much faster than the mean it goes deeper in the interval to come, under the forces
 * in port[i].f. */
CC_API void cc_heave_turns(CcMobility *m, int n, CcJointPort port[], const CcPortLaw *law)
{
    double S[6] = {0.0}, Y[6], elastic = 0.0, mean = 0.0;
    for (int i = 0; i < n; i++)
        cc_add_wrench(&port[i].place, port[i].f, S);
    cc_times_six(m->B, S, Y);
    for (int i = 0; i < n; i++) {
        CcJointPort *at = port + i;
        const CcInterval *now = &at->at;
        double y[3];
        cc_motion_at(&at->place, Y, y);
        at->turns = m->known != 0.0 ? now->w - now->H * (now->a[2] + y[2]) : 0.0;
        at->share = law->elastic(law->data, now->x);
        elastic += at->share, mean += at->turns / n;
    }
    for (int i = 0; i < n; i++) {
        double z = port[i].at.reach * cc_port_damping_slope(law, 0.0);
        port[i].turns = (port[i].turns - mean) / (1.0 + z * z / (CC_HEAVE_STEEP * CC_HEAVE_STEEP));
        port[i].share = elastic > 0.0 ? port[i].share / elastic : 1.0 / n;
    }
}

/* The sum of the normal forces, N, where it is known better than by the mobility, or 0.  c: the ports, with what they
 * remember of the interval that ended. */
CC_APART double cc_heave_force(CcMobility *m, int n, const CcCoupling c[], CcJointPort port[],
                               const CcPortLaw *law, const CcCouplingOptions *o, double H)
{
    CcCoupling *heave = &m->heave;
    CcPartner *p = &heave->partner;
    double r[3] = {0.0}, v[3] = {0.0}, f[3] = {0.0};
    if (!cc_identifies(&c[0].partner, o) || !cc_can_heave(n, c, port)) {
        cc_coupling_rewind(heave);
        return 0.0;
    }
    cc_heave_remember(p, n, c);
    for (int i = 0; i < n; i++)
        r[2] += port[i].r[2] / n, v[2] += port[i].v[2] / n;
    const CcHeaveLaw all = {law, port, n, -r[2]};
    const CcPortLaw sum = {.elastic = cc_heave_elastic, .energy = cc_heave_energy, .damping = cc_heave_damping,
                           .data = &all, .d_comp = law->d_comp, .d_rest = law->d_rest, .k_D = law->k_D};
    const CcCouplingOptions options = {.lag = o->lag, .identify = 1};
    int quiet = p->begun != 0.0 && cc_coupling_learn(heave, &sum, &options, r, v, 0), held = cc_heave_is_held(p);
    heave->led = 0.0;
    cc_heave_turns(m, n, port, law);
    if (p->begun == 0.0 || quiet || held || heave->lawful.samples > 0.0) {
        cc_coupling_answer(heave, &sum, &options, r, v, H, f);
    } else { /* the force is none of its own */
        cc_coupling_begin(heave, &sum, &options, r, v, H);
        cc_coupling_keep(heave, r, v, f, H);
    }
    return p->lag == c[0].partner.lag && (heave->led != 0.0 || held) ? f[2] : 0.0;
}

#endif
