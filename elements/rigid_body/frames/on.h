/* The points are frames too. */

/* Motion of the frame at point i; its force is added to f, its moment to `moment`. */
static inline void attach_frame(Element *e, const Attitude *a, int i, Real f[3], Real moment[3])
{
    CC_UNROLL for (int k = 0; k < 3; k++) {
        f[k] += e->attach[i].f[k];
        moment[k] += e->attach[i].t[k];
        e->attach[i].r[k] = e->point[i].r[k];
        e->attach[i].v[k] = e->point[i].v[k];
        e->attach[i].w[k] = a->w[k];
    }
    CC_UNROLL for (int k = 0; k < 4; k++)
        e->attach[i].q[k] = e->frame.q[k];
}
