/* What all elements share that are coupled at communication points: coupling.mode, and warnings about a force that is
 * held.
 *
 * A held force follows the motion with a delay tau, on average: L intervals from the sample to the interval on which it
 * acts, and half an interval more where it is found from positions (a deformation that is integrated from held speeds
 * is ahead by that half).  With the force of t - tau an oscillation of angular frequency omega grows as exp(omega^2
 * tau t/2), in half a period, the time of a swing or of a contact, by the factor
 *
 *     exp(pi omega tau/2),    tau = (L + 1/2) H from positions,  L H from speeds           (to first order in omega H)
 *
 * A held damper brakes a speed by 1 - z, z = d H/m, in place of exp(-z), or by the greater root of
 * lambda^2 - lambda + z = 0 when it is an interval late.  The speed is off by at most the share
 *
 *     (1 + 2 L) z/(2 e)  of its start, after the time m/d                                  (to first order in z)
 *
 * and it grows from z = 2 on, from z = 1 on where the force is late. */
#ifndef CC_HELD_FORCE_H
#define CC_HELD_FORCE_H

#include "base/elementary.h"
#include "coupling/lag.h"
#include "laws/hold.h"

enum { HOLD = 1, SLOPE, AVERAGED, PREDICTED, AUTO };      /* coupling.mode */
enum { UNKNOWN_ORDER = 1, SEQUENTIAL, PARALLEL, LATE_ORDER }; /* coupling.order */

#define CC_HOLD_ERROR 0.01 /* share by which a held force is wrong, from which on it is reported */

/* L by the order of the calls, or else by the mode; -1: unknown. */
CC_API int cc_lag_of(int order, int mode)
{
    if (order != UNKNOWN_ORDER)
        return order - SEQUENTIAL;
    return mode == AVERAGED ? 0 : mode == PREDICTED ? 1 : -1;
}

/* What the group coupling gives; inertia: coupling.m_eff or coupling.J_eff. */
CC_API CcCouplingOptions cc_given(double order, double mode, double identify, double inertia)
{
    return (CcCouplingOptions){.lag = cc_lag_of((int)order, (int)mode), .identify = identify != 0.0,
                               .straight = (int)mode == SLOPE, .inertia = inertia, .holds = (int)mode == HOLD};
}

/* 1 under hold where the inertia of the bodies is neither given nor to be found: nothing judges the force then, as
 * where a master solves for it. */
CC_API int cc_is_unjudged(const CcCouplingOptions *given)
{
    return given->holds && !given->identify && !(given->inertia > 0.0);
}

#ifndef CC_DUAL

#define CC_REPEATING 100.0 /* steps, after the last one that was repeated, in which an importer may begin again */
#define CC_MOVING 20.0     /* steps, after the last one in which inputs changed, in which they may change again */

/* 1 while the importer repeats steps with other inputs: it solves for the forces at the end of the step by itself, and
 * the motion it shows is not that of bodies that held the last force.  The law at the inputs is what it iterates on.
 * left: steps for which it is still taken to do so. */
CC_API int cc_is_repeating(const CcHost *host, double *left)
{
    *left = cc_repeats(host) == CC_WITH_OTHER_INPUTS ? CC_REPEATING : cc_max(*left - 1.0, 0.0);
    return *left > 0.0;
}

/* 1 while inputs change within the step: the forces on the bodies may change as well, or be held. */
CC_API int cc_is_moving(const CcHost *host, double *left)
{
    *left = cc_inputs_move(host) ? CC_MOVING : cc_max(*left - 1.0, 0.0);
    return *left > 0.0;
}

CC_API void cc_warn_of_repeats(CcHost *host, const char *category)
{
    cc_report(host, CC_WARNING, category,
              "the importer repeats steps from a saved state with other inputs, so the forces are those of "
              "coupling.mode = hold, on which it can iterate (coupling.in_force)");
}

/* 1 where the law at the inputs acts by these two, of a force for which nothing shows how it acts where inputs change
 * within the step; straight: its motion is prescribed.  Logs when it begins. */
CC_API int cc_law_acts(CcHost *host, const char *category, int straight, double *repeating, double *moving)
{
    int repeated = *repeating > 0.0, moved = *moving > 0.0, repeats = cc_is_repeating(host, repeating);
    int moves = cc_is_moving(host, moving) && !straight;
    if (repeats && !repeated)
        cc_warn_of_repeats(host, category);
    if (moves && !moved)
        cc_report(host, CC_WARNING, category,
                  "the importer changes inputs within the step (fmi2SetRealInputDerivatives), so the force is that of "
                  "coupling.mode = hold (coupling.in_force)");
    return repeats || moves;
}

/* An order that the motion contradicts. */
CC_API void cc_warn_of_order(CcHost *host, const char *category, double lag)
{
    cc_report(host, CC_WARNING, category,
              "the bodies answer with the lag of %g intervals, which coupling.order (or coupling.mode) contradicts; "
              "the lag that the motion shows is used. Set coupling.order = %s",
              lag, lag == 0.0 ? "sequential" : lag == 1.0 ? "parallel" : "late");
}

/* 1 the first time: what `reported` belongs to is logged once. */
CC_API int cc_is_first(double *reported)
{
    int first = *reported == 0.0;
    *reported = 1.0;
    return first;
}

/* Warn that the velocity at the inputs is not that of the position; point: its number, 0 if there is only one; ratio:
 * how many times too large it is, below 0 where it points the other way, 0 if that is no one number; holds: 1 under
 * coupling.mode = hold. */
CC_SELDOM void cc_warn_of_rate(CcHost *host, const char *category, int point, double ratio, int holds)
{
    const char *cause = ratio > 0.0    ? "in another unit than m/s or rad/s, or filtered"
                        : ratio > -1.5 ? "of the wrong sign"
                                       : "of the wrong sign, and in another unit than m/s or rad/s";
    const char *so = holds ? "damping and friction are wrong, and no step can be advised"
                           : "the force is that of coupling.mode = hold";
    const char *with = holds ? "" : ", with it";
#define CC_NOT_ITS "the velocity does not belong to the position (are both connected?), so %s"
#define CC_TOO_FAST "the velocity is %.3g times that of the position (%s?), so %s%s"
    if (ratio != 0.0 && point > 0)
        cc_report(host, CC_WARNING, category, "point %d: " CC_TOO_FAST, point, ratio, cause, so, with);
    else if (ratio != 0.0)
        cc_report(host, CC_WARNING, category, CC_TOO_FAST, ratio, cause, so, with);
    else if (point > 0)
        cc_report(host, CC_WARNING, category, "point %d: " CC_NOT_ITS, point, so);
    else
        cc_report(host, CC_WARNING, category, CC_NOT_ITS, so);
#undef CC_NOT_ITS
#undef CC_TOO_FAST
}

/* Warn once, `warned`, of N steps of H, s, in half a period in which a held force makes the motion exp(growth) times as
 * large as it should be.  `when`: what lasts that long; `what` grows and gets too `big`; point: its number, 0 if there
 * is only one. */
CC_API void cc_warn_of_hold(CcHost *host, double *warned, const char *category, int point, const char *when,
                            const char *what, const char *big, double N, double growth, double H)
{
#define CC_HOLD_TEXT                                                                                                   \
    "with %.3g steps in a %s, the held force makes each %s %.3g times as %s as it should be; take steps below %.3g " \
    "s, or coupling.mode = auto"
    if (!(growth > CC_HOLD_ERROR) || !cc_is_first(warned))
        return;
    double factor = re(cc_exp(growth)), step = H * CC_HOLD_ERROR / growth;
    if (point > 0)
        cc_report(host, CC_WARNING, category, "point %d: " CC_HOLD_TEXT, point, N, when, what, factor, big, step);
    else
        cc_report(host, CC_WARNING, category, CC_HOLD_TEXT, N, when, what, factor, big, step);
#undef CC_HOLD_TEXT
}

/* Likewise of a force whose lag is unknown, and would make that growth with the lag 1. */
CC_API void cc_warn_of_late_hold(CcHost *host, double *warned, double N, double growth, double H)
{
    if (!(growth > CC_HOLD_ERROR) || !cc_is_first(warned))
        return;
    cc_report(host, CC_WARNING, "coupling",
              "the force has grown; with %.3g steps in a swing a held force makes each swing %.3g times as large as it "
              "should be where the master steps all FMUs at once (Jacobi): take steps below %.3g s there, or "
              "coupling.mode = auto; set coupling.order = sequential if the master steps the FMUs one after another",
              N, re(cc_exp(growth)), H * CC_HOLD_ERROR / growth);
}

/* Likewise of a damper, from z and L. */
CC_API void cc_warn_of_held_brake(CcHost *host, double *warned, const char *category, double lag, double z, double H)
{
    double error = cc_hold_braking(lag, z);
    if (!(error > CC_HOLD_ERROR) || !cc_is_first(warned))
        return;
    cc_report(host, CC_WARNING, category,
              "with steps of %.3g braking times of the damper, the held force brakes too much: speeds are wrong by up "
              "to %.3g of their start%s; take steps below %.3g s, or coupling.mode = auto",
              z, error, z >= (lag > 0.0 ? 1.0 : 2.0) ? " and grow" : "", H * CC_HOLD_ERROR / error);
}

#endif
#endif
