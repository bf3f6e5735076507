/* The forces of several ports of one body over an interval, all at once.
 *
 * The wrench S = sum G_i' f_i of all forces pushes port i off by alpha_i = a_i + G_i B S (mobility.h), and that gives
 *     normal, N       N = N(alpha_z) of energy_force.h, at most the ceiling of the port
 *     friction, N     f_t = -F_fr(N, |u_m|) u_m/|u_m|,  u_m = u + theta H alpha_t             against the mean slip;
 *                     the ramp F_fr = K_fr N min(1, k_T |u_m|), a user's law, or the bristle of held_bristle.h
 * theta is that of energy_force.h, of the mean w of W_xx and W_yy and the slope of F_fr at rest.
 *
 * Newton's iteration finds S: six unknowns, however many ports there are.  With the slopes D_i = df_i/dalpha_i
 *     (1 - sum G_i' D_i G_i B) dS = sum G_i' f_i - S
 * D_i is 0 where there is no contact: which points touch, stick or slide is found by the way.  Where more contacts than
 * needed carry the body, their laws give the shares.
 *
 * Friction that sticks is steep.  Its slopes are taken where the port would slide if it answered its own friction by w:
 *     |u_m| + theta H w F_fr(N, |u_m|) = |p|,  u_m along p = u + theta H (alpha_t - w f_t),  f_t as it is so far
 * That has the same solution for any w, and there F is smooth: slopes F_p along p and F/|p| across it, each below
 * 1/(theta H w).  D has -theta H F_p/(1 - theta H w F_p) along p, and likewise across.
 *
 * Safeguard.  Without friction N falls with alpha and B is positive, so S is the minimum of a convex function, whose
 * slope along dS is (B dS) (S - sum G_i' f_i) < 0.  Where a step leaves more than CC_MOST_LEFT of that with the other
 * sign, it is halved until CC_LEFT remains.  Should CC_MOST_JOINT_STEPS not do, as where friction is steep and large,
 * each port is solved alone, for the others' forces as they are (energy_force.h), in turn, until none changes.
 *
 * Sources: semismooth Newton for contact with friction: Alart & Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991)
 * 353. */
#ifndef CC_JOINT_FORCE_H
#define CC_JOINT_FORCE_H

#include "coupling.h"
#include "../base/factor.h"
#include "mobility.h"

#define CC_MOST_JOINT_STEPS 20
#define CC_JOINT_END 1e-9    /* of the largest force: a step that ends it, for the next would be its square */
#define CC_MOST_LEFT 0.9
#define CC_LEFT 0.5
#define CC_LEAST_SLIP 1e-12  /* of 1 - theta H w F_p: a law that holds at no slip has 0 */
#define CC_MOST_VOLUME 1e300 /* determinant beyond which numbers overflow */
#define CC_MOST_SWEEPS 60

/* One of the ports at a sample.  Given: usable, position, place.axes, r, v.  The rest is work space, and the result
 * f. */
typedef struct {
    double usable CC_IN(0, 1);   /* 0: no force acts here */
    double position[3];          /* in the surface's frame, m */
    double r[3], v[3];           /* as of coupling.h */
    CcPlace place;
    CcInterval at;
    double most, f[3];
    /* the sample before, for whoever books the interval */
    double begun CC_IN(0, 1), r_before[3], v_before[3], H CC_FROM(0);
    double from[3], step[3];     /* of the iteration: f = from + t step */
    double asked[3], D[3][3];    /* the step that the law asks for if alpha stays, and its slopes by alpha */
    double share CC_IN(0, 1), turns; /* of the sum of F_e; m/s by which it goes deeper faster than the mean */
} CcJointPort;

/* Friction as a function of p. */
typedef struct {
    double e[2], F;     /* -F e is the friction, N */
    double F_p, across; /* slopes of F e by p, along e and across it, N s/m */
    double F_N;         /* slope of F by N at this theta, 1 */
    double reach, own;  /* theta H, s; theta H w, m/(s N) */
    double by_N[2];     /* what N changes in p - own F e through theta, m/(s N) */
} CcFrictionByPush;

/* The friction of a port pushed off by alpha, while it is f. */
CC_API CcFrictionByPush cc_joint_friction(const CcPortLaw *law, const CcInterval *at, double N, const double alpha[3],
                                          const double f[3])
{
    double H = at->H, w = 0.5 * (at->W[0][0] + at->W[1][1]), more = N * (1.0 + CC_SECANT);
    double theta = 0.5, K, K_N = 0.0, L = 0.0, L_N = 0.0, b[2] = {0.0}, bent[2];
    int by_user = law->friction && !(law->k_B > 0.0);
    if (law->k_B > 0.0) {
        double u = cc_pair_norm(at->u);
        int slips = at->slips != 0.0;
        K = H * cc_bristle_stiffness(law->k_B, law->c_B, H);
        L = cc_bristle_limit(law, N, u, slips), L_N = (cc_bristle_limit(law, more, u, slips) - L) / (more - N);
        b[0] = law->k_B * at->z[0], b[1] = law->k_B * at->z[1];
    } else if (by_user) {
        double end[2] = {at->u[0] + H * at->a[0], at->u[1] + H * at->a[1]};
        double slow = CC_SLOW_SLIP * cc_pair_norm(end);
        K = slow > 0.0 ? law->friction(law->data, N, slow) / slow : 0.0;
        K_N = slow > 0.0 ? (law->friction(law->data, more, slow) / slow - K) / (more - N) : 0.0;
    } else {
        L_N = law->K_fr, L = N * L_N;
        K_N = L_N * law->k_T, K = N * K_N;
    }
    double z = H * w * K, theta_N = 0.0;
    if (!(law->k_B > 0.0))
        theta = cc_exponential_share(z), theta_N = cc_exponential_share_slope(z) * H * w * K_N;
    CcFrictionByPush push = {.e = {1.0, 0.0}, .reach = theta * H, .own = theta * H * w};
    double scale = by_user ? 1.0 : K; /* b = p, or the force K p on the bristle */
    for (int i = 0; i < 2; i++) {
        bent[i] = H * (alpha[i] - w * f[i]);
        b[i] += scale * (at->u[i] + theta * bent[i]);
    }
    double size = cc_pair_norm(b), stiff = 1.0 + K * push.own;
    if (size > 0.0)
        push.e[0] = b[0] / size, push.e[1] = b[1] / size;
    if (by_user && size > 0.0) {
        double u = cc_mean_slip(law, N, push.own, size), faster = u * (1.0 + CC_SECANT);
        push.F = law->friction(law->data, N, u);
        double F_u = faster > u ? (law->friction(law->data, N, faster) - push.F) / (faster - u) : K;
        push.F_p = F_u / (1.0 + push.own * F_u);
        push.across = push.F / size;
        push.F_N = (law->friction(law->data, more, u) - push.F) / (more - N) / (1.0 + push.own * F_u);
    } else if (by_user || size <= L * stiff) { /* sticks, or is on the ramp */
        push.F = size / stiff;
        push.F_p = push.across = K / stiff;
        push.F_N = K > 0.0 ? K_N * (size / K - push.own * push.F) / stiff : 0.0;
    } else {
        push.F = L;
        push.across = K * L / size;
        push.F_N = L_N;
    }
    for (int i = 0; i < 2; i++)
        push.by_N[i] = theta_N * (bent[i] - H * w * push.F * push.e[i]);
    return push;
}

/* The force that the law of a port gives where it is pushed off by alpha: into `force`.  Leaves what it asks for and
 * the slopes D. */
CC_API void cc_joint_answer(const CcPortLaw *law, CcJointPort *port, double scale, const double alpha[3],
                            double force[3])
{
    double by_alpha, N = cc_normal_force_at(law, &port->at, scale, alpha[2], &by_alpha);
    if (N > port->most || N == 0.0) {
        N = N > port->most ? port->most : 0.0;
        by_alpha = 0.0;
    }
    for (int i = 0; i < 3; i++) {
        force[i] = i == 2 ? N : 0.0;
        port->asked[i] = force[i] - port->f[i];
        for (int j = 0; j < 3; j++)
            port->D[i][j] = i == 2 && j == 2 ? by_alpha : 0.0;
    }
    if (N == 0.0 || !(law->friction || law->K_fr > 0.0 || law->k_B > 0.0))
        return;
    CcFrictionByPush push = cc_joint_friction(law, &port->at, N, alpha, port->f);
    const double *e = push.e, x[2] = {-e[1], e[0]};
    double along = 1.0 - push.own * push.F_p, aside = 1.0 - push.own * push.across, left[2];
    along = along > CC_LEAST_SLIP ? along : CC_LEAST_SLIP;
    aside = aside > CC_LEAST_SLIP ? aside : CC_LEAST_SLIP;
    double D_e = -push.reach * push.F_p / along, D_x = -push.reach * push.across / aside;
    double N_e = -(push.F_N + push.F_p * (push.by_N[0] * e[0] + push.by_N[1] * e[1])) / along;
    double N_x = -push.across * (push.by_N[0] * x[0] + push.by_N[1] * x[1]) / aside;
    for (int i = 0; i < 2; i++)
        force[i] = -push.F * e[i], left[i] = force[i] - port->f[i];
    double left_e = (left[0] * e[0] + left[1] * e[1]) / along, left_x = (left[0] * x[0] + left[1] * x[1]) / aside;
    for (int i = 0; i < 2; i++) {
        port->asked[i] = left_e * e[i] + left_x * x[i];
        for (int j = 0; j < 2; j++)
            port->D[i][j] = D_e * e[i] * e[j] + D_x * x[i] * x[j];
        port->D[i][2] = (N_e * e[i] + N_x * x[i]) * by_alpha;
    }
}

/* Newton's iteration from the forces f of the ports.  Returns the evaluations of the right side; done: whether it
 * ended. */
CC_APART int cc_joint_newton(CcMobility *m, int n, const CcCoupling c[], CcJointPort port[], const CcPortLaw *law,
                             int *done)
{
    double t = 0.0, low = 0.0, high = 0.0, slope = 0.0, moved[6] = {0.0}; /* B dS */
    int evaluations = 0, cut = 0;
    for (int count = 0; count < CC_MOST_JOINT_STEPS; count++) {
        double S[6] = {0.0}, missing[6] = {0.0}, dS[6] = {0.0}, Y[6], A[36], p = 0.0;
        int pivots[6];
        for (int i = 0; i < n; i++) {
            CcJointPort *at = port + i;
            for (int k = 0; k < 3 && count > 0; k++)
                at->f[k] = at->from[k] + t * at->step[k];
            cc_add_wrench(&at->place, at->f, S);
        }
        cc_times_six(m->B, S, Y);
        for (int i = 0; i < 6; i++)
            missing[i] = -S[i];
        for (int i = 0; i < n; i++) {
            CcJointPort *at = port + i;
            double alpha[3], force[3];
            if (!(at->most > 0.0))
                continue;
            cc_motion_at(&at->place, Y, alpha);
            for (int k = 0; k < 3; k++)
                alpha[k] += at->at.a[k];
            cc_joint_answer(law, at, c[i].scale, alpha, force);
            evaluations++;
            cc_add_wrench(&at->place, force, missing);
        }
        for (int i = 0; i < 6; i++)
            p -= moved[i] * missing[i];
        if (count > 0 && (cut ? cc_abs(p) > -CC_LEFT * slope : slope < 0.0 && p > -CC_MOST_LEFT * slope)) {
            low = !cut ? 0.0 : p > 0.0 ? low : t;
            high = p > 0.0 ? t : high;
            t = 0.5 * (low + high);
            cut = 1;
            continue;
        }
        for (int i = 0; i < 36; i++)
            A[i] = i % 7 == 0;
        for (int i = 0; i < n; i++) {
            CcJointPort *at = port + i;
            if (!(at->most > 0.0))
                continue;
            cc_add_wrench(&at->place, at->asked, dS);
            for (int j = 0; j < 6; j++) { /* a column of G' D G B */
                double column[6], y[3], f[3], wrench[6] = {0.0};
                for (int k = 0; k < 6; k++)
                    column[k] = m->B[k][j];
                cc_motion_at(&at->place, column, y);
                cc_apply_admittance(at->D, y, f);
                cc_add_wrench(&at->place, f, wrench);
                for (int k = 0; k < 6; k++)
                    A[6 * k + j] -= wrench[k];
            }
        }
        double volume = cc_abs(cc_factor(6, A, pivots));
        if (!(volume > 0.0 && volume < CC_MOST_VOLUME))
            break;
        cc_factor_solve(6, A, pivots, dS);
        cc_times_six(m->B, dS, moved);
        slope = 0.0;
        for (int i = 0; i < 6; i++)
            slope -= moved[i] * missing[i];
        double change = 0.0, largest = 0.0;
        for (int i = 0; i < n; i++) {
            CcJointPort *at = port + i;
            double y[3], f[3];
            cc_motion_at(&at->place, moved, y);
            cc_apply_admittance(at->D, y, f);
            for (int k = 0; k < 3; k++) {
                at->from[k] = at->f[k];
                at->step[k] = at->most > 0.0 ? at->asked[k] + f[k] : 0.0;
                f[k] = at->from[k] + at->step[k];
            }
            change = cc_largest(at->step) > change ? cc_largest(at->step) : change;
            largest = cc_largest(f) > largest ? cc_largest(f) : largest;
        }
        t = 1.0, cut = 0;
        if (change <= CC_JOINT_END * largest) {
            *done = 1;
            break;
        }
    }
    for (int i = 0; i < n && *done; i++) {
        double *f = port[i].f, N = f[2] + port[i].step[2];
        int touches = port[i].most > 0.0 && N > 0.0;
        for (int k = 0; k < 3; k++)
            f[k] = touches ? f[k] + port[i].step[k] : 0.0;
        if (N > port[i].most)
            f[2] = port[i].most;
    }
    return evaluations;
}

/* Each port alone, in turn, from the forces f of all.  Returns the evaluations of the right side. */
CC_API int cc_joint_sweeps(CcMobility *m, int n, const CcCoupling c[], CcJointPort port[], const CcPortLaw *law)
{
    int evaluations = 0;
    double S[6] = {0.0}, Y[6], change = 1.0, largest = 0.0;
    for (int i = 0; i < n; i++)
        cc_add_wrench(&port[i].place, port[i].f, S);
    for (int sweep = 0; sweep < CC_MOST_SWEEPS && change > CC_JOINT_END * largest; sweep++) {
        change = 0.0;
        for (int i = 0; i < n; i++) {
            CcJointPort *at = port + i;
            if (!(at->most > 0.0))
                continue;
            CcInterval now = at->at;
            double f[3] = {0.0}, df[3], others[3], own[3];
            cc_times_six(m->B, S, Y);
            cc_motion_at(&at->place, Y, others);
            cc_apply_admittance(now.W, at->f, own);
            for (int k = 0; k < 3; k++)
                now.a[k] += others[k] - own[k];
            evaluations += cc_energy_force(law, &now, c[i].scale, at->f[2], f);
            cc_below(at->most, f);
            for (int k = 0; k < 3; k++) {
                df[k] = f[k] - at->f[k];
                at->f[k] = f[k];
            }
            cc_add_wrench(&at->place, df, S);
            change = cc_largest(df) > change ? cc_largest(df) : change;
            largest = cc_largest(f) > largest ? cc_largest(f) : largest;
        }
    }
    return evaluations;
}

/* Bring the sum of the normal forces to N: each takes of what is missing as much as the law has at it, so that their
 * moment is no matter of the sum; each with the friction of its own.  What N may be at most is known of the sum: `most`
 * of a port takes the mobility for right. */
CC_API void cc_share_sum(CcMobility *m, int n, CcJointPort port[], const CcPortLaw *law, double N)
{
    double S[6] = {0.0}, Y[6], sum = 0.0, elastic = 0.0;
    for (int i = 0; i < n; i++) {
        sum += port[i].f[2];
        elastic += law->elastic(law->data, port[i].at.x);
        cc_add_wrench(&port[i].place, port[i].f, S);
    }
    cc_times_six(m->B, S, Y);
    for (int i = 0; i < n; i++) {
        CcJointPort *at = port + i;
        CcInterval now = at->at;
        double others[3], own[3], share = elastic > 0.0 ? law->elastic(law->data, now.x) / elastic : 1.0 / n;
        double N_i = at->f[2] + share * (N - sum);
        cc_motion_at(&at->place, Y, others);
        cc_apply_admittance(now.W, at->f, own);
        for (int k = 0; k < 3 && m->known != 0.0; k++)
            now.a[k] += others[k] - own[k];
        cc_held_friction(law, &now, N_i > 0.0 ? N_i : 0.0, at->f);
    }
}

/* The forces of the interval: together once the mobility is known, until then each port for itself.  Returns the
 * evaluations of the right side. */
CC_API int cc_joint_forces(CcMobility *m, int n, const CcCoupling c[], CcJointPort port[], const CcPortLaw *law)
{
    int evaluations = 0, done = 0;
    for (int turn = 0; turn < 2 && !done; turn++) { /* the second where Newton's iteration did not end */
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                port[i].f[k] = port[i].most > 0.0 ? c[i].partner.f[0][k] : 0.0;
        if (turn == 0 && m->known != 0.0)
            evaluations += cc_joint_newton(m, n, c, port, law, &done);
    }
    if (done)
        return evaluations;
    if (m->known != 0.0)
        return evaluations + cc_joint_sweeps(m, n, c, port, law);
    for (int i = 0; i < n; i++)
        if (port[i].most > 0.0) {
            evaluations += cc_energy_force(law, &port[i].at, c[i].scale, port[i].f[2], port[i].f);
            cc_below(port[i].most, port[i].f);
        }
    return evaluations;
}

#endif
