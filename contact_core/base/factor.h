/* Small dense systems A x = b by LU factors, A by rows. */
#ifndef CC_FACTOR_H
#define CC_FACTOR_H

#include "real.h"

/* LU factors of the square matrix A of `size` rows, in place, rows exchanged.  Returns the determinant, 0 of a matrix
 * that is singular; solutions with it are not finite. */
CC_API double cc_factor(int size, Real A[], int pivots[])
{
    double determinant = 1.0;
    for (int k = 0; k < size; k++) {
        int best = k;
        for (int i = k + 1; i < size; i++)
            if (re(cc_abs(A[i * size + k])) > re(cc_abs(A[best * size + k])))
                best = i;
        pivots[k] = best;
        for (int j = 0; j < size && best != k; j++)
            cc_exchange(&A[best * size + j], &A[k * size + j]);
        determinant *= best == k ? re(A[k * size + k]) : -re(A[k * size + k]);
        for (int i = k + 1; i < size && re(A[k * size + k]) != 0.0; i++) { /* else all below are 0: A is singular */
            Real factor = A[i * size + k] / A[k * size + k];
            A[i * size + k] = factor;
            for (int j = k + 1; j < size && factor != 0.0; j++) /* sparse below the diagonal, as a chain is */
                A[i * size + j] -= factor * A[k * size + j];
        }
    }
    return determinant;
}

CC_API void cc_factor_solve(int size, const Real A[], const int pivots[], Real b[])
{
    for (int k = 0; k < size; k++)
        cc_exchange(&b[pivots[k]], &b[k]);
    for (int i = 1; i < size; i++)
        for (int j = 0; j < i; j++)
            b[i] -= A[i * size + j] * b[j];
    for (int i = size - 1; i >= 0; i--) {
        for (int j = i + 1; j < size; j++)
            b[i] -= A[i * size + j] * b[j];
        b[i] /= A[i * size + i];
    }
}

#endif
