/* One type of part over double: the element's functions of the waist for any block of an assembly. */
#include <stddef.h>

#include "element_real.c"

#include "assembly.h"

static void evaluate_part(double *block, int on_demand) { CC_ENTRY(evaluate)((Element *)block, on_demand); }
static void initial_states_of_part(double *block) { CC_ENTRY(initial_states)((Element *)block); }

static void start_part(double *block) { CC_ENTRY(start)((Element *)block); }
static int accept_part(double *block, CcHost *host, double step)
{
    return CC_ENTRY(accept)((Element *)block, host, step);
}
static void indicators_of_part(const double *block, double z[]) { CC_ENTRY(indicators)((const Element *)block, z); }
static void check_part(const double *block, CcHost *host) { CC_ENTRY(check)((const Element *)block, host); }

#ifdef CC_WITHOUT_DUAL /* the check of an assembly, which compiles no derivatives */
#define dual_of_part NULL
#else
#define dual_of_part CC_ENTRY(dual)
#endif

CC_HIDDEN extern const CcPartType CC_ENTRY(part);
const CcPartType CC_ENTRY(part) = {evaluate_part,
                                   dual_of_part,
                                   initial_states_of_part,
                                   CC_HAS_ACCEPT ? start_part : NULL,
                                   CC_HAS_ACCEPT ? accept_part : NULL,
                                   CC_INDICATORS ? indicators_of_part : NULL,
                                   CC_HAS_CHECK ? check_part : NULL};
