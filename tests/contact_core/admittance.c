/* The admittance of a port, learned from changes of forces and accelerations that a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/admittance.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void guess(double w, double W[3][3]) { cc_guess_admittance(W, w); }

/* n secants, s and q one after the other. */
EXPORT void learn(int n, double s[][3], double q[][3], double noise, double sure, double W[3][3])
{
    CcSecants secants = {.left = {0.0}};
    for (int i = 0; i < n; i++)
        cc_learn_admittance(&secants, s[i], q[i], noise, sure, W);
}
