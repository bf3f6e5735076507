/* The offset turns with the body, and the place of the point on its line is known. */

/* From the centre of mass to the point, along x and y; the offset in the axes of the body is (x, y). */
static void turn_offset(const Element *e, Real x, Real y, Real *XP, Real *YP)
{
    Real cosine = cc_cos(e->P_out.r[2]), sine = cc_sin(e->P_out.r[2]);
    *XP = x * cosine - y * sine;
    *YP = x * sine + y * cosine;
}

static inline Real position(const Element *e, int k) { return e->P_out.r[k]; }

static inline void show_position(Element *e, Real s) { e->p_in.s = s; }
