/* The element as the build checks it: every function of the waist for probe_element.c.
 *
 * The struct Element of this compilation has canaries behind every array (fmu_builder/export/canaries.py). */
#include "../element_real.c"
#include "check_host.h"

void cc_check_evaluate(double *block, int on_demand) { CC_ENTRY(evaluate)((Element *)block, on_demand); }
void cc_check_dual(double *block, int on_demand) { CC_ENTRY(dual)(block, on_demand); }
void cc_check_start(double *block) { CC_ENTRY(start)((Element *)block); }
void cc_check_accept(double *block, double step) { CC_ENTRY(accept)((Element *)block, 0, step); }
void cc_check_indicators(const double *block, double z[]) { CC_ENTRY(indicators)((const Element *)block, z); }

void cc_check_sample(double *block, double step) { CC_ENTRY(sample)((Element *)block, 0, step); }

/* Number of rules that the point breaks. */
int cc_check_rules(const double *block)
{
    cc_broken_rules = 0;
    CC_ENTRY(check)((const Element *)block, 0);
    return cc_broken_rules;
}
