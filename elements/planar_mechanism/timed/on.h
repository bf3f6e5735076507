/* Laws of time: motions and forces of joints, forces at points. */

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

static void find_fault(Element *e) { e->fault = faults(e); }

static void check_laws(const Element *e, CcHost *host)
{
    static const char *const kinds[] = {"the motion of the joint of", "the force on the joint of"};
    int fault = (int)re(e->fault) - 1;
    if (fault < 0)
        return;
    if (fault < 2 * JOINTS)
        cc_fail(host, "at %g s the law of time of %s %s has no finite value", re(e->time), kinds[fault / JOINTS],
                body_names[fault % JOINTS]);
    else
        fail_of_point(e, fault - 2 * JOINTS, host);
}

static inline void time_indicators(const Element *e, Indicators *z)
{
    z->fault = re(e->fault) == 0.0 ? 1.0 : -1.0;
    for (int i = 0; i < JOINTS; i++) {
        laws_motion_indicators(e, i, e->time, z);
        laws_force_indicators(e, i, e->time, z);
    }
    for (int k = 0; k < POINTS; k++) {
        laws_force_x_indicators(e, k, e->time, z);
        laws_force_y_indicators(e, k, e->time, z);
    }
}
