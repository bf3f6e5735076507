/* Constraints on a tree of bodies (mechanism.h): J, multipliers, and the dependent coordinates.
 *
 * A constraint holds a point P of a body against another body (-1 the ground), all in the world's axes:
 *
 *     along x, along y   h = (P - B)_x, (P - B)_y                       both together pin P to the point B of the other
 *     distance           h = |P - B| - length                           B not at P
 *     profile            h = y - f(x),  (x, y) = P - B along axis and z x axis
 *     curve              h = (P - B - C(s)) n,  n the unit vector to the left of C', s the foot of P (curve.h); to the
 *                        first order h = y - f(x) again, with axes along C' and n
 *
 * Each is a row: h' = n (v_P - v_Q) with Q = B, or for the last two the point of the other body at P; and
 *
 *     h'' = J qdd + (J qd)_q qd,   (J qd)_q qd = n (a_P - a_Q) + b (t v)^2 - 2 w n.(z x v),   v = v_P - v_Q
 *
 *                 n                 t          b            w
 *     along x, y  axis              -          0            0
 *     distance    (P - B)/|P - B|   z x n      1/|P - B|    0
 *     profile     (-f', 1)          axis       -f''         of the other body, which carries axis, n and t
 *     curve       (-y', x')/|C'|    C'/|C'|    -kappa/(1 - kappa h), kappa = (x' y'' - y' x'')/|C'|^3    likewise
 *
 * with a_P, a_Q without qdd.  Equations of motion
 *
 *     M qdd + F + Q + J^T lambda = 0,   h(q) = 0      lambda < 0 where a profile below the point pushes
 *
 * Lambda: with Y = M^-1 J^T,  (J Y) lambda = J qdd_0 + (J qd)_q qd,  qdd = qdd_0 - Y lambda.  It is the reduction by
 * coordinates q = (u, v) without its matrices, and needs a J of full rank only, not a good choice of v.
 *
 * Friction on a profile, T = (n_y, -n_x) along it, v_t = T v / |T| the slip, N = -side lambda |n| the normal force:
 *
 *     force on P = -lambda n - mu s |N| T / |T| = -lambda (n - kappa T),   s = clamp(k_T v_t, -1, 1)
 *     kappa = side sign(N) mu s,   so that with Y_T = M^-1 J_T^T,  J_T the row of T in place of n,
 *     (J Y - J Y_T K) lambda = J qdd_0 + (J qd)_q qd                                           K the diagonal of kappa
 *
 * is linear once sign(N) is known: +1 where the profile does not pull, else that of N without friction.
 * Margin of one contact: with x = ((J Y)^-1 J Y_T)_kk it is 1 - kappa x, or 1 - |kappa x| where the profile may pull.
 * It is 1 without friction; N grows beyond all bounds as it falls to 0, and below, no N or more than one would do
 * (Painleve).  Margin of all contacts together: det(1 - (J Y)^-1 J Y_T K).
 *
 * Dependent coordinates v: h(u, v) = 0 by Newton's method from the v at hand, and v' = -J_v^-1 J_u u'.  They are chosen
 * by pivots of J over all rows and columns, each column divided by sqrt(D_i), so that rad and m compare as the inertia
 * they move.
 *
 * Sources: Lipinski, Modelowanie Inzynierskie 37 (2009) 193, (3) to (18); the printed signs of (16) and (18) do not fit
 * together; Haug & Yen, NATO ASI 69 (1990) 97: coordinate partitioning; Painleve, Lecons sur le frottement (1895);
 * Genot & Brogliato, European Journal of Mechanics A 18 (1999) 653. */
#ifndef CC_CONSTRAINT_H
#define CC_CONSTRAINT_H

#include "curve.h"
#include "../base/factor.h"
#include "../base/vector.h"
#include "mechanism.h"

enum { CC_ALONG_X, CC_ALONG_Y, CC_DISTANCE, CC_PROFILE, CC_CURVE };

#define CC_MOST_ROWS 20
#define CC_SIGN_TURNS 8 /* in which signs of normal forces that depend on each other are looked for */

typedef struct {
    int kind, body, other;
    int degree;              /* of f, where there is no shape */
    Real point[2], base[2];  /* P, B in the axes of their bodies, m */
    Real axis[2];            /* of a profile: its x axis in the axes of the other body, of length 1 */
    Real length;             /* m */
    const Real *f;           /* coefficients, m^(1-k): f[0] + f[1] x + ... */
    CcCurve curve;           /* of a curve; its shape also of a profile that is no polynomial */
    double foot;             /* where the foot on a curve is looked for */
} CcConstraint;

/* A constraint at a position. */
typedef struct {
    Real h;                  /* m */
    Real P[2], Q[2], n[2];
    Real t[2], b;
    Real at;                 /* x on a profile, s on a curve */
} CcRow;

/* f, f' and f''. */
CC_API void cc_polynomial(const Real f[], int degree, Real x, Real values[3])
{
    values[0] = f[degree];
    values[1] = values[2] = 0.0;
    for (int k = degree - 1; k >= 0; k--) {
        values[2] = values[2] * x + 2.0 * values[1];
        values[1] = values[1] * x + values[0];
        values[0] = values[0] * x + f[k];
    }
}

/* The world's point P in the axes of a profile or curve. */
CC_API void cc_in_profile(const CcConstraint *one, const CcMove m[], const Real P[2], Real at[2])
{
    Real B[2], e[2];
    cc_point_of(m, one->other, one->base, B);
    cc_in_world(m, one->other, one->axis, e);
    Real out[2] = {P[0] - B[0], P[1] - B[1]};
    at[0] = cc_along(e, out);
    at[1] = cc_turn(e, out);
}

CC_API void cc_row(const CcConstraint *one, const CcMove m[], CcRow *row)
{
    Real B[2], out[2];
    cc_point_of(m, one->body, one->point, row->P);
    cc_point_of(m, one->other, one->base, B);
    for (int k = 0; k < 2; k++) {
        out[k] = row->P[k] - B[k];
        row->Q[k] = B[k];
        row->n[k] = row->t[k] = 0.0;
    }
    row->b = row->at = 0.0;
    if (one->kind == CC_CURVE) {
        Real e[2], C[6];
        cc_in_world(m, one->other, one->axis, e);
        Real at[2] = {cc_along(e, out), cc_turn(e, out)};
        row->at = cc_curve_foot(&one->curve, one->foot, at, C);
        Real square = C[1] * C[1] + C[4] * C[4], length = cc_sqrt(square), t[2] = {C[1] / length, C[4] / length};
        Real bend = (C[1] * C[5] - C[4] * C[2]) / (square * length);
        row->h = (at[1] - C[3]) * t[0] - (at[0] - C[0]) * t[1];
        row->b = -bend / (1.0 - bend * row->h);
        row->t[0] = e[0] * t[0] - e[1] * t[1];
        row->t[1] = e[1] * t[0] + e[0] * t[1];
        row->n[0] = -row->t[1];
        row->n[1] = row->t[0];
        for (int k = 0; k < 2; k++)
            row->Q[k] = row->P[k];
    } else if (one->kind == CC_PROFILE) {
        Real e[2], f[3];
        cc_in_world(m, one->other, one->axis, e);
        row->at = cc_along(e, out);
        if (one->curve.shape)
            one->curve.shape(one->curve.of, one->curve.number, row->at, f);
        else
            cc_polynomial(one->f, one->degree, row->at, f);
        row->h = cc_turn(e, out) - f[0];
        row->n[0] = -f[1] * e[0] - e[1];
        row->n[1] = -f[1] * e[1] + e[0];
        row->b = -f[2];
        for (int k = 0; k < 2; k++) {
            row->t[k] = e[k];
            row->Q[k] = row->P[k];
        }
    } else if (one->kind == CC_DISTANCE) {
        Real size = cc_sqrt(cc_along(out, out));
        row->h = size - one->length;
        for (int k = 0; k < 2; k++)
            row->n[k] = out[k] / size;
        row->t[0] = -row->n[1];
        row->t[1] = row->n[0];
        row->b = 1.0 / size;
    } else {
        int k = one->kind == CC_ALONG_Y;
        row->h = out[k];
        row->n[k] = 1.0;
    }
}

/* (J qd)_q qd, m/s^2, and v = v_P - v_Q, after cc_tree_move. */
CC_API Real cc_row_bias(const CcConstraint *one, const CcRow *row, const CcMove m[], Real v[2])
{
    Real v_P[2], a_P[2], v_Q[2], a_Q[2], sum = 0.0;
    cc_point_motion(m, one->body, row->P, v_P, a_P);
    cc_point_motion(m, one->other, row->Q, v_Q, a_Q);
    for (int k = 0; k < 2; k++) {
        v[k] = v_P[k] - v_Q[k];
        sum += row->n[k] * (a_P[k] - a_Q[k]);
    }
    Real along = cc_along(row->t, v);
    sum += row->b * along * along;
    if (one->kind >= CC_PROFILE && one->other >= 0)
        sum -= 2.0 * m[one->other].w * (row->n[1] * v[0] - row->n[0] * v[1]);
    return sum;
}

/* The joint forces of a force `direction` on a body at P, added to J with the factor `sign`. */
CC_API void cc_gradient(const CcBody bodies[], const CcMove m[], int body, const Real P[2], const Real direction[2],
                        double sign, Real J[])
{
    for (int i = body; i >= 0; i = bodies[i].parent) {
        Real out[2] = {P[0] - m[i].r[0], P[1] - m[i].r[1]};
        J[i] += sign * (bodies[i].slides ? cc_along(m[i].e, direction) : cc_turn(out, direction));
    }
}

/* A row of J, n values. */
CC_API void cc_row_gradient(int n, const CcBody bodies[], const CcConstraint *one, const CcRow *row, const CcMove m[],
                            Real J[])
{
    for (int i = 0; i < n; i++)
        J[i] = 0.0;
    cc_gradient(bodies, m, one->body, row->P, row->n, 1.0, J);
    cc_gradient(bodies, m, one->other, row->Q, row->n, -1.0, J);
}

/* Rows and J, row after row of n values, after cc_tree_place. */
CC_API void cc_rows(int n, const CcBody bodies[], int count, const CcConstraint constraints[], const CcMove m[],
                    CcRow rows[], Real J[])
{
    for (int k = 0; k < count; k++) {
        cc_row(&constraints[k], m, &rows[k]);
        cc_row_gradient(n, bodies, &constraints[k], &rows[k], m, J + k * n);
    }
}

/* ---- dependent coordinates -------------------------------------------------------------------------------------- */

#define CC_RANK 1e-9 /* share of the first pivot below which a row counts as dependent */

typedef struct {
    int rank;       /* rows that are independent: count, or less at a singular position and with redundant rows */
    int redundant;  /* a row that is not, else -1 */
    double product; /* of the pivots */
    double last;    /* the last pivot, 0 where rows are redundant, and its row */
    int weakest;
} CcChoice;

/* The dependent coordinates by pivots of J, ascending.  J and D do not change; `work`: count * n values. */
CC_API CcChoice cc_choose_dependent(int n, int count, const Real J[], const CcMove m[], double work[], int rows[],
                                    int dependent[])
{
    CcChoice choice = {0, -1, 1.0, 0.0, 0};
    double first = 0.0;
    for (int k = 0; k < count; k++) {
        rows[k] = k;
        for (int i = 0; i < n; i++)
            work[k * n + i] = re(J[k * n + i]) / __builtin_sqrt(re(m[i].D));
    }
    for (int step = 0; step < count; step++) {
        int row = step, column = 0;
        double best = 0.0;
        for (int k = step; k < count; k++)
            for (int i = 0; i < n; i++) {
                double size = work[rows[k] * n + i];
                size = size < 0.0 ? -size : size;
                if (size > best) {
                    best = size;
                    row = k;
                    column = i;
                }
            }
        if (step == 0)
            first = best;
        int taken = rows[row];
        rows[row] = rows[step];
        rows[step] = taken;
        choice.last = 0.0;
        choice.weakest = taken;
        if (!(best > CC_RANK * first)) {
            choice.redundant = rows[step];
            break;
        }
        choice.product *= best;
        choice.last = best;
        choice.rank++;
        dependent[step] = column;
        for (int k = step + 1; k < count; k++) {
            double factor = work[rows[k] * n + column] / work[taken * n + column];
            for (int i = 0; i < n; i++)
                work[rows[k] * n + i] -= factor * work[taken * n + i];
            work[rows[k] * n + column] = 0.0;
        }
    }
    for (int i = 1; i < choice.rank; i++) /* ascending */
        for (int k = i; k > 0 && dependent[k] < dependent[k - 1]; k--) {
            int other = dependent[k];
            dependent[k] = dependent[k - 1];
            dependent[k - 1] = other;
        }
    return choice;
}

/* The columns of v, factored.  Returns the size of their determinant with columns divided by sqrt(D). */
CC_API double cc_factor_dependent(int n, int count, const Real J[], const CcMove m[], const int dependent[], Real A[],
                                  int pivots[])
{
    double scale = 1.0;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < count; i++)
            A[k * count + i] = J[k * n + dependent[i]];
        scale *= re(m[dependent[k]].D);
    }
    return __builtin_fabs(cc_factor(count, A, pivots)) / __builtin_sqrt(scale);
}

#define CC_NEWTON_STEPS 20
#define CC_NEWTON_END 1e-13 /* corrections smaller than this, rad or m times max(1, |v|), end it */

/* Position: q with h(u, v) = 0, its moves, rows, J, and the factored columns of v.  Returns the largest correction
 * left, rad or m; infinity where there is none.  D need not be known. */
CC_API double cc_close(int n, const CcBody bodies[], int count, const CcConstraint constraints[], const int dependent[],
                       Real q[], CcMove m[], CcRow rows[], Real J[], Real A[], int pivots[], Real b[])
{
    int exact = !CC_IS_DUAL; /* one more step, at the end, gives the derivatives of v */
    double last = __builtin_inf();
    for (int step = 0; step < CC_NEWTON_STEPS; step++) {
        double size = 0.0;
        cc_tree_place(n, bodies, q, m);
        cc_rows(n, bodies, count, constraints, m, rows, J);
        for (int k = 0; k < count; k++) {
            b[k] = -rows[k].h;
            for (int i = 0; i < count; i++)
                A[k * count + i] = J[k * n + dependent[i]];
        }
        cc_factor(count, A, pivots);
        cc_factor_solve(count, A, pivots, b);
        for (int k = 0; k < count; k++) {
            double v = re(cc_abs(q[dependent[k]])), one = re(cc_abs(b[k])) / (v > 1.0 ? v : 1.0);
            size = one <= size ? size : one; /* NaN counts as the largest */
        }
        if (!cc_is_finite(size))
            return __builtin_inf();
        int done = size <= CC_NEWTON_END || (size >= 0.5 * last && size <= 100.0 * CC_NEWTON_END);
        if (done && exact)
            return size;
        exact |= done;
        for (int k = 0; k < count; k++)
            q[dependent[k]] += b[k];
        last = size;
    }
    return __builtin_inf();
}

/* v' = -J_v^-1 J_u u', into qd, after cc_close. */
CC_API void cc_close_rates(int n, int count, const Real J[], const int dependent[], const Real A[], const int pivots[],
                           Real b[], Real qd[])
{
    for (int k = 0; k < count; k++)
        qd[dependent[k]] = 0.0;
    for (int k = 0; k < count; k++) {
        b[k] = 0.0;
        for (int i = 0; i < n; i++)
            b[k] -= J[k * n + i] * qd[i];
    }
    cc_factor_solve(count, A, pivots, b);
    for (int k = 0; k < count; k++)
        qd[dependent[k]] = b[k];
}

/* ---- multipliers ------------------------------------------------------------------------------------------------ */

/* Y = M^-1 J^T, row after row of n values.  p: n forces to work with. */
CC_API void cc_responses(int n, const CcBody bodies[], const CcMove m[], int count, const Real J[], Real p[][3],
                         Real Y[])
{
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < n; i++)
            p[i][0] = p[i][1] = p[i][2] = 0.0;
        cc_tree_solve(n, bodies, m, J + k * n, p, Y + k * n);
    }
}

/* Of A = J Y, not factored: the remainder of A_kk after elimination of the constraints before k, 0 if k depends on
 * them.  Divided by A_kk it is the square of the sine between k and the others: 0 in a singular position. */
CC_API void cc_remainders(int count, const Real A[], double left[])
{
    double L[CC_MOST_ROWS * CC_MOST_ROWS];
    for (int k = 0; k < count; k++) {
        left[k] = re(A[k * count + k]);
        for (int l = 0; l < k; l++) {
            double sum = re(A[k * count + l]);
            for (int j = 0; j < l; j++)
                sum -= L[k * count + j] * L[l * count + j];
            L[k * count + l] = left[l] > 0.0 ? sum / L[l * count + l] : 0.0;
            left[k] -= L[k * count + l] * L[k * count + l];
        }
        left[k] = left[k] > 0.0 ? left[k] : 0.0;
        L[k * count + k] = __builtin_sqrt(left[k]);
    }
}

/* lambda without friction; A = J Y, factored; and cc_remainders.  qdd: of the tree alone; bias: (J qd)_q qd of each
 * row. */
CC_API void cc_multipliers(int n, int count, const Real J[], const Real bias[], const Real Y[], const Real qdd[],
                           Real A[], int pivots[], Real lambda[], double left[])
{
    for (int k = 0; k < count; k++) {
        lambda[k] = bias[k] + cc_product(n, J + k * n, qdd);
        for (int l = 0; l < count; l++)
            A[k * count + l] = cc_product(n, J + k * n, Y + l * n);
    }
    cc_remainders(count, A, left);
    cc_factor(count, A, pivots);
    cc_factor_solve(count, A, pivots, lambda);
}

/* Subtract the responses to the multipliers from qdd. */
CC_API void cc_subtract_responses(int n, int count, const Real Y[], const Real lambda[], Real qdd[])
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            qdd[i] -= Y[k * n + i] * lambda[k];
}

/* qdd of the tree alone becomes qdd under constraints, and lambda.  bias: (J qd)_q qd of each row.  Y: count * n
 * values, p: n forces.  The rows have to be independent. */
CC_API void cc_constrain(int n, const CcBody bodies[], const CcMove m[], int count, const Real J[], const Real bias[],
                         Real Y[], Real p[][3], Real A[], int pivots[], Real qdd[], Real lambda[])
{
    double left[CC_MOST_ROWS];
    cc_responses(n, bodies, m, count, J, p, Y);
    cc_multipliers(n, count, J, bias, Y, qdd, A, pivots, lambda, left);
    cc_subtract_responses(n, count, Y, lambda, qdd);
}

/* ---- friction --------------------------------------------------------------------------------------------------- */

/* A row's friction: share 0 without any.  kappa and margin are found, the rest is given. */
typedef struct {
    Real share;    /* mu s */
    double side;   /* 1 where the material lies below the profile, -1 above */
    int rubs;      /* 1 of a profile that may have friction */
    int pulls;     /* 1 if N may be negative */
    Real kappa, margin;
} CcFriction;

/* kappa if N has the sign that lambda gives it. */
CC_API Real cc_kappa(const CcFriction *one, Real lambda)
{
    Real kappa = one->side * one->share;
    return one->pulls && one->side * re(lambda) > 0.0 ? -kappa : kappa;
}

/* Y_T, and X = (J Y)^-1 J Y_T, of which the columns of rows without friction are 0.  A: J Y, factored. */
CC_API void cc_responses_along(int n, const CcBody bodies[], const CcMove m[], int count,
                               const CcConstraint constraints[], const CcRow rows[], const Real J[], const Real A[],
                               const int pivots[], const CcFriction friction[], Real p[][3], Real J_T[], Real Y_T[],
                               Real X[])
{
    Real column[CC_MOST_ROWS];
    for (int k = 0; k < count; k++) {
        Real T[2] = {rows[k].n[1], -rows[k].n[0]};
        for (int i = 0; i < n; i++)
            J_T[i] = p[i][0] = p[i][1] = p[i][2] = 0.0;
        if (friction[k].rubs) {
            cc_gradient(bodies, m, constraints[k].body, rows[k].P, T, 1.0, J_T);
            cc_gradient(bodies, m, constraints[k].other, rows[k].Q, T, -1.0, J_T);
        }
        cc_tree_solve(n, bodies, m, J_T, p, Y_T + k * n);
        for (int l = 0; l < count; l++)
            column[l] = cc_product(n, J + l * n, Y_T + k * n);
        cc_factor_solve(count, A, pivots, column);
        for (int l = 0; l < count; l++)
            X[l * count + k] = column[l];
    }
}

/* lambda without friction becomes lambda with it, after cc_responses_along.  B: count * count values.  Returns the
 * margin of all contacts together, 0 if no signs of the normal forces agree with each other. */
CC_API double cc_rub(int count, const Real X[], CcFriction friction[], Real B[], Real lambda[])
{
    Real smooth[CC_MOST_ROWS];
    int pivots[CC_MOST_ROWS];
    for (int k = 0; k < count; k++) {
        CcFriction *one = &friction[k];
        Real part = one->side * one->share * X[k * count + k];
        smooth[k] = lambda[k];
        one->kappa = cc_kappa(one, lambda[k]);
        one->margin = 1.0 - (one->pulls && re(part) < 0.0 ? -part : part);
    }
    for (int turn = 0; turn < CC_SIGN_TURNS; turn++) {
        int agree = 1;
        for (int l = 0; l < count; l++) {
            lambda[l] = smooth[l];
            for (int k = 0; k < count; k++)
                B[l * count + k] = (l == k ? 1.0 : 0.0) - X[l * count + k] * friction[k].kappa;
        }
        double margin = cc_factor(count, B, pivots);
        cc_factor_solve(count, B, pivots, lambda);
        for (int k = 0; k < count; k++) {
            Real kappa = cc_kappa(&friction[k], lambda[k]);
            agree &= re(kappa) == re(friction[k].kappa);
            friction[k].kappa = kappa;
        }
        if (agree)
            return margin;
    }
    return 0.0;
}

#endif
