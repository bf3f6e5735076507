/* Constraints: their rows, multipliers, and the dependent coordinates. */

static CcConstraint constraint(const Element *e, int k)
{
    int hold = row_holds[k];
    Real sine = 0.0, cosine = 1.0;
    if (re(e->hold[hold].angle) != 0.0)
        cc_sin_cos(e->hold[hold].angle, &sine, &cosine);
    CcConstraint one = {
        .kind = row_kinds[k], .body = hold_bodies[hold], .other = hold_others[hold], .degree = hold_degrees[hold],
        .point = {e->hold[hold].point[0], e->hold[hold].point[1]},
        .base = {e->hold[hold].base[0], e->hold[hold].base[1]},
        .axis = {cosine, sine},
        .length = e->hold[hold].length, .f = e->hold[hold].f};
    set_shape(e, k, hold, &one);
    return one;
}

/* The constraints that hold, and their dependent coordinates. */
static void describe_constraints(const Element *e, Work *work)
{
    work->count = 0;
    for (int k = 0; k < CONSTRAINTS; k++) {
        if (!holds(e, k))
            continue;
        work->row_of[work->count] = k;
        work->constraints[work->count] = constraint(e, k);
        int dependent = (int)re(e->dependent[k]) - 1; /* none before the start: the outputs are NaN then */
        work->dependent[work->count++] = dependent >= 0 && dependent < JOINTS ? dependent : 0;
    }
}

/* q and qd that meet the constraints; what is left of these. */
static void meet_constraints(Element *e, Work *work)
{
    double left = cc_close(JOINTS, work->bodies, work->count, work->constraints, work->dependent, e->q, work->m,
                           work->rows, work->J, work->A, work->pivots, work->b);
    cc_close_rates(JOINTS, work->count, work->J, work->dependent, work->A, work->pivots, work->b, e->qd);
    for (int k = 0; k < CONSTRAINTS; k++)
        e->constraint[k].h = e->constraint[k].hd = 0.0;
    for (int k = 0; k < work->count; k++) {
        int row = work->row_of[k];
        e->constraint[row].h = cc_is_finite(left) ? work->rows[k].h : left;
        for (int i = 0; i < JOINTS; i++)
            e->constraint[row].hd += work->J[k * JOINTS + i] * e->qd[i];
    }
    if (!cc_is_finite(left))
        for (int i = 0; i < JOINTS; i++)
            e->q[i] = e->qd[i] = left; /* no motion is better than one that breaks its constraints */
}

/* A force f of row k on its body, and the reaction on the other one. */
static void push_row(const Work *work, int k, const Real f[2], Real p[JOINTS][3])
{
    const Real reaction[2] = {-f[0], -f[1]};
    cc_tree_push(work->m, work->constraints[k].body, work->rows[k].P, f, p);
    cc_tree_push(work->m, work->constraints[k].other, work->rows[k].Q, reaction, p);
}

/* The forces of all rows on the bodies. */
static void push_rows(const Element *e, const Work *work, Real p[JOINTS][3])
{
    for (int k = 0; k < work->count; k++) {
        Real on_body[2];
        force_of_row(work, k, e->lambda[work->row_of[k]], on_body);
        push_row(work, k, on_body, p);
    }
}

/* Size of constraint k at the joints that are not driven, whatever its direction: the largest element of its row and of
 * that across, squared. */
static double size_squared(const Work *work, int k)
{
    double size = 0.0;
    Real across[JOINTS];
    CcRow turned = work->rows[k];
    turned.n[0] = -work->rows[k].n[1];
    turned.n[1] = work->rows[k].n[0];
    cc_row_gradient(JOINTS, work->bodies, &work->constraints[k], &turned, work->m, across);
    for (int i = 0; i < JOINTS; i++) {
        if (driven_joints[i])
            continue;
        double a = re(work->J[k * JOINTS + i]), b = re(across[i]), one = (a * a + b * b) / re(work->m[i].D);
        size = one > size ? one : size;
    }
    return size;
}

/* qdd of the tree becomes that under the constraints. */
static void constrain(Element *e, Work *work)
{
    Real v[2], lambda[CONSTRAINTS];
    double left[CONSTRAINTS];
    for (int k = 0; k < work->count; k++)
        work->b[k] = cc_row_bias(&work->constraints[k], &work->rows[k], work->m, v);
    cc_responses(JOINTS, work->bodies, work->m, work->count, work->J, work->p, work->Y);
    cc_multipliers(JOINTS, work->count, work->J, work->b, work->Y, e->qdd, work->A, work->pivots, lambda, left);
    for (int k = 0; k < work->count; k++)
        if (left[k] < CLOSEST * CLOSEST * size_squared(work, k))
            lambda[k] = __builtin_inf(); /* no motion is better than one whose way rounding chooses */
    rub(e, work, lambda);
    cc_subtract_responses(JOINTS, work->count, work->Y, lambda, e->qdd);
    for (int k = 0; k < CONSTRAINTS; k++)
        e->lambda[k] = 0.0;
    for (int k = 0; k < work->count; k++)
        e->lambda[work->row_of[k]] = lambda[k];
}

/* J and D at q. */
static void look(const Element *e, Work *work, const Real q[])
{
    describe(e, work);
    cc_tree_place(JOINTS, work->bodies, q, work->m);
    cc_tree_factor(JOINTS, work->bodies, work->m);
    cc_rows(JOINTS, work->bodies, work->count, work->constraints, work->m, work->rows, work->J);
}

/* The dependent coordinates by the J at hand, of joints that are not driven, those that the recipe names first. */
static CcChoice choose(Work *work, int of_start)
{
    double pivots[CONSTRAINTS * JOINTS];
    int order[CONSTRAINTS], named = 0;
    for (int i = 0; i < JOINTS; i++)
        named += closes[i];
    for (int i = 0; i < JOINTS; i++)
        for (int k = 0; k < work->count && (driven_joints[i] || (of_start && named && !closes[i])); k++)
            work->J[k * JOINTS + i] = 0.0;
    return cc_choose_dependent(JOINTS, work->count, work->J, work->m, pivots, order, work->dependent);
}

/* Whether a constraint depends on the others, or almost. */
static int is_singular(const Work *work, CcChoice choice)
{
    return work->count > 0 && !(choice.last > SINGULAR * __builtin_sqrt(size_squared(work, choice.weakest)));
}

/* Keep a choice: the memory has the number of the joint for each row that holds. */
static void keep(Element *e, const Work *work, CcChoice choice)
{
    for (int k = 0; k < work->count; k++)
        e->dependent[work->row_of[k]] = k < choice.rank ? work->dependent[k] + 1.0 : 0.0;
}

static void start_constraints(Element *e)
{
    Work work;
    Real q[JOINTS], qd[JOINTS];
    place_free(e, q, qd);
    find_feet(e, &work, q);
    look(e, &work, q);
    if (CONTACTS) {
        start_contacts(e, &work);
        look(e, &work, q);
    }
    keep(e, &work, choose(&work, 1));
}

#include "checks.h"
#include "settle.h"
