/* Twists and wrenches of a body of several ports: six numbers each, and symmetric matrices of them. */
#ifndef CC_TWIST_H
#define CC_TWIST_H

#include "../base/real.h"

/* What an interval shows; changes of Y below `least` are noise. */
typedef struct {
    double q[6], least;
    int quiet;    /* no force acts */
    int compared; /* with an interval before: where there was none weight is no change */
} CcTwistChange;

/* y = A x. */
CC_API void cc_times_six(double A[6][6], const double x[6], double y[6])
{
    for (int i = 0; i < 6; i++) {
        y[i] = 0.0;
        for (int j = 0; j < 6; j++)
            y[i] += A[i][j] * x[j];
    }
}

/* |a|^2 */
CC_API double cc_squares(const double a[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        sum += a[i] * a[i];
    return sum;
}

/* M = L L' in place, its lower half; returns 0 where a pivot is below its share `least` of the diagonal. */
CC_API int cc_root(double M[6][6], double least)
{
    for (int j = 0; j < 6; j++) {
        double whole = M[j][j];
        for (int k = 0; k < j; k++)
            M[j][j] -= M[j][k] * M[j][k];
        if (!(M[j][j] > least * whole))
            return 0;
        M[j][j] = cc_sqrt(M[j][j]);
        for (int i = j + 1; i < 6; i++) {
            for (int k = 0; k < j; k++)
                M[i][j] -= M[i][k] * M[j][k];
            M[i][j] /= M[j][j];
        }
    }
    return 1;
}

/* (L L')^-1 x in place. */
CC_API void cc_root_solve(double L[6][6], double x[6])
{
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++)
            x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

#endif
