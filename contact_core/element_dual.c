/* The element once more over dual numbers: derivatives of outputs and of state derivatives. */
#define CC_DUAL
#include "element_run.h"

/* block: CC_VARIABLES pairs (value, direction * CC_DUAL_STEP); on return those of outputs and derivatives are set, but
 * with on_demand = 0 except variables on demand. */
void CC_ENTRY(dual)(double *block, int on_demand) { cc_evaluate((Element *)block, on_demand); }
