/* The interval of increasing numbers that a number lies in. */
#ifndef CC_INTERVAL_H
#define CC_INTERVAL_H

#include "real.h"

/* The interval k of x[0] < ... < x[n - 1] with x[k] <= at < x[k + 1]; beyond the ends the first or the last one. */
CC_API int cc_interval(const double x[], int n, double at)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (at >= x[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
