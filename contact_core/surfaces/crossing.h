/* When and how fast a point passed a surface, from what is known of it at two accepted points.
 *
 * d distance from the surface, m, negative below it      w = -d' depth rate, m/s      T time between the points, s
 * Index 0: the earlier point.  With the constant acceleration a = (w - w_0)/T between them, m/s2, the surface is
 * reached from the point (d, w) after the time
 *
 *     tau(d, w, a):   d - w tau - a tau^2/2 = 0,   tau = 2 d/(w + sign(w) sqrt(w^2 + 2 a d))
 *
 * the zero next to the point, without cancellation.  From the later one it lies the time s = tau(d, -w, a) back; where
 * that is not within T, as of a point that turned around in between, s = T - tau(d_0, w_0, a).  There the rate was
 * w - a s.  A point that lies on the surface first, d_0 = 0, passes it there if its rate leads to the later point.  If
 * d has one sign at both points, or no such s is within T, the surface was not passed: a contact that began or ended
 * nevertheless did so by a switch, an edge or a jump, at the later point.
 *
 * Where a solver ends its step at the zero, s is the error of that zero.  Where inputs are held T is the communication
 * step, and both numbers are exact to rounding for a body that a constant force moves meanwhile, as one does that holds
 * its inputs too.  Else s errs by j T^3/(12 |w|), j the rate of change of the acceleration, m/s3. */
#ifndef CC_CROSSING_H
#define CC_CROSSING_H

#include "../base/vector.h"

typedef struct {
    double time; /* s */
    double rate; /* w there, m/s */
} CcCrossing;

/* tau of the formula above; infinite or no number if the surface is not reached. */
static inline double cc_time_to_surface(double d, double w, double a)
{
    double root = cc_sqrt(cc_max(w * w + 2.0 * a * d, 0.0));
    return 2.0 * d / (w + (w < 0.0 ? -root : root));
}

/* The passage between a point at `time` - T and one at `time`. */
CC_API void cc_crossing(double time, double T, double d_0, double w_0, double d, double w, CcCrossing *out)
{
    out->time = time;
    out->rate = w;
    if ((d_0 > 0.0 && d > 0.0) || (d_0 < 0.0 && d < 0.0) || d == 0.0 || !(T > 0.0))
        return;
    double a = (w - w_0) / T, s = cc_time_to_surface(d, -w, a), onward = d < 0.0 ? 1.0 : -1.0;
    if (d_0 == 0.0 && (onward * w_0 > 0.0 || (w_0 == 0.0 && onward * w > 0.0)))
        s = T;
    if (!(s >= 0.0 && s <= T))
        s = T - cc_time_to_surface(d_0, w_0, a);
    if (!(s >= 0.0 && s <= T))
        return;
    out->time = time - s;
    out->rate = w - a * s;
}

#endif
