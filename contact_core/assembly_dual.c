/* An assembly once more over dual numbers: derivatives of outputs and of state derivatives. */
#define CC_DUAL
#include "assembly.h"

/* block: CC_VARIABLES pairs (value, direction * CC_DUAL_STEP); on return those of outputs and derivatives are set, but
 * with on_demand = 0 except variables on demand. */
void CC_ENTRY(dual)(double *block, int on_demand)
{
    Real *duals = (Real *)block;
    const CcCopy *copy = CC_ENTRY(copies);
    for (int i = 0; i < CC_EVALUATIONS; i++) {
        const CcEvaluation *now = &CC_ENTRY(schedule)[i];
        const CcPart *part = &CC_ENTRY(parts)[now->part];
        copy = cc_connect(duals, copy, CC_ENTRY(copies) + now->copies);
        duals[part->offset] = duals[0];
        part->type->dual((double *)(duals + part->offset), on_demand | part->on_demand);
    }
}
