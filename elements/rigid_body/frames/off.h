/* The points take no moments. */

static inline void attach_frame(Element *e, const Attitude *a, int i, Real f[3], Real moment[3])
{
    (void)e, (void)a, (void)i, (void)f, (void)moment;
}
