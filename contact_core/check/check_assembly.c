/* An assembly as the build checks it: evaluated in the order found from what element.toml declares, and in any. */
#include "../assembly_real.c"
#include "check_host.h"

void CC_ENTRY(speaker)(CcHost *host, const char *part) { (void)host, (void)part; }

void cc_check_evaluate(double *block, int on_demand) { CC_ENTRY(evaluate)((Element *)block, on_demand); }
void cc_check_start(double *block) { CC_ENTRY(start)((Element *)block); }

/* Number of rules that the point breaks. */
int cc_check_rules(const double *block)
{
    cc_broken_rules = 0;
    CC_ENTRY(check)((const Element *)block, 0);
    return cc_broken_rules;
}

/* All connections, then all parts from the last to the first, until no bit changes.  The true dependencies have no
 * loop, so this ends with the right values, whatever the parts declare.  1 if it ended, else 0. */
int cc_check_settle(double *block, double *before)
{
    const CcCopy *last = &CC_ENTRY(copies)[CC_ENTRY(schedule)[CC_EVALUATIONS - 1].copies];
    for (int pass = 0; pass < CC_EVALUATIONS + 2; pass++) {
        __builtin_memcpy(before, block, sizeof(Element));
        cc_connect(block, CC_ENTRY(copies), last);
        for (int i = CC_PARTS - 1; i >= 0; i--) {
            const CcPart *part = &CC_ENTRY(parts)[i];
            block[part->offset] = block[0];
            part->type->evaluate(block + part->offset, 1);
        }
        if (!__builtin_memcmp(before, block, sizeof(Element)))
            return 1;
    }
    return 0;
}
