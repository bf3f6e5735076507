/* What springs elsewhere do to a body of several ports, from how it moves while its own forces are 0 (mobility.h).
 *
 * A body on springs, twist V, under a wrench S that is held over each interval H, moves exactly by
 *     V_i+1 - 2 cos(Omega H) V_i + V_i-1 = H B (S_i - S_i-1)       Omega^2: stiffness over inertia, 6 x 6
 * With the rate Y_i = (V_i+1 - V_i)/H and d_i = H V_i that is
 *     Y_i - Y_i-1 = B (S_i - S_i-1) - K d_i                        K = (2 - 2 cos(Omega H))/H^2, 1/s^2
 * d_i = V_i (H_i-1 + H_i)/2 where steps differ.  K is found in flight, where S is 0, by least squares,
 *     K (D + e) = -Q,  D = sum 0.98^n d d',  Q = sum 0.98^n q d',  q = Y_i - Y_i-1,  e what rounding and noise can be
 * not in contact, where a linear law changes S by d as well, and K would hold a part of that.  It is used once it has
 * left less than 1 % of the squares of q in flight that it was to predict.  A load of one frequency (vibration.h) is
 * used once it has left less than 1e-4, unless K is exact.  Contacts refute either where B alone leaves less, and less
 * than 1/10 of the squares of q there, or leaves less than 1/4 of what it leaves.  With rho of the load, or -K d, the
 * rate without what was done since the flight,
 *     Y - sum rho
 * is that of the same body without them: what mobility.h asks for. */
#ifndef CC_FLIGHT_H
#define CC_FLIGHT_H

#include "partner.h"
#include "vibration.h"

#define CC_FLIGHT_FORGETS 0.98  /* share of D and Q that an interval of flight leaves */
#define CC_FLIGHT_ROUNDING 1e-6 /* of the squares of d: directions with less are not seen */
#define CC_FLIGHT_NOISE 50.0    /* intervals in D, each with the noise of d */
#define CC_FLIGHT_LEFT 1e-2     /* of the squares of q in flight: what K leaves at most, to be used */
#define CC_FLIGHT_EXACT 1e-6    /* of the last q, squared, and of `least`, squared: what K leaves at most of that q, */
#define CC_FLIGHT_EXACT_NOISE 1e-3 /* to be preferred to a load */
#define CC_FLIGHT_EXPLAINED 0.1 /* of those in contact: what B alone leaves at most, to speak against K, */
#define CC_FLIGHT_WORSE 4.0     /* or by how much more springs or a load leave, */
#define CC_FLIGHT_SECANTS 6.0   /* once B has been learned from more than this */
#define CC_SAME_STEP 1e-6       /* by what a step may differ from the one before, with a load of one frequency */

enum { CC_FREE_FLIGHT, CC_ON_SPRINGS, CC_VIBRATED, CC_FLIGHTS };

typedef struct {
    double D[6][6], Q[6][6], K[6][6];
    double known CC_IN(0, 1), used CC_IN(0, 2); /* 1 once there is a K; which of the above counts */
    double missed[2];          /* sums of squares, fading, of q in flight that K was to predict: what it left, all */
    double exact CC_IN(0, 1);  /* 1 where K left less than CC_FLIGHT_EXACT of the last one */
    double opposed[CC_FLIGHTS + 1]; /* likewise of q - B s in contact: as each of the above; of q */
    double d[6];               /* of the interval that ended */
    double change[6], sum[6];  /* of Y in that interval by what is used, and since the flight */
    double Y[6], H CC_FROM(0); /* of that interval, as seen */
    CcVibration vibration;
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

/* 1 where contacts are explained by B alone, and less so with the springs or the load. */
CC_API int cc_flight_is_opposed(const CcFlight *f, int by)
{
    double free = f->opposed[CC_FREE_FLIGHT];
    int explained = free < CC_FLIGHT_EXPLAINED * f->opposed[CC_FLIGHTS] && free < f->opposed[by];
    return explained || CC_FLIGHT_WORSE * free < f->opposed[by];
}

/* Which of springs and a load explains the flight, and contacts: a load where that is exact and K is not, for a body
 * that turns has speeds enough for a K that nearly does what a load does. */
CC_API int cc_flight_explained(const CcFlight *f)
{
    const CcVibration *v = &f->vibration;
    int springs = f->missed[0] < CC_FLIGHT_LEFT * f->missed[1] && !cc_flight_is_opposed(f, CC_ON_SPRINGS);
    int vibrated = v->missed[0] < CC_VIBRATION_LEFT * v->missed[1] && !cc_flight_is_opposed(f, CC_VIBRATED);
    if (vibrated && cc_vibration_is_known(v) && !(springs && f->exact != 0.0))
        return CC_VIBRATED;
    return springs ? CC_ON_SPRINGS : CC_FREE_FLIGHT;
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
        f->missed[0] = cc_faded(CC_FLIGHT_FORGETS, f->missed[0]) + cc_squares(left);
        f->missed[1] = cc_faded(CC_FLIGHT_FORGETS, f->missed[1]) + cc_squares(q);
        f->exact = cc_squares(left) < CC_FLIGHT_EXACT * cc_squares(q) + CC_FLIGHT_EXACT_NOISE * least * least;
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            f->D[i][j] = CC_FLIGHT_FORGETS * f->D[i][j] + d[i] * d[j];
            f->Q[i][j] = CC_FLIGHT_FORGETS * f->Q[i][j] + q[i] * d[j];
        }
    cc_fit_flight(f, 0.1 * least * f->H * f->H); /* least: ten times the noise of Y */
}

/* What Y changes by, over the way d, in the n-th interval ahead. */
CC_API void cc_flight_change(CcFlight *f, const double d[6], int ahead, double change[6])
{
    if (f->used == CC_VIBRATED) {
        cc_vibration_ahead(&f->vibration, ahead, change);
        return;
    }
    cc_times_six(f->K, d, change);
    for (int i = 0; i < 6; i++)
        change[i] = f->used == CC_ON_SPRINGS ? -change[i] : 0.0;
}

/* d of an interval H that begins with the twist V. */
CC_API void cc_flight_way(const CcFlight *f, const double V[6], double H, double d[6])
{
    for (int i = 0; i < 6; i++)
        d[i] = 0.5 * ((f->H > 0.0 ? f->H : H) + H) * V[i];
}

/* The interval H that began with the twist V had the rate Y: into `rate` that without the springs or the load, into
 * seen->q its change.  before: that of the interval before, which begins anew in flight. */
CC_API void cc_pass_flight(CcFlight *f, const double V[6], const double Y[6], double H, CcTwistChange *seen,
                           double before[6], double rate[6])
{
    double q[6], load[6];
    int flies = seen->quiet && seen->compared, begins = seen->quiet || !seen->compared;
    if (!seen->compared || cc_abs(H - f->H) > CC_SAME_STEP * H)
        cc_lose_vibration(&f->vibration);
    cc_vibration_ahead(&f->vibration, 1, load);
    cc_flight_way(f, V, H, f->d);
    f->H = H;
    if (flies) {
        for (int i = 0; i < 6; i++)
            q[i] = Y[i] - f->Y[i], before[i] = f->Y[i];
        cc_learn_flight(f, q, f->d, seen->least);
        cc_learn_vibration(&f->vibration, q, seen->least);
        f->used = cc_flight_explained(f);
    } else {
        cc_carry_vibration(&f->vibration);
        f->used = f->used == CC_VIBRATED && f->vibration.seen == 0.0 ? CC_FREE_FLIGHT : f->used;
    }
    if (f->used == CC_VIBRATED)
        __builtin_memcpy(f->change, load, sizeof load);
    else
        cc_flight_change(f, f->d, 1, f->change);
    for (int i = 0; i < 6; i++) {
        f->sum[i] = f->change[i] + (begins ? 0.0 : f->sum[i]);
        rate[i] = Y[i] - f->sum[i], seen->q[i] = rate[i] - before[i], f->Y[i] = Y[i];
    }
}

/* What was used of a load is wrong from here on: Y is as it was seen. */
CC_API void cc_drop_vibration(CcFlight *f)
{
    cc_lose_vibration(&f->vibration);
    f->used = CC_FREE_FLIGHT;
    __builtin_memset(f->sum, 0, sizeof f->sum);
}

/* B leaves `left` of the change q of the rate without springs or load, in contact.  Returns 1 if that shows them to be
 * wrong: Y is as it was seen from here on. */
CC_API int cc_oppose_flight(CcFlight *f, const double left[6], const double q[6])
{
    double pull[6], squares[CC_FLIGHTS + 1] = {0.0};
    if (f->known == 0.0 && f->vibration.seen == 0.0)
        return 0;
    cc_times_six(f->K, f->d, pull);
    for (int i = 0; i < 6; i++) {
        double free = left[i] + f->change[i], all = q[i] + f->change[i];
        double load = f->vibration.seen != 0.0 ? f->vibration.rho[0][i] : 0.0;
        const double of[] = {free, free + pull[i], free - load, all};
        for (int by = 0; by <= CC_FLIGHTS; by++)
            squares[by] += of[by] * of[by];
    }
    for (int by = 0; by <= CC_FLIGHTS; by++)
        f->opposed[by] = cc_faded(CC_FORGETS, f->opposed[by]) + squares[by];
    int wrong = f->used != CC_FREE_FLIGHT && cc_flight_is_opposed(f, (int)f->used);
    f->used = wrong ? CC_FREE_FLIGHT : f->used;
    return wrong;
}

#endif
