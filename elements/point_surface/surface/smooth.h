/* What sphere, cylinder, cone and torus share. */
static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
    CcFoot foot;
    return curved_foot(e, i, arm, R, n, &foot);
}

static inline void keep_foot(Element *e, int i) { keep_place(e, i); }

#include "unbroken.h"
