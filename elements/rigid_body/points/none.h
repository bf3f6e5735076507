/* No points. */

static inline void attach_points(Element *e, Attitude *a, Real force[3], Real moment[3])
{
    (void)e, (void)a, (void)force, (void)moment;
}
