/* Ports of prismatic joints. */

static void show_slide(Element *e, int i, Real *force)
{
    if (joint_slides[i] < 0)
        return;
    e->slide[joint_slides[i]].s = e->q[i];
    e->slide[joint_slides[i]].v = e->qd[i];
    *force += e->slide[joint_slides[i]].F;
}
