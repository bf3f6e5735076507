/* Planar mechanism: bodies, their joints, and what holds them (mechanism.h, constraint.h).
 *
 *     M qdd + F + Q + J^T lambda = 0,   h(q) = 0
 *     Q from weights m g, springs k (q - free), dampers c qd, joint forces, and forces at points
 *
 * The states are all q and qd; of them the dependent ones v are where the search for h(u, v) = 0 begins, and nothing
 * else.  So whatever they are, q and qd meet their constraints at every point that is looked at, to the correction
 * that ends the search, and what is integrated is the motion of the independent u alone.
 *
 * Accepted points put the dependent states where they belong, and look at the partition: with V the determinant of the
 * columns of v, divided by sqrt(D), and V_max that of the best choice at the point, it is chosen anew where
 * |V| < CHANGE_AT |V_max|.
 *
 * Contact of a point with a profile y = f(x) below it:  N = -lambda sqrt(1 + f'^2), slip = v_x sqrt(1 + f'^2) with v_x
 * the point's speed along x, both in the profile's axes.  Not modelled: friction, and a point that leaves its profile:
 * where N < 0 the profile pulls.
 *
 * Energy: total = kinetic + potential + elastic,  residual = work - (total - start) - damping. */
#include "constraint.h"

#define CHANGE_AT 0.1

typedef struct {
    CcBody bodies[JOINTS];
    CcMove m[JOINTS];
    Real p[JOINTS][3]; /* forces that the bodies need without qdd; accelerations behind cc_tree_solve */
    Real tau[JOINTS];
#if CONSTRAINTS
    CcConstraint constraints[CONSTRAINTS];
    CcRow rows[CONSTRAINTS];
    Real J[CONSTRAINTS * JOINTS], Y[CONSTRAINTS * JOINTS], A[CONSTRAINTS * CONSTRAINTS], b[CONSTRAINTS];
    int pivots[CONSTRAINTS], dependent[CONSTRAINTS];
#endif
} Work;

static void describe(const Element *e, Work *work)
{
    for (int i = 0; i < JOINTS; i++) {
        CcBody *body = &work->bodies[i];
        body->parent = parents[i];
        body->slides = slides[i];
        body->angle = e->joint[i].angle;
        body->mass = e->body[i].m;
        body->inertia = e->body[i].J;
        for (int k = 0; k < 2; k++) {
            body->place[k] = e->joint[i].place[k];
            body->centre[k] = e->body[i].centre[k];
        }
    }
#if CONSTRAINTS
    for (int k = 0; k < CONSTRAINTS; k++) {
        int hold = row_holds[k];
        work->constraints[k] = (CcConstraint){
            .kind = row_kinds[k], .body = hold_bodies[hold], .other = hold_others[hold], .degree = hold_degrees[hold],
            .point = {e->hold[hold].point[0], e->hold[hold].point[1]},
            .base = {e->hold[hold].base[0], e->hold[hold].base[1]},
            .axis = {cc_cos(e->hold[hold].angle), cc_sin(e->hold[hold].angle)},
            .length = e->hold[hold].length, .f = e->hold[hold].f};
        int dependent = (int)re(e->dependent[k]) - 1; /* none before the start: the outputs are no numbers then */
        work->dependent[k] = dependent >= 0 && dependent < JOINTS ? dependent : 0;
    }
#endif
}

/* q and qd that meet the constraints, and all that follows from them alone. */
static void stand_and_move(Element *e, Work *work)
{
    for (int i = 0; i < JOINTS; i++) {
        e->q[i] = e->integrated[i].q;
        e->qd[i] = e->integrated[i].qd;
    }
#if CONSTRAINTS
    double left = cc_close(JOINTS, work->bodies, CONSTRAINTS, work->constraints, work->dependent, e->q, work->m,
                           work->rows, work->J, work->A, work->pivots, work->b);
    cc_close_rates(JOINTS, CONSTRAINTS, work->J, work->dependent, work->A, work->pivots, work->b, e->qd);
    for (int k = 0; k < CONSTRAINTS; k++) {
        e->constraint[k].h = cc_is_finite(left) ? work->rows[k].h : left;
        e->constraint[k].hd = 0.0;
        for (int i = 0; i < JOINTS; i++)
            e->constraint[k].hd += work->J[k * JOINTS + i] * e->qd[i];
    }
    if (!cc_is_finite(left))
        for (int i = 0; i < JOINTS; i++)
            e->q[i] = e->qd[i] = left; /* no motion is better than one that breaks its constraints */
#else
    cc_tree_place(JOINTS, work->bodies, e->q, work->m);
#endif
    cc_tree_move(JOINTS, work->bodies, e->qd, work->m);
}

static void energies(Element *e, const Work *work)
{
    e->energy.kinetic = e->energy.potential = e->energy.elastic = e->power.damping = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        const CcMove *m = &work->m[i];
        Real mass = e->body[i].m, stretch = e->q[i] - e->joint[i].free;
        Real v[2] = {m->v[0] - m->w * m->c[1], m->v[1] + m->w * m->c[0]};
        Real centre[2] = {m->r[0] + m->c[0], m->r[1] + m->c[1]};
        e->energy.kinetic += 0.5 * (mass * cc_along(v, v) + e->body[i].J * m->w * m->w);
        e->energy.potential -= mass * cc_along(e->g, centre);
        e->energy.elastic += 0.5 * e->joint[i].stiffness * stretch * stretch;
        e->power.damping += e->joint[i].damping * e->qd[i] * e->qd[i];
    }
    e->energy.total = e->energy.kinetic + e->energy.potential + e->energy.elastic;
#if LEDGER
    e->energy.residual = e->energy.work - (e->energy.total - e->energy.start) - e->energy.damping;
#endif
}

/* tau and p: all that acts on joints and bodies but constraints. */
static void forces(Element *e, Work *work)
{
    e->power.work = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        work->tau[i] = e->joint[i].force - e->joint[i].stiffness * (e->q[i] - e->joint[i].free)
                       - e->joint[i].damping * e->qd[i];
        e->power.work += e->joint[i].force * e->qd[i];
    }
    cc_tree_inertial(JOINTS, work->bodies, work->m, e->g, work->p);
#if POINTS
    for (int k = 0; k < POINTS; k++) {
        Real a[2];
        cc_point_of(work->m, point_bodies[k], e->point[k].offset, e->point[k].r);
        cc_motion_at(work->m, point_bodies[k], e->point[k].r, e->point[k].v, a);
        e->point[k].r[2] = e->point[k].v[2] = 0.0;
        cc_tree_push(work->m, point_bodies[k], e->point[k].r, e->point[k].f, work->p);
        e->power.work += cc_along(e->point[k].f, e->point[k].v);
    }
#endif
}

/* What each joint carries: p as it was before cc_tree_solve, taken from the tips to the ground. */
static void reactions(Element *e, Work *work, Real p[JOINTS][3])
{
#if CONSTRAINTS
    for (int k = 0; k < CONSTRAINTS; k++) {
        Real on_body[2] = {-e->lambda[k] * work->rows[k].n[0], -e->lambda[k] * work->rows[k].n[1]};
        Real on_other[2] = {-on_body[0], -on_body[1]};
        cc_tree_push(work->m, work->constraints[k].body, work->rows[k].P, on_body, p);
        cc_tree_push(work->m, work->constraints[k].other, work->rows[k].Q, on_other, p);
    }
#endif
    Real A[JOINTS][3]; /* by qdd: angular, and of the origin */
    for (int i = 0; i < JOINTS; i++) {
        const CcMove *m = &work->m[i];
        const Real *before = parents[i] >= 0 ? A[parents[i]] : 0;
        Real turn = before ? before[0] : 0.0, qdd = e->qdd[i], mass = e->body[i].m;
        A[i][0] = turn + (slides[i] ? 0.0 : qdd);
        A[i][1] = (before ? before[1] : 0.0) - turn * m->d[1] + (slides[i] ? qdd * m->e[0] : 0.0);
        A[i][2] = (before ? before[2] : 0.0) + turn * m->d[0] + (slides[i] ? qdd * m->e[1] : 0.0);
        Real f[2] = {mass * (A[i][1] - A[i][0] * m->c[1]), mass * (A[i][2] + A[i][0] * m->c[0])};
        p[i][0] += e->body[i].J * A[i][0] + cc_turn(m->c, f);
        p[i][1] += f[0];
        p[i][2] += f[1];
    }
    for (int i = JOINTS - 1; i >= 0; i--) {
        const Real *d = work->m[i].d;
        e->joint[i].moment = p[i][0];
        e->joint[i].reaction[0] = p[i][1];
        e->joint[i].reaction[1] = p[i][2];
        if (parents[i] < 0)
            continue;
        Real *before = p[parents[i]];
        before[0] += p[i][0] + cc_turn(d, p[i] + 1);
        before[1] += p[i][1];
        before[2] += p[i][2];
    }
}

static void outputs(Element *e)
{
    Work work;
    Real p[JOINTS][3];
    describe(e, &work);
    stand_and_move(e, &work);
    cc_tree_factor(JOINTS, work.bodies, work.m);
    forces(e, &work);
    __builtin_memcpy(p, work.p, sizeof p);
    cc_tree_solve(JOINTS, work.bodies, work.m, work.tau, work.p, e->qdd);
#if CONSTRAINTS
    Real v[CONSTRAINTS][2];
    for (int k = 0; k < CONSTRAINTS; k++)
        work.b[k] = cc_row_bias(&work.constraints[k], &work.rows[k], work.m, v[k]);
    cc_constrain(JOINTS, work.bodies, work.m, CONSTRAINTS, work.J, work.b, work.Y, work.p, work.A, work.pivots, e->qdd,
                 e->lambda);
#endif
#if CONTACTS
    for (int i = 0; i < CONTACTS; i++) {
        int k = contact_rows[i];
        const CcRow *row = &work.rows[k];
        Real steep = cc_sqrt(1.0 + row->slope * row->slope);
        e->contact[i].x = row->P[0];
        e->contact[i].y = row->P[1];
        e->contact[i].N = -hold_sides[row_holds[k]] * e->lambda[k] * steep;
        e->contact[i].slip = cc_along(row->t, v[k]) * steep;
    }
#endif
    reactions(e, &work, p);
    energies(e, &work);
}

#if CONSTRAINTS

/* J and D at q. */
static void look(const Element *e, Work *work, const Real q[])
{
    describe(e, work);
    cc_tree_place(JOINTS, work->bodies, q, work->m);
    cc_tree_factor(JOINTS, work->bodies, work->m);
    cc_rows(JOINTS, work->bodies, CONSTRAINTS, work->constraints, work->m, work->rows, work->J);
}

/* The dependent coordinates by the J at hand, those that the recipe names first. */
static CcChoice choose(Work *work, int of_start)
{
    double pivots[CONSTRAINTS * JOINTS];
    int order[CONSTRAINTS], named = 0;
    for (int i = 0; i < JOINTS; i++)
        named += closes[i];
    for (int i = 0; i < JOINTS && of_start && named; i++)
        for (int k = 0; k < CONSTRAINTS && !closes[i]; k++)
            work->J[k * JOINTS + i] = 0.0;
    return cc_choose_dependent(JOINTS, CONSTRAINTS, work->J, work->m, pivots, order, work->dependent);
}

#endif

static void start(Element *e)
{
    e->changes = e->begun = 0.0;
#if CONSTRAINTS
    Work work;
    Real q[JOINTS];
    for (int i = 0; i < JOINTS; i++)
        q[i] = e->integrated[i].q;
    look(e, &work, q);
    CcChoice choice = choose(&work, 1);
    for (int k = 0; k < CONSTRAINTS; k++)
        e->dependent[k] = k < choice.rank ? work.dependent[k] + 1.0 : 0.0;
#endif
    outputs(e);
    e->energy.start = e->energy.total;
}

static void check(const Element *e, CcHost *host)
{
#if CONSTRAINTS
    static const char *const kinds[] = {"pin, along x", "pin, along y", "distance", "profile"};
    Work work;
    Real q[JOINTS];
    for (int i = 0; i < JOINTS; i++)
        q[i] = e->joint[i].q0;
    if (re(e->begun) != 0.0)
        return; /* what could make the start impossible is fixed then */
    look(e, &work, q);
    CcChoice choice = choose(&work, 1);
    if (choice.rank < CONSTRAINTS) {
        int hold = row_holds[choice.redundant];
        cc_fail(host, "constraint %d (%s, of %s) does not move any joint in a way that the others leave free: the "
                "mechanism is over-constrained, or starts in a singular position, or the coordinates marked closes do "
                "not suffice; remove the constraint, or start elsewhere", hold + 1, kinds[row_kinds[choice.redundant]],
                body_names[hold_bodies[hold]]);
        return;
    }
    double left = cc_close(JOINTS, work.bodies, CONSTRAINTS, work.constraints, work.dependent, q, work.m, work.rows,
                           work.J, work.A, work.pivots, work.b);
    if (cc_is_finite(left))
        return;
    for (int i = 0; i < JOINTS; i++)
        q[i] = e->joint[i].q0;
    look(e, &work, q);
    for (int k = 0; k < CONSTRAINTS; k++)
        cc_fail(host, "constraint %d (%s, of %s) is %g m off at the start, and moving the dependent coordinates, %s%s, "
                "does not close it: start nearer to it", row_holds[k] + 1, kinds[row_kinds[k]],
                body_names[hold_bodies[row_holds[k]]], re(work.rows[k].h), body_names[work.dependent[0]],
                CONSTRAINTS > 1 ? " and others" : "");
#endif
    (void)e, (void)host;
}

/* The states at the end of a step: dependent ones back onto their constraints, where they are looked for next.  Nothing
 * computed depends on them. */
static int accept(Element *e, CcHost *host, double step)
{
    int changed = 0;
    e->begun = 1.0;
#if CONSTRAINTS
    for (int k = 0; k < CONSTRAINTS; k++) {
        int i = (int)re(e->dependent[k]) - 1;
        double way = i >= 0 ? re(e->q[i] - e->integrated[i].q) : 0.0;
        if (step == 0.0 && cc_is_finite(way) && (way > 1e-9 || way < -1e-9))
            cc_report(host, CC_INFO, "mechanism", "%s starts at %g instead of %g, to meet its constraint",
                      body_names[i], re(e->q[i]), re(e->integrated[i].q));
    }
    for (int i = 0; i < JOINTS; i++) {
        e->integrated[i].q = e->q[i];
        e->integrated[i].qd = e->qd[i];
    }
    Work work;
    look(e, &work, e->q);
    double share = cc_factor_dependent(JOINTS, CONSTRAINTS, work.J, work.m, work.dependent, work.A, work.pivots);
    CcChoice choice = choose(&work, 0);
    if (choice.rank == CONSTRAINTS && share < CHANGE_AT * choice.product) {
        for (int k = 0; k < CONSTRAINTS; k++) {
            if (re(e->dependent[k]) != work.dependent[k] + 1.0)
                cc_report(host, CC_INFO, "mechanism", "%s takes the place of %s among the dependent coordinates",
                          body_names[work.dependent[k]], body_names[(int)re(e->dependent[k]) - 1]);
            e->dependent[k] = work.dependent[k] + 1.0;
        }
        e->changes += 1.0;
        changed = 1;
    }
#else
    (void)e, (void)host, (void)step;
#endif
    return changed;
}
