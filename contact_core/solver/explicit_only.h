/* In place of rosenbrock.h, for a model that has no implicit method: it is never chosen. */
#ifndef CC_EXPLICIT_ONLY_H
#define CC_EXPLICIT_ONLY_H

#include "substep.h"

static double cc_fastest_rate(Instance *instance, const CcStep *step) { return (void)instance, (void)step, 0.0; }

static int cc_linearize(Instance *instance, CcStep *step) { return (void)instance, (void)step, 0; }

static int cc_first_not_linear(const Instance *instance, int *by) { return (void)instance, (void)by, -1; }

static double cc_implicit_stages(Instance *instance, CcStep *step, double tau, double end)
{
    (void)instance, (void)step, (void)tau, (void)end;
    return CC_NO_ZERO;
}

static double cc_implicit_error(Instance *instance, CcStep *step) { return (void)instance, (void)step, 0.0; }

#endif
