/* Points of bodies on which forces act: ports, and laws of time. */

static void push_points(Element *e, Work *work)
{
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
}

/* The law number `fault` of the forces at points, those along x first, has no finite value. */
static inline void fail_of_point(const Element *e, int fault, CcHost *host)
{
    cc_fail(host, "at %g s the law of time of the force at point[%d], of %s, has no finite value", re(e->time),
            fault % POINTS + 1, body_names[point_bodies[fault % POINTS]]);
}
