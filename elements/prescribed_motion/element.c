/* Prescribed motion: a port that moves by its parameters, independent of the forces on it.
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
 * Force f and moment t at the port act on the moved body, so the drive supplies the power P = -(f v + t w), W, and
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

#include MOTION_FILE
