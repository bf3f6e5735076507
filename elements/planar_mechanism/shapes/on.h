/* Profiles that are laws, splines or curves: where a point is on them, and where they end. */

static CcConstraint constraint(const Element *e, int k);

/* y = f(x), or x(s) and y(s), of the profile of a constraint: curve.h.  Returns whether all is finite. */
static int profile_at(const Element *e, int hold, Real at, Real values[])
{
    const double *knots = spline_knots + spline_first[hold];
    int n = spline_counts[hold], first = 4 * spline_first[hold], count = hold_shapes[hold] == CC_CURVE ? 6 : 3;
    Real sum = 0.0;
    if (n > 0)
        cc_spline(knots, spline_x + first, n, at, values);
    if (n > 0 && count == 6)
        cc_spline(knots, spline_y + first, n, at, values + 3);
    (void)laws_profile(e, hold, at, values);
    if (laws_curve_x(e, hold, at, values))
        (void)laws_curve_y(e, hold, at, values + 3);
    (void)e;
    for (int k = 0; k < count; k++)
        sum += values[k];
    return cc_is_finite(re(sum));
}

/* The same; where a law has no finite value its tangent at the last accepted point, for `inside` reports that. */
static void shape(const void *of, int hold, Real at, Real values[])
{
    const Element *e = of;
    double foot = 0.0;
    if (profile_at(e, hold, at, values))
        return;
    for (int i = 0; i < CONTACTS; i++)
        if (row_holds[contact_rows[i]] == hold)
            foot = re(e->contact[i].foot);
    profile_at(e, hold, foot, values);
    for (int k = 0; k < (hold_shapes[hold] == CC_CURVE ? 6 : 3); k += 3) {
        values[k] += values[k + 1] * (at - foot);
        values[k + 2] = 0.0;
    }
}

/* Of row k, which belongs to the constraint `hold`. */
static void set_shape(const Element *e, int k, int hold, CcConstraint *one)
{
    int i = row_contacts[k], is_fresh = re(e->time) == re(e->accepted.at); /* a parameter may have moved the curve */
    one->curve = (CcCurve){
        .shape = hold_shapes[hold] ? shape : 0, .of = e, .number = hold, .closed = hold_closed[hold],
        .leaps = is_fresh || !holds(e, k), .from = hold_from[hold], .to = hold_to[hold]};
    one->foot = i >= 0 ? re(e->contact[i].foot) : 0.0;
}

/* How far the point of contact i is from the nearer end of its profile, in the profile's parameter; 1 without ends, -1
 * where a law has no finite value. */
static double inside(const Element *e, int i)
{
    int hold = row_holds[contact_rows[i]];
    Real values[6];
    if (hold_shapes[hold] && !profile_at(e, hold, e->contact[i].s, values))
        return -1.0;
    double s = re(e->contact[i].s), before = s - hold_from[hold], after = hold_to[hold] - s;
    return !hold_ends[hold] ? 1.0 : before < after ? before : after;
}

/* Those of the laws of a profile. */
static void profile_indicators(const Element *e, int hold, double s, Indicators *z)
{
    (void)e, (void)hold, (void)s, (void)z;
    laws_profile_indicators(e, hold, s, z);
    laws_curve_x_indicators(e, hold, s, z);
    laws_curve_y_indicators(e, hold, s, z);
}

static inline void shape_indicators(const Element *e, int i, Indicators *z)
{
    int hold = row_holds[contact_rows[i]];
    double s = re(e->contact[i].s);
    z->end[i] = inside(e, i);
    z->knot[i] = spline_counts[hold] == 0
                     ? 1.0
                     : cc_spline_side(spline_knots + spline_first[hold], spline_counts[hold], s);
    profile_indicators(e, hold, s, z);
}

/* Where on its curve, by the body's place, the point of contact i is closest to it. */
static double nearest(const Element *e, const CcMove m[], int i)
{
    CcConstraint one = constraint(e, contact_rows[i]);
    Real P[2], at[2];
    if (one.kind != CC_CURVE)
        return 0.0;
    cc_point_of(m, one.body, one.point, P);
    cc_in_profile(&one, m, P, at);
    return cc_curve_nearest(&one.curve, at);
}

/* Feet at the coordinates q, before the start; and those of the outputs. */
static void find_feet(Element *e, Work *work, const Real q[])
{
    describe(e, work);
    cc_tree_place(JOINTS, work->bodies, q, work->m);
    for (int i = 0; i < CONTACTS; i++)
        e->contact[i].foot = nearest(e, work->m, i);
}

static void keep_feet(Element *e)
{
    for (int i = 0; i < CONTACTS; i++)
        if (cc_is_finite(re(e->contact[i].s)))
            e->contact[i].foot = re(e->contact[i].s);
}

static void show_place(Element *e, int i, Real at) { e->contact[i].s = at; }

/* Feet as they are looked for next.  A point that is off is followed to wherever it is closest, and cannot come back
 * while it is beyond an end, or below the profile from there.  Returns what changed, as accept does. */
static int follow_profiles(Element *e, CcHost *host, const CcMove m[])
{
    int changed = 0;
    for (int i = 0; i < CONTACTS; i++) {
        int k = contact_rows[i], hold = row_holds[k];
        double s = re(e->contact[i].s), beyond = inside(e, i) < 0.0;
        e->contact[i].foot = s;
        if (re(e->contact[i].closed) != 0.0) {
            const char *name = body_names[hold_bodies[hold]], *unit = row_kinds[k] == CC_CURVE ? "along it" : "m";
            Real values[6];
            if (hold_shapes[hold] && !profile_at(e, hold, s, values))
                cc_fail(host, "at %g s the law of the profile of constraint %d has no finite value where %s is, at "
                        "%g %s",
                        re(e->time), hold + 1, name, s, unit);
            else if (beyond)
                cc_fail(host, "at %g s %s comes to the end of its profile, of constraint %d, at %g %s: end the run "
                        "before, or make the profile longer", re(e->time), name, hold + 1, s, unit);
            continue;
        }
        if (beyond)
            e->contact[i].level = NEVER;
        else if (re(e->contact[i].level) == NEVER && re(e->contact[i].gap) > 0.0)
            e->contact[i].level = -GRIP;
        if (row_kinds[k] != CC_CURVE)
            continue;
        double range = hold_to[hold] - hold_from[hold], way;
        e->contact[i].foot = nearest(e, m, i);
        way = re(e->contact[i].foot) - s;
        way = way < 0.0 ? -way : way;
        if (hold_closed[hold] && way > 0.5 * range)
            way = range - way;
        if (way > 2.0 * range / CC_FOOT_PIECES)
            changed = CC_CHANGED;
    }
    return changed;
}

static void check_tangents(const Element *e, const Work *work, CcHost *host)
{
    for (int k = 0; k < work->count; k++) {
        const Real *n = work->rows[k].n;
        int hold = row_holds[work->row_of[k]];
        if (work->constraints[k].kind == CC_PROFILE && re(cc_along(n, n)) > STEEPEST * STEEPEST)
            cc_fail(host, "at %g s the tangent of the profile of constraint %d is vertical where %s is, at x = %g m: "
                    "give it as a curve, x and y over a parameter", re(e->time), hold + 1,
                    body_names[hold_bodies[hold]], re(work->rows[k].at));
    }
}
