/* The answer of the bodies at a port, in one direction, as a difference equation of second order, and its lag.
 *
 * y_i = (v_i+1 - v_i)/H is the mean acceleration of interval i, D the backward difference, u_i the force that acts on
 * that interval:
 *
 *     D y_i = a_1 D y_i-1 + a_2 D y_i-2 + b_0 D u_i + b_1 D u_i-1 + b_2 D u_i-2                              (1)
 *
 * What bodies (1) is exact for: THEORY.md.
 *
 * Least squares    R p = r of the parameters p = (a_1, a_2, b_0, b_1, b_2), R triangular with a diagonal of 1, its rows
 *                  of the weights D_j: each sample multiplies D by 0.98 and rotates the row (D y_i-1, D y_i-2, D u_i,
 *                  ..; D y_i) in
 * Prior            a_2 = -1, b_2 = -a_2 b_0; b_0 = W, b_1 = -a_1 b_0 with a tenth of that weight; a_1 = 0 with a
 *                  hundredth: a free body of the admittance W that is pushed by what swings undamped, or is joined to
 *                  it.  Any a_1 leaves nothing of a free body, so its rows cost it nothing, and what is joined to it
 *                  shows in three answers.  The rows of weight rho are rotated into a copy,
 *                  rho = A (0.17 2^-n + 1e-8) + sqrt(0.5 0.05 S)
 *                  Springs, dampers and guides, whose neighbours answer all the time: (0, 0, W, -a_1 W, -a_2 W), n > 6
 *                  A largest |D y|, n samples learned, S discounted sum of squares of what (1) leaves of them
 * Lag              L, intervals from a sample to the one on which its force acts: u_i = f_i-L.  Each of L = 0, 1, 2 is
 *                  a hypothesis with its own R, r, p on the same motion; where L is given there is but one.  In the
 *                  first samples of a contact the smallest remainder of D y* after a multiple of D u* decides,
 *                  whitened by the poles of free flight, v*_i = v_i - a_1 v_i-1 - a_2 v_i-2, from the first answer on,
 *                  or plainly from the fourth: where a contact begins as another one ends the first ones show both.
 *                  From the eighth on the prediction errors of (1)
 *                  The squares that no p at all explains, `rest`, are 0 with the true lag of bodies that (1) describes
 * Use              (1) replaces the free body if n > 3, b_0 > 0, its poles lie within |z| < 1.1, and its squared
 *                  prediction errors are below 1/4 of those of the free body, up to n = 6 below 1/50 (memory of 5
 *                  samples, from n = 3 on), until they are above them.  The first answer of all shows b_0: it judges
 *                  nothing, and with it the poles of free flight are used if they left less than 1/1000 of the errors
 *                  of the free body there, and the squares of D y there exceed 1/1000 of that of the answer.
 *                  Where p leaves less than CC_MODEL_KNOWN of the samples of a contact, its errors are those, not the
 *                  ones of earlier p: a body that comes to rest fades the errors of both alike
 *
 * Springs, dampers and guides learn nothing from changes of v that are rounding, nor, once the lag is known, where the
 * free body leaves 1e-6 of D y: alone with one body they save the time.
 *
 * Forces count in accelerations, times `unit` = 1/(K H^2), K a stiffness of the law, so the prior has one width.  What
 * answers to a force before it is known is not learned.
 * (1) holds for one H: a new H begins anew.
 *
 * One family of functions: what a sample shows, how it is learned, and what it predicts.
 *
 * Sources: recursive least squares in triangular form: Bjorck, Numerical Methods for Least Squares Problems (1996),
 * 3.3; rotations without roots: Gentleman, J. Inst. Maths Applics 12 (1973) 329; held input and sampled motion: Astrom
 * & Wittenmark, Computer-Controlled Systems (1997), 2. */
#ifndef CC_PARTNER_MODEL_H
#define CC_PARTNER_MODEL_H

#include "../base/vector.h"
#include "lag.h"

#define CC_MODEL_SIZE 5
#define CC_MODEL_TRIANGLE 15 /* entries of R, which is zero below its diagonal */
#define CC_MODEL_FORCES 6 /* CC_LAGS + 3 */

#define CC_SAME_STEP 1e-6            /* of H: a step that differs by more is another one */
#define CC_MODEL_FORGETS 0.98        /* share of R' D R that a sample leaves */
#define CC_MODEL_ERRORS 0.95         /* of S and of the whitened sums */
#define CC_MODEL_RECENT 0.8          /* of the prediction errors */
#define CC_MODEL_ACTIVE 1e-3         /* of A: smaller changes are not learned */
#define CC_MODEL_PEAK 0.999          /* share of A that a sample leaves */
#define CC_MODEL_JUDGED 2.0          /* samples learned, after which errors count, unless others answer all the time */
#define CC_MODEL_FEW 3.0             /* samples learned, after which (1) may be used, */
#define CC_MODEL_MORE 6.0            /* and after which CC_MODEL_BETTER suffices */
#define CC_MODEL_POLES 1.1           /* greatest poles */
#define CC_MODEL_AT_ONCE 0.1         /* least b_0 over b_1, b_2: with less the lag is a larger one */
#define CC_MODEL_BETTER 0.25         /* of the errors of the free body, below which (1) is used */
#define CC_MODEL_CLEARLY 0.02        /* likewise of few samples, */
#define CC_MODEL_IN_FLIGHT 1e-3      /* and where the force begins to answer: of the flight before it, which was that */
#define CC_MODEL_NO_TRIFLE 1e-3      /* share of the first answer, squared */
#define CC_MODEL_ANSWERS 2.0         /* first answers more that judge nothing while the lag is unknown */
#define CC_MODEL_HELD 0.05           /* of b_0: most admittance of all bodies where the ground holds them */
#define CC_MODEL_LIKELY 0.1          /* weight of the rows of b_0 and b_1, */
#define CC_MODEL_SWINGS 0.01         /* and of a_1 = 0 */
#define CC_MODEL_OPEN 100.0          /* the prior of a parameter is left out where R_jj exceeds this times rho */
#define CC_MODEL_SURE 0.05           /* remainder of another lag over that of the present one, to change it */
#define CC_MODEL_SURE_LATE 0.01      /* likewise to L = 2 */
#define CC_MODEL_ANEW 4.0            /* answers of a contact, with which further whitened sums begin, */
#define CC_MODEL_LIGHTEST 4.0        /* (omega H)^2 of bodies that first answers can show */
#define CC_MODEL_PLAIN 1e-3          /* and remainder over the present one, of which noise before is no doubt */
#define CC_MODEL_RUN 7.0             /* samples of contact, after which prediction errors judge the lag */
#define CC_MODEL_SAMPLES 3.0           /* samples in a row by which they do */
#define CC_MODEL_MANY_SAMPLES 20.0     /* likewise where others answer to the same motion all the time */
#define CC_MODEL_EXACT 1e-6          /* of what no p explains with another lag */
#define CC_MODEL_KNOWN 1e-6          /* of the errors of the free body: what an exact p leaves of all samples */
#define CC_MODEL_WRONG 1e-10         /* of D y squared: a lag that misses by less is kept */
#define CC_MODEL_EXPLAINED 0.02      /* of D y squared: what the best lag leaves then */
#define CC_MODEL_FREE 1e-6           /* of D y: what the free body leaves, with which nothing more is learned */
#define CC_MODEL_LEAST 1e-13         /* of squares: rounding */
#define CC_MODEL_NOTHING 1e-290      /* (m/s2)^2: weights of a parameter with which one can calculate are above it */
#define CC_MODEL_TINY 1e-100         /* m/s2: accelerations whose squares can be formed are learned from */
#define CC_MODEL_HUGE 1e100

/* Where R_jk stands, j <= k: the triangle by rows, with D_j for its diagonal of ones. */
CC_API int cc_entry(int j, int k) { return j * (2 * CC_MODEL_SIZE - 1 - j) / 2 + k; }

/* One lag. */
typedef struct {
    double R[CC_MODEL_TRIANGLE], r[CC_MODEL_SIZE], p[CC_MODEL_SIZE]; /* R: cc_entry */
    double S CC_FROM(0);                      /* squares that (1) leaves of samples it has learned, */
    double miss CC_FROM(0), error CC_FROM(0); /* that it missed the last sample by, and recent ones */
    double rest CC_FROM(0);                /* squares that no p explains: of samples beyond the first five */
    double whitened[3], later[3];          /* sums of D u*^2, D u* D y*, D y*^2; and from the fourth answer on */
} CcHypothesis;

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    CcHypothesis lag[CC_LAGS];
    double unit CC_FROM(0), H CC_FROM(0); /* 1/kg, 0 before the first force; s */
    double samples CC_FROM(0), learned CC_FROM(0), contact CC_FROM(0); /* intervals seen; n; of contact */
    double answers CC_FROM(0);            /* intervals in which the force changed, up to some */
    double y, Dy[2];                      /* the last interval, and its differences, the newest first */
    double size CC_FROM(0), noise CC_FROM(0), poles[2]; /* A; of D y* in free flight; poles there: a_1, a_2 */
    double all CC_FROM(0), free CC_FROM(0); /* recent squares: of D y, of what the free body leaves of it */
    double squares CC_FROM(0);              /* discounted sum of D y^2 */
    double confirmed CC_FROM(0), use CC_IN(0, 1);
} CcPartnerModel;

/* What a sample shows, and what it is judged with. */
typedef struct {
    double y, u[CC_MODEL_FORCES]; /* acceleration of the interval that ended; forces given, the newest first */
    double W;                     /* admittance of the free body, 1/kg */
    double rounding, floor;       /* m/s: of changes of v; what is below the floor is noise */
    int guessed;                  /* W is a first guess */
    int quiet;                    /* no force acts */
    int given;                    /* the lag is */
    int late;                     /* others answer all the time: prediction errors alone judge the lag, after a while */
} CcModelSample;

/* The unit for the stiffness that the elastic energy U, J, at the depth x, m, shows; 0 where that is no number to
 * calculate with. */
CC_API double cc_model_unit(double x, double U, double H)
{
    double unit = U > 0.0 ? x * x / (2.0 * U * H * H) : 0.0;
    return unit > CC_MODEL_TINY && unit < CC_MODEL_HUGE ? unit : 0.0;
}

/* Count forces in smaller units, those of the stiffest part of the law that was touched: 0 leaves them. */
CC_API void cc_model_in_units(CcPartnerModel *m, double unit)
{
    double share = unit / m->unit;
    if (!(unit > 0.0) || !(m->unit == 0.0 || share < 0.5))
        return;
    for (int L = 0; L < CC_LAGS && m->unit > 0.0; L++)
        for (int k = 2; k < CC_MODEL_SIZE; k++) { /* among the rows of D u R stays */
            CcHypothesis *h = &m->lag[L];
            h->R[cc_entry(0, k)] *= share;
            h->R[cc_entry(1, k)] *= share;
            h->R[cc_entry(k, k)] *= share * share;
            h->r[k] /= share;
            h->p[k] /= share;
        }
    m->unit = unit;
}

/* Begin anew where the step H differs from the one that the model holds for. */
CC_API void cc_model_at_step(CcPartnerModel *m, double H)
{
    if (cc_abs(H - m->H) <= CC_SAME_STEP * H)
        return;
    double share = m->H > 0.0 ? m->H / H : 1.0, unit = m->unit * share * share; /* K is no matter of H */
    *m = (CcPartnerModel){.H = H, .unit = unit > CC_MODEL_TINY && unit < CC_MODEL_HUGE ? unit : 0.0};
}

/* Rotate the row, of the weight w and with t on the right side, into R p = r; returns the square that no p explains of
 * it.  Givens' rotations without roots: D_j' = D_j + w x_j^2, of which the row keeps the weight w D_j/D_j'. */
CC_APART double cc_rotate_in(double R[CC_MODEL_TRIANGLE], double r[CC_MODEL_SIZE], double row[CC_MODEL_SIZE], double t,
                             double w)
{
#pragma GCC unroll 5 /* CC_MODEL_SIZE */
    for (int j = 0; j < CC_MODEL_SIZE; j++) {
        double *line = R + cc_entry(j, j), x = row[j], D = line[0] + w * x * x;
        if (x == 0.0 || !(D > CC_MODEL_NOTHING))
            continue;
        double scale = 1.0 / D, c = line[0] * scale, s = w * x * scale, r_j = r[j];
        line[0] = D;
#pragma GCC unroll 5 /* CC_MODEL_SIZE */
        for (int k = j + 1; k < CC_MODEL_SIZE; k++) {
            double up = line[k - j];
            line[k - j] = c * up + s * row[k];
            row[k] -= x * up;
        }
        r[j] = c * r_j + s * t;
        t -= x * r_j;
        w *= c;
    }
    return w * t * t;
}

/* Rotate the row j of the prior in, of the square `weight`: factor p_in + p_j = t. */
CC_API void cc_rotate_prior_in(double R[CC_MODEL_TRIANGLE], double r[CC_MODEL_SIZE], int j, int in, double factor,
                               double t, double weight)
{
    double row[CC_MODEL_SIZE] = {0.0};
    row[in] = factor;
    row[j] = 1.0;
    cc_rotate_in(R, r, row, t, weight);
}

/* p of R p = r; a parameter that nothing shows is 0. */
CC_APART void cc_solve_triangle(const double R[CC_MODEL_TRIANGLE], const double r[CC_MODEL_SIZE],
                                double p[CC_MODEL_SIZE])
{
#pragma GCC unroll 5 /* CC_MODEL_SIZE */
    for (int j = CC_MODEL_SIZE - 1; j >= 0; j--) {
        const double *line = R + cc_entry(j, j);
        double rest = r[j];
#pragma GCC unroll 5 /* CC_MODEL_SIZE */
        for (int k = j + 1; k < CC_MODEL_SIZE; k++)
            rest -= line[k - j] * p[k];
        p[j] = line[0] != 0.0 ? rest : 0.0;
    }
}

static const double cc_prior_weight[CC_MODEL_SIZE] = {
    CC_MODEL_SWINGS * CC_MODEL_SWINGS, 1.0, CC_MODEL_LIKELY * CC_MODEL_LIKELY, CC_MODEL_LIKELY * CC_MODEL_LIKELY, 1.0,
};

/* p of R p = r with the prior of b_1 and b_2, where they are open, by a_1 and a_2 of p. */
CC_API void cc_solve_with_answers(CcHypothesis *h, const double R[CC_MODEL_TRIANGLE], const double r[CC_MODEL_SIZE],
                                  const int open[CC_MODEL_SIZE], double rho_2)
{
    double R_b[CC_MODEL_TRIANGLE], r_b[CC_MODEL_SIZE];
    __builtin_memcpy(R_b, R, sizeof R_b);
    __builtin_memcpy(r_b, r, sizeof r_b);
    for (int j = 3; j < CC_MODEL_SIZE; j++)
        if (open[j])
            cc_rotate_prior_in(R_b, r_b, j, 2, h->p[j - 3], 0.0, cc_prior_weight[j] * rho_2);
    cc_solve_triangle(R_b, r_b, h->p);
}

/* p of a hypothesis, with its prior for what the samples leave open, of the square weight rho_2 = rho^2: `b` = W in
 * units; a_1 and a_2 of p as it was, and then of this sample, give b_1 and b_2 over b_0.  `late`: others answer all the
 * time, and the prior is p_0 = (0, 0, W, -a_1 W, -a_2 W). */
CC_API void cc_solve_model(CcHypothesis *h, double rho_2, double b, int late)
{
    const double likely[CC_MODEL_SIZE] = {0.0, -1.0, b};
    const double still[CC_MODEL_SIZE] = {0.0, 0.0, b, -h->p[0] * b, -h->p[1] * b};
    double R[CC_MODEL_TRIANGLE], r[CC_MODEL_SIZE];
    int open[CC_MODEL_SIZE];
    __builtin_memcpy(R, h->R, sizeof R);
    __builtin_memcpy(r, h->r, sizeof r);
    for (int j = 0; j < CC_MODEL_SIZE; j++) {
        open[j] = !(h->R[cc_entry(j, j)] > CC_MODEL_OPEN * CC_MODEL_OPEN * rho_2);
        if (open[j] && late)
            cc_rotate_prior_in(R, r, j, j, 1.0, still[j], rho_2);
        else if (open[j] && j < 3)
            cc_rotate_prior_in(R, r, j, j, 1.0, likely[j], cc_prior_weight[j] * rho_2);
    }
    if (late || !(open[3] || open[4])) {
        cc_solve_triangle(R, r, h->p);
        return;
    }
    cc_solve_with_answers(h, R, r, open, rho_2);
    cc_solve_with_answers(h, R, r, open, rho_2);
}

/* The entries of (1) for forces from u on, the newest first. */
CC_API void cc_model_row(const CcPartnerModel *m, const double *u, double row[CC_MODEL_SIZE])
{
    row[0] = m->Dy[0], row[1] = m->Dy[1];
    for (int k = 0; k < 3; k++)
        row[2 + k] = (u[k] - u[k + 1]) * m->unit;
}

/* v* of three values in a row, the newest first. */
CC_API double cc_whitened(const CcPartnerModel *m, double now, double before, double first)
{
    return now - m->poles[0] * before - m->poles[1] * first;
}

/* What is left of D y* by a multiple of D u* that pushes along it. */
CC_API double cc_whitened_remainder(const double sums[3])
{
    return cc_remainder(sums[0], cc_max(sums[1], 0.0), sums[2]);
}

/* The lag that the later answers of a contact plainly show, or -1; `least`: squares that are noise. */
CC_API int cc_model_later_lag(const CcPartnerModel *m, int now, double least)
{
    double left[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        left[L] = cc_whitened_remainder(m->lag[L].later);
    int best = cc_least_lag(left);
    double most = best == 2 ? CC_MODEL_ANEW + 1.0 : CC_MODEL_ANEW; /* two answers may look like L = 2, three not */
    int many = m->contact > most;
    return many && left[best] < CC_MODEL_PLAIN * left[now] && left[now] > least ? best : -1;
}

/* The lag whose (1) leaves less than CC_MODEL_EXACT of what it leaves with each other one, or -1. */
CC_API int cc_model_exact_lag(const CcPartnerModel *m)
{
    double rest[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        rest[L] = m->lag[L].rest;
    int best = cc_least_lag(rest), exact = cc_is_least_by(rest, best, CC_MODEL_EXACT);
    for (int L = 0; L < CC_LAGS; L++)
        exact &= L == best || rest[L] > CC_MODEL_WRONG * m->squares;
    return exact && m->learned > CC_MODEL_SIZE ? best : -1;
}

/* 1 unless bodies as light as the sums of D u^2, D u D y show would be thrown off within a step or two: what others do
 * passes for the answer to a small force. */
CC_API int cc_model_is_plausible(const CcPartnerModel *m, const double sums[2])
{
    return sums[1] <= CC_MODEL_LIGHTEST * m->unit * sums[0];
}

/* The lag that the evidence is for, or `now`. */
CC_API int cc_model_lag(CcPartnerModel *m, int now, const CcModelSample *s)
{
    double score[CC_LAGS], tiny = CC_MODEL_LEAST * m->squares, least = m->lag[0].error;
    for (int L = 1; L < CC_LAGS; L++)
        least = cc_min(least, m->lag[L].error);
    int run = m->learned > CC_MODEL_RUN + 2.0 && m->contact > CC_MODEL_RUN && least < CC_MODEL_EXPLAINED * m->all;
    for (int L = 0; L < CC_LAGS; L++)
        score[L] = (run ? m->lag[L].error : cc_whitened_remainder(m->lag[L].whitened)) + tiny;
    int best = cc_least_lag(score), exact = s->late || s->quiet ? -1 : cc_model_exact_lag(m);
    if (exact >= 0) {
        m->confirmed = 0.0;
        return exact;
    }
    double floor = 10.0 * m->noise + s->rounding / m->H, signal = 1e-3 * m->lag[now].whitened[2];
    signal = signal > floor * floor ? signal : floor * floor;
    int better = score[best] < (best == 2 ? CC_MODEL_SURE_LATE : CC_MODEL_SURE) * score[now];
    int wrong = run ? m->lag[now].miss > CC_MODEL_WRONG * m->all && m->lag[best].miss < m->lag[now].miss
                    : score[now] > signal && !s->late;
    int later = run || s->late || s->quiet ? -1 : cc_model_later_lag(m, now, s->floor * s->floor / (m->H * m->H));
    if (later >= 0) {
        m->confirmed = 0.0;
        return later;
    }
    m->confirmed = better && wrong ? m->confirmed + 1.0 : 0.0;
    if (!run && !s->late && m->contact < CC_MODEL_ANEW && !cc_model_is_plausible(m, m->lag[best].whitened))
        m->confirmed = 0.0;
    int sure = !s->quiet && m->confirmed >= (!run ? 1.0 : s->late ? CC_MODEL_MANY_SAMPLES : CC_MODEL_SAMPLES);
    m->confirmed = sure ? 0.0 : m->confirmed;
    return sure ? best : now;
}

/* 1 if what swings grows little, and samples show it. */
CC_API int cc_model_is_bounded(const CcPartnerModel *m, int lag)
{
    const double *p = m->lag[lag].p;
    int bounded = p[1] > -CC_MODEL_POLES * CC_MODEL_POLES && cc_abs(p[0]) < CC_MODEL_POLES - p[1] / CC_MODEL_POLES;
    return bounded && m->learned > CC_MODEL_FEW;
}

/* 1 if (1) describes bodies: besides, they answer along the force. */
CC_API int cc_model_is_sane(const CcPartnerModel *m, int lag)
{
    const double *p = m->lag[lag].p;
    double later = cc_abs(p[3]) > cc_abs(p[4]) ? cc_abs(p[3]) : cc_abs(p[4]);
    return p[2] > 0.0 && p[2] > CC_MODEL_AT_ONCE * later && cc_model_is_bounded(m, lag);
}

/* The motion begins anew; what is learned is kept. */
CC_API void cc_model_interrupt(CcPartnerModel *m)
{
    m->samples = m->contact = m->y = m->Dy[0] = m->Dy[1] = m->use = 0.0;
}

/* Nothing moved and nothing acted: the sample shows nothing. */
CC_API void cc_model_pass(CcPartnerModel *m, double Dy, int quiet)
{
    m->size = cc_faded(CC_MODEL_PEAK, m->size);
    m->Dy[1] = m->Dy[0], m->Dy[0] = Dy;
    m->contact = quiet ? 0.0 : m->contact;
}

/* Judge (1) of a lag, as it was before the sample, by D y; `most` bounds the square that counts. */
CC_API void cc_judge(CcHypothesis *h, const double row[CC_MODEL_SIZE], double Dy, double most, int counts)
{
    double e = Dy - cc_product(CC_MODEL_SIZE, h->p, row), square = e * e;
    h->miss = square < most ? square : most;
    if (counts)
        h->error = CC_MODEL_RECENT * h->error + h->miss;
}

/* Add the sample to R p = r and solve it; `learned`: n. */
CC_API void cc_learn(CcPartnerModel *m, CcHypothesis *h, const double row[CC_MODEL_SIZE], double Dy, double W,
                     int late)
{
    double copy[CC_MODEL_SIZE], few = m->learned < 60.0 ? 0.17 / (double)(1ULL << (int)m->learned) : 0.0;
    for (int j = 0; j < CC_MODEL_SIZE; j++) {
        copy[j] = row[j];
        h->R[cc_entry(j, j)] *= CC_MODEL_FORGETS;
    }
    h->rest = CC_MODEL_FORGETS * h->rest + cc_rotate_in(h->R, h->r, copy, Dy, 1.0);
    double rho = m->size * (few + 1e-8) + cc_sqrt(0.5 * (1.0 - CC_MODEL_ERRORS) * h->S);
    cc_solve_model(h, rho * rho, m->unit > 0.0 ? W / m->unit : 0.0, late);
    double left = Dy - cc_product(CC_MODEL_SIZE, h->p, row);
    h->S = CC_MODEL_ERRORS * h->S + left * left;
}

/* The poles and the noise of free flight. */
CC_API void cc_model_in_flight(CcPartnerModel *m, const CcHypothesis *h, double Dy)
{
    int explained = m->learned > CC_MODEL_FEW && h->error < CC_MODEL_SURE * m->all;
    if (m->learned > 0.0)
        m->poles[0] = explained ? h->p[0] : 0.0, m->poles[1] = explained ? h->p[1] : 0.0;
    double white = cc_whitened(m, Dy, m->Dy[0], m->Dy[1]);
    m->noise = cc_sqrt(cc_faded(0.8, m->noise * m->noise) + 0.2 * white * white / 6.0);
}

/* 1 if (1) replaces the free body from here on.  `first`: the force begins to answer, and the errors are those of the
 * flight before. */
CC_API int cc_model_is_used(const CcPartnerModel *m, int lag, double Dy, int first, int late)
{
    int sane = cc_model_is_sane(m, lag) || (m->answers == 0.0 && !late && cc_model_is_bounded(m, lag));
    double share = m->learned <= CC_MODEL_MORE ? CC_MODEL_CLEARLY : m->use != 0.0 ? 1.0 : CC_MODEL_BETTER;
    if (late && m->learned <= CC_MODEL_MORE)
        return 0;
    if (first)
        share = m->all > CC_MODEL_NO_TRIFLE * Dy * Dy ? CC_MODEL_IN_FLIGHT : 0.0;
    return sane && m->lag[lag].error < share * m->free;
}

/* Learn from the interval that ended, in which the acceleration changed by Dy or a force did; returns the lag to go on
 * with. */
CC_APART int cc_model_take(CcPartnerModel *m, int lag, const CcModelSample *s, double Dy)
{
    double most = cc_abs(Dy), rounding = s->rounding / m->H, rows[CC_LAGS][CC_MODEL_SIZE];
    int first = s->given ? lag : 0, last = s->given ? lag : CC_LAGS - 1, now = lag, acts = 0;
    m->size = cc_fading_peak(CC_MODEL_PEAK, m->size, cc_abs(Dy));
    for (int L = first; L <= last; L++) {
        cc_model_row(m, s->u + L, rows[L]);
        for (int j = 0; j < CC_MODEL_SIZE; j++)
            most = cc_abs(rows[L][j]) > most ? cc_abs(rows[L][j]) : most;
        acts |= rows[L][2] != 0.0;
    }
    int active = m->samples > 3.0 && most > CC_MODEL_ACTIVE * m->size && most > rounding && most > CC_MODEL_TINY
                 && most < CC_MODEL_HUGE && (m->unit > 0.0 || s->quiet);
    int asked = s->given ? 1 : 1 + (int)CC_MODEL_ANSWERS;
    m->answers += acts && m->answers <= CC_MODEL_ANSWERS + 1.0;
    int begins = acts && m->answers <= asked && !s->late;
    int judged = active && (s->late || m->learned > CC_MODEL_JUDGED) && !begins;
    double largest = 4.0 * (Dy * Dy > m->squares / 8.0 ? Dy * Dy : m->squares / 8.0);
    for (int L = first; L <= last; L++)
        cc_judge(&m->lag[L], rows[L], Dy, largest, judged);
    if (active) {
        double W = s->guessed ? m->lag[lag].p[2] * m->unit : s->W, left = Dy - W * (s->u[lag] - s->u[lag + 1]);
        m->squares = CC_MODEL_ERRORS * m->squares + Dy * Dy;
        if (judged) {
            m->free = CC_MODEL_RECENT * m->free + (left * left < largest ? left * left : largest);
            m->all = CC_MODEL_RECENT * m->all + Dy * Dy;
        }
        m->learned += 1.0;
    }
    if (s->quiet)
        cc_model_in_flight(m, &m->lag[first], Dy);
    m->contact = s->quiet ? 0.0 : m->contact + acts;
    double white = cc_whitened(m, Dy, m->Dy[0], m->Dy[1]), keep = active ? CC_MODEL_ERRORS : 1.0;
    for (int L = first; L <= last; L++) {
        CcHypothesis *h = &m->lag[L];
        const double *u = s->u + L;
        double push = cc_whitened(m, u[0] - u[1], u[1] - u[2], u[2] - u[3]);
        double product[3] = {push * push, push * white, white * white};
        for (int k = 0; k < 3; k++) {
            h->whitened[k] = s->quiet ? 0.0 : keep * h->whitened[k] + product[k];
            h->later[k] = m->contact < CC_MODEL_ANEW ? 0.0 : keep * h->later[k] + product[k];
        }
        if (active)
            cc_learn(m, h, rows[L], Dy, s->W, s->late);
        int shown = !s->late && m->contact > CC_MODEL_SIZE && m->learned > CC_MODEL_SIZE + 2.0;
        if (shown && h->rest < CC_MODEL_KNOWN * m->free)
            h->error = cc_min(h->error, h->rest); /* what an earlier p missed says nothing of this one */
    }
    if (!s->given)
        now = cc_model_lag(m, lag, s);
    m->use = cc_model_is_used(m, now, Dy, active && begins, s->late);
    m->Dy[1] = m->Dy[0], m->Dy[0] = Dy;
    return now;
}

/* 1, with the errors of the free body, where that leaves at most CC_MODEL_FREE of D y of bodies whose lag is known: (1)
 * could do no better.  Of D y before too: of a swing of four intervals each other D y is 0, and those alone are no
 * motion to learn. */
CC_API int cc_model_is_superfluous(CcPartnerModel *m, int lag, const CcModelSample *s, double Dy)
{
    double left = Dy - s->W * (s->u[lag] - s->u[lag + 1]), size = cc_max(cc_abs(Dy), cc_abs(m->Dy[0]));
    if (!s->late || !s->given || !(cc_abs(left) <= CC_MODEL_FREE * size))
        return 0;
    m->free = CC_MODEL_RECENT * m->free + left * left;
    m->all = CC_MODEL_RECENT * m->all + Dy * Dy;
    return 1;
}

/* Learn from the interval that ended; returns the lag to go on with. */
CC_API int cc_model_learn(CcPartnerModel *m, int lag, const CcModelSample *s)
{
    double Dy = s->y - m->y, rounding = s->rounding / m->H;
    int pushed = 0;
    m->y = s->y;
    m->samples += 1.0;
    if (m->samples < 2.0)
        return lag;
    for (int k = 0; k < CC_MODEL_FORCES - 1 && !s->quiet; k++)
        pushed |= s->u[k] != s->u[k + 1];
    int silent = cc_abs(Dy) <= rounding && cc_abs(m->Dy[0]) <= rounding && (s->late || !pushed);
    if (silent || cc_model_is_superfluous(m, lag, s, Dy)) {
        cc_model_pass(m, Dy, s->quiet);
        return lag;
    }
    return cc_model_take(m, lag, s, Dy);
}

/* b_0 of the lag, 1/kg. */
CC_API double cc_model_admittance(const CcPartnerModel *m, int lag) { return m->lag[lag].p[2] * m->unit; }

/* Share of the recent changes of y, squared, that was predicted: by (1) or by the free body. */
CC_API double cc_model_trust(const CcPartnerModel *m, int lag, int modelled)
{
    double missed = modelled ? m->lag[lag].error : m->free, share = m->all > 0.0 ? 1.0 - missed / m->all : 0.0;
    return share > 0.0 ? share : 0.0;
}

/* 1 where the ground holds the bodies: a constant force accelerates nothing for ever. */
CC_APART int cc_model_is_held(const CcPartnerModel *m, int lag)
{
    const double *p = m->lag[lag].p;
    double open = 1.0 - p[0] - p[1];
    return m->use != 0.0 && open > 0.0 && cc_abs(p[2] + p[3] + p[4]) <= CC_MODEL_HELD * p[2] * open;
}

/* The motion of intervals to come. */
typedef struct {
    double y, Dy[2];
} CcAhead;

CC_API CcAhead cc_model_now(const CcPartnerModel *m) { return (CcAhead){m->y, {m->Dy[0], m->Dy[1]}}; }

/* The acceleration of the next interval on which the force u[0] acts, after u[1], u[2], u[3]. */
CC_APART double cc_model_next(const CcPartnerModel *m, int lag, const double u[4], CcAhead *at)
{
    double row[CC_MODEL_SIZE] = {at->Dy[0], at->Dy[1], (u[0] - u[1]) * m->unit, (u[1] - u[2]) * m->unit,
                                 (u[2] - u[3]) * m->unit};
    double Dy = cc_product(CC_MODEL_SIZE, m->lag[lag].p, row);
    at->Dy[1] = at->Dy[0], at->Dy[0] = Dy;
    return at->y += Dy;
}

#endif
