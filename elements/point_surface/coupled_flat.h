/* The axes of the coupling on a flat surface: those of its frame. */

/* The axes of the coupling at point i: those of the surface. */
static void find_axes(Element *e, int i, Real R[3][3])
{
    CcPlace *place = &port_of(e, i)->place;
    (void)R;
    CC_UNROLL for (int j = 0; j < 3; j++)
        CC_UNROLL for (int k = 0; k < 3; k++)
            place->axes[j][k] = j == k;
}

static void sample_velocity(Element *e, int i, Real R[3][3], const double relative[3])
{
    cc_to_body(R, relative, port_of(e, i)->v);
}

/* The force f of point i, in world components, where the surface has turned to R_T. */
static void turn_force(Element *e, int i, double R_T[3][3], const double f[3])
{
    cc_to_world(R_T, f, e->held_force[i]);
}
