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
 * Contact of a point with a profile y = f(x) below it:  N = -lambda |n|, slip = T v / |T| along it, T = (1, f') and
 * n = (-f', 1) in the profile's axes; gap = h / |n|.  Of a curve |n| = 1; its material is to the right of its course.
 *  Friction against the slip is mu min(k_T |slip|, 1) |N|.
 * Where it would leave N no finite value (margin of constraint.h below LEAST_MARGIN) the run ends with an error.
 *
 * A point may leave a unilateral profile: where N < 0 it does, and its row is no constraint until gap = 0 again.  Then
 * all constraints that hold, and this one, answer with impulses p, at once and without friction:
 *
 *     qd+ = qd - Y p,   (J Y) p = J qd - J qd+,    J qd+ = 0 of those that hold,  -restitution J qd of this one
 *
 * with the loss p (J qd + J qd+) / 2.  Driven joints keep their speeds by impulses of their drives, whose work P_d qd_d
 * counts as work.  Where it would rebound more slowly than rest_speed it does not, and holds.
 *
 * Energy: total = kinetic + potential + elastic,
 *         residual = work + changed - (total - start) - damping - friction - impact
 *         changed: what total jumps by at one time, when parameters or the inputs of driven joints change.
 * Power: residual = power of all joints - that of the bodies' forces: rounding. */
#include "laws/friction.h"
#include "laws/spring.h"
#include "mechanism/constraint.h"
#include "families.h"

#define CHANGE_AT 0.1
#define SINGULAR 1e-3 /* share of a constraint: where the others leave less of it, that is reported */
#define CLOSEST 1e-5  /* such a share, and nothing is computed: rounding would choose between ways to go on */
#define FAR 0.25 /* of the mechanism's size: farther off at the start, nothing is moved that is not marked */
#define OFF 1e-9    /* m: a point farther off at the start is not held */
#define LEAST_MARGIN 1e-3 /* N has grown a thousandfold by friction */
#define STEEPEST 1e4 /* slope of y = f(x): there, or a little farther, its tangent is vertical */
#define NEVER -1e300 /* m: level of a gap that cannot close */
#define GRIP 1e-12  /* m: how far below its profile a point comes back, so that one that has just left has not */

typedef struct {
    CcBody bodies[JOINTS];
    CcMove m[JOINTS];
    Real p[JOINTS][3]; /* forces that the bodies need without qdd; accelerations behind cc_tree_solve */
    Real tau[JOINTS];
#if CONSTRAINTS
    int count, row_of[CONSTRAINTS]; /* constraints that hold, and the row of all rows that each is */
    CcConstraint constraints[CONSTRAINTS];
    CcRow rows[CONSTRAINTS];
    Real J[CONSTRAINTS * JOINTS], Y[CONSTRAINTS * JOINTS], A[CONSTRAINTS * CONSTRAINTS], b[CONSTRAINTS];
    int pivots[CONSTRAINTS], dependent[CONSTRAINTS];
#if FRICTION
    CcFriction friction[CONSTRAINTS];
    Real Y_T[CONSTRAINTS * JOINTS], X[CONSTRAINTS * CONSTRAINTS];
#endif
#endif
} Work;

#if CONSTRAINTS

static const char *const row_kind_names[] __attribute__((unused)) = {"pin, along x", "pin, along y", "distance",
                                                                     "profile", "profile"};

/* 1 unless row k belongs to a profile that its point has left. */
static int holds(const Element *e, int k)
{
#if CONTACTS
    int i = row_contacts[k];
    return i < 0 || !unilateral[i] || re(e->contact[i].closed) != 0.0;
#else
    (void)e, (void)k;
    return 1;
#endif
}

#if SHAPES

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

#endif

static CcConstraint constraint(const Element *e, int k)
{
    int hold = row_holds[k];
    Real sine = 0.0, cosine = 1.0;
    if (re(e->hold[hold].angle) != 0.0)
        cc_sin_cos(e->hold[hold].angle, &sine, &cosine);
    return (CcConstraint){
#if SHAPES
        .curve = {hold_shapes[hold] ? shape : 0, e, hold, hold_closed[hold], hold_from[hold], hold_to[hold]},
        .foot = row_contacts[k] >= 0 ? re(e->contact[row_contacts[k]].foot) : 0.0,
#endif
        .kind = row_kinds[k], .body = hold_bodies[hold], .other = hold_others[hold], .degree = hold_degrees[hold],
        .point = {e->hold[hold].point[0], e->hold[hold].point[1]},
        .base = {e->hold[hold].base[0], e->hold[hold].base[1]},
        .axis = {cosine, sine},
        .length = e->hold[hold].length, .f = e->hold[hold].f};
}

#endif

#if DRIVEN

/* q, qd and qdd of a driven joint: a law of time, or inputs. */
static void given_motion(const Element *e, int i, Real values[3])
{
    if (laws_motion(e, i, e->time, values)) {
        if (!cc_is_finite(re(values[0] + values[1] + values[2])))
            values[0] = values[1] = values[2] = 0.0; /* `faults` reports it */
        return;
    }
#if DRIVES
    values[0] = e->drive[driven_inputs[i]].q;
    values[1] = e->drive[driven_inputs[i]].qd;
    values[2] = e->drive[driven_inputs[i]].qdd;
#endif
}

#endif

static void describe(const Element *e, Work *work)
{
    for (int i = 0; i < JOINTS; i++) {
        CcBody *body = &work->bodies[i];
        body->parent = parents[i];
        body->slides = slides[i];
        body->driven = driven_joints[i];
        body->drive = 0.0;
        body->angle = e->joint[i].angle;
        body->mass = e->body[i].m;
        body->inertia = e->body[i].J;
        for (int k = 0; k < 2; k++) {
            body->place[k] = e->joint[i].place[k];
            body->centre[k] = e->body[i].centre[k];
        }
    }
#if CONSTRAINTS
    work->count = 0;
    for (int k = 0; k < CONSTRAINTS; k++) {
        if (!holds(e, k))
            continue;
        work->row_of[work->count] = k;
        work->constraints[work->count] = constraint(e, k);
        int dependent = (int)re(e->dependent[k]) - 1; /* none before the start: the outputs are no numbers then */
        work->dependent[work->count++] = dependent >= 0 && dependent < JOINTS ? dependent : 0;
    }
#endif
}

/* q and qd as they are integrated, or given. */
static void place_free(const Element *e, Real q[], Real qd[])
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = e->integrated[i].q;
        qd[i] = e->integrated[i].qd;
#if DRIVEN
        if (driven_joints[i]) {
            Real motion[3];
            given_motion(e, i, motion);
            q[i] = motion[0];
            qd[i] = motion[1];
        }
#endif
    }
}

/* q and qd that meet the constraints, and all that follows from them alone. */
static void stand_and_move(Element *e, Work *work)
{
    place_free(e, e->q, e->qd);
#if DRIVEN
    for (int i = 0; i < JOINTS; i++)
        if (driven_joints[i]) {
            Real motion[3];
            given_motion(e, i, motion);
            work->bodies[i].drive = motion[2];
        }
#endif
#if CONSTRAINTS
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
        e->energy.elastic += cc_spring_energy(e->joint[i].stiffness, stretch);
        e->power.damping += e->joint[i].damping * e->qd[i] * e->qd[i];
    }
    e->energy.total = e->energy.kinetic + e->energy.potential + e->energy.elastic;
#if LEDGER
    e->energy.residual = e->energy.work + e->energy.changed - (e->energy.total - e->energy.start) - e->energy.damping
                         - e->energy.impact;
#if FRICTION
    e->energy.residual -= e->energy.friction;
#endif
#endif
}

#if TIMED

/* The first law of time that has no finite value, counted over the motions and forces of the joints and the forces at
 * points; 0 if all have. */
static int faults(const Element *e)
{
    Real values[3];
    (void)values;
    for (int i = 0; i < JOINTS; i++) {
        if (laws_motion(e, i, e->time, values) && !cc_is_finite(re(values[0] + values[1] + values[2])))
            return 1 + i;
        if (laws_force(e, i, e->time, values) && !cc_is_finite(re(values[0])))
            return 1 + JOINTS + i;
    }
    for (int k = 0; k < POINTS; k++) {
        if (laws_force_x(e, k, e->time, values) && !cc_is_finite(re(values[0])))
            return 1 + 2 * JOINTS + k;
        if (laws_force_y(e, k, e->time, values) && !cc_is_finite(re(values[0])))
            return 1 + 2 * JOINTS + POINTS + k;
    }
    return 0;
}

static void check_laws(const Element *e, CcHost *host)
{
    static const char *const kinds[] = {"the motion of the joint of", "the force on the joint of"};
    int fault = (int)re(e->fault) - 1;
    if (fault < 0)
        return;
    if (fault < 2 * JOINTS)
        cc_fail(host, "at %g s the law of time of %s %s has no finite value", re(e->time), kinds[fault / JOINTS],
                body_names[fault % JOINTS]);
#if POINTS
    else
        cc_fail(host, "at %g s the law of time of the force at point[%d], of %s, has no finite value", re(e->time),
                (fault - 2 * JOINTS) % POINTS + 1, body_names[point_bodies[(fault - 2 * JOINTS) % POINTS]]);
#endif
}

#endif

/* A law's force; none where it has no finite value, which `faults` reports. */
static Real finite(Real force) { return cc_is_finite(re(force)) ? force : 0.0; }

/* tau and p: all that acts on joints and bodies but constraints. */
static void forces(Element *e, Work *work)
{
    e->power.work = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        Real force = e->joint[i].force;
#if SHAFTS
        if (joint_shafts[i] >= 0) {
            e->shaft[joint_shafts[i]].phi = e->q[i];
            e->shaft[joint_shafts[i]].w = e->qd[i];
            force += e->shaft[joint_shafts[i]].t;
        }
#endif
#if SLIDES
        if (joint_slides[i] >= 0) {
            e->slide[joint_slides[i]].s = e->q[i];
            e->slide[joint_slides[i]].v = e->qd[i];
            force += e->slide[joint_slides[i]].F;
        }
#endif
        Real law[1];
        if (laws_force(e, i, e->time, law))
            force += finite(law[0]);
        work->tau[i] = force - e->joint[i].stiffness * (e->q[i] - e->joint[i].free) - e->joint[i].damping * e->qd[i];
        e->power.work += force * e->qd[i];
    }
    cc_tree_inertial(JOINTS, work->bodies, work->m, e->g, work->p);
#if POINTS
    for (int k = 0; k < POINTS; k++) {
        Real a[2];
        cc_point_of(work->m, point_bodies[k], e->point[k].offset, e->point[k].r);
        cc_point_motion(work->m, point_bodies[k], e->point[k].r, e->point[k].v, a);
        e->point[k].r[2] = e->point[k].v[2] = 0.0;
        Real f[2] = {e->point[k].f[0], e->point[k].f[1]}, law[1];
        (void)law;
        if (laws_force_x(e, k, e->time, law))
            f[0] += finite(law[0]);
        if (laws_force_y(e, k, e->time, law))
            f[1] += finite(law[0]);
        cc_tree_push(work->m, point_bodies[k], e->point[k].r, f, work->p);
        e->power.work += cc_along(f, e->point[k].v);
    }
#endif
}

#if CONSTRAINTS

/* A force f of row k on its body, and the reaction on the other one. */
static void push_row(const Work *work, int k, const Real f[2], Real p[JOINTS][3])
{
    const Real reaction[2] = {-f[0], -f[1]};
    cc_tree_push(work->m, work->constraints[k].body, work->rows[k].P, f, p);
    cc_tree_push(work->m, work->constraints[k].other, work->rows[k].Q, reaction, p);
}

#endif

/* What the bodies need for the accelerations qdd; or, of changes of the speeds, their impulses. */
static void add_inertia(const Element *e, const Work *work, const Real qdd[], Real p[JOINTS][3])
{
    Real A[JOINTS][3]; /* by qdd: angular, and of the origin */
    for (int i = 0; i < JOINTS; i++) {
        const CcMove *m = &work->m[i];
        const Real *before = parents[i] >= 0 ? A[parents[i]] : 0;
        Real turn = before ? before[0] : 0.0, mass = e->body[i].m;
        A[i][0] = turn + (slides[i] ? 0.0 : qdd[i]);
        A[i][1] = (before ? before[1] : 0.0) - turn * m->d[1] + (slides[i] ? qdd[i] * m->e[0] : 0.0);
        A[i][2] = (before ? before[2] : 0.0) + turn * m->d[0] + (slides[i] ? qdd[i] * m->e[1] : 0.0);
        Real f[2] = {mass * (A[i][1] - A[i][0] * m->c[1]), mass * (A[i][2] + A[i][0] * m->c[0])};
        p[i][0] += e->body[i].J * A[i][0] + cc_turn(m->c, f);
        p[i][1] += f[0];
        p[i][2] += f[1];
    }
}

/* What joint i carries, added to what the joint of its parent does. */
static void add_to_parent(const Work *work, int i, Real p[JOINTS][3])
{
    if (parents[i] < 0)
        return;
    Real *before = p[parents[i]];
    before[0] += p[i][0] + cc_turn(work->m[i].d, p[i] + 1);
    before[1] += p[i][1];
    before[2] += p[i][2];
}

/* What each joint carries: p as it was before cc_tree_solve, taken from the tips to the ground.  p has what follows
 * from the accelerations of driven joints, whose qdd is 0 here. */
static void reactions(Element *e, Work *work, Real p[JOINTS][3])
{
#if CONSTRAINTS
    for (int k = 0; k < work->count; k++) {
        Real lambda = e->lambda[work->row_of[k]];
        const Real *n = work->rows[k].n;
#if FRICTION
        Real kappa = work->friction[k].kappa;
        Real on_body[2] = {-lambda * (n[0] - kappa * n[1]), -lambda * (n[1] + kappa * n[0])};
#else
        Real on_body[2] = {-lambda * n[0], -lambda * n[1]};
#endif
        push_row(work, k, on_body, p);
    }
#endif
    add_inertia(e, work, e->qdd, p);
    e->power.residual = 0.0;
    for (int i = 0; i < JOINTS; i++)
        e->power.residual += work->tau[i] * e->qd[i] - (p[i][0] * work->m[i].w + cc_along(p[i] + 1, work->m[i].v));
    for (int i = JOINTS - 1; i >= 0; i--) {
        e->joint[i].moment = p[i][0];
        e->joint[i].reaction[0] = p[i][1];
        e->joint[i].reaction[1] = p[i][2];
#if DRIVEN
        e->joint[i].drive = 0.0;
        if (driven_joints[i]) {
            e->joint[i].drive = cc_joint_share(slides[i], &work->m[i], p[i]) - work->tau[i];
            e->qdd[i] = work->bodies[i].drive;
            e->power.work += e->joint[i].drive * e->qd[i];
            e->power.residual += e->joint[i].drive * e->qd[i];
        }
#endif
        add_to_parent(work, i, p);
    }
}

#if CONTACTS

/* Velocity of a contact's point relative to what carries its profile. */
static void slip_at(int body, int other, const CcRow *row, const CcMove m[], Real v[2])
{
    Real v_Q[2], a[2];
    cc_point_motion(m, body, row->P, v, a);
    cc_point_motion(m, other, row->Q, v_Q, a);
    for (int k = 0; k < 2; k++)
        v[k] -= v_Q[k];
}

/* A contact as it stands, held or not. */
static void contact_outputs(Element *e, const Work *work, int i)
{
    int k = contact_rows[i];
    double side = hold_sides[row_holds[k]];
    CcRow row;
    Real v[2];
    int place = 0;
    while (place < work->count && work->row_of[place] != k)
        place++;
    if (place < work->count) {
        row = work->rows[place];
    } else {
        CcConstraint one = constraint(e, k);
        cc_row(&one, work->m, &row);
    }
    slip_at(hold_bodies[row_holds[k]], hold_others[row_holds[k]], &row, work->m, v);
    Real steep = cc_sqrt(cc_along(row.n, row.n));
#if SHAPES
    e->contact[i].s = row.at;
#endif
    e->contact[i].x = row.P[0];
    e->contact[i].y = row.P[1];
    e->contact[i].N = -side * e->lambda[k] * steep;
    e->contact[i].slip = -cc_turn(row.n, v) / steep;
    e->contact[i].gap = side * row.h / steep;
    e->contact[i].gap_rate = side * cc_along(row.n, v) / steep;
}

#if SHAPES

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

#endif

#if FRICTION

/* Friction as it is without the normal force, of the rows that hold. */
static void roughness(const Element *e, Work *work)
{
    for (int k = 0; k < work->count; k++) {
        int i = row_contacts[work->row_of[k]];
        work->friction[k] = (CcFriction){.rubs = i >= 0, .side = 1.0, .margin = 1.0};
        if (i < 0)
            continue;
        Real v[2];
        const Real *n = work->rows[k].n;
        slip_at(work->constraints[k].body, work->constraints[k].other, &work->rows[k], work->m, v);
        Real slip = -cc_turn(n, v) / cc_sqrt(cc_along(n, n));
        work->friction[k].share = e->contact[i].mu * cc_friction_share(e->contact[i].k_T, slip);
        work->friction[k].side = hold_sides[row_holds[work->row_of[k]]];
        work->friction[k].pulls = !unilateral[i];
    }
}

/* lambda becomes that with friction, after cc_multipliers. */
static void rub(Element *e, Work *work, Real lambda[])
{
    Real J_T[JOINTS], B[CONSTRAINTS * CONSTRAINTS];
    roughness(e, work);
    cc_responses_along(JOINTS, work->bodies, work->m, work->count, work->constraints, work->rows, work->J, work->A,
                       work->pivots, work->friction, work->p, J_T, work->Y_T, work->X);
    e->margin = cc_rub(work->count, work->X, work->friction, B, lambda);
    for (int i = 0; i < CONTACTS; i++) {
        e->contact[i].friction = 0.0;
        e->contact[i].margin = 1.0;
    }
    for (int k = 0; k < work->count; k++) {
        const CcFriction *one = &work->friction[k];
        const Real *n = work->rows[k].n;
        int i = row_contacts[work->row_of[k]];
        for (int j = 0; j < JOINTS; j++)
            work->Y[k * JOINTS + j] -= one->kappa * work->Y_T[k * JOINTS + j];
        if (i < 0)
            continue;
        e->contact[i].friction = one->kappa * lambda[k] * cc_sqrt(cc_along(n, n));
        e->contact[i].margin = one->margin;
        if (re(one->margin) < re(e->margin))
            e->margin = one->margin;
    }
}

/* The run ends where friction leaves a normal force no finite value, or more than one. */
static void check_friction(const Element *e, CcHost *host)
{
    int least = 0;
    if (re(e->margin) > LEAST_MARGIN)
        return;
    for (int i = 1; i < CONTACTS; i++)
        if (re(e->contact[i].margin) < re(e->contact[least].margin))
            least = i;
    const char *name = body_names[hold_bodies[row_holds[contact_rows[least]]]];
    cc_fail(host, "at %g s the friction of %s on its profile, contact[%d].mu = %g at a slip of %g m/s, has no normal "
            "force that fits (Painleve): its margin is %g, of all contacts together %g, at least %g are needed; choose "
            "less friction", re(e->time), name, least + 1, re(e->contact[least].mu), re(e->contact[least].slip),
            re(e->contact[least].margin), re(e->margin), LEAST_MARGIN);
}

#endif

static void contact_indicators(const Element *e, Indicators *z)
{
    for (int i = 0; i < CONTACTS; i++) {
        int closed = re(e->contact[i].closed) != 0.0;
        double N = re(e->contact[i].N);
#if FRICTION
        int rubs = closed && re(e->contact[i].mu) != 0.0;
        z->contact[i] = closed ? (unilateral[i] || rubs ? N : 1.0) : re(e->contact[i].gap - e->contact[i].level);
        z->ramp[i] = rubs ? cc_full_friction_of_slip(e->contact[i].k_T, e->contact[i].slip) : 1.0;
#else
        z->contact[i] = !unilateral[i] ? 1.0 : closed ? N : re(e->contact[i].gap - e->contact[i].level);
#endif
#if SHAPES
        int hold = row_holds[contact_rows[i]];
        double s = re(e->contact[i].s);
        z->end[i] = inside(e, i);
        z->knot[i] = spline_counts[hold] == 0
                         ? 1.0
                         : cc_spline_side(spline_knots + spline_first[hold], spline_counts[hold], s);
        profile_indicators(e, hold, s, z);
#endif
    }
#if FRICTION
    z->margin = re(e->margin) - LEAST_MARGIN;
#endif
}

#endif

#if CC_INDICATORS

static void indicators(const Element *e, Indicators *z)
{
#if CONTACTS
    contact_indicators(e, z);
#endif
#if TIMED
    z->fault = re(e->fault) == 0.0 ? 1.0 : -1.0;
#endif
    for (int i = 0; i < JOINTS && TIMED; i++) {
        laws_motion_indicators(e, i, e->time, z);
        laws_force_indicators(e, i, e->time, z);
    }
    for (int k = 0; k < POINTS && TIMED; k++) {
        laws_force_x_indicators(e, k, e->time, z);
        laws_force_y_indicators(e, k, e->time, z);
    }
    (void)e, (void)z;
}

#endif

#if CONSTRAINTS

/* What the constraint k asks of the joints, whatever its direction: the largest element of its row and of that across,
 * squared. */
static double size_squared(const Work *work, int k)
{
    double size = 0.0;
    Real across[JOINTS];
    CcRow turned = work->rows[k];
    turned.n[0] = -work->rows[k].n[1];
    turned.n[1] = work->rows[k].n[0];
    cc_row_gradient(JOINTS, work->bodies, &work->constraints[k], &turned, work->m, across);
    for (int i = 0; i < JOINTS; i++) {
        double a = re(work->J[k * JOINTS + i]), b = re(across[i]), one = (a * a + b * b) / re(work->m[i].D);
        size = one > size ? one : size;
    }
    return size;
}

#endif

static void outputs(Element *e)
{
    Work work;
    Real p[JOINTS][3];
#if TIMED
    e->fault = faults(e);
#endif
    describe(e, &work);
    stand_and_move(e, &work);
    cc_tree_factor(JOINTS, work.bodies, work.m);
    forces(e, &work);
    __builtin_memcpy(p, work.p, sizeof p);
    cc_tree_solve(JOINTS, work.bodies, work.m, work.tau, work.p, e->qdd);
#if CONSTRAINTS
    Real v[2], lambda[CONSTRAINTS];
    double left[CONSTRAINTS];
    for (int k = 0; k < work.count; k++)
        work.b[k] = cc_row_bias(&work.constraints[k], &work.rows[k], work.m, v);
    cc_responses(JOINTS, work.bodies, work.m, work.count, work.J, work.p, work.Y);
    cc_multipliers(JOINTS, work.count, work.J, work.b, work.Y, e->qdd, work.A, work.pivots, lambda, left);
    for (int k = 0; k < work.count; k++)
        if (left[k] < CLOSEST * CLOSEST * size_squared(&work, k))
            lambda[k] = __builtin_inf(); /* no motion is better than one whose way rounding chooses */
#if FRICTION
    rub(e, &work, lambda);
#endif
    cc_subtract_responses(JOINTS, work.count, work.Y, lambda, e->qdd);
    for (int k = 0; k < CONSTRAINTS; k++)
        e->lambda[k] = 0.0;
    for (int k = 0; k < work.count; k++)
        e->lambda[work.row_of[k]] = lambda[k];
#endif
#if CONTACTS
    for (int i = 0; i < CONTACTS; i++)
        contact_outputs(e, &work, i);
#if FRICTION
    e->power.friction = 0.0;
    for (int i = 0; i < CONTACTS; i++)
        e->power.friction -= e->contact[i].friction * e->contact[i].slip;
#endif
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

/* Whether a constraint says what others say, or almost. */
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

#if CONTACTS

/* Contact i begins at the speed and with the impulse of an impact, both 0 if it is there at the start. */
static void record_begin(Element *e, int i, double speed, Real impulse)
{
    e->present_contact[i].start = e->time;
    e->present_contact[i].impact_speed = speed;
    e->present_contact[i].impact_impulse = impulse;
    e->contact_count[i] += 1.0;
}

/* It ends: the point moves off at the speed `rebound`. */
static void record_end(Element *e, CcHost *host, int i, double rebound)
{
    if (re(e->release_count[i]) > 0.0)
        cc_keep(host, &e->last_contact[i], sizeof e->last_contact[i] / sizeof(Real));
    e->last_contact[i].start = e->present_contact[i].start;
    e->last_contact[i].end = e->time;
    e->last_contact[i].impact_speed = e->present_contact[i].impact_speed;
    e->last_contact[i].rebound_speed = rebound;
    e->last_contact[i].impact_impulse = e->present_contact[i].impact_impulse;
    e->release_count[i] += 1.0;
}

static void start_record(Element *e, int i)
{
    e->contact_count[i] = e->release_count[i] = 0.0;
    e->last_contact[i].start = e->last_contact[i].end = 0.0;
    e->last_contact[i].impact_speed = e->last_contact[i].rebound_speed = 0.0;
    e->last_contact[i].impact_impulse = 0.0;
    record_begin(e, i, 0.0, 0.0);
    e->contact_count[i] = e->contact[i].closed;
}

/* At the start: contacts hold unless their point is off a profile that it may leave. */
static void start_contacts(Element *e, Work *work)
{
    e->energy.impact = 0.0;
    for (int i = 0; i < CONTACTS; i++) {
        CcConstraint one = constraint(e, contact_rows[i]);
        CcRow row;
        cc_row(&one, work->m, &row);
        e->contact[i].closed = !unilateral[i] || hold_sides[row_holds[contact_rows[i]]] * re(row.h) <= OFF;
        e->contact[i].level = -GRIP;
#if SHAPES
        e->contact[i].s = row.at;
        if (unilateral[i] && inside(e, i) < 0.0) {
            e->contact[i].closed = 0.0;
            e->contact[i].level = NEVER;
        }
#endif
        e->contact[i].departures = e->contact[i].impacts = e->contact[i].impulse = 0.0;
        e->contact[i].lift_off = e->contact[i].touch_down = e->time;
        start_record(e, i);
    }
}

#if DRIVEN

/* What the drives put in while the constraints answer with the impulses p, N s, and the speeds change by `change`: the
 * impulse P_d that holds the speed of each driven joint, times that speed.
 *
 *     P_d = (J^T p + M (qd+ - qd))_d */
static Real work_of_drives(const Element *e, const Work *work, const Real p[], const Real change[])
{
    Real carried[JOINTS][3] = {0}, sum = 0.0;
    for (int a = 0; a < work->count; a++) {
        Real on_body[2] = {-p[a] * work->rows[a].n[0], -p[a] * work->rows[a].n[1]};
        push_row(work, a, on_body, carried);
    }
    add_inertia(e, work, change, carried);
    for (int i = JOINTS - 1; i >= 0; i--) {
        if (driven_joints[i])
            sum += cc_joint_share(slides[i], &work->m[i], carried[i]) * e->qd[i];
        add_to_parent(work, i, carried);
    }
    return sum;
}

#endif

/* Contact i meets its profile: the impulses of it and of all that holds, into qd. */
static void impact(Element *e, CcHost *host, int i)
{
    int k = contact_rows[i];
    Work work;
    Real taken[CONSTRAINTS], before[CONSTRAINTS], p[CONSTRAINTS], velocity[JOINTS];
    double restitution = re(e->contact[i].restitution), speed = -re(e->contact[i].gap_rate);
    int rests = restitution * speed < re(e->contact[i].rest_speed);
    e->contact[i].closed = 1.0;
    look(e, &work, e->q);
    for (int a = 0; a < work.count; a++) {
        before[a] = 0.0;
        for (int j = 0; j < JOINTS; j++)
            before[a] += work.J[a * JOINTS + j] * e->qd[j];
    }
    for (int j = 0; j < JOINTS; j++)
        velocity[j] = 0.0;
    /* as of accelerations: with those of the tree alone at 0, (J Y) lambda = bias */
    for (int a = 0; a < work.count; a++)
        taken[a] = work.row_of[a] == k && !rests ? (1.0 + restitution) * before[a] : before[a];
    cc_constrain(JOINTS, work.bodies, work.m, work.count, work.J, taken, work.Y, work.p, work.A, work.pivots, velocity,
                 p);
    Real loss = 0.0, impulse = 0.0;
    for (int a = 0; a < work.count; a++) {
        loss += 0.5 * p[a] * (2.0 * before[a] - taken[a]);
        if (work.row_of[a] == k)
            impulse = cc_abs(p[a]) * cc_sqrt(cc_along(work.rows[a].n, work.rows[a].n));
    }
#if DRIVEN
    Real put_in = work_of_drives(e, &work, p, velocity);
    e->accepted.energy += put_in;
#if LEDGER
    e->energy.work += put_in;
#endif
#endif
    for (int j = 0; j < JOINTS; j++)
        e->qd[j] += velocity[j];
    e->energy.impact += loss;
    e->contact[i].impulse += impulse;
    e->contact[i].impacts += 1.0;
    record_begin(e, i, speed, impulse);
    if (!rests)
        record_end(e, host, i, restitution * speed);
    e->contact[i].touch_down = e->time;
    e->contact[i].closed = rests;
    e->contact[i].level = e->contact[i].gap - GRIP;
    cc_report(host, CC_INFO, "mechanism", "%s meets its profile at %g m/s%s", body_names[hold_bodies[row_holds[k]]],
              speed, rests ? " and stays" : "");
}

/* Points that leave their profiles, or come back.  Returns what changed, as accept does; q and qd are those after. */
static int meet_and_leave(Element *e, CcHost *host)
{
    int changed = 0;
    for (int i = 0; i < CONTACTS; i++) {
        double gap = re(e->contact[i].gap), rate = re(e->contact[i].gap_rate);
        if (!unilateral[i] || !cc_is_finite(gap))
            continue;
        if (re(e->contact[i].closed) != 0.0) {
            if (re(e->contact[i].N) >= 0.0)
                continue;
            e->contact[i].closed = 0.0;
            e->contact[i].level = gap - GRIP;
            e->contact[i].departures += 1.0;
            e->contact[i].lift_off = e->time;
            record_end(e, host, i, rate);
            changed |= CC_CHANGED;
            cc_report(host, CC_INFO, "mechanism", "%s leaves its profile",
                      body_names[hold_bodies[row_holds[contact_rows[i]]]]);
        } else if (rate < 0.0 && gap <= re(e->contact[i].level)) {
            impact(e, host, i);
            changed |= CC_JUMPED;
        }
    }
    return changed;
}

#endif

#endif

static void start(Element *e)
{
    e->changes = e->begun = 0.0;
#if CONSTRAINTS
    Work work;
    Real q[JOINTS], qd[JOINTS];
    place_free(e, q, qd);
#if SHAPES
    describe(e, &work);
    cc_tree_place(JOINTS, work.bodies, q, work.m);
    for (int i = 0; i < CONTACTS; i++)
        e->contact[i].foot = nearest(e, work.m, i);
#endif
    look(e, &work, q);
#if CONTACTS
    start_contacts(e, &work);
    look(e, &work, q);
#endif
    keep(e, &work, choose(&work, 1));
#endif
    outputs(e);
#if SHAPES
    for (int i = 0; i < CONTACTS; i++)
        if (cc_is_finite(re(e->contact[i].s)))
            e->contact[i].foot = re(e->contact[i].s);
#endif
    e->energy.start = e->accepted.energy = e->energy.total;
    e->accepted.at = e->time;
    e->energy.changed = 0.0;
}

#if CONSTRAINTS

/* q at the start, before it meets the constraints. */
static void place_start(const Element *e, Real q[])
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = e->joint[i].q0;
#if DRIVEN
        Real motion[3];
        if (driven_joints[i]) {
            given_motion(e, i, motion);
            q[i] = motion[0];
        }
#endif
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

#endif

#if CONSTRAINTS

/* Constraint k of those that hold says what others say. */
static void name_singular(const Element *e, const Work *work, int k, CcHost *host)
{
    int row = work->row_of[k], hold = row_holds[row], body = hold_bodies[hold];
    Real q[JOINTS], qd[JOINTS];
    place_free(e, q, qd);
    cc_fail(host, "at %g s, with q[%d] = %g %s of %s, the mechanism is in a singular position: constraint %d (%s) says "
            "what the other constraints say, and the motion may go on in several ways%s; let no communication point "
            "lie within 1e-4 rad of it, and solver.tolerance be at least 1e-9", re(e->time), body + 1, re(q[body]),
            slides[body] ? "m" : "rad", body_names[body], hold + 1, row_kind_names[row_kinds[row]],
            DRIVEN ? ", or not at all if a given motion leads beyond it" : "");
}

/* Why a point during the run has no finite values, if that is for its position. */
static void check_position(const Element *e, Work *work, CcHost *host)
{
    Real q[JOINTS], qd[JOINTS];
    int finite = 1;
    for (int k = 0; k < CONSTRAINTS; k++)
        finite &= cc_is_finite(re(e->lambda[k]));
    if (finite)
        return;
    place_free(e, q, qd);
    look(e, work, q);
    CcChoice choice = choose(work, 0);
    if (is_singular(work, choice))
        name_singular(e, work, choice.weakest, host);
}

#endif

static void check(const Element *e, CcHost *host)
{
#if CONSTRAINTS
    Work work;
    Real q[JOINTS];
    place_start(e, q);
    if (re(e->begun) != 0.0) { /* what could make the start impossible is fixed then */
        check_position(e, &work, host);
        return;
    }
    look(e, &work, q);
    check_start(e, &work, host);
    CcChoice choice = choose(&work, 1);
    if (choice.rank < work.count) {
        int row = work.row_of[choice.redundant], hold = row_holds[row];
        cc_fail(host, "constraint %d (%s, of %s) does not move any joint in a way that the others leave free: the "
                "mechanism is over-constrained, or starts in a singular position, or the coordinates marked closes do "
                "not suffice; remove the constraint, or start elsewhere", hold + 1, row_kind_names[row_kinds[row]],
                body_names[hold_bodies[hold]]);
        return;
    }
    double left = cc_close(JOINTS, work.bodies, work.count, work.constraints, work.dependent, q, work.m, work.rows,
                           work.J, work.A, work.pivots, work.b);
    if (cc_is_finite(left))
        return;
    place_start(e, q);
    look(e, &work, q);
    for (int k = 0; k < work.count; k++) {
        int row = work.row_of[k], hold = row_holds[row];
        cc_fail(host, "constraint %d (%s, of %s) is %g m off at the start, and moving the dependent coordinates, %s%s, "
                "does not close it: start nearer to it", hold + 1, row_kind_names[row_kinds[row]],
                body_names[hold_bodies[hold]], re(work.rows[k].h), body_names[work.dependent[0]],
                work.count > 1 ? " and others" : "");
    }
#endif
    (void)e, (void)host;
}

#if CONSTRAINTS

/* In a singular position branches of motion cross, and a search for the dependent coordinates may end on another one:
 * its speeds are not those that were integrated.  Returns whether they differ by a tenth, weighed by inertia. */
static int strays(const Element *e, const Work *work)
{
    double apart = 0.0, size = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        double qd = re(e->integrated[i].qd), way = re(e->qd[i]) - qd;
        apart += re(work->m[i].D) * way * way;
        size += re(work->m[i].D) * qd * qd;
    }
    return apart > 0.01 * size;
}

/* Tell a position in which a constraint is about to say what others say, once; refuse to go on along another branch. */
static void pass_singular(Element *e, const Work *work, CcChoice choice, int stray, CcHost *host)
{
    if (!is_singular(work, choice)) {
        e->begun = 1.0;
        return;
    }
    if (stray)
        name_singular(e, work, choice.weakest, host);
    else if (re(e->begun) < 2.0)
        cc_report(host, CC_WARNING, "mechanism", "close to a singular position: what holds %s says almost what the "
                  "other constraints say", body_names[hold_bodies[row_holds[work->row_of[choice.weakest]]]]);
    e->begun = 2.0;
}

#endif

#define FAR_OFF 1e-4 /* m or rad */

/* Contacts, then the states: dependent ones back onto their constraints, where they are looked for next.  Nothing
 * computed depends on these; in model exchange, where they are the importer's, it is notified of them when they are
 * FAR_OFF. */
static int settle(Element *e, CcHost *host, double step)
{
    int changed = 0;
    double brought = re(e->time) == re(e->accepted.at) ? re(e->energy.total - e->accepted.energy) : 0.0;
    e->energy.changed += brought;
    e->accepted.at = e->time;
    e->accepted.energy = e->energy.total;
#if TIMED
    check_laws(e, host);
#endif
#if CONSTRAINTS
    for (int k = 0; k < CONSTRAINTS; k++) {
        int i = holds(e, k) ? (int)re(e->dependent[k]) - 1 : -1;
        double way = i >= 0 ? re(e->q[i] - e->integrated[i].q) : 0.0;
        if (step == 0.0 && cc_is_finite(way) && (way > 1e-9 || way < -1e-9))
            cc_report(host, CC_INFO, "mechanism", "%s starts at %g instead of %g, to meet its constraint",
                      body_names[i], re(e->q[i]), re(e->integrated[i].q));
        double given = i >= 0 ? re(e->integrated[i].qd) : 0.0, more = i >= 0 ? re(e->qd[i]) - given : 0.0;
        if (step == 0.0 && given != 0.0 && (more > 1e-9 || more < -1e-9))
            cc_report(host, CC_INFO, "mechanism", "%s starts with the speed %g instead of %g, to meet its constraint",
                      body_names[i], given + more, given);
    }
    Work work;
    look(e, &work, e->q);
    int stray = step > 0.0 && strays(e, &work);
#if FRICTION
    check_friction(e, host);
#endif
#if CONTACTS
    Real lost = e->energy.impact;
    changed = meet_and_leave(e, host);
    for (int i = 0; i < CONTACTS && step == 0.0; i++)
        if (re(e->release_count[i]) > 0.0 && re(e->last_contact[i].impact_speed) == 0.0)
            start_record(e, i); /* its profile would have to pull it at the start: it was never held */
    e->accepted.energy -= e->energy.impact - lost;
#endif
    for (int i = 0; i < JOINTS; i++) {
        double way = re(e->q[i] - e->integrated[i].q);
        if (way > FAR_OFF || way < -FAR_OFF)
            changed = CC_JUMPED;
        e->integrated[i].q = e->q[i];
        e->integrated[i].qd = e->qd[i];
    }
    if (changed)
        look(e, &work, e->q);
#if SHAPES
    changed |= follow_profiles(e, host, work.m);
    for (int k = 0; k < work.count; k++) {
        const Real *n = work.rows[k].n;
        int hold = row_holds[work.row_of[k]];
        if (work.constraints[k].kind == CC_PROFILE && re(cc_along(n, n)) > STEEPEST * STEEPEST)
            cc_fail(host, "at %g s the tangent of the profile of constraint %d is vertical where %s is, at x = %g m: "
                    "give it as a curve, x and y over a parameter", re(e->time), hold + 1,
                    body_names[hold_bodies[hold]], re(work.rows[k].at));
    }
#endif
    int before[CONSTRAINTS];
    for (int k = 0; k < work.count; k++)
        before[k] = work.dependent[k];
    double share = cc_factor_dependent(JOINTS, work.count, work.J, work.m, work.dependent, work.A, work.pivots);
    CcChoice choice = choose(&work, 0);
    pass_singular(e, &work, choice, stray, host);
    if (changed) {
        keep(e, &work, choice);
    } else if (choice.rank == work.count && share < CHANGE_AT * choice.product) {
        for (int k = 0; k < work.count; k++)
            if (before[k] != work.dependent[k])
                cc_report(host, CC_INFO, "mechanism", "%s takes the place of %s among the dependent coordinates",
                          body_names[work.dependent[k]], body_names[before[k]]);
        keep(e, &work, choice);
        e->changes += 1.0;
        changed = CC_CHANGED;
    }
#else
    e->begun = 1.0;
    (void)host, (void)step;
#endif
    return changed | (brought != 0.0 ? CC_CHANGED : 0);
}

#if CONTACTS

/* Whether a profile would have to pull a point to hold it. */
static int is_pulled(const Element *e)
{
    for (int i = 0; i < CONTACTS; i++)
        if (unilateral[i] && re(e->contact[i].closed) != 0.0 && re(e->contact[i].N) < 0.0)
            return 1;
    return 0;
}

#endif

/* A point that stays after its impact may be drawn off at once: it leaves at the same point, for its N begins below 0
 * and passes no zero that would be located. */
static int accept(Element *e, CcHost *host, double step)
{
    int changed = settle(e, host, step);
#if CONTACTS
    for (int i = 0; i < CONTACTS && changed == CC_JUMPED; i++) {
        outputs(e);
        if (!is_pulled(e))
            break;
        settle(e, host, step);
    }
#endif
    return changed;
}
