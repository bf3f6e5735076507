/* A frame in space: its origin along three axes, its rotation about one that is fixed. */
#include "along.h"
#include "turn.h"

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

static void check(const Element *e, CcHost *host)
{
    if (re(e->axis[0]) == 0.0 && re(e->axis[1]) == 0.0 && re(e->axis[2]) == 0.0)
        cc_fail(host, "axis = (0, 0, 0) has no direction: it must not be zero; without rotation leave it and set the "
                "values of angle to 0");
}
