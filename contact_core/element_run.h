/* One element compiled over Real: its generated struct, its own text, and the entry points of the waist.
 * element_real.c and element_dual.c include it, one for each meaning of Real. */
#ifndef CC_ELEMENT_RUN_H
#define CC_ELEMENT_RUN_H

#include "waist.h"

static void outputs(Element *e);
#if CC_HAS_RATES
static void rates(Element *e);
#endif
#if CC_HAS_DERIVATIVES
static void derivatives(Element *e);
#endif
#ifdef CC_DUAL
/* What has no derivatives is not called here, and an element may leave it out. */
#pragma GCC diagnostic ignored "-Wunused-function"
#else
#if CC_HAS_CHECK
static void check(const Element *e, CcHost *host);
#endif
#if CC_HAS_INITIAL
static void initial(Element *e);
#endif
#if CC_INDICATORS
static void indicators(const Element *e, Indicators *z);
#endif
#if CC_HAS_ACCEPT
static void start(Element *e);
static int accept(Element *e, CcHost *host, double step);
#endif
#if CC_HAS_SAMPLE
static int sample(Element *e, CcHost *host, double step);
#endif
#endif

#if CC_HAS_LAWS
#include CC_LAWS /* generated: the laws of the recipe */
#endif
#ifdef CC_ELEMENT
#include CC_ELEMENT /* of one type of part in an assembly */
#else
#include "element.c"
#endif
#ifndef CC_DUAL
CC_STRUCTS /* generated: memory that is a C struct has its size */
#endif

/* Outputs and state derivatives of the point (t, p, u, x, m) in the block; on_demand = 0 leaves out variables on
 * demand. */
CC_API void cc_evaluate(Element *e, int on_demand)
{
    Real *block = (Real *)e;
#if CC_HAS_LAWS
    laws_calculate(e);
#endif
#if CC_HAS_RATES
    if (!on_demand)
        rates(e);
    else
#endif
        outputs(e);
#if CC_HAS_DERIVATIVES
    derivatives(e);
#endif
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
        if (cc_state_rates[i] >= 0)
            block[cc_state_derivatives[i]] = block[cc_state_rates[i]];
    (void)on_demand;
}

#endif
