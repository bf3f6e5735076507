/* Joints whose motion is given, by a law of time or by inputs. */

/* q, qd and qdd of joint i if it is driven, by a law of time or inputs; else returns 0. */
static int given_motion(const Element *e, int i, Real values[3])
{
    if (!driven_joints[i])
        return 0;
    if (laws_motion(e, i, e->time, values)) {
        if (!cc_is_finite(re(values[0] + values[1] + values[2])))
            values[0] = values[1] = values[2] = 0.0; /* `faults` reports it */
        return 1;
    }
#if DRIVES
    values[0] = e->drive[driven_inputs[i]].q;
    values[1] = e->drive[driven_inputs[i]].qd;
    values[2] = e->drive[driven_inputs[i]].qdd;
#endif
    return 1;
}

#define MISMATCHES 3             /* changes of a coordinate in a row that its speed contradicts: a warning */
#define COORDINATE_ROUNDING 1e-9 /* of a coordinate: a change that is less is rounding */

/* Where each coordinate that is an input begins. */
static inline void remember_drives(Element *e)
{
    (void)e;
#if DRIVES
    for (int k = 0; k < DRIVES; k++) {
        e->given[k].q = e->drive[k].q;
        e->given[k].fastest = re(cc_abs(e->drive[k].qd));
        e->given[k].at = e->time;
        e->given[k].mismatched = 0.0;
    }
#endif
}

/* Warn once if drive.qd is not the derivative of drive.q.  V is the largest speed since the start.  In the time T
 * between two changes the way of q differs from T qd by at most 2 T V, unless qd is not connected. */
static inline void watch_drives(Element *e, CcHost *host)
{
    (void)e, (void)host;
#if DRIVES
    for (int i = 0; i < JOINTS; i++) {
        int k = driven_inputs[i];
        if (k < 0 || re(e->given[k].mismatched) == MISMATCHES)
            continue;
        double q = re(e->drive[k].q), qd = re(e->drive[k].qd), V = re(cc_max(e->given[k].fastest, cc_abs(qd)));
        double way = q - re(e->given[k].q), T = re(e->time - e->given[k].at);
        e->given[k].fastest = V;
        if (!(T > 0.0) || way == 0.0)
            continue;
        e->given[k].q = q, e->given[k].at = e->time;
        double most = 2.0 * T * V + COORDINATE_ROUNDING * re(cc_abs(q));
        e->given[k].mismatched = re(cc_abs(way - T * qd)) > most ? e->given[k].mismatched + 1.0 : 0.0;
        if (re(e->given[k].mismatched) == MISMATCHES)
            cc_report(host, CC_WARNING, "mechanism", "drive[%d].qd does not belong to drive[%d].q (are qd and qdd "
                      "connected?): the joint of %s has another speed than its places show, so work and forces of this "
                      "motion are wrong", k + 1, k + 1, body_names[i]);
    }
#endif
}

/* The force on joint i that holds its motion; p is what the joint carries. */
static void drive_joint(Element *e, const Work *work, int i, const Real p[3])
{
    e->joint[i].drive = 0.0;
    if (!driven_joints[i])
        return;
    e->joint[i].drive = cc_joint_share(slides[i], &work->m[i], p) - work->tau[i];
    e->qdd[i] = work->bodies[i].drive;
    e->power.work += e->joint[i].drive * e->qd[i];
    e->power.residual += e->joint[i].drive * e->qd[i];
}
