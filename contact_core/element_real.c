/* The element over double: all of the waist. */
#include "element_run.h"

#include "model_guid.h" /* generated: CC_GUID_TEXT */

const char CC_GUID[39] = CC_GUID_TEXT;

void CC_ENTRY(evaluate)(Element *e) { cc_evaluate(e); }

/* The initial x and m: states from the parameters that hold their initial values (others have their start value since
 * instantiation), then the element's memory. */
void CC_ENTRY(start)(Element *e)
{
    double *block = (double *)e;
    for (int i = 0; i < CC_STATES; i++)
        if (cc_state_starts[i] >= 0)
            block[cc_states[i]] = block[cc_state_starts[i]];
#if CC_HAS_ACCEPT
    start(e);
#endif
}

void CC_ENTRY(accept)(Element *e, CcHost *host, double step)
{
#if CC_HAS_ACCEPT
    if (accept(e, host, step))
        cc_evaluate(e);
#endif
    (void)e, (void)host, (void)step;
}

void CC_ENTRY(indicators)(const Element *e, double z[])
{
#if CC_INDICATORS
    indicators(e, z);
#endif
    (void)e, (void)z;
}

void CC_ENTRY(check)(const Element *e, CcHost *host)
{
#if CC_HAS_CHECK
    check(e, host);
#endif
    (void)e, (void)host;
}
