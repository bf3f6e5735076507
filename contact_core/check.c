/* The element as the build checks it: every function of the waist, exported for one process that calls nothing else.
 *
 * The struct Element of this compilation has canaries behind every array (fmu_builder/export/canaries.py).  Nobody
 * listens: messages go nowhere, broken rules are counted. */
#include "waist.h"
#include "check_host.h"

CC_EXPORT void check_evaluate(double *block, int on_demand) { CC_ENTRY(evaluate)((Element *)block, on_demand); }
CC_EXPORT void check_dual(double *block, int on_demand) { CC_ENTRY(dual)(block, on_demand); }
CC_EXPORT void check_start(double *block) { CC_ENTRY(start)((Element *)block); }
CC_EXPORT void check_accept(double *block, double step) { CC_ENTRY(accept)((Element *)block, 0, step); }
CC_EXPORT void check_indicators(const double *block, double z[]) { CC_ENTRY(indicators)((const Element *)block, z); }

CC_EXPORT void check_sample(double *block, double step)
{
#if CC_HAS_SAMPLE
    CC_ENTRY(sample)((Element *)block, 0, step);
#endif
    (void)block, (void)step;
}

/* Number of rules that the point breaks. */
CC_EXPORT int check_rules(const double *block)
{
    broken_rules = 0;
    CC_ENTRY(check)((const Element *)block, 0);
    return broken_rules;
}
