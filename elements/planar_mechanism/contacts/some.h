/* Contacts of points with profiles; impacts of points that have left theirs. */
#include "record.h"

/* 1 unless row k belongs to a profile that its point has left. */
static int holds(const Element *e, int k)
{
    int i = row_contacts[k];
    return i < 0 || !unilateral[i] || re(e->contact[i].closed) != 0.0;
}

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
    show_place(e, i, row.at);
    e->contact[i].x = row.P[0];
    e->contact[i].y = row.P[1];
    e->contact[i].N = -side * e->lambda[k] * steep;
    e->contact[i].slip = -cc_turn(row.n, v) / steep;
    e->contact[i].gap = side * row.h / steep;
    e->contact[i].gap_rate = side * cc_along(row.n, v) / steep;
}

static void show_contacts(Element *e, const Work *work)
{
    for (int i = 0; i < CONTACTS; i++)
        contact_outputs(e, work, i);
    show_friction_power(e);
}

static inline void contact_indicators(const Element *e, Indicators *z)
{
    for (int i = 0; i < CONTACTS; i++) {
        int closed = re(e->contact[i].closed) != 0.0, rubs = friction_indicators(e, i, z);
        double N = re(e->contact[i].N);
        z->contact[i] = closed ? (unilateral[i] || rubs ? N : 1.0) : re(e->contact[i].gap - e->contact[i].level);
        shape_indicators(e, i, z);
    }
    margin_indicator(e, z);
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
        show_place(e, i, row.at);
        if (unilateral[i] && inside(e, i) < 0.0) {
            e->contact[i].closed = 0.0;
            e->contact[i].level = NEVER;
        }
        e->contact[i].departures = e->contact[i].impacts = e->contact[i].impulse = 0.0;
        e->contact[i].lift_off = e->contact[i].touch_down = e->time;
        start_record(e, i);
    }
}

/* Work of the drives while the constraints react with the impulses p, N s, and the speeds change by `change`: the
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
    if (DRIVEN) {
        Real put_in = work_of_drives(e, &work, p, velocity);
        e->accepted.energy += put_in;
        book_work(e, put_in);
    }
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

/* Contacts at an accepted point.  Returns what changed, as accept does. */
static int pass_contacts(Element *e, CcHost *host, double step)
{
    Real lost = e->energy.impact;
    int changed = meet_and_leave(e, host);
    for (int i = 0; i < CONTACTS && step == 0.0; i++)
        if (re(e->release_count[i]) > 0.0 && re(e->last_contact[i].impact_speed) == 0.0)
            start_record(e, i); /* its profile would have to pull it at the start: it was never held */
    e->accepted.energy -= e->energy.impact - lost;
    return changed;
}

/* Whether a profile would have to pull a point to hold it. */
static int is_pulled(const Element *e)
{
    for (int i = 0; i < CONTACTS; i++)
        if (unilateral[i] && re(e->contact[i].closed) != 0.0 && re(e->contact[i].N) < 0.0)
            return 1;
    return 0;
}
