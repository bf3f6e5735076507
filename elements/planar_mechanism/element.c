/* Planar mechanism: bodies, their joints, and what holds them (mechanism.h, constraint.h).
 *
 *     M qdd + F + Q + J^T lambda = 0,   h(q) = 0
 *     Q from weights m g, springs k (q - free), dampers c qd, joint forces, and forces at points
 *
 * The states are all q and qd; the dependent ones v are only the starting values of the search for h(u, v) = 0.  So q
 * and qd meet their constraints at every evaluated point, to the last correction of the search, and the motion of the
 * independent u alone is integrated.
 *
 * Accepted points put the dependent states where they belong, and look at the partition: with V the determinant of the
 * columns of v, divided by sqrt(D), and V_max that of the best choice at the point, it is chosen anew where
 * |V| < CHANGE_AT |V_max|.
 *
 * Contact of a point with a profile y = f(x) below it:  N = -lambda |n|, slip = T v / |T| along it, T = (1, f') and
 * n = (-f', 1) in the profile's axes; gap = h / |n|.  Of a curve |n| = 1; its material is to the right of its course.
 *  Friction against the slip is mu min(k_T |slip|, 1) |N|.
 * Where N would have no finite value (margin of constraint.h below LEAST_MARGIN) the run ends with an error.
 *
 * A point may leave a unilateral profile: where N < 0 it does, and its row is no constraint until gap = 0 again.  Then
 * all constraints that hold, and this one, react with impulses p, at once and without friction:
 *
 *     qd+ = qd - Y p,   (J Y) p = J qd - J qd+,    J qd+ = 0 of those that hold,  -restitution J qd of this one
 *
 * with the loss p (J qd + J qd+) / 2.  Driven joints keep their speeds by impulses of their drives, whose work P_d qd_d
 * counts as work.  Where it would rebound more slowly than rest_speed it does not, and holds.
 *
 * Energy: total = kinetic + potential + elastic,
 *         residual = work + changed - (total - start) - damping - friction - impact
 *         changed: what total jumps by at one time, when parameters or the inputs of driven joints change, less what
 *                  drives worked for before that (driven/ways.h)
 * Power: residual = power of all joints - that of the bodies' forces: rounding. */
#include "laws/friction.h"
#include "laws/damper.h"
#include "laws/spring.h"
#include "mechanism/constraint.h"
#include "families.h"

#define CHANGE_AT 0.1
#define SINGULAR 1e-3 /* independent share of a constraint below which a warning is logged */
#define CLOSEST 1e-5  /* such a share below which nothing is computed: rounding would choose between branches */
#define FAR 0.25 /* of the mechanism's size: farther off at the start, nothing is moved that is not marked */
#define OFF 1e-9    /* m: a point farther off at the start is not held */
#define LEAST_MARGIN 1e-3 /* N has grown a thousandfold by friction */
#define STEEPEST 1e4 /* slope of y = f(x): there, or a little farther, its tangent is vertical */
#define NEVER -1e300 /* m: level of a gap that cannot close */
#define GRIP 1e-12  /* m: how far below its profile a point comes back, so that one that has just left has not */

enum { ROWS = CONSTRAINTS > 0 ? CONSTRAINTS : 1 };

typedef struct {
    CcBody bodies[JOINTS];
    CcMove m[JOINTS];
    Real p[JOINTS][3]; /* forces that the bodies need without qdd; accelerations behind cc_tree_solve */
    Real tau[JOINTS];
    int count, row_of[ROWS]; /* constraints that hold, and the row of all rows that each is */
    CcConstraint constraints[ROWS];
    CcRow rows[ROWS];
    Real J[ROWS * JOINTS], Y[ROWS * JOINTS], A[ROWS * ROWS], b[ROWS];
    int pivots[ROWS], dependent[ROWS];
    CcFriction friction[ROWS];
    Real Y_T[ROWS * JOINTS], X[ROWS * ROWS];
} Work;

/* What the files of the variants define for both values of their switch, or for no and for some parts: */
static int given_motion(const Element *e, int i, Real values[3]);                     /* driven */
static void drive_joint(Element *e, const Work *work, int i, const Real p[3]);
static inline void remember_drives(Element *e);
static inline void watch_drives(Element *e, CcHost *host);
static void push_points(Element *e, Work *work);                                      /* points */
static void show_shaft(Element *e, int i, Real *torque);                              /* shafts */
static void show_slide(Element *e, int i, Real *force);                               /* slides */
static void close_ledger(Element *e);                                                 /* ledger */
static void find_fault(Element *e);                                                   /* timed */
static void check_laws(const Element *e, CcHost *host) __attribute__((unused));
static void describe_constraints(const Element *e, Work *work);                       /* constrained */
static void meet_constraints(Element *e, Work *work);
static void push_rows(const Element *e, const Work *work, Real p[JOINTS][3]);
static void constrain(Element *e, Work *work);
static int holds(const Element *e, int k) __attribute__((unused));                    /* contacts */
static void start_contacts(Element *e, Work *work) __attribute__((unused));
static int pass_contacts(Element *e, CcHost *host, double step) __attribute__((unused));

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
    describe_constraints(e, work);
}

/* q and qd as they are integrated, or given. */
static void place_free(const Element *e, Real q[], Real qd[])
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = e->integrated[i].q;
        qd[i] = e->integrated[i].qd;
        Real motion[3];
        if (given_motion(e, i, motion)) {
            q[i] = motion[0];
            qd[i] = motion[1];
        }
    }
}

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

#include DRIVEN_FILE
#include LEDGER_FILE
#include FRICTION_FILE
#include SHAPES_FILE
#include CONSTRAINED_FILE
#include CONTACTS_FILE
/* q and qd that meet the constraints, and all that follows from them alone. */
static void stand_and_move(Element *e, Work *work)
{
    Real motion[3];
    place_free(e, e->q, e->qd);
    for (int i = 0; i < JOINTS; i++)
        if (given_motion(e, i, motion))
            work->bodies[i].drive = motion[2];
    meet_constraints(e, work);
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
        e->power.damping += cc_damper_force(e->joint[i].damping, e->qd[i]) * e->qd[i];
    }
    e->energy.total = e->energy.kinetic + e->energy.potential + e->energy.elastic;
    close_ledger(e);
}

/* A law's force; none where it has no finite value, which `faults` reports. */
static Real finite(Real force) { return cc_is_finite(re(force)) ? force : 0.0; }

/* tau and p: all that acts on joints and bodies but constraints. */
static void forces(Element *e, Work *work)
{
    e->power.work = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        Real force = e->joint[i].force;
        show_shaft(e, i, &force);
        show_slide(e, i, &force);
        Real law[1];
        if (laws_force(e, i, e->time, law))
            force += finite(law[0]);
        work->tau[i] = force - cc_spring_force(e->joint[i].stiffness, e->q[i] - e->joint[i].free)
                       - cc_damper_force(e->joint[i].damping, e->qd[i]);
        e->power.work += force * e->qd[i];
    }
    cc_tree_inertial(JOINTS, work->bodies, work->m, e->g, work->p);
    push_points(e, work);
}

/* What each joint carries: p as it was before cc_tree_solve, taken from the tips to the ground.  p has what follows
 * from the accelerations of driven joints, whose qdd is 0 here. */
static void reactions(Element *e, Work *work, Real p[JOINTS][3])
{
    push_rows(e, work, p);
    add_inertia(e, work, e->qdd, p);
    e->power.residual = 0.0;
    for (int i = 0; i < JOINTS; i++)
        e->power.residual += work->tau[i] * e->qd[i] - (p[i][0] * work->m[i].w + cc_along(p[i] + 1, work->m[i].v));
    for (int i = JOINTS - 1; i >= 0; i--) {
        e->joint[i].moment = p[i][0];
        e->joint[i].reaction[0] = p[i][1];
        e->joint[i].reaction[1] = p[i][2];
        drive_joint(e, work, i, p[i]);
        add_to_parent(work, i, p);
    }
}

#include POINTS_FILE
#include SHAFTS_FILE
#include SLIDES_FILE
#include TIMED_FILE
#include "driven/ways.h"

static void outputs(Element *e)
{
    Work work;
    Real p[JOINTS][3];
    find_fault(e);
    describe(e, &work);
    stand_and_move(e, &work);
    cc_tree_factor(JOINTS, work.bodies, work.m);
    forces(e, &work);
    __builtin_memcpy(p, work.p, sizeof p);
    cc_tree_solve(JOINTS, work.bodies, work.m, work.tau, work.p, e->qdd);
    constrain(e, &work);
    show_contacts(e, &work);
    reactions(e, &work, p);
    energies(e, &work);
}

#if CC_INDICATORS

static void indicators(const Element *e, Indicators *z)
{
    contact_indicators(e, z);
    time_indicators(e, z);
}

#endif

static void start(Element *e)
{
    e->changes = e->begun = 0.0;
    start_constraints(e);
    outputs(e);
    keep_feet(e);
    e->energy.start = e->accepted.energy = e->energy.total;
    e->accepted.at = e->time;
    e->energy.changed = 0.0;
    remember_drives(e);
    begin_ways(e);
    keep_ways(e);
}

static void check(const Element *e, CcHost *host) { check_constraints(e, host); }

/* Energy added by parameters and driven joints; then laws and constraints.  Returns what changed, as accept does. */
static int settle(Element *e, CcHost *host, double step)
{
    double brought = re(e->time) == re(e->accepted.at) ? re(e->energy.total - e->accepted.energy) : 0.0;
    e->energy.changed += brought;
    e->accepted.at = e->time;
    e->accepted.energy = e->energy.total;
    check_laws(e, host);
    watch_drives(e, host);
    int changed = settle_constraints(e, host, step);
    return changed | (brought != 0.0 ? CC_CHANGED : 0);
}

/* A point that stays after its impact may be drawn off at once: it leaves at the same point, for its N begins below 0
 * and passes no zero that would be located. */
static int accept(Element *e, CcHost *host, double step)
{
    int booked = book_ways(e), changed = settle(e, host, step);
    for (int i = 0; i < CONTACTS && changed == CC_JUMPED; i++) {
        outputs(e);
        if (!is_pulled(e))
            break;
        settle(e, host, step);
    }
    keep_ways(e);
    return changed | booked;
}
