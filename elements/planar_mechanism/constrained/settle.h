/* Constraints at an accepted point. */

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

/* Warn once of a constraint that is close to depending on the others; refuse to continue on another branch. */
static void pass_singular(Element *e, const Work *work, CcChoice choice, int stray, CcHost *host)
{
    if (!is_singular(work, choice)) {
        e->begun = 1.0;
        return;
    }
    if (stray)
        name_singular(e, work, choice.weakest, e->q, host);
    else if (re(e->begun) < 2.0)
        cc_report(host, CC_WARNING, "mechanism", "close to a singular position: the constraint of %s almost depends on "
                  "the others", body_names[hold_bodies[row_holds[work->row_of[choice.weakest]]]]);
    e->begun = 2.0;
}

#define FAR_OFF 1e-4 /* m or rad */

/* Contacts, then the states: dependent ones back onto their constraints, where they are looked for next.  Nothing
 * computed depends on these; in model exchange, where they are the importer's, it is notified of them when they are
 * FAR_OFF.  Returns what changed, as accept does. */
static inline int settle_constraints(Element *e, CcHost *host, double step)
{
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
    if (re(e->begun) != 0.0 && check_position(e, &work, host)) /* contacts have no force to judge by */
        return 0;
    look(e, &work, e->q);
    int stray = step > 0.0 && strays(e, &work);
    check_friction(e, host);
    int changed = pass_contacts(e, host, step);
    for (int i = 0; i < JOINTS; i++) {
        double way = re(e->q[i] - e->integrated[i].q);
        if (way > FAR_OFF || way < -FAR_OFF)
            changed = CC_JUMPED;
        e->integrated[i].q = e->q[i];
        e->integrated[i].qd = e->qd[i];
    }
    if (changed)
        look(e, &work, e->q);
    changed |= follow_profiles(e, host, work.m);
    check_tangents(e, &work, host);
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
                cc_report(host, CC_INFO, "mechanism", "%s replaces %s among the dependent coordinates",
                          body_names[work.dependent[k]], body_names[before[k]]);
        keep(e, &work, choice);
        e->changes += 1.0;
        changed = CC_CHANGED;
    }
    return changed;
}
