/* The answer of the bodies at a contact port along the surface, where friction acts: the model of partner_model.h once
 * more, in the direction e of friction.
 *
 * Direction     e, that of the first friction; a slip that turns away from it by more than 1e-6 begins a model anew, so
 *               there is none on a curve
 * Use           as along the normal, where its prediction errors are below those of the free body: a load of one
 *               frequency that shakes a block, and springs that hold it, make (1) exact, where a of the last interval
 *               would come late
 * Admittance    where friction alone changes e W e = b_0, for secants take a load that changes along with friction for
 *               its answer
 * Lag           where it is not given, that with which (1) leaves nothing of more than seven samples, where it leaves
 *               something with each other one
 * Bend          b = -H Da/12 by which the mean slip differs from that under a constant acceleration, where the free
 *               acceleration a changes by Da from interval to interval.  Loads that others hold do not bend it: the way
 *               along the surface, less that of the mean of v, is nearer to H b or to 0 in most of the recent intervals
 */
#ifndef CC_SLIP_MODEL_H
#define CC_SLIP_MODEL_H

#include "admittance.h"
#include "partner_model.h"

#define CC_SLIP_TURNS 1e-6  /* sine of the angle between friction and e, above which the model begins anew */
#define CC_SLIP_SAMPLES 7.0 /* learned, before they can show the lag */
#define CC_SLIP_FORGETS 0.9 /* share that an interval leaves of what earlier ones showed */

/* All that is remembered: doubles only, part of the FMU state. */
typedef struct {
    CcPartnerModel model;
    double e[2];                  /* 0 before the first friction */
    double bends CC_IN(-1, 1);    /* recent intervals: 1 all with b, -1 all without */
} CcSlip;

CC_API double cc_along_slip(const CcSlip *slip, const double a[2])
{
    return slip->e[0] * a[0] + slip->e[1] * a[1];
}

/* e W e, 1/kg. */
CC_API double cc_slip_admittance(const CcSlip *slip, double W[3][3])
{
    double answer[2];
    for (int i = 0; i < 2; i++)
        answer[i] = cc_along_slip(slip, W[i]);
    return cc_along_slip(slip, answer);
}

/* The forces f, three components each, along e. */
CC_API void cc_slip_inputs(const CcSlip *slip, const double *f, double u[CC_MODEL_FORCES])
{
    for (int k = 0; k < CC_MODEL_FORCES; k++)
        u[k] = cc_along_slip(slip, f + 3 * k);
}

/* The motion begins anew; what is learned is kept. */
CC_API void cc_slip_interrupt(CcSlip *slip) { cc_model_interrupt(&slip->model); }

/* Begin anew, in the direction of the force f, with forces in the units of the model `normal`. */
CC_API void cc_slip_begin(CcSlip *slip, const double f[2], double size, const CcPartnerModel *normal)
{
    *slip = (CcSlip){.model = {.H = normal->H, .unit = normal->unit}, .e = {f[0] / size, f[1] / size}};
}

/* Learn from the interval that ended, of which `seen` has all but what depends on e.  y: acceleration, m/s^2; f: forces
 * given, N, three components each, the newest first. */
CC_API void cc_slip_learn(CcSlip *slip, int lag, const double y[3], const double *f, double W[3][3],
                          const CcPartnerModel *normal, CcModelSample seen)
{
    double size = cc_pair_norm(f), across = f[0] * slip->e[1] - f[1] * slip->e[0];
    int known = slip->e[0] != 0.0 || slip->e[1] != 0.0;
    if (size > 0.0 && !(known && cc_abs(across) <= CC_SLIP_TURNS * size))
        cc_slip_begin(slip, f, size, normal);
    else if (!known)
        return;
    seen.y = cc_along_slip(slip, y);
    seen.W = cc_slip_admittance(slip, W);
    if (!seen.quiet)
        cc_slip_inputs(slip, f, seen.u);
    cc_model_at_step(&slip->model, normal->H);
    cc_model_learn(&slip->model, lag, &seen);
}

/* What the interval that ended shows of b; `gap`: what a constant acceleration leaves of the mean slip, m/s. */
CC_API void cc_slip_see_bend(CcSlip *slip, const double gap[2], const double b[2])
{
    double bend = cc_along_slip(slip, b), shown = cc_along_slip(slip, gap);
    double nearer = shown * bend >= 0.5 * bend * bend ? 1.0 : -1.0;
    slip->bends = cc_faded(CC_SLIP_FORGETS, slip->bends) + (1.0 - CC_SLIP_FORGETS) * nearer;
}

/* W answers along e as the model does; `alone`: it is that of a particle, for nothing is known along the normal. */
CC_API void cc_slip_follow(const CcSlip *slip, int lag, double W[3][3], int alone)
{
    double b = cc_model_admittance(&slip->model, lag), w = cc_slip_admittance(slip, W);
    if (!(alone || w > 0.0) || !(b > 0.0 && b < CC_MOST_ADMITTANCE))
        return;
    double most = CC_MOST_TANGENT * W[2][2], s = alone ? 1.0 : cc_sqrt((b < most ? b : most) / w);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = alone ? (i == j ? b : 0.0) : W[i][j] * (i < 2 ? s : 1.0) * (j < 2 ? s : 1.0);
}

/* The acceleration `alpha` of the next interval, with what the model has along e; u: forces on that interval and the
 * ones before; turn: what the axes add by turning, m/s^2. */
CC_API void cc_slip_next(const CcSlip *slip, int lag, const double u[4], CcAhead *ahead, const double turn[2],
                         double alpha[2])
{
    double off = cc_model_next(&slip->model, lag, u, ahead) + cc_along_slip(slip, turn) - cc_along_slip(slip, alpha);
    for (int i = 0; i < 2; i++)
        alpha[i] += off * slip->e[i];
}

#endif
