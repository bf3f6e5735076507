/* What springs elsewhere do to a body of several ports, from how it moves while its own forces are 0 (mobility.h).
 *
 * A body on springs, twist V, under a wrench S that is held over each interval H, moves exactly by
 *     V_i+1 - 2 cos(Omega H) V_i + V_i-1 = H B (S_i - S_i-1)       Omega^2: stiffness over inertia, 6 x 6
 * With the rate Y_i = (V_i+1 - V_i)/H and d_i = H V_i that is
 *     Y_i - Y_i-1 = B (S_i - S_i-1) - K d_i                        K = (2 - 2 cos(Omega H))/H^2, 1/s^2
 * d_i = V_i (H_i-1 + H_i)/2 where steps differ.  K is found in flight, where S is 0, by least squares,
 *     K (D + e) = -Q,  D = sum 0.98^n d d',  Q = sum 0.98^n q d',  q = Y_i - Y_i-1,  e what rounding and noise can be
 * not in contact, where a linear law changes S by d as well, and K would hold a part of that.  It is used once it has
 * left less than 1 % of the squares of q in flight that it was to predict, until a contact leaves less with K = 0.  The
 * rate without what the springs did since the flight,
 *     Y + K sum d
 * is that of the same body without them: what mobility.h asks for. */
#ifndef CC_FLIGHT_H
#define CC_FLIGHT_H

#include "partner.h"
#include "twist.h"

#define CC_FLIGHT_FORGETS 0.98  /* share of D and Q that an interval of flight leaves */
#define CC_FLIGHT_ROUNDING 1e-6 /* of the squares of d: directions with less are not seen */
#define CC_FLIGHT_NOISE 50.0    /* intervals in D, each with the noise of d */
#define CC_FLIGHT_LEFT 1e-2     /* of the squares of q in flight: what K leaves at most, to be used */
#define CC_FLIGHT_EXPLAINED 0.1 /* of those in contact: what B alone leaves at most, to speak against K, */
#define CC_FLIGHT_SECANTS 6.0   /* once B has been learned from more than this */

typedef struct {
    double D[6][6], Q[6][6], K[6][6];
    double known CC_IN(0, 1), used CC_IN(0, 1); /* 1 once there is a K; 1 where it counts */
    double missed[2];          /* sums of squares, fading, of q in flight that K was to predict: what it left, all */
    double opposed[3];         /* likewise of q - B s in contact: with K, without; of q */
    double d[6], d_sum[6];     /* of the interval that ended; since the flight */
    double Y[6], H CC_FROM(0); /* of that interval, as seen */
} CcFlight;

/* K by all that was seen; noise of d: standard deviation, m. */
CC_API void cc_fit_flight(CcFlight *f, double noise)
{
    double L[6][6], trace = 0.0;
    for (int i = 0; i < 6; i++)
        trace += f->D[i][i];
    double e = CC_FLIGHT_ROUNDING * trace + CC_FLIGHT_NOISE * noise * noise;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            L[i][j] = f->D[i][j] + (i == j ? e : 0.0);
    if (!cc_root(L, 0.0))
        return;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            f->K[i][j] = -f->Q[i][j];
        cc_root_solve(L, f->K[i]);
    }
    f->known = 1.0;
}

/* 1 where contacts are explained by B alone, and less so with K. */
CC_API int cc_flight_is_opposed(const CcFlight *f)
{
    return f->opposed[1] < CC_FLIGHT_EXPLAINED * f->opposed[2] && f->opposed[1] < f->opposed[0];
}

/* Learn K from an interval of flight: q, d as above; changes of Y below `least` are noise. */
CC_API void cc_learn_flight(CcFlight *f, const double q[6], const double d[6], double least)
{
    double left[6];
    if (cc_squares(q) <= least * least && f->known == 0.0)
        return;
    if (f->known != 0.0) {
        cc_times_six(f->K, d, left);
        for (int i = 0; i < 6; i++)
            left[i] += q[i];
        f->missed[0] = CC_FLIGHT_FORGETS * f->missed[0] + cc_squares(left);
        f->missed[1] = CC_FLIGHT_FORGETS * f->missed[1] + cc_squares(q);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            f->D[i][j] = CC_FLIGHT_FORGETS * f->D[i][j] + d[i] * d[j];
            f->Q[i][j] = CC_FLIGHT_FORGETS * f->Q[i][j] + q[i] * d[j];
        }
    cc_fit_flight(f, 0.1 * least * f->H * f->H); /* least: ten times the noise of Y */
    f->used = f->missed[0] < CC_FLIGHT_LEFT * f->missed[1] && !cc_flight_is_opposed(f);
}

/* What the springs change Y by over the way d. */
CC_API void cc_flight_pull(CcFlight *f, const double d[6], double change[6])
{
    cc_times_six(f->K, d, change);
    for (int i = 0; i < 6; i++)
        change[i] = f->used != 0.0 ? -change[i] : 0.0;
}

/* d of an interval H that begins with the twist V. */
CC_API void cc_flight_way(const CcFlight *f, const double V[6], double H, double d[6])
{
    for (int i = 0; i < 6; i++)
        d[i] = 0.5 * ((f->H > 0.0 ? f->H : H) + H) * V[i];
}

/* The interval H that began with the twist V had the rate Y: into `rate` that without the springs, into seen->q its
 * change.  before: that of the interval before, which begins anew in flight. */
CC_API void cc_pass_flight(CcFlight *f, const double V[6], const double Y[6], double H, CcTwistChange *seen,
                           double before[6], double rate[6])
{
    double change[6];
    int begins = seen->quiet || !seen->compared;
    cc_flight_way(f, V, H, f->d);
    f->H = H;
    if (seen->quiet && seen->compared) {
        for (int i = 0; i < 6; i++)
            change[i] = Y[i] - f->Y[i], before[i] = f->Y[i];
        cc_learn_flight(f, change, f->d, seen->least);
    }
    for (int i = 0; i < 6; i++)
        f->d_sum[i] = f->d[i] + (begins ? 0.0 : f->d_sum[i]);
    cc_flight_pull(f, f->d_sum, change);
    for (int i = 0; i < 6; i++)
        rate[i] = Y[i] - change[i], seen->q[i] = rate[i] - before[i], f->Y[i] = Y[i];
}

/* B leaves `left` of the change q of the rate without the springs, in contact.  Returns 1 if that shows K to be wrong:
 * Y is as it was seen from here on. */
CC_API int cc_oppose_flight(CcFlight *f, const double left[6], const double q[6])
{
    double pull[6], bare[3] = {0.0}; /* squares: left with K, left without, all without */
    if (f->known == 0.0)
        return 0;
    cc_times_six(f->K, f->d, pull);
    for (int i = 0; i < 6; i++) {
        double without = f->used != 0.0 ? left[i] - pull[i] : left[i], with = without + pull[i];
        double all = f->used != 0.0 ? q[i] - pull[i] : q[i];
        bare[0] += with * with, bare[1] += without * without, bare[2] += all * all;
    }
    for (int i = 0; i < 3; i++)
        f->opposed[i] = CC_FORGETS * f->opposed[i] + bare[i];
    int wrong = f->used != 0.0 && cc_flight_is_opposed(f);
    f->used = wrong ? 0.0 : f->used;
    return wrong;
}

#endif
