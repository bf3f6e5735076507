/* The force of a contact that makes no energy although it is held over an interval.
 *
 * A body that holds the force f over an interval H moves on a parabola: its acceleration at the port, relative to the
 * surface, is y = a + W f.  Frame: that of the surface, normal z; x = -r_z depth, w = -v_z depth rate, u = (v_x, v_y)
 * slip.  With the states x, w, u at the beginning of the interval
 *
 *     x_1 = x + H w - H^2 alpha / 2,   w_1 = w - H alpha,   alpha = (a + W f)_z                       (end of interval)
 *
 * Normal force, N      N = s [U(x_1) - U(x)] / (x_1 - x) (1 + d)_h            the work of N/(1+d) over the way x .. x_1
 *                      is the change of U: energy is conserved at any H, entry and exit of the contact included
 *                      (1 + d)_h = (w_1 - w) / int dw/(1 + d)                 harmonic mean over the depth rates passed
 *                      where damping is so steep that they decay within the interval it is taken over the last of them,
 *                      from w + q (w_1 - w),  q = z/(6 + 2 z),  z = H W_nn F_e(x) dd/dw: q = 0 would let the rate ring,
 *                      w_1 = -w.  A linear damper then acts at the weight (1 + q)/2 of the end: to the first order in z
 *                      the exponentially fitted 1/(1 - exp(-z)) - 1/z, and 3/4 at most, which leaves a third of a ring.
 *                      Of several points of one body z is no matter of one of them: it counts half
 * Phase, kappa         U becomes U + kappa (a_z F_e + W_nn F_e^2/2), whose slope is F_e + kappa F_e' alpha.  With
 *                      kappa = H^2/6 that undoes what holding costs: the mean force of the interval misses that of the
 *                      law by H^2/12 F_e' alpha, and the body that holds the mean instead of the force itself is off
 *                      its motion by H^2/12 W F_e.  With 0 an oscillation is too slow by (omega H)^2/12.  A body
 *                      at rest has alpha = 0, and the law.  Energy is conserved as with U while a and W do not change
 * Friction force, N    f_t = -e K_fr N mean of clip(k_T u(t)),  u' = e (a_t + W_tn N) - w_e K_fr N clip(k_T u)
 *                      e direction of the slip at the end without friction, w_e = e W_tt e:
 *                      the mean force of the ramp over the interval, exact for a, N, W constant.  While it creeps,
 *                      k_T |u| <= 1, clip = k_T u* / (1 + theta z),  u* = e (u + theta H (a_t + W_tn N)),
 *                      theta = 1/(1 - exp(-z)) - 1/z,  z = H w_e K_fr N k_T
 *                      any law F_fr(N, u):  f_t = -F_fr(N, u_m) e,  u_m = u* - theta H w_e F_fr(N, u_m),
 *                      z = H w_e times the slope of F_fr at rest: where the slip stops or reverses it is no mean
 *                      u less g H Da/12, g = 12 (theta - 1/2)/z, where a changes by Da, evenly, within the interval:
 *                      the mean slip, while it creeps, is that of such an a; where it slides g = 1 (of the ramp)
 *                      with a bristle: held_bristle.h
 * Ledger, J            U(x_1) - U(x) - N int w/(1 + d) dt,  w linear over the interval:
 *                      energy that holding N made, as elastic energy (damping that comes later included)
 *
 * Beyond the end, b    in N the end x_1 becomes x_1 + b H w_1: for an interval that forces from elsewhere may change.
 *                      0 keeps the energy if the parabola is right; with b > 0 holding N loses energy wherever between
 *                      its ends the point comes to, for U is convex; taken along w_1 it damps, where 2 x_1 - x would
 *                      ring
 *
 * N lies between 0 and the right side at N = 0, for that falls with N while W is positive.  A bracketed Newton
 * iteration that halves the bracket where a step is not at most half the one before cannot fail: steep damping between
 * its two limits makes plain Newton steps leap to and fro.  1 + d is floored at CC_DAMPING_FLOOR where it divides
 * (C_r = 0).
 *
 * a   acceleration of the port without the force, m/s^2      W  admittance, 1/kg, symmetric, positive semidefinite
 * s   scale, 1: what the ledger takes back (coupling.h)      U  elastic energy, J      d  damping ratio (contact.h)
 *
 * Sources: discrete gradient: Gonzalez, J. Nonlinear Sci. 6 (1996) 449; exponentially fitted theta: Liniger &
 * Willoughby, SIAM J. Numer. Anal. 7 (1970) 47. */
#ifndef CC_ENERGY_FORCE_H
#define CC_ENERGY_FORCE_H

#include "../base/elementary.h"
#include "../base/vector.h"
#include "../laws/bristle.h"
#include "../laws/contact.h"
#include "held_bristle.h"

#define CC_DAMPING_FLOOR 1e-4
#define CC_SLOW_SLIP 1e-6      /* of the slip speed: where the slope of a friction law at rest is taken */
#define CC_REST 1e-6           /* of x: over a way below it the slope by x_1 is taken elsewhere, */
#define CC_STEADY_RATE 1e-12   /* and over a change of 1 + d below this there is none by w_1: both would be rounding */
#define CC_SECANT 1e-6         /* of an argument: where the slope of a function is taken */
#define CC_MOST_FORCE_STEPS 120 /* of the iteration; 300,000 random intervals take 25 at most */

/* What the port has to know of a contact law.  `data` goes to every function. */
typedef struct {
    double (*elastic)(const void *data, double h);            /* F_e, N; 0 at h <= 0 */
    double (*energy)(const void *data, double h);             /* U, J: integral of F_e from 0; 0 at h <= 0 */
    double (*damping)(const void *data, double w);            /* d, NULL: max(d_rest, min(d_comp, k_D w)) */
    double (*friction)(const void *data, double N, double u); /* F_fr, N, of the slip speed u >= 0; NULL: the ramp */
    const void *data;
    double d_comp, d_rest, k_D;
    double K_fr, k_T;
    double k_B, c_B; /* of the bristle, > 0: friction is its force; 0: there is none */
    double (*limit)(const void *data, double N, double u); /* its limit, N; NULL: K_fr N */
} CcPortLaw;

/* The partner of the port over one interval, from the state at its beginning. */
typedef struct {
    double x, w, u[2];    /* depth m, depth rate m/s, slip m/s */
    double a[3], W[3][3]; /* free acceleration m/s^2, admittance 1/kg; components x y z, z normal */
    double H;             /* length of the interval, s */
    double beyond;        /* b, 1 */
    double z[2], slips;   /* deflection of the bristle, m; 1 if its tip slipped before */
    double reach;         /* H W_nn F_e(x), m/s: what a damping ratio of 1 changes w by; 0: of no account */
    double kappa;         /* H^2/6, s^2, or 0 */
    double bend[2];       /* of the mean slip, by an a that changes within the interval, m/s */
} CcInterval;

CC_API double cc_port_damping(const CcPortLaw *law, double w)
{
    if (law->damping)
        return law->damping(law->data, w);
    return cc_limited_damping(law->k_D, (CcDampingLimits){law->d_rest, law->d_comp}, w);
}

/* 1/(1+d), floored. */
CC_API double cc_inverse_damping(const CcPortLaw *law, double w)
{
    double factor = 1.0 + cc_port_damping(law, w);
    return 1.0 / (factor > CC_DAMPING_FLOOR ? factor : CC_DAMPING_FLOOR);
}

/* log(1 + x), accurate near 0 too (Kahan): the rounding of 1 + x is made good for. */
CC_API double cc_log_1_plus(double x)
{
    double u = 1.0 + x;
    return u == 1.0 ? x : re(cc_log(u)) * (x / (u - 1.0));
}

/* 1 where the damping ratio depends on the depth rate. */
CC_API int cc_port_is_damped(const CcPortLaw *law)
{
    return law->damping || (law->d_comp > law->d_rest && law->k_D > 0.0);
}

/* (1 + d)_h of any damping ratio, by Gauss' rule with eight points. */
CC_API double cc_harmonic_by_quadrature(const CcPortLaw *law, double w, double w_1)
{
    static const double node[4] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                   0.96028985649753623168};
    static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                     0.10122853629037625915};
    double middle = 0.5 * (w + w_1), half = 0.5 * (w_1 - w), mean = 0.0;
    for (int i = 0; i < 4; i++)
        mean += 0.5 * weight[i] * (cc_inverse_damping(law, middle - half * node[i])
                                   + cc_inverse_damping(law, middle + half * node[i]));
    return 1.0 / mean;
}

/* (1 + d)_h for depth rates from w to w_1: the two saturated parts of int dw/(1+d) and a logarithm for the ramp, each
 * as a difference that rounding does not blur. */
CC_API double cc_harmonic_damping(const CcPortLaw *law, double w, double w_1)
{
    if (law->damping)
        return cc_harmonic_by_quadrature(law, w, w_1);
    double way = w_1 - w, most = 1.0 + law->d_comp, least = 1.0 + law->d_rest;
    least = least > CC_DAMPING_FLOOR ? least : CC_DAMPING_FLOOR;
    if (way == 0.0 || !cc_port_is_damped(law))
        return 1.0 / cc_inverse_damping(law, w);
    double up = law->d_comp / law->k_D, down = (least - 1.0) / law->k_D;
    if (w >= up && w_1 >= up)
        return most;
    if (w <= down && w_1 <= down)
        return least;
    double from = w > up ? up : w < down ? down : w, to = w_1 > up ? up : w_1 < down ? down : w_1;
    double above = (w_1 > up ? w_1 - up : 0.0) - (w > up ? w - up : 0.0);
    double below = (w_1 < down ? w_1 - down : 0.0) - (w < down ? w - down : 0.0);
    double ramp = cc_log_1_plus(law->k_D * (to - from) / (1.0 + law->k_D * from)) / law->k_D;
    return way / (above / most + below / least + ramp);
}

/* [U(x_1) - U(x)] / (x_1 - x), N.  Over a short way inside, where the difference would be rounding, by Simpson's rule:
 * its error is below 1e-12 of F_e for powers of h. */
CC_API double cc_mean_elastic(const CcPortLaw *law, double x, double x_1)
{
    double way = x_1 - x, least = x < x_1 ? x : x_1;
    if (least > 0.0 && cc_abs(way) <= 1e-2 * least)
        return (law->elastic(law->data, x) + 4.0 * law->elastic(law->data, 0.5 * (x + x_1))
                + law->elastic(law->data, x_1)) / 6.0;
    return way != 0.0 ? (law->energy(law->data, x_1) - law->energy(law->data, x)) / way : 0.0;
}

/* What kappa adds to the mean of F_e from x to x + way, over kappa; `slope`: of that, by x + way. */
CC_API double cc_phase_of_interval(const CcPortLaw *law, const CcInterval *at, double way, double *slope)
{
    double end = at->x + way, W = at->W[2][2], more = CC_SECANT * cc_abs(end), steep = 0.0, bend = 0.0;
    double from = law->elastic(law->data, at->x), to = law->elastic(law->data, end);
    if (more > 0.0)
        steep = (law->elastic(law->data, end + more) - to) / more;
    double secant = steep;
    if (cc_abs(way) > CC_REST * cc_abs(at->x))
        secant = (to - from) / way, bend = (steep - secant) / way;
    double alpha = at->a[2] + 0.5 * W * (from + to);
    *slope = bend * alpha + 0.5 * W * secant * steep;
    return secant * alpha;
}

/* What the ledger has of an interval, whatever force was held: that of N is change - N way. */
typedef struct {
    double change, way; /* U(x_1) - U(x), J; int w/(1 + d) dt, m */
} CcPassed;

/* From depth and rate x, w to x_1, w_1 within H.  Where the law pulls its elastic part is not N/(1 + d): nothing is
 * counted. */
CC_API CcPassed cc_passed(const CcPortLaw *law, double x, double w, double x_1, double w_1, double H)
{
    CcPassed passed = {0.0, 0.0};
    if (law->damping && (law->damping(law->data, w) < -1.0 || law->damping(law->data, w_1) < -1.0))
        return passed;
    passed.change = law->energy(law->data, x_1) - law->energy(law->data, x);
    passed.way = x_1 - x;
    if (cc_port_is_damped(law))
        for (int i = 0; i < 8; i++) {
            double rate = w + (i + 0.5) / 8.0 * (w_1 - w);
            passed.way += H / 8.0 * rate * (cc_inverse_damping(law, rate) - 1.0);
        }
    return passed;
}

/* Energy, J, that holding N made there. */
CC_API double cc_made(const CcPassed *passed, double N) { return N < 0.0 ? 0.0 : passed->change - N * passed->way; }

/* Of it what went through the port at most, from depth x to x_1.  For C_r near 0 a force that is held after the turn is
 * far from the law's, and what 1/(1 + d) makes of its way is a debt to be paid back, but no energy. */
CC_API double cc_made_through(double made, double change, double N, double x, double x_1)
{
    double through = cc_abs(change) + cc_abs(N * (x_1 - x));
    return cc_clamp(made, -through, through);
}

/* Energy, J, that holding N over an interval H made: from depth and rate x, w to x_1, w_1. */
CC_API double cc_energy_made(const CcPortLaw *law, double N, double x, double w, double x_1, double w_1, double H)
{
    if (N < 0.0 || (N == 0.0 && !(x > 0.0 || x_1 > 0.0)))
        return 0.0;
    CcPassed passed = cc_passed(law, x, w, x_1, w_1, H);
    return cc_made(&passed, N);
}

/* u_m > 0 with u_m + c F_fr(N, u_m) = u > 0: bracketed by 0 and u, by regula falsi (Illinois). */
CC_API double cc_mean_slip(const CcPortLaw *law, double N, double c, double u)
{
    double low = 0.0, high = u, below = -u, above = c * law->friction(law->data, N, u);
    for (int i = 0, side = 0; i < 60 && high - low > 1e-14 * u && above > 0.0; i++) {
        double middle = (low * above - high * below) / (above - below);
        double error = middle + c * law->friction(law->data, N, middle) - u;
        if (error > 0.0) {
            high = middle, above = error;
            below *= side > 0 ? 0.5 : 1.0;
            side = 1;
        } else {
            low = middle, below = error;
            above *= side < 0 ? 0.5 : 1.0;
            side = -1;
        }
        if (cc_abs(error) <= 1e-14 * u)
            return middle;
    }
    return high;
}

/* The limit of the bristle's force for the normal force N and the slip speed u. */
CC_API double cc_bristle_limit(const CcPortLaw *law, double N, double u, int slips)
{
    if (!(N > 0.0))
        return 0.0;
    double L = law->limit ? law->limit(law->data, N, u) : law->K_fr * N;
    if (law->limit && !slips)
        L = cc_sticking_limit(L, law->limit(law->data, N, 0.0));
    return L > 0.0 ? L : 0.0;
}

/* Mean of k_T u over the time t in which the slip creeps, u' = rate - q k_T u, from u on. */
CC_API double cc_mean_creep(double k_T, double u, double rate, double q, double t)
{
    double z = q * k_T * t, theta = cc_exponential_share(z);
    return k_T * (u + theta * t * rate) / (1.0 + theta * z);
}

/* Mean of the ramp, F/(K_fr N), over the time H in which the slip obeys u' = rate - q clip(k_T u), from u on: in its
 * three parts the slip is a line or an exponential. */
CC_API double cc_mean_ramp(double k_T, double u, double rate, double q, double H)
{
    double bound = 1.0 / k_T, lambda = q * k_T, left = H, sum = 0.0;
    for (int part = 0; part < 4 && left > 0.0; part++) {
        double side = u < 0.0 || (u == 0.0 && rate < 0.0) ? -1.0 : 1.0; /* of the slip */
        double outward = side * rate - q, time = left, mean = side;
        if (side * u > bound || (side * u == bound && outward >= 0.0)) { /* it slides, */
            if (side * u + outward * left < bound)
                time = (side * u - bound) / -outward;
            u = time < left ? side * bound : u + side * outward * left;
        } else { /* or creeps, */
            double toward = rate < lambda * u ? -1.0 : 1.0, end = toward * bound;
            mean = cc_mean_creep(k_T, u, rate, q, left);
            if (toward * rate > q && toward * (u + left * (rate - q * mean)) > bound) { /* and slides after that */
                double y = (end - u) / (rate - lambda * end);
                time = lambda * y > 1e-8 ? cc_log_1_plus(lambda * y) / lambda : y;
                time = time > 0.0 && time < left ? time : left;
                mean = cc_mean_creep(k_T, u, rate, q, time);
                u = end;
            } else {
                u += left * (rate - q * mean);
            }
        }
        sum += mean * time;
        left -= time;
    }
    return sum / H;
}

/* The share of the bend of the slip that changes its mean, where friction of z = H w_e dF/du makes it decay at once. */
CC_API double cc_bent_share(double z) { return z > 1e-3 ? 12.0 * (cc_exponential_share(z) - 0.5) / z : 1.0; }

/* Friction of the interval for the normal force N: f[0], f[1]; f[2] = N. */
CC_API void cc_held_friction(const CcPortLaw *law, const CcInterval *at, double N, double f[3])
{
    f[0] = f[1] = 0.0, f[2] = N;
    if (law->k_B > 0.0) {
        double s_0[2], F[2], H = at->H;
        for (int i = 0; i < 2; i++)
            s_0[i] = H * (at->u[i] + 0.5 * H * (at->a[i] + at->W[i][2] * N));
        cc_hold_bristle(law->k_B, cc_bristle_stiffness(law->k_B, law->c_B, H),
                        cc_bristle_limit(law, N, cc_pair_norm(at->u), at->slips != 0.0), H, at->W, s_0, at->z, F);
        f[0] = -F[0], f[1] = -F[1];
        return;
    }
    if ((!law->friction && law->K_fr == 0.0) || N == 0.0)
        return;
    double free[2], e[2], H = at->H;
    for (int i = 0; i < 2; i++)
        e[i] = at->u[i] + H * (free[i] = at->a[i] + at->W[i][2] * N);
    double speed = cc_sqrt(e[0] * e[0] + e[1] * e[1]);
    if (!(speed > 0.0))
        return;
    e[0] /= speed, e[1] /= speed;
    double w_e = e[0] * (at->W[0][0] * e[0] + 2.0 * at->W[0][1] * e[1]) + e[1] * at->W[1][1] * e[1];
    double u_0 = e[0] * at->u[0] + e[1] * at->u[1], rate = e[0] * free[0] + e[1] * free[1], F = 0.0;
    double bend = e[0] * at->bend[0] + e[1] * at->bend[1];
    w_e = w_e > 0.0 ? w_e : 0.0;
    if (law->friction) {
        double slow = CC_SLOW_SLIP * speed;
        double z = H * w_e * law->friction(law->data, N, slow) / slow, theta = cc_exponential_share(z);
        double u = u_0 + cc_bent_share(z) * bend + theta * H * rate, size = cc_abs(u);
        if (!(size > 0.0))
            return;
        F = law->friction(law->data, N, cc_mean_slip(law, N, theta * H * w_e, size)) * (u < 0.0 ? -1.0 : 1.0);
    } else {
        double q = w_e * law->K_fr * N, z = q * law->k_T * H;
        double bent = law->k_T * cc_abs(u_0) < 1.0 ? cc_bent_share(z) : 1.0;
        F = law->K_fr * N * cc_mean_ramp(law->k_T, u_0 + bent * bend, rate, q, H);
    }
    f[0] = -F * e[0];
    f[1] = -F * e[1];
}

/* Slope of the damping ratio at the depth rate w. */
CC_API double cc_port_damping_slope(const CcPortLaw *law, double w)
{
    if (!law->damping) {
        double d = law->k_D * w;
        return d < law->d_comp && d > law->d_rest ? law->k_D : 0.0;
    }
    double more = CC_SECANT * (cc_abs(w) + CC_SECANT);
    return (law->damping(law->data, w + more) - law->damping(law->data, w - more)) / (2.0 * more);
}

/* (1 + d)_h of an interval from w to w_1, and its slope by w_1. */
CC_API double cc_damping_of_interval(const CcPortLaw *law, double w, double w_1, double reach, double *slope)
{
    double turn = w_1 - w, tangent = cc_port_damping_slope(law, w_1), steep = tangent, bend = 0.0;
    if (cc_abs(turn) > CC_STEADY_RATE * cc_abs(w)) {
        steep = (cc_port_damping(law, w_1) - cc_port_damping(law, w)) / turn;
        bend = (tangent - steep) / turn;
    }
    double z = reach * steep > 0.0 ? reach * steep : 0.0, q = z / (6.0 + 2.0 * z);
    double by_z = z > 0.0 ? 6.0 / ((6.0 + 2.0 * z) * (6.0 + 2.0 * z)) : 0.0;
    double from = w + q * turn, span = w_1 - from;
    double mean = cc_harmonic_damping(law, from, w_1);
    double end = 1.0 - mean * cc_inverse_damping(law, w_1), begin = 1.0 - mean * cc_inverse_damping(law, from);
    int steady = cc_abs(end) <= CC_STEADY_RATE || cc_abs(begin) <= CC_STEADY_RATE;
    double by_end = steady ? 0.5 * tangent : mean * end / span;
    double by_from = steady ? 0.5 * tangent : -mean * begin / span;
    *slope = by_end + by_from * (q + turn * by_z * reach * bend);
    return mean;
}

/* N that the law gives where all forces push the point off by alpha, and its slope by alpha. */
CC_API double cc_normal_force_at(const CcPortLaw *law, const CcInterval *at, double s, double alpha, double *slope)
{
    double H = at->H, x_1 = at->x + H * at->w - 0.5 * H * H * alpha, w_1 = at->w - H * alpha;
    double way = x_1 - at->x + at->beyond * H * w_1, mean = cc_mean_elastic(law, at->x, at->x + way);
    double by_x = 0.0, by_w = 0.0, more = CC_SECANT * at->x, factor = 1.0 / cc_inverse_damping(law, at->w);
    if (cc_port_is_damped(law))
        factor = cc_damping_of_interval(law, at->w, w_1, at->reach, &by_w);
    double phase = 0.0, by_phase = 0.0;
    if (at->kappa > 0.0)
        phase = at->kappa * cc_phase_of_interval(law, at, way, &by_phase);
    double value = s * (mean + phase) * factor;
    if (cc_abs(way) > CC_REST * cc_abs(at->x))
        by_x = (law->elastic(law->data, at->x + way) - mean) / way;
    else if (more > 0.0)
        by_x = 0.5 * (law->elastic(law->data, at->x + more) - mean) / more;
    by_x += at->kappa * by_phase;
    *slope = -s * (by_x * factor * (0.5 + at->beyond) * H * H + (mean + phase) * by_w * H);
    return value > 0.0 ? value : 0.0;
}

/* The right side of the equation for N at an assumed N, and its slope with the ratio of friction to N kept. */
CC_API double cc_energy_force_at(const CcPortLaw *law, const CcInterval *at, double s, double N, double f[3],
                                 double *slope)
{
    cc_held_friction(law, at, N, f);
    double alpha = at->a[2], per_N = at->W[2][2];
    for (int i = 0; i < 3; i++)
        alpha += at->W[2][i] * f[i];
    if (N > 0.0)
        per_N += (at->W[2][0] * f[0] + at->W[2][1] * f[1]) / N;
    double value = cc_normal_force_at(law, at, s, alpha, slope);
    *slope *= per_N;
    return value;
}

/* The force f of the interval, f[2] = N.  `guess` of N starts the iteration; returns the evaluations of the right
 * side. */
CC_API int cc_energy_force(const CcPortLaw *law, const CcInterval *at, double s, double guess, double f[3])
{
    double slope, high = cc_energy_force_at(law, at, s, 0.0, f, &slope), low = 0.0;
    int evaluations = 1;
    if (!(high > 0.0))
        return evaluations;
    double N = guess > low && guess < high ? guess : high / (1.0 - (slope < 0.0 ? slope : 0.0)), step = high;
    while (evaluations < CC_MOST_FORCE_STEPS) {
        double error = cc_energy_force_at(law, at, s, N, f, &slope) - N;
        evaluations++;
        double next = N + error / (slope < 0.0 ? 1.0 - slope : 1.0);
        if (cc_abs(next - N) <= 1e-13 * high)
            break;
        if (error > 0.0)
            low = N;
        else
            high = N;
        if (!(next > low && next < high) || cc_abs(next - N) > 0.5 * step)
            next = 0.5 * (low + high);
        step = cc_abs(next - N);
        N = next;
    }
    return evaluations;
}

#endif
