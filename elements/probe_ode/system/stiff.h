/* A state that is held to a cosine.   x' = -rate (x - cos(w t)) - w sin(w t);   with x(0) = 1: x = cos(w t)
 *
 * rate 1/s, w frequency, rad/s.  An explicit method is stable for steps below 2 to 3.3 of 1/rate only, an implicit one
 * takes steps of the order of 1/w.   Source: A. Prothero, A. Robinson, Math. Comp. 28 (1974). */
#include "base/elementary.h"

static void derivatives(Element *e)
{
    Real angle = e->frequency * e->time;
    e->der.x = -e->rate * (e->x - cc_cos(angle)) - e->frequency * cc_sin(angle);
}
