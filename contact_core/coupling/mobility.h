/* What several contact ports of one body find out together: how the force on each moves all of them.
 *
 * Points at p_i with velocities u_i, relative to the surface and in its frame, that belong to one rigid body have one
 * twist V = (v_c, l omega) about their centroid, e_i = (p_i - c)/l, l the root mean square of |p_i - c|:
 *     u_i = v_c + (l omega) x e_i                      forces f_i add up to the wrench S = sum (f_i, e_i x f_i)
 *     Y = A + B S                                      Y = Delta V / H,  A all that these forces do not do
 * B, 1/kg, 6 x 6, symmetric and positive: the inverse inertia of the body, and of the one that carries the surface, at
 * the centroid.  The admittance between two points is W_ij = G_i B G_j', G_i = (1, -[e_i] x): 21 numbers for any number
 * of points.  B is learned from changes s of S and q of Y from one interval to another, by all recent ones at once:
 *     A = sum 0.98^n w s s',  C = sum 0.98^n w q s'          n the age of a secant, w its weight
 *     E = (C - B A)(A + e)^-1,  P = A (A + e)^-1              e as in admittance.h
 *     B += E + E' - (P E + E' P)/2
 * which is symmetric, answers what was seen as it was seen (P = 1), and leaves the rest (P = 0): rotation about the
 * line of two points is neither seen nor needed.  e grows while B would not be positive.  What springs and loads of one
 * frequency do to the body is taken off Y (flight.h); a load that no flight showed is found with B (vibrated_body.h).
 * What others do to it averages out; a q that differs from B s by more than B s itself is theirs, w = |B s|^2 over
 * |q - B s|^2.
 *
 * Where V does not explain the velocities the points are of several bodies: each is treated alone from then on.
 * Two points, and three that do not meet at an angle of ninety degrees, always pass as one body; B describes them all
 * the same.
 *
 * Sources: several secant equations at once: Schnabel, University of Colorado, CU-CS-247-83 (1983). */
#ifndef CC_MOBILITY_H
#define CC_MOBILITY_H

#include "coupling.h"
#include "flight.h"
#include "vibrated_sums.h"

#define CC_ROTATION_GUESS 6.0  /* B of rotation over that of translation: boxes on their corners have 3 to 6, */
#define CC_ROTATION_GIVEN 3.0  /* and of a mass that is given: a flat box has 3 */
#define CC_WRENCHES_FORGET 0.98 /* share of A and C that a secant leaves */
#define CC_LEAST_PIVOT 1e-3    /* of the diagonal of B: what is less is not positive */
#define CC_FEW_WEIGHINGS 6     /* times that e grows tenfold */
#define CC_UNEXPLAINED 3.0     /* b over the share of the squares */
#define CC_OTHERS_LAST 0.999   /* share of b that an interval leaves, once it was 1 */
#define CC_LARGE 0.2           /* of the answer to all forces, and to a mean secant: what others first show by */
#define CC_BEYOND 4.0          /* b where others act */
#define CC_ALONE 1e-2          /* share of the changes of Y that no B explains, below which no others act, */
#define CC_DOUBTS_OTHERS 20.0  /* in so many intervals of a contact: later all may creep to rest as one */
#define CC_ANOTHER 0.5         /* of these changes: a B that leaves more is that of a body which has changed */
#define CC_SHARED_AFTER 10.0   /* intervals with others, over which the own answer comes to count twice */
#define CC_LOOSE 0.01          /* share of the speeds that one twist leaves open, to be more bodies than one */
#define CC_MOST_LOOSE 3        /* such samples in a row */

/* Where a point is: e_i, and the axes of its port in the surface's frame, rows t_1, t_2, n. */
typedef struct {
    double arm[3], axes[3][3];
} CcPlace;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    double begun CC_IN(0, 1), loose;
    double V[6], Y[6];                 /* twist of the last sample, its rate over the last interval without those */
    double S[CC_KEPT_FORCES][6];       /* wrenches given, the newest first */
    double B[6][6], known CC_IN(0, 1), unanswered CC_FROM(0), count;
    double anchored CC_IN(0, 1), S_anchor[6], Y_anchor[6], largest; /* 1 once there is an anchor */
    double ss[6][6], qs[6][6], left CC_FROM(0); /* A, C; squares of what B leaves of the secants, fading */
    double open[2];                    /* sums of squares of changes of Y, fading: unexplained, all */
    double others;                     /* 1, fading, since a third was unexplained */
    double lasted, S_mean[6];          /* intervals since then, in contact; mean of the wrenches that acted in them */
    double pull[6];                    /* what springs or a load add to Y in the interval that began */
    CcWrenchLag lag;
    CcWrenchSums explained;            /* since the last interval of which a third was unexplained */
    CcFlight flight;
    CcVibratedSums vibrated[CC_LAGS];
    CcCoupling heave;                  /* the mean of the ports as one (joint_heave.h), */
    double heaves CC_IN(0, 1);         /* 1 while the sum of the normal forces is its force */
    double together CC_IN(0, 1);       /* 1 while B, a load and the lag are found together (vibrated_body.h) */
} CcMobility;

/* The motion Y of the body at a port, along its axes. */
CC_API void cc_motion_at(const CcPlace *at, const double Y[6], double y[3])
{
    double turned[3];
    cc_cross(Y + 3, at->arm, turned);
    for (int i = 0; i < 3; i++)
        turned[i] += Y[i];
    for (int k = 0; k < 3; k++)
        y[k] = cc_dot(at->axes[k], turned);
}

/* Add the wrench of a force along the axes of a port. */
CC_API void cc_add_wrench(const CcPlace *at, const double f[3], double S[6])
{
    double F[3], M[3];
    for (int i = 0; i < 3; i++)
        F[i] = f[0] * at->axes[0][i] + f[1] * at->axes[1][i] + f[2] * at->axes[2][i];
    cc_cross(at->arm, F, M);
    for (int i = 0; i < 3; i++)
        S[i] += F[i], S[3 + i] += M[i];
}

/* W_ii of a port. */
CC_API void cc_admittance_at(const CcPlace *at, double B[6][6], double W[3][3])
{
    for (int k = 0; k < 3; k++) {
        double f[3] = {k == 0, k == 1, k == 2}, S[6] = {0.0}, Y[6], y[3];
        cc_add_wrench(at, f, S);
        cc_times_six(B, S, Y);
        cc_motion_at(at, Y, y);
        for (int i = 0; i < 3; i++)
            W[i][k] = y[i];
    }
}

/* B = w along the axes, `turns` times as much about them. */
CC_API void cc_guess_mobility(double B[6][6], double w, double turns)
{
    w = w < CC_MOST_ADMITTANCE ? w : CC_MOST_ADMITTANCE;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            B[i][j] = i != j ? 0.0 : i < 3 ? w : turns * w;
}

/* omega, with sum d x (omega x d) = L over the arms, sums `spread` of d d' : Cramer's rule, with a trace of 1e-6 added
 * for the line on which all points may lie. */
CC_API void cc_spin(double spread[3][3], const double L[3], double omega[3])
{
    double I[3][3], trace = spread[0][0] + spread[1][1] + spread[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            I[i][j] = (i == j ? (1.0 + 1e-6) * trace : 0.0) - spread[i][j];
    double across[3];
    cc_cross(I[1], I[2], across);
    double volume = cc_dot(I[0], across);
    for (int k = 0; k < 3; k++) {
        omega[k] = 0.0;
        if (volume > 0.0) { /* I is symmetric: its rows are its columns */
            double other[3];
            cc_cross(I[(k + 1) % 3], I[(k + 2) % 3], other);
            omega[k] = cc_dot(L, other) / volume;
        }
    }
}

/* b of joint_coupling.h, from the share of what happens that B does not explain. */
CC_API double cc_unexplained(const CcMobility *m)
{
    double open = CC_UNEXPLAINED * m->open[0], now = open < m->open[1] ? open / m->open[1] : m->open[1] > 0.0;
    return 0.5 * now > CC_BEYOND * m->others ? 0.5 * now : CC_BEYOND * m->others;
}

/* Sum of squares, fading, of the answers to the secants that B was learned from. */
CC_API double cc_answers_learned(const CcMobility *m)
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 6; k++)
                sum += m->B[i][j] * m->ss[j][k] * m->B[i][k];
    return sum;
}

/* 1 where some B leaves less than CC_ALONE of more intervals than it can fit: no others act, whatever is known of B. */
CC_API int cc_is_alone(const CcWrenchSums *sums)
{
    int directions;
    return cc_wrenches_rest(sums, &directions) < CC_ALONE * sums->qq && sums->samples > directions + 1.0;
}

/* What B leaves of the changes of Y in these sums. */
CC_API double cc_left_by_mobility(const CcMobility *m, const CcWrenchSums *sums)
{
    double left = sums->qq;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            left -= 2.0 * m->B[i][j] * sums->qs[i][j];
            for (int k = 0; k < 6; k++)
                left += m->B[i][j] * sums->ss[j][k] * m->B[i][k];
        }
    return left;
}

/* Add the interval that ended to what that share is taken of; changes below `least` are noise.  What B leaves of the
 * change of Y goes into `left`. */
CC_API void cc_account(CcMobility *m, int lag, const double Y[6], double least, double left[6])
{
    double change[6], answer[6], seen[6], unexplained = 0.0, all = 0.0;
    cc_wrench_change(m->S, lag, change);
    cc_times_six(m->B, change, answer);
    for (int i = 0; i < 6; i++) {
        seen[i] = Y[i] - m->Y[i], left[i] = seen[i] - answer[i];
        unexplained += left[i] * left[i], all += seen[i] * seen[i];
    }
    int above_noise = all > least * least;
    m->open[0] = CC_FORGETS * m->open[0] + (above_noise ? unexplained : 0.0);
    m->open[1] = CC_FORGETS * m->open[1] + (above_noise ? all : 0.0);
    m->others = cc_faded(above_noise ? CC_OTHERS_LAST : 1.0, m->others);
    double pushed = 0.0;
    cc_times_six(m->B, m->S[lag], answer);
    for (int i = 0; i < 6; i++)
        pushed += answer[i] * answer[i];
    double learned = (1.0 - CC_WRENCHES_FORGET) * cc_answers_learned(m); /* B is not known to less than its share */
    pushed = learned > pushed ? learned : pushed;
    int large = m->others > 0.0 || m->open[0] > CC_LARGE * CC_LARGE * pushed;
    /* one secant some B explains, though not the one that the guess becomes: it proves no others */
    if (above_noise && large && m->count > 1.0 && CC_UNEXPLAINED * m->open[0] > m->open[1])
        m->others = 1.0;
    if (above_noise && CC_UNEXPLAINED * unexplained > all)
        m->explained = (CcWrenchSums){.samples = 0.0};
    else
        cc_sum_wrenches(&m->explained, CC_LAG_FORGETS, change, seen);
    if (m->others == 0.0 || m->lag.of[lag].samples >= CC_DOUBTS_OTHERS)
        return;
    const CcWrenchSums *sums = m->lag.of + lag;
    int alone = cc_is_alone(sums), another = alone && cc_left_by_mobility(m, sums) > CC_ANOTHER * sums->qq;
    sums = another ? sums : &m->explained;
    if (alone) /* B was not known, */
        m->others = m->open[0] = m->open[1] = 0.0;
    if (another || (!alone && cc_is_alone(sums))) { /* is another one, or it was an event */
        m->others = m->open[0] = m->open[1] = m->left = 0.0;
        __builtin_memcpy(m->ss, sums->ss, sizeof m->ss);
        __builtin_memcpy(m->qs, sums->qs, sizeof m->qs);
    }
}

/* Share of the recent changes of Y, squared, that B explains; 0 before the first. */
CC_API double cc_mobility_trust(const CcMobility *m)
{
    return m->open[1] > m->open[0] ? 1.0 - m->open[0] / m->open[1] : 0.0;
}

/* 1 if the recent intervals refute B (cc_is_refuted); stiffness: k H^2, kg. */
CC_API int cc_is_mobility_refuted(const CcMobility *m, int lag, double stiffness)
{
    const CcWrenchSums *sums = m->lag.of + lag;
    double left = cc_left_by_mobility(m, sums), ss = 0.0;
    int directions;
    double least = cc_wrenches_rest(sums, &directions);
    for (int i = 0; i < 6; i++)
        ss += sums->ss[i][i];
    return sums->samples > directions + 1.0 && cc_is_refuted(left, least, ss, stiffness);
}

/* B by A and C, with the weight e of what it was: into `found`; returns 0 where that is not positive. */
CC_API int cc_fit_mobility(double B[6][6], double A[6][6], double C[6][6], double e, double found[6][6])
{
    double L[6][6], E[6][6], P[6][6], half[6][6], root[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            L[i][j] = A[i][j] + (i == j ? e : 0.0);
    if (!cc_root(L, 0.0))
        return 0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            E[i][j] = C[i][j], P[i][j] = A[i][j];
            for (int k = 0; k < 6; k++)
                E[i][j] -= B[i][k] * A[k][j];
        }
        cc_root_solve(L, E[i]);
        cc_root_solve(L, P[i]);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            half[i][j] = E[i][j];
            for (int k = 0; k < 6; k++)
                half[i][j] -= 0.5 * P[i][k] * E[k][j];
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            root[i][j] = found[i][j] = B[i][j] + half[i][j] + half[j][i];
    return cc_root(root, CC_LEAST_PIVOT);
}

/* B by A and C, with the least e that noise of q, its standard deviation, and the squares `left` of what B leaves give
 * and that leaves it positive.  Returns 0 where none does: B is as it was. */
CC_APART int cc_refit_mobility(double B[6][6], double A[6][6], double C[6][6], double left, double noise)
{
    double found[6][6], trace = 0.0, mean = 0.0;
    for (int i = 0; i < 6; i++)
        trace += A[i][i], mean += B[i][i] / 6.0;
    double e = (2.0 * noise * noise + CC_SECANT_LEFT * left) / (mean * mean) + CC_SECANT_ROUNDING * trace;
    for (int n = 0; n < CC_FEW_WEIGHINGS; n++, e *= 10.0)
        if (cc_fit_mobility(B, A, C, e, found)) {
            __builtin_memcpy(B, found, sizeof found);
            return 1;
        }
    return 0;
}

/* Learn B from one more secant of the weight w; noise of q: standard deviation. */
CC_API void cc_learn_mobility(CcMobility *m, const double s[6], const double q[6], double w, double noise)
{
    double answer[6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            m->ss[i][j] = CC_WRENCHES_FORGET * m->ss[i][j] + w * s[i] * s[j];
            m->qs[i][j] = CC_WRENCHES_FORGET * m->qs[i][j] + w * q[i] * s[j];
        }
    cc_refit_mobility(m->B, m->ss, m->qs, m->left, noise);
    cc_times_six(m->B, s, answer);
    m->left = cc_faded(CC_WRENCHES_FORGET, m->left);
    for (int i = 0; i < 6; i++)
        m->left += w * (q[i] - answer[i]) * (q[i] - answer[i]);
}

/* Learn B from the interval that ended with the rate Y of the twist; `quiet`: no force acts, `changed`: the lag did,
 * least: changes of Y below are noise. */
CC_API void cc_find_mobility(CcMobility *m, int lag, const double Y[6], int quiet, int changed, double least)
{
    const double *S = m->S[lag], *before = m->S[lag + 1];
    double s[6], q[6], ss = 0.0, sq = 0.0, qq = 0.0, newest = 0.0, now[6];
    for (int i = 0; i < 6 && m->anchored == 0.0; i++) /* the first interval is compared with none */
        m->S_anchor[i] = S[i], m->Y_anchor[i] = Y[i];
    for (int i = 0; i < 6 && m->anchored != 0.0 && (changed || quiet); i++)
        m->S_anchor[i] = before[i], m->Y_anchor[i] = m->Y[i];
    for (int i = 0; i < 6; i++)
        newest += m->S[0][i] * m->S[0][i];
    newest = cc_sqrt(newest);
    m->largest = quiet ? 0.0 : cc_fading_peak(0.99, m->largest, newest);
    for (int i = 0; i < 6; i++) {
        s[i] = S[i] - m->S_anchor[i], q[i] = Y[i] - m->Y_anchor[i];
        ss += s[i] * s[i], sq += s[i] * q[i], qq += q[i] * q[i];
    }
    int active = ss > CC_EXCITATION * CC_EXCITATION * m->largest * m->largest && qq > least * least;
    if (active && m->known == 0.0 && sq > 0.0) {
        double reach = ss;
        for (int i = 3; i < 6; i++)
            reach += (CC_ROTATION_GUESS - 1.0) * s[i] * s[i];
        cc_guess_mobility(m->B, sq / reach, CC_ROTATION_GUESS);
        m->known = 1.0, m->count = m->left = 0.0;
        __builtin_memset(m->ss, 0, sizeof m->ss);
        __builtin_memset(m->qs, 0, sizeof m->qs);
        if (changed) { /* the intervals before show B with this lag too */
            __builtin_memcpy(m->ss, m->lag.of[lag].ss, sizeof m->ss);
            __builtin_memcpy(m->qs, m->lag.of[lag].qs, sizeof m->qs);
        }
    }
    if (active && m->known != 0.0) {
        double answer = 0.0, apart = 0.0;
        cc_times_six(m->B, s, now);
        for (int i = 0; i < 6; i++)
            answer += now[i] * now[i], apart += (q[i] - now[i]) * (q[i] - now[i]);
        double w = m->count > 0.0 && apart > answer ? answer / apart : 1.0;
        cc_learn_mobility(m, s, q, w, least / 10.0); /* least: ten times the noise */
        m->count += 1.0;
    }
    if (active)
        for (int i = 0; i < 6; i++)
            m->S_anchor[i] = S[i], m->Y_anchor[i] = Y[i];
    m->unanswered = quiet ? 0.0 : m->unanswered + (newest > 0.0);
    if (m->known == 0.0 && m->unanswered > CC_MOST_UNANSWERED)
        cc_guess_mobility(m->B, 0.0, CC_ROTATION_GUESS);
}

#endif
