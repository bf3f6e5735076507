/* Surfaces whose closest point needs no search that begins somewhere.  Where it is not unique an axis of the surface
 * chooses one: so deep no force acts. */
#define SURFACE_FLAT 0

static inline unsigned surface_at(const Real local[3], unsigned near, CcFoot *foot)
{
    const Real last[3] = {0.0, 0.0, 0.0};
    closest_in_frame(local, last, foot);
    return near;
}
