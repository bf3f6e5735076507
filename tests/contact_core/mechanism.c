/* Trees and constraints over dual numbers, behind one function. */
#define CC_API static __attribute__((unused))
#define CC_DUAL
#include "mechanism/constraint.h"

enum { MOST = 8, ROWS = 4 };

/* in: q, qd (n values each) with their directions; out: q, qd, qdd (n values each), lambda (count values).  Bodies and
 * constraints come without directions; gravity along -y. */
__attribute__((visibility("default"))) void accelerations(int n, const CcBody *bodies, int count,
                                                          const CcConstraint *constraints, const int *dependent,
                                                          double g, const Real *in, Real *out)
{
    CcMove m[MOST];
    CcRow rows[ROWS];
    Real J[ROWS * MOST], Y[ROWS * MOST], A[ROWS * ROWS], b[ROWS], p[MOST][3], tau[MOST], v[2], gravity[2] = {0.0, -g};
    int pivots[ROWS];
    Real *q = out, *qd = out + n, *qdd = out + 2 * n, *lambda = out + 3 * n;
    for (int i = 0; i < n; i++) {
        q[i] = in[i];
        qd[i] = in[n + i];
        tau[i] = 0.0;
    }
    cc_close(n, bodies, count, constraints, dependent, q, m, rows, J, A, pivots, b);
    cc_close_rates(n, count, J, dependent, A, pivots, b, qd);
    cc_tree_move(n, bodies, qd, m);
    cc_tree_factor(n, bodies, m);
    cc_tree_inertial(n, bodies, m, gravity, p);
    cc_tree_solve(n, bodies, m, tau, p, qdd);
    for (int k = 0; k < count; k++)
        b[k] = cc_row_bias(&constraints[k], &rows[k], m, v);
    cc_constrain(n, bodies, m, count, J, b, Y, p, A, pivots, qdd, lambda);
}
