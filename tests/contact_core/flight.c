/* What springs and loads do to a body, found in the flights of a motion that a test gives. */
#define CC_API static __attribute__((unused))
#include "coupling/flight.h"

#define EXPORT __attribute__((visibility("default")))

/* n intervals, H[i], that begin with V[i] and end with V[i + 1], quiet or not.  Leaves K and the rates without
 * the springs or the load; returns which of them is used. */
EXPORT double fly(int n, const double H[], double V[][6], const int quiet[], double K[6][6], double rates[][6])
{
    CcFlight f = {.H = 0.0};
    double before[6] = {0.0};
    for (int i = 0; i < n; i++) {
        CcTwistChange seen = {.quiet = quiet[i], .compared = i > 0, .least = 1e-9};
        double Y[6];
        for (int j = 0; j < 6; j++)
            Y[j] = (V[i + 1][j] - V[i][j]) / H[i];
        cc_pass_flight(&f, V[i], Y, H[i], &seen, before, rates[i]);
        __builtin_memcpy(before, rates[i], sizeof before);
    }
    __builtin_memcpy(K, f.K, sizeof f.K);
    return f.used;
}

/* The same for n intervals of contact: what B leaves of each change, and that change.  Returns the interval that K is
 * dropped in, n if none. */
EXPORT int oppose(int n, double K[6][6], double d[][6], double left[][6], double q[][6])
{
    CcFlight f = {.known = 1.0, .used = CC_ON_SPRINGS};
    __builtin_memcpy(f.K, K, sizeof f.K);
    for (int i = 0; i < n; i++) {
        __builtin_memcpy(f.d, d[i], sizeof f.d);
        cc_flight_change(&f, f.d, 1, f.change);
        if (cc_oppose_flight(&f, left[i], q[i]))
            return i;
    }
    return n;
}
