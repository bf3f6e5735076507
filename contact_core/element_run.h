/* One element compiled over Real: its generated struct, its own text, and the entry points of the waist.
 * element_real.c and element_dual.c include it, one for each meaning of Real. */
#ifndef CC_ELEMENT_RUN_H
#define CC_ELEMENT_RUN_H

#include "waist.h"

static void outputs(Element *e);
static void rates(Element *e);
static void derivatives(Element *e);
#ifdef CC_DUAL
/* What has no derivatives is not called here, and an element may leave it out. */
#pragma GCC diagnostic ignored "-Wunused-function"
#else
static void check(const Element *e, CcHost *host);
static void initial(Element *e);
static void indicators(const Element *e, Indicators *z);
static void start(Element *e);
static int accept(Element *e, CcHost *host, double step);
static int sample(Element *e, CcHost *host, double step);
#endif

/* The functions for which an element has nothing; CC_ABSENT (generated) lists its own. */
#define CC_NO_RATES static void rates(Element *e) { outputs(e); }
#define CC_NO_DERIVATIVES static void derivatives(Element *e) { (void)e; }
#define CC_NO_CHECK static void check(const Element *e, CcHost *host) { (void)e, (void)host; }
#define CC_NO_INITIAL static void initial(Element *e) { (void)e; }
#define CC_NO_INDICATORS static void indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
#define CC_NO_ACCEPT                                                                                                   \
    static void start(Element *e) { (void)e; }                                                                         \
    static int accept(Element *e, CcHost *host, double step) { return (void)e, (void)host, (void)step, 0; }
#define CC_NO_SAMPLE                                                                                                   \
    static int sample(Element *e, CcHost *host, double step) { return (void)e, (void)host, (void)step, 0; }
#define CC_NO_LAWS static void laws_calculate(Element *e) { (void)e; }

#if CC_HAS_LAWS
#include CC_LAWS /* generated: the laws of the recipe */
#endif
#ifdef CC_ELEMENT
#include CC_ELEMENT /* of one type of part in an assembly */
#else
#include "element.c"
#endif
CC_ABSENT
#ifndef CC_DUAL
CC_STRUCTS /* generated: memory that is a C struct has its size */
#endif

/* Outputs and state derivatives of the point (t, p, u, x, m) in the block; on_demand = 0 leaves out variables on
 * demand. */
CC_API void cc_evaluate(Element *e, int on_demand)
{
    Real *block = (Real *)e;
    const volatile Real *rates_of = block; /* taken one by one, as CC_ONE_BY_ONE: neighbours would be copied in pairs */
    laws_calculate(e);
    if (CC_HAS_RATES && !on_demand)
        rates(e);
    else
        outputs(e);
    derivatives(e);
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
        if (cc_state_rates[i] >= 0)
            block[cc_state_derivatives[i]] = rates_of[cc_state_rates[i]];
}

#endif
