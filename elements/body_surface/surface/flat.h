/* Plane and disc: the foot of a point on z = 0. */
#define SURFACE_FLAT 1

static inline void flat_foot(const Real local[3], Real depth, int on, CcFoot *foot)
{
    foot->depth = depth;
    foot->on = on;
    foot->singular = 0;
    CC_UNROLL for (int k = 0; k < 3; k++) {
        foot->normal[k] = k == 2;
        foot->point[k] = k == 2 ? 0.0 : local[k];
    }
}
