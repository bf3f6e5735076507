/* The question for the order, put to bodies whose answer a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/order_probe.h"

#define EXPORT __attribute__((visibility("default")))

/* 1 + s of the first n samples. */
EXPORT void factors(int n, double size, double factor[])
{
    CcOrderProbe p = {0};
    for (int i = 0; i < n; i++)
        factor[i] = cc_probe_factor(&p, size, 1);
}

/* The lag that the signal shows at its last sample, or -1: f[i] is the force of sample i without it, y[i] the
 * acceleration of the interval that begins there. */
EXPORT int asked(double size, double f[][3], double y[][3])
{
    CcOrderProbe p = {0};
    double given[CC_PROBE_KEPT][3] = {{0.0}}, now[3];
    for (int i = 0; p.count < CC_PROBE_LAST; i++) {
        double factor = cc_probe_factor(&p, size, 1);
        for (int k = 0; k < 3; k++)
            now[k] = f[i][k] * factor;
        cc_put_first(given[0], CC_PROBE_KEPT, 3, now);
        cc_probe_see(&p, 3, y[i], given);
    }
    return cc_probe_lag(&p);
}
