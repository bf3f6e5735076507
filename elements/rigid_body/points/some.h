/* Points at which forces act. */

/* Motion of the point i, and its share of the force and of the moment about the centre of mass. */
static void attach_point(Element *e, Attitude *a, int i, Real force[3], Real moment[3])
{
    Real arm[3], carried[3], f[3], lever[3];
    cc_to_world(a->R, e->point[i].offset, arm);
    cc_cross(a->w, arm, carried);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        f[k] = e->point[i].f[k];
        e->point[i].r[k] = e->frame.r[k] + arm[k];
        e->point[i].v[k] = e->frame.v[k] + carried[k];
    }
    attach_frame(e, a, i, f, moment);
    cc_cross(arm, f, lever);
    CC_UNROLL for (int k = 0; k < 3; k++) {
        force[k] += f[k];
        moment[k] += lever[k];
    }
}

static void attach_points(Element *e, Attitude *a, Real force[3], Real moment[3])
{
    for (int i = 0; i < POINTS; i++)
        attach_point(e, a, i, force, moment);
}
