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
