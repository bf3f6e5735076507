/* Ports of revolute joints. */

static void show_shaft(Element *e, int i, Real *torque)
{
    if (joint_shafts[i] < 0)
        return;
    e->shaft[joint_shafts[i]].phi = e->q[i];
    e->shaft[joint_shafts[i]].w = e->qd[i];
    *torque += e->shaft[joint_shafts[i]].t;
}
