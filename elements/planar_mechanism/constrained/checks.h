/* Positions that constraints cannot meet: at the start, and singular ones. */

static const char *const row_kind_names[] __attribute__((unused)) = {"pin, along x", "pin, along y", "distance",
                                                                     "profile", "profile"};

/* q at the start, before it meets the constraints. */
static void place_start(const Element *e, Real q[])
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = e->joint[i].q0;
        Real motion[3];
        if (given_motion(e, i, motion))
            q[i] = motion[0];
    }
}

/* The greatest distance that the recipe gives on a body, m. */
static double size_of_bodies(const Element *e)
{
    Real largest = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        largest = cc_max(largest, cc_along(e->joint[i].place, e->joint[i].place));
        largest = cc_max(largest, cc_along(e->body[i].centre, e->body[i].centre));
    }
    for (int k = 0; k < HOLDS; k++)
        largest = cc_max(largest, cc_max(cc_along(e->hold[k].point, e->hold[k].point),
                                         cc_along(e->hold[k].base, e->hold[k].base)));
    return __builtin_sqrt(re(largest));
}

/* Positions that are far from their constraints, where no coordinate is marked to follow from these. */
static void check_start(const Element *e, const Work *work, CcHost *host)
{
    double size = size_of_bodies(e);
    int named = 0;
    for (int i = 0; i < JOINTS; i++)
        named |= closes[i];
    for (int k = 0; k < work->count && !named && size > 0.0; k++) {
        double h = re(work->rows[k].h / cc_sqrt(cc_along(work->rows[k].n, work->rows[k].n)));
        int row = work->row_of[k], hold = row_holds[row];
        if (h > FAR * size || h < -FAR * size)
            cc_fail(host, "constraint %d (%s, of %s) is %g m off at the start, more than a quarter of the largest "
                    "distance on a body, %g m: start nearer to it, or mark the bodies whose coordinates follow from it "
                    "with closes = true", hold + 1, row_kind_names[row_kinds[row]], body_names[hold_bodies[hold]], h,
                    size);
    }
}

/* Constraint k of those that hold depends on the others at q. */
static void name_singular(const Element *e, const Work *work, int k, const Real q[], CcHost *host)
{
    int row = work->row_of[k], hold = row_holds[row], body = hold_bodies[hold];
    cc_fail(host, "at %g s, with q[%d] = %g %s of %s, the mechanism is in a singular position: constraint %d (%s) "
            "depends on the other constraints, and the motion may continue in several ways%s; let no communication "
            "point lie within 1e-4 rad of it, and solver.tolerance be at least 1e-9", re(e->time), body + 1,
            re(q[body]), slides[body] ? "m" : "rad", body_names[body], hold + 1, row_kind_names[row_kinds[row]],
            DRIVEN ? ", or not at all if a given motion leads beyond it" : "");
}

/* The constraint that is farthest off at q, where no dependent coordinates near by meet all. */
static void name_out_of_reach(const Element *e, const Work *work, const Real q[], CcHost *host)
{
    int farthest = 0;
    double most = -1.0;
    for (int k = 0; k < work->count; k++) {
        const Real *n = work->rows[k].n;
        double off = re(cc_abs(work->rows[k].h) / cc_sqrt(cc_along(n, n)));
        if (!(off <= most)) { /* NaN, of a point without a foot on its curve, too */
            most = off;
            farthest = k;
        }
    }
    int row = work->row_of[farthest], hold = row_holds[row], body = hold_bodies[hold];
    cc_fail(host, "at %g s, with q[%d] = %g %s of %s, constraint %d (%s) is %g m off, and moving the dependent "
            "coordinates, %s%s, does not close it: a parameter, a state or a given motion has changed too much; set it "
            "nearer to its value before", re(e->time), body + 1, re(q[body]), slides[body] ? "m" : "rad",
            body_names[body], hold + 1, row_kind_names[row_kinds[row]], most, body_names[work->dependent[0]],
            work->count > 1 ? " and others" : "");
}

/* Whether the position q is singular, which is reported then. */
static int stands_singular(const Element *e, Work *work, const Real q[], CcHost *host)
{
    look(e, work, q);
    CcChoice choice = choose(work, 0);
    if (!is_singular(work, choice))
        return 0;
    name_singular(e, work, choice.weakest, q, host);
    return 1;
}

/* Report a position without finite values during the run: it is singular where it is looked for or where it is found,
 * or there is none near by.  Returns whether it is one of these. */
static int check_position(const Element *e, Work *work, CcHost *host)
{
    Real q[JOINTS], qd[JOINTS];
    int finite = 1;
    for (int k = 0; k < CONSTRAINTS; k++)
        finite &= cc_is_finite(re(e->lambda[k]));
    if (finite)
        return 0;
    place_free(e, q, qd);
    if (stands_singular(e, work, q, host))
        return 1;
    describe(e, work); /* with the dependent coordinates of e */
    double left = cc_close(JOINTS, work->bodies, work->count, work->constraints, work->dependent, q, work->m,
                           work->rows, work->J, work->A, work->pivots, work->b);
    if (cc_is_finite(left))
        return stands_singular(e, work, q, host);
    place_free(e, q, qd);
    look(e, work, q);
    name_out_of_reach(e, work, q, host);
    return 1;
}

static inline void check_constraints(const Element *e, CcHost *host)
{
    Work work;
    Real q[JOINTS];
    place_start(e, q);
    if (re(e->begun) != 0.0) { /* parameters of the start cannot change any more */
        check_position(e, &work, host);
        return;
    }
    look(e, &work, q);
    check_start(e, &work, host);
    CcChoice choice = choose(&work, 1);
    if (choice.rank < work.count) {
        int row = work.row_of[choice.redundant], hold = row_holds[row];
        cc_fail(host, "constraint %d (%s, of %s) does not move any joint that the others leave free: the mechanism "
                "is over-constrained, or starts in a singular position, or the coordinates marked closes do "
                "not suffice; remove the constraint, or start elsewhere", hold + 1, row_kind_names[row_kinds[row]],
                body_names[hold_bodies[hold]]);
        return;
    }
    double left = cc_close(JOINTS, work.bodies, work.count, work.constraints, work.dependent, q, work.m, work.rows,
                           work.J, work.A, work.pivots, work.b);
    if (cc_is_finite(left))
        return;
    int moved = work.dependent[0]; /* look begins again with the coordinates of e, which are not chosen yet */
    place_start(e, q);
    look(e, &work, q);
    for (int k = 0; k < work.count; k++) {
        int row = work.row_of[k], hold = row_holds[row];
        cc_fail(host, "constraint %d (%s, of %s) is %g m off at the start, and moving the dependent coordinates, %s%s, "
                "does not close it: start nearer to it", hold + 1, row_kind_names[row_kinds[row]],
                body_names[hold_bodies[hold]], re(work.rows[k].h), body_names[moved],
                work.count > 1 ? " and others" : "");
    }
}
