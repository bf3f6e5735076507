/* Prescribed motion: a port that moves as its parameters say, whatever forces act on it.
 *
 * Each coordinate s, m or rad, with t the time, s, from the zero of the clock
 *
 *     s   = offset + speed t + amplitude sin(theta),     theta = omega t + phase,  omega = 2 pi frequency
 *     s'  = speed + amplitude omega cos(theta)
 *     s'' = -amplitude omega^2 sin(theta)
 *
 * frame       r from three coordinates; one more, the angle a, about the axis n, |n| = 1, fixed in world and body:
 *             q = (cos(a/2), n sin(a/2)),  w = a' n,  w' = a'' n
 * planar      x, y and the angle         rotational  the angle        translational  one coordinate
 *
 * Force f and moment t at the port act on the moved body, so the drive puts in the power P = -(f v + t w), W, and
 * energy.work is its integral.  While f and t are held it changes as held_work = -(f (r - offset) + t n (a - offset)).
 * Not modelled: limits of the drive's force.   Source: kinematics. */
#include "base/elementary.h"
#include "base/vector.h"

typedef struct {
    Real s, v, a; /* coordinate, its first and second derivative */
    Real way;     /* s - offset */
} Course;

static Course course(Real t, Real offset, Real speed, Real amplitude, Real frequency, Real phase)
{
    Real omega = 2.0 * CC_PI_HI * frequency, theta = omega * t + phase;
    Real sine, cosine;
    cc_sin_cos(theta, &sine, &cosine);
    Real swing = amplitude * sine, way = speed * t + swing;
    Course course = {offset + way, speed + omega * (amplitude * cosine), -omega * omega * swing, way};
    return course;
}

#if MOTION == MOTION_FRAME || MOTION == MOTION_PLANAR
static Course along(const Element *e, int k)
{
    return course(e->time, e->offset[k], e->speed[k], e->amplitude[k], e->frequency[k], e->phase[k]);
}
#endif

#if MOTION == MOTION_FRAME || MOTION == MOTION_ROTATIONAL
static Course turn(const Element *e)
{
    return course(e->time, e->angle.offset, e->angle.speed, e->angle.amplitude, e->angle.frequency, e->angle.phase);
}
#endif

#if MOTION == MOTION_FRAME

static void outputs(Element *e)
{
    Course angle = turn(e);
    Real length = cc_norm(e->axis), sine, cosine;
    cc_sin_cos(0.5 * angle.s, &sine, &cosine);
    e->rotation = angle.s;
    e->held_work = 0.0;
    e->port.q[0] = cosine;
    for (int k = 0; k < 3; k++) {
        Course origin = along(e, k);
        Real n = re(length) > 0.0 ? e->axis[k] / length : 0.0; /* an axis of zeros is refused, but may be looked at */
        e->port.r[k] = origin.s;
        e->port.v[k] = origin.v;
        e->acceleration[k] = origin.a;
        e->port.q[k + 1] = n * sine;
        e->port.w[k] = n * angle.v;
        e->angular_acceleration[k] = n * angle.a;
        e->held_work -= e->port.f[k] * origin.way + e->port.t[k] * n * angle.way;
    }
    e->power.work = -(cc_dot(e->port.f, e->port.v) + cc_dot(e->port.t, e->port.w));
}

#elif MOTION == MOTION_PLANAR

static void outputs(Element *e)
{
    e->power.work = e->held_work = 0.0;
    for (int k = 0; k < 3; k++) {
        Course part = along(e, k);
        e->position[k] = part.s;
        e->port.v[k] = part.v;
        e->acceleration[k] = part.a;
        e->power.work -= e->port.F[k] * part.v;
        e->held_work -= e->port.F[k] * part.way;
    }
}

#elif MOTION == MOTION_ROTATIONAL

static void outputs(Element *e)
{
    Course angle = turn(e);
    e->port.phi = angle.s;
    e->port.w = angle.v;
    e->angular_acceleration = angle.a;
    e->power.work = -e->port.t * angle.v;
    e->held_work = -e->port.t * angle.way;
}

#else

static void outputs(Element *e)
{
    Course line = course(e->time, e->offset, e->speed, e->amplitude, e->frequency, e->phase);
    e->port.s = line.s;
    e->port.v = line.v;
    e->acceleration = line.a;
    e->power.work = -e->port.F * line.v;
    e->held_work = -e->port.F * line.way;
}

#endif

static void check(const Element *e, CcHost *host)
{
#if MOTION == MOTION_FRAME
    if (re(e->axis[0]) == 0.0 && re(e->axis[1]) == 0.0 && re(e->axis[2]) == 0.0)
        cc_fail(host, "axis = (0, 0, 0) has no direction: it must not be zero; without rotation leave it and set the "
                "values of angle to 0");
#endif
    (void)e, (void)host;
}
