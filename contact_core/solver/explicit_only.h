/* In place of rosenbrock.h, for a model that has no implicit method: it is never chosen. */
#ifndef CC_EXPLICIT_ONLY_H
#define CC_EXPLICIT_ONLY_H

#include "substep.h"

static double cc_fastest_rate(Instance *instance, const CcStep *step) { return (void)instance, (void)step, 0.0; }

static double cc_implicit_stages(Instance *instance, CcStep *step, double tau, double end, int fresh)
{
    (void)instance, (void)step, (void)tau, (void)end, (void)fresh;
    return CC_NO_ZERO;
}

static double cc_implicit_error(Instance *instance, CcStep *step) { return (void)instance, (void)step, 0.0; }

#endif
