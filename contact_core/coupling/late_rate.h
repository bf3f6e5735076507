/* A velocity that is the difference of the positions over the step, v_i = (r_i - r_i-1)/H, as many derive it.
 *
 * It is that of the middle of the interval that ended: behind the velocity u_i at the sample by half of what the
 * acceleration y_i-1 of that interval changed.  With forces that are held and a load that does not change in two
 * intervals, H_1 before H_0 the last one,
 *
 *     y_i-1 = l + W f_i-1-L      v_i - v_i-1 = (H_0 y_i-1 + H_1 y_i-2)/2      u_i = v_i + H_0 y_i-1/2
 *
 * so l follows from the change of v, and u from l and W.  Semi-implicit Euler gives the same way, r_i = r_i-1 + H v_i.
 * They differ in the answer to a force, which here comes by halves,
 *
 *     D v_i/H = a + W (f_i-1-L + f_i-2-L)/2
 *
 * and is that where one lag leaves less of it than 1/4 of what each lag leaves of an answer that comes at once.  Until
 * that is found steps have to be the same. */
#ifndef CC_LATE_RATE_H
#define CC_LATE_RATE_H

#include "energy_force.h"
#include "partner.h"

#define CC_LATE_SAMPLES 3.0    /* changes of the force in a contact that decide */
#define CC_LATE_SURE 0.25      /* squares left by halves over those left at once, */
#define CC_LATE_EXACT 1e-6     /* and over all, of few samples, */
#define CC_LATE_MANY 6.0
#define CC_LATE_EXPLAINED 0.01 /* and of more */
#define CC_LATE_ROUNDING 1e-12 /* of r and of the way: a rate that is off by more is no difference, */
#define CC_LATE_SHOWN 1e3      /* and a change of v is shown where it makes a way of as many times as much */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double found CC_IN(0, 1);          /* 1 where v is such a difference */
    double steps CC_FROM(0);           /* samples in a row of which it may be */
    double v[3], change[3], H CC_FROM(0); /* v as given at the last sample, its change in the interval H */
    double samples CC_FROM(0), yy;
    double uu[2][CC_LAGS], uy[2][CC_LAGS]; /* of answers that come at once, and by halves */
    double made[CC_LAGS];              /* ledger of the contact with the rates of the middle of each interval, J */
} CcLateRate;

/* u - v of the interval H_0, in which the force f acted, behind H_1, in which that before did. */
CC_API void cc_late_by(double W[3][3], const double change[3], const double f[3], const double before[3], double H_0,
                       double H_1, double late[3])
{
    for (int i = 0; i < 3; i++) {
        double now = cc_dot(W[i], f), then = cc_dot(W[i], before);
        double load = (2.0 * change[i] - H_0 * now - H_1 * then) / (H_0 + H_1);
        late[i] = 0.5 * H_0 * (load + now);
    }
}

/* What a form and a lag leave of the changes of v. */
CC_API double cc_late_left(const CcLateRate *m, int form, int L)
{
    return cc_remainder(m->uu[form][L], cc_max(m->uy[form][L], 0.0), m->yy);
}

/* Add the change Dy of D v/H. */
CC_API void cc_late_add(CcLateRate *m, const CcPartner *p, double Dy)
{
    int changed = 0;
    m->yy += Dy * Dy;
    for (int form = 0; form < 2; form++)
        for (int L = 0; L < CC_LAGS; L++) {
            double Du = p->f[L][2] - p->f[L + 1][2];
            if (form == 1)
                Du = 0.5 * (p->f[L][2] - p->f[L + 2][2]);
            changed |= Du != 0.0;
            m->uu[form][L] += Du * Du;
            m->uy[form][L] += Du * Dy;
        }
    m->samples += changed;
}

/* The lag with which the answer comes by halves, or -1; given: the only one that is asked, or CC_LAG_AUTO. */
CC_API int cc_late_lag(const CcLateRate *m, int given)
{
    double half[CC_LAGS], least = m->yy;
    for (int L = 0; L < CC_LAGS; L++) {
        half[L] = cc_late_left(m, 1, L);
        least = cc_min(least, cc_late_left(m, 0, L));
    }
    int best = given == CC_LAG_AUTO ? cc_least_lag(half) : given;
    double most = m->samples < CC_LATE_MANY ? CC_LATE_EXACT : CC_LATE_EXPLAINED;
    int sure = half[best] < CC_LATE_SURE * least && half[best] < most * m->yy;
    return sure && m->samples >= CC_LATE_SAMPLES ? best : -1;
}

/* What the forces made in the interval that ended at r, at the rate of its middle, which v_z is. */
CC_API void cc_late_book(CcLateRate *m, const CcPartner *p, const CcPortLaw *law, const double r[3], double v_z)
{
    CcPassed passed = cc_passed(law, -p->r[2], -v_z, -r[2], -v_z, p->H);
    for (int L = 0; L < CC_LAGS; L++)
        m->made[L] += cc_made(&passed, p->f[L][2]);
}

/* What of the way between the last sample and r is rounding, m; far: distance of the point from the origin. */
CC_API double cc_late_rounding(const CcPartner *p, const double r[3], double far)
{
    return CC_LATE_ROUNDING * (far + cc_abs(r[2]) + cc_abs(p->r[2]));
}

/* 1 where v may be the difference of the places r and that of the last sample. */
CC_API int cc_late_is_possible(const CcPartner *p, const double r[3], const double v[3], double far)
{
    return cc_abs(r[2] - p->r[2] - p->H * v[2]) <= cc_late_rounding(p, r, far);
}

#endif
