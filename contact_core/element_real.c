/* The element over double: all of the waist. */
#include "element_run.h"

void CC_ENTRY(evaluate)(Element *e, int on_demand) { cc_evaluate(e, on_demand); }

/* States from the parameters that hold their initial values, or as the element computes them; others have their start
 * value since instantiation. */
void CC_ENTRY(initial_states)(Element *e)
{
    double *block = (double *)e;
    for (int i = 0; i < CC_STATES; i++)
        if (cc_state_starts[i] >= 0)
            block[cc_states[i]] = block[cc_state_starts[i]];
    initial(e);
}

/* The initial x, then the initial m. */
void CC_ENTRY(start)(Element *e)
{
    CC_ENTRY(initial_states)(e);
    laws_calculate(e);
    start(e);
}

int CC_ENTRY(accept)(Element *e, CcHost *host, double step)
{
    int changed = accept(e, host, step);
    if (changed)
        cc_evaluate(e, 0);
    return changed;
}

void CC_ENTRY(sample)(Element *e, CcHost *host, double step)
{
    if (sample(e, host, step))
        cc_evaluate(e, 0);
}

void CC_ENTRY(indicators)(const Element *e, double z[]) { indicators(e, (Indicators *)z); }

void CC_ENTRY(check)(const Element *e, CcHost *host) { check(e, host); }
