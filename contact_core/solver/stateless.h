/* The communication step of a model without states: the outputs of its end. */
#ifndef CC_STATELESS_H
#define CC_STATELESS_H

#include "../sensitivity.h"
#include "evaluation.h"

static inline int cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    CcStep step = {.t_c = t_c, .t_end = t_end, .length = t_end - t_c};
    cc_keep_inputs(instance);
    double h = t_end - block[0];
    cc_evaluate_at(instance, &step, step.length);
    cc_accept_point_of(instance, h);
    CC_SHOW(instance, t_c, step.length, &step.length, &step.t_end);
    return 1;
}

#endif
