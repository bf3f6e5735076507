/* The mobility of a body, learned from changes of wrenches and of the rate of its twist that a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/mobility.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void guess(double w, double B[6][6]) { cc_guess_mobility(B, w); }

/* n secants, s and q one after the other. */
EXPORT void learn(int n, double s[][6], double q[][6], double noise, double B[6][6])
{
    CcMobility m = {.known = 1.0};
    __builtin_memcpy(m.B, B, sizeof m.B);
    for (int i = 0; i < n; i++)
        cc_learn_mobility(&m, s[i], q[i], 1.0, noise);
    __builtin_memcpy(B, m.B, sizeof m.B);
}
