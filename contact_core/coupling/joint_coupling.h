/* The coupling of several contact ports of one body: coupling.h for all at once, with the admittance between them.
 *
 * Each port goes through the steps of coupling.h.  Together they have the lag and the position rule, of which all give
 * evidence, the mobility B (mobility.h), and the forces of an interval:
 *     a_i = y_i - G_i B S[L]                                  free acceleration of port i
 *     f_i = energy-consistent force at a_i + G_i B S          of all ports at once (joint_force.h)
 *
 * Forces that others put on the same bodies (contacts in other FMUs, under a box or on it) come as changes of Y that
 * no force here explains.  They are known one interval late, and what acts late makes energy.  So the law is taken
 * beyond the end of the interval (energy_force.h), which takes energy, by half the share
 *     min(1, 3 mean |Delta Y - B Delta S|^2 / mean |Delta Y|^2)
 * of what is not explained: 0 for a body that only these ports touch, once B is learned.  1 shows others, q = 1, from
 * the second secant on, until some B is found to explain all of a contact's first intervals.  That is kept, fading, and
 * then
 *     b = 4 q                                      the law is taken far beyond the end: motion creeps to its rest
 *     a, mean S                                    means over the contact, of the last 50 intervals at most
 *     alpha = a + G B (S + q (S - mean S))         own forces count twice: the mass is split with the others
 * for others answer to this motion two intervals late, and what they do then would feed it.  Motion at rest changes by
 * these factors an interval (eigenvalues of the linear map, Jacobi, at omega H = 1 and 1/2):
 *                                  two equal boxes,   two equal ones      the same, 3 and 2 times
 *                                  one on another     on a third          as heavy as the third
 *     without all that, 1          1.26               1.85                1.85
 *     b = q, a over 20, S once, 1  1.11               1.37                1.39
 *     as above, 1                  0.980              0.981               0.997
 *     as above, 1/2                0.980              0.987               0.998
 * The twice comes in over ten intervals, for in an impact it lets the points sink deeper.  What is stored there the
 * ports did not absorb, and it is not returned (step 5 of coupling.h).
 *
 * Springs that hold the body change A by -K H V from one interval to the next, and a load of one frequency by its rho
 * (flight.h): they are no others, and the forces are found for an A that goes on changing so.
 *
 * A controlled axis that holds the body, and a load that presses it on, show in the mean of the ports along their
 * normal (joint_heave.h): the sum of the normal forces is the one of that mean then.
 *
 * Lag: by all wrenches at once (wrench_lag.h), by that mean, and with a load that no flight showed (vibrated_body.h).
 *
 * Ports that do not move as one body are on their own, each as in coupling.h.
 *
 * Sources: mass splitting: Tonge, Benevolenski & Voroshilov, ACM Trans. Graph. 31 (2012) 105. */
#ifndef CC_JOINT_COUPLING_H
#define CC_JOINT_COUPLING_H

#include "joint_force.h"
#include "joint_heave.h"
#include "vibrated_body.h"

#define CC_TWIST_ROUNDING 1e-7 /* changes of the twist below this share of it are rounding, as that of cc_spin */
#define CC_REACH_OF_PORT 0.5 /* of H W_nn F_e(x) of a port: what the weight of damping takes it for */
#define CC_STEADY 0.98 /* most of a mean that an interval leaves where others act */

CC_API void cc_remember(const CcCoupling *c, CcJointPort *port)
{
    port->begun = c->partner.begun, port->H = c->partner.H;
    for (int k = 0; k < 3; k++)
        port->r_before[k] = c->partner.r[k], port->v_before[k] = c->partner.v[k];
}

/* Places of the ports and the twist V of the body.  Returns the share of the speeds that it leaves open. */
CC_API double cc_joint_twist(int n, CcJointPort port[], double V[6])
{
    double centre[3] = {0.0}, spread[3][3] = {{0.0}}, L[3] = {0.0}, size = 0.0, all = 0.0, open = 0.0;
    for (int i = 0; i < 6; i++)
        V[i] = 0.0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            centre[k] += port[i].position[k] / n;
    for (int i = 0; i < n; i++) {
        double d[3], turned[3], u[3];
        const double (*axes)[3] = (const double (*)[3])port[i].place.axes;
        for (int k = 0; k < 3; k++) {
            d[k] = port[i].position[k] - centre[k];
            u[k] = axes[0][k] * port[i].v[0] + axes[1][k] * port[i].v[1] + axes[2][k] * port[i].v[2];
            V[k] += u[k] / n;
            size += d[k] * d[k] / n;
            all += u[k] * u[k];
        }
        cc_cross(d, u, turned);
        for (int k = 0; k < 3; k++) {
            port[i].place.arm[k] = d[k];
            L[k] += turned[k];
            for (int j = 0; j < 3; j++)
                spread[k][j] += d[k] * d[j];
        }
    }
    double l = cc_sqrt(size);
    cc_spin(spread, L, V + 3);
    for (int k = 0; k < 3; k++)
        V[3 + k] *= l;
    for (int i = 0; i < n; i++) {
        double u[3];
        for (int k = 0; k < 3; k++)
            port[i].place.arm[k] /= l > 0.0 ? l : 1.0;
        cc_motion_at(&port[i].place, V, u);
        for (int k = 0; k < 3; k++)
            open += (port[i].v[k] - u[k]) * (port[i].v[k] - u[k]);
    }
    return all > 0.0 ? cc_sqrt(open / all) : 0.0;
}

/* Length of the interval that ended, s: of any port that was there when it began; 0 if none was. */
CC_API double cc_joint_interval(int n, const CcCoupling c[])
{
    double H = 0.0;
    for (int i = 0; i < n; i++)
        H = c[i].partner.begun != 0.0 ? c[i].partner.H : H;
    return H;
}

/* How the way of a port bends in the interval H that ended with the twist V: by the springs or the load, in flight
 * by all there is, of which the first interval shows nothing. */
CC_API void cc_joint_bend(CcMobility *m, const CcPartner *p, const CcPlace *at, const double V[6], double H,
                          CcObservation *seen)
{
    double d[6], pull[6], change[3];
    for (int i = 0; i < 6; i++)
        d[i] = 0.5 * H * (m->V[i] + V[i]);
    cc_flight_change(&m->flight, d, 1, pull);
    cc_motion_at(at, pull, change);
    if (m->flight.used == 0.0)
        change[2] = seen->quiet && m->anchored != 0.0 ? seen->y[2] - p->y[2] : 0.0;
    seen->bend = cc_bend(H, change[2]);
    seen->unbent = seen->quiet && m->anchored == 0.0;
}

/* Sum of the stiffnesses of the ports, N/m, at the depths they have reached. */
CC_API double cc_joint_stiffness(int n, const CcCoupling c[], const CcPortLaw *law)
{
    double k = 0.0;
    for (int i = 0; i < n; i++)
        k += cc_secant_stiffness(law, c[i].deepest);
    return k;
}

/* A mobility that was given is refuted. */
CC_API void cc_forget_mobility(CcMobility *m, int n, CcCoupling c[])
{
    for (int i = 0; i < n; i++)
        c[i].partner.refuted = 1.0;
    m->known = m->others = m->open[0] = m->open[1] = 0.0;
}

/* Steps 1 to 3 for the interval H that ended with the twist V. */
CC_APART void cc_joint_learn(CcMobility *m, int n, CcCoupling c[], CcJointPort port[], const CcPortLaw *law,
                             const CcCouplingOptions *o, const double V[6], double H)
{
    double rule[2] = {0.0, 0.0}, least = 0.0, W = 0.0; /* W: 0 once B is learned */
    double Y[6], change[6], free[6], left[6], pushed[6];
    CcLagFits fits = {.answer = 0.0};
    int quiet = 1, lag = cc_lag(c[0].partner.lag);
    for (int i = 0; i < n; i++)
        quiet &= cc_observe_interval(&c[i].partner, port[i].v).quiet;
    for (int i = 0; i < n; i++) {
        CcPartner *p = &c[i].partner;
        if (p->begun == 0.0)
            continue;
        CcObservation seen = cc_observe_interval(p, port[i].v);
        cc_fit_lags(p, &seen, &fits);
        p->jumped = 0.0;
        seen.quiet = quiet;
        cc_joint_bend(m, p, &port[i].place, V, H, &seen);
        cc_update_noise(p, port[i].r, port[i].v, &seen);
        if (port[i].usable != 0.0 && c[i].off == 0.0)
            cc_sum_position_rule(p, port[i].r, port[i].v, &seen);
        least = least > seen.floor / H ? least : seen.floor / H;
        W = m->count > 0.0 || W > p->W[2][2] ? W : p->W[2][2];
        rule[0] += p->rule.sum[0], rule[1] += p->rule.sum[1];
        for (int k = 0; k < 3; k++) {
            p->a_before[k] = p->a[k];
            p->a[k] = seen.y[k];
        }
    }
    double rounding = CC_TWIST_ROUNDING * cc_sqrt(cc_squares(V)) / H;
    least = least > rounding ? least : rounding;
    CcTwistChange seen = {.least = least, .quiet = quiet, .compared = m->anchored != 0.0};
    for (int i = 0; i < 6; i++)
        Y[i] = (V[i] - m->V[i]) / H, change[i] = Y[i] - m->flight.Y[i];
    int without = m->flight.used == 0.0;
    cc_pass_flight(&m->flight, m->V, Y, H, &seen, m->Y, free);
    if (without && m->flight.used != 0.0) /* what was not explained is now */
        m->others = m->open[0] = m->open[1] = m->lag.quiet_changes = 0.0;
    int given = o->lag != CC_LAG_AUTO || m->together != 0.0;
    int better = cc_lag_by_wrenches(&m->lag, m->S, lag, &seen, &fits, W, given);
    if (better == lag && !given && !quiet)
        better = cc_heave_lag(&m->heave.partner, lag);
    int changed = better != lag, identifies = cc_identifies(&c[0].partner, o);
    if (changed) /* a mobility that is given holds for any lag */
        m->known *= !identifies, m->others = m->open[0] = m->open[1] = 0.0;
    if (identifies)
        cc_find_mobility(m, better, free, quiet, changed, least);
    else if (!quiet && cc_is_mobility_refuted(m, better, cc_joint_stiffness(n, c, law) * H * H)) {
        cc_forget_mobility(m, n, c);
        cc_find_mobility(m, better, free, 0, 1, least);
    }
    if (seen.compared) {
        cc_account(m, better, free, least, left);
        int anew = m->count > CC_FLIGHT_SECANTS && !quiet && cc_oppose_flight(&m->flight, left, seen.q);
        int was = m->together != 0.0;
        if (identifies)
            better = cc_find_vibrated(m, better, o->lag != CC_LAG_AUTO, change, quiet);
        if (anew || (!quiet && (was || m->together != 0.0))) {
            __builtin_memcpy(free, Y, sizeof free);
            __builtin_memcpy(m->Y_anchor, Y, sizeof Y);
            __builtin_memcpy(m->S_anchor, m->S[better], sizeof m->S_anchor);
        }
    }
    cc_times_six(m->B, m->S[better], pushed);
    m->anchored = 1.0;
    m->lasted = quiet || m->others == 0.0 ? 0.0 : m->lasted + 1.0;
    double keep = m->lasted / (m->lasted + 1.0);
    keep = m->others * (keep < CC_STEADY ? keep : CC_STEADY);
    for (int i = 0; i < 6; i++)
        m->S_mean[i] = m->S[better][i] + keep * (m->S_mean[i] - m->S[better][i]);
    for (int i = 0; i < n; i++) {
        CcPartner *p = &c[i].partner;
        double y[3], by[3] = {0.0, 0.0, 0.0}, added[3];
        p->lag = better, p->rule.beta = cc_rule_beta(rule), p->known = m->known, p->unanswered = m->unanswered;
        if (p->begun == 0.0)
            cc_motion_at(&port[i].place, Y, p->a);
        else
            cc_coupling_book(c + i, law, port[i].r, port[i].v, port[i].usable == 0.0 || c[i].off != 0.0, quiet);
        for (int k = 0; k < 3; k++)
            y[k] = p->y[k] = p->a[k];
        p->compared = p->begun;
        if (m->known != 0.0) {
            cc_admittance_at(&port[i].place, m->B, p->W);
            cc_motion_at(&port[i].place, pushed, by);
        } else if (p->begun == 0.0) { /* else W is yet to be guessed: cc_coupling_begin */
            cc_apply_admittance(p->W, p->f[better], by);
        }
        cc_motion_at(&port[i].place, m->pull, added);
        for (int k = 0; k < 3; k++)
            p->a[k] = y[k] - by[k] + keep * (p->a_before[k] - added[k] - (y[k] - by[k]));
    }
    __builtin_memcpy(m->Y, free, sizeof free);
}

/* The forces of the interval where others act on the same bodies, by q: alpha = a + G B (S + q (S - mean S)). */
CC_API int cc_shared_forces(const CcMobility *m, int n, const CcCoupling c[], CcJointPort port[], const CcPortLaw *law)
{
    CcMobility shared = *m;
    double Y[6], y[3], more = m->others * (m->lasted < CC_SHARED_AFTER ? m->lasted / CC_SHARED_AFTER : 1.0);
    cc_times_six(shared.B, m->S_mean, Y);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            shared.B[i][j] *= 1.0 + more;
    for (int i = 0; i < n; i++) {
        cc_motion_at(&port[i].place, Y, y);
        for (int k = 0; k < 3; k++) {
            port[i].at.a[k] -= more * y[k];
            for (int j = 0; j < 3; j++)
                port[i].at.W[k][j] *= 1.0 + more;
        }
    }
    return cc_joint_forces(&shared, n, c, port, law);
}

/* All ports on their own. */
CC_API int cc_separate_step(int n, CcCoupling c[], CcJointPort port[], const CcPortLaw *law, const CcCouplingOptions *o,
                            double H)
{
    int evaluations = 0;
    for (int i = 0; i < n; i++) {
        port[i].f[0] = port[i].f[1] = port[i].f[2] = 0.0;
        if (port[i].usable != 0.0)
            evaluations += cc_coupling_step(c + i, law, o, port[i].r, port[i].v, H, port[i].f);
        else
            cc_coupling_idle(c + i, law, o, port[i].r, port[i].v, H);
    }
    return evaluations;
}

/* The state before the first sample; the ports are started by cc_coupling_start. */
CC_API void cc_joint_start(CcMobility *m, const CcCouplingOptions *o)
{
    const CcCouplingOptions heave = {.lag = o->lag, .identify = 1};
    *m = (CcMobility){.known = o->inertia > 0.0};
    cc_coupling_start(&m->heave, &heave);
    if (o->inertia > 0.0)
        cc_guess_mobility(m->B, 1.0 / (o->inertia * (1.0 + CC_ROTATION_GIVEN)), CC_ROTATION_GIVEN);
}

/* Motion and forces are forgotten, what was learned of the bodies is kept. */
CC_API void cc_mobility_rewind(CcMobility *m)
{
    CcMobility again = {.loose = m->loose, .known = m->known, .count = m->count, .left = m->left,
                        .open = {m->open[0], m->open[1]}, .flight = m->flight, .heave = m->heave};
    cc_coupling_rewind(&again.heave);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            again.B[i][j] = m->B[i][j];
    *m = again;
}

/* No force can act. */
CC_API void cc_joint_rewind(CcMobility *m, int n, CcCoupling c[], CcJointPort port[])
{
    cc_mobility_rewind(m);
    for (int i = 0; i < n; i++) {
        cc_coupling_rewind(c + i);
        port[i].f[0] = port[i].f[1] = port[i].f[2] = 0.0;
    }
}

/* The body may have been put elsewhere (cc_coupling_put_elsewhere). */
CC_API void cc_joint_find_jump(CcMobility *m, int n, CcCoupling c[], const CcJointPort port[])
{
    int jumped = 0;
    for (int i = 0; i < n; i++)
        jumped |= port[i].usable != 0.0 && c[i].off == 0.0 && cc_is_put_elsewhere(&c[i].partner, port[i].r, port[i].v);
    if (!jumped)
        return;
    const CcMobility was = *m;
    cc_mobility_rewind(m);
    m->begun = was.begun;
    __builtin_memcpy(m->S, was.S, sizeof was.S);
    for (int i = 0; i < n; i++)
        cc_coupling_put_elsewhere(c + i);
}

/* At the start forces may have acted that others balance (cc_coupling_balanced): they answer as one body. */
CC_API void cc_joint_balanced(CcMobility *m, int n, CcCoupling c[], CcJointPort port[])
{
    double Y[6];
    int acted = 0;
    for (int k = 0; k < CC_KEPT_FORCES; k++)
        for (int i = 0; i < n; i++)
            cc_add_wrench(&port[i].place, c[i].partner.f[k], m->S[k]);
    for (int i = 0; i < 6; i++)
        acted |= m->S[1][i] != 0.0;
    if (m->known == 0.0 || !acted)
        return;
    cc_times_six(m->B, m->S[1], Y); /* S[0] may be that of the start, which a master reads first */
    for (int i = 0; i < n; i++) {
        double y[3];
        cc_motion_at(&port[i].place, Y, y);
        for (int k = 0; k < 3; k++)
            port[i].at.a[k] = -y[k];
    }
}

/* Add what springs or a load change in the interval H that begins with V to its free acceleration. */
CC_API void cc_joint_pull(CcMobility *m, int n, CcCoupling c[], const CcJointPort port[], const double V[6], double H)
{
    double d[6], y[3];
    __builtin_memset(m->pull, 0, sizeof m->pull);
    if (m->flight.used == 0.0)
        return;
    cc_flight_way(&m->flight, V, H, d);
    cc_flight_change(&m->flight, d, 1, m->pull);
    for (int i = 0; i < n; i++) {
        cc_motion_at(&port[i].place, m->pull, y);
        for (int k = 0; k < 3; k++)
            c[i].partner.a[k] += y[k];
    }
}

/* The intervals until the force acts: their rates, as twists, by the wrenches that were given and what springs or a
 * load change meanwhile, the newest first; and that change in the interval on which it acts. */
CC_API void cc_joint_ahead(CcMobility *m, int lag, const double V[6], double H, double pushed[CC_LAGS - 1][6],
                           double change[6])
{
    double way[6], pull[6], rate[6];
    cc_times_six(m->B, m->S[lag], rate);
    cc_flight_way(&m->flight, V, H, way);
    cc_flight_change(&m->flight, way, 1, pull);
    for (int i = 0; i < 6; i++)
        rate[i] = m->flight.Y[i] - rate[i] + pull[i], change[i] = 0.0;
    for (int k = CC_LAGS - 2; k >= 0; k--) {
        cc_times_six(m->B, m->S[k], pushed[k]);
        if (k >= lag || m->flight.used == 0.0)
            continue;
        for (int i = 0; i < 6; i++) {
            pushed[k][i] += change[i];
            way[i] += H * H * (rate[i] + pushed[k][i]);
        }
        cc_flight_change(&m->flight, way, lag - k + 1, pull);
        for (int i = 0; i < 6; i++)
            change[i] += pull[i];
    }
}

/* A sample of n ports, H, s, the step to come.  Leaves the forces, N, in port[i].f; returns how often the right side of
 * the force was evaluated. */
CC_APART int cc_joint_step(CcMobility *m, int n, CcCoupling c[], CcJointPort port[], const CcPortLaw *law,
                           const CcCouplingOptions *o, double H)
{
    double V[6], open = cc_joint_twist(n, port, V);
    for (int i = 0; i < n; i++)
        cc_remember(c + i, port + i);
    if (m->loose < CC_MOST_LOOSE)
        m->loose = open > CC_LOOSE ? m->loose + 1.0 : 0.0;
    if (o->straight || m->loose >= CC_MOST_LOOSE)
        return cc_separate_step(n, c, port, law, o, H);
    int active = 0; /* a force can act, or acts still */
    for (int i = 0; i < n; i++)
        active |= port[i].usable != 0.0 || !cc_observe_interval(&c[i].partner, port[i].v).quiet;
    if (!active) {
        cc_joint_rewind(m, n, c, port);
        return 0;
    }
    cc_joint_find_jump(m, n, c, port);
    double passed = cc_joint_interval(n, c);
    if (m->begun != 0.0 && passed > 0.0)
        cc_joint_learn(m, n, c, port, law, o, V, passed);
    cc_joint_pull(m, n, c, port, V, H);
    double given[CC_LAGS - 1][6], change[6];
    cc_joint_ahead(m, cc_lag(c[0].partner.lag), V, H, given, change);
    for (int i = 0; i < n; i++)
        port[i].at = cc_coupling_begin(c + i, law, o, port[i].r, port[i].v, H);
    int doubted = 0;
    for (int i = 0; i < n && m->known != 0.0; i++)
        doubted |= c[i].partner.known == 0.0;
    if (doubted)
        cc_forget_mobility(m, n, c);
    if (m->begun == 0.0)
        cc_joint_balanced(m, n, c, port);
    for (int i = 0; i < n; i++) {
        CcJointPort *at = port + i;
        CcPartner *p = &c[i].partner;
        double pushed[CC_LAGS - 1][3], more[3];
        at->at.beyond = cc_unexplained(m);
        for (int k = 0; k < CC_LAGS - 1; k++)
            if (m->known != 0.0)
                cc_motion_at(&at->place, given[k], pushed[k]);
            else
                cc_apply_admittance(p->W, p->f[k], pushed[k]);
        double x = at->at.x, w = at->at.w, made = cc_coupling_predict(c + i, law, pushed, &at->at);
        cc_motion_at(&at->place, change, more);
        for (int k = 0; k < 3; k++)
            at->at.a[k] += m->known != 0.0 ? more[k] : 0.0;
        if (m->known != 0.0)
            at->at.reach = CC_REACH_OF_PORT * H * at->at.W[2][2] * law->elastic(law->data, at->at.x);
        at->most = at->usable != 0.0 ? cc_coupling_most(c + i, law, x, w, at->at.w, H) : 0.0;
        c[i].scale = cc_coupling_scale(c + i, law, &at->at, made);
    }
    int evaluations = m->others > 0.0 ? cc_shared_forces(m, n, c, port, law) : cc_joint_forces(m, n, c, port, law);
    double sum = cc_heave_force(m, n, c, port, law, o, H);
    m->heaves = sum > 0.0;
    if (sum > 0.0)
        cc_share_sum(m, n, port, law, sum);
    double wrench[6] = {0.0};
    for (int i = 0; i < 6; i++)
        m->V[i] = V[i];
    for (int i = 0; i < n; i++) {
        CcJointPort *at = port + i;
        c[i].ceilings += at->f[2] > 0.0 && at->f[2] >= at->most;
        if (cc_coupling_holds(c + i) != CC_COUPLED && at->usable != 0.0)
            cc_coupling_literal(c + i, law, at->r, at->v, at->f);
        cc_add_wrench(&at->place, at->f, wrench);
        cc_coupling_keep(c + i, at->r, at->v, at->f, H);
        c[i].off = at->usable == 0.0;
    }
    cc_put_first(m->S[0], CC_KEPT_FORCES, 6, wrench);
    m->begun = 1.0;
    return evaluations;
}

#endif
