/* The surface of the recipe: which of contact_core's, with the constants surface_* that structure.py wrote.
 *
 * SURFACE is one of SURFACE_PLANE, SURFACE_DISC ...; plane and disc are flat, with one normal; the others are
 * curved. */
#ifndef SURFACE_H
#define SURFACE_H

#define SURFACE_FLAT (SURFACE == SURFACE_PLANE || SURFACE == SURFACE_DISC)

#if SURFACE == SURFACE_PLANE
#include "surfaces/plane.h"
#elif SURFACE == SURFACE_DISC
#include "surfaces/disc.h"
#elif SURFACE == SURFACE_SPHERE
#include "surfaces/sphere.h"
#elif SURFACE == SURFACE_CYLINDER
#include "surfaces/cylinder.h"
#elif SURFACE == SURFACE_CONE
#include "surfaces/cone.h"
#elif SURFACE == SURFACE_TORUS
#include "surfaces/torus.h"
#else
#include "surfaces/profile.h"
#define SURFACE_SPANS ((const CcSpan *)surface_profile)
enum { SURFACE_SPAN_COUNT = sizeof surface_profile / (sizeof(CcSpan)) };
_Static_assert(sizeof(CcSpan) == 12 * sizeof(double), "a span is 12 numbers of surface_profile");
#endif

#if !SURFACE_FLAT
/* The closest point to what lies at `arm` from the origin of the surface's frame, in world components; R turns the
 * frame into the world, `last` is the closest point before.  The foot lies in the surface's frame, of a ball in axes of
 * the world: a ball has no orientation. */
static inline void surface_closest(const Real arm[3], Real R[3][3], const Real last[3], CcFoot *foot)
{
    double side = surface_side[0];
#if SURFACE == SURFACE_SPHERE
    (void)R;
    cc_sphere(surface_radius[0], side, arm, last, foot);
#else
    Real local[3];
    cc_to_body(R, arm, local);
#if SURFACE == SURFACE_CYLINDER
    cc_cylinder(surface_radius[0], surface_z, side, local, last, foot);
#elif SURFACE == SURFACE_CONE
    cc_cone(surface_angle, surface_z, side, local, last, foot);
#elif SURFACE == SURFACE_TORUS
    cc_torus(surface_radius[0], surface_radius[1], side, local, last, foot);
#elif SURFACE == SURFACE_REVOLUTION
    cc_revolution(SURFACE_SPANS, SURFACE_SPAN_COUNT, (int)surface_profile_kind[0], side, local, last, foot);
#else
    (void)last; /* no axis */
    cc_extrusion(SURFACE_SPANS, SURFACE_SPAN_COUNT, (int)surface_profile_kind[0], surface_z, side, local, foot);
#endif
#endif
}

/* Its normal, in world components. */
static inline void surface_normal(Real R[3][3], const CcFoot *foot, Real n[3])
{
#if SURFACE == SURFACE_SPHERE
    (void)R;
    CC_UNROLL for (int k = 0; k < 3; k++)
        n[k] = foot->normal[k];
#else
    cc_to_world(R, foot->normal, n);
#endif
}
#endif

/* Distance, place, edge and singular of point i, which lies at `arm` from the origin of the surface's frame, in world
 * components as the normal n; R turns the frame into the world.  Returns 1 if the closest point belongs to the drawn
 * part. */
static int surface_foot(Element *e, int i, const Real arm[3], Real R[3][3], Real n[3])
{
#if SURFACE_FLAT
    Real local[3];
    int on;
    cc_to_body(R, arm, local);
#if SURFACE == SURFACE_PLANE
    e->distance[i] = -cc_plane(surface_x, surface_y, local, &on);
#else
    double inside;
    e->distance[i] = -cc_disc(surface_radius[0], local, &inside);
    e->edge[i] = inside;
    on = inside >= 0.0;
#endif
    e->place[i][0] = local[0];
    e->place[i][1] = local[1];
    CC_UNROLL for (int k = 0; k < 3; k++)
        n[k] = R[k][2];
    return on;
#else
    CcFoot foot;
    surface_closest(arm, R, e->previous[i].foot, &foot);
    e->distance[i] = -foot.depth;
    e->singular[i] = foot.singular;
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->place[i][k] = foot.point[k];
#if SURFACE == SURFACE_REVOLUTION || SURFACE == SURFACE_EXTRUSION
    for (int k = 0; k < 2; k++)
        e->edge[i][k] = foot.edge[k];
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->rival[i][k] = foot.rival[k];
    e->gap[i] = foot.gap;
    e->way[i] = foot.way;
#endif
    surface_normal(R, &foot, n);
    return foot.on;
#endif
}

/* How much farther off the rival is than the closest point, m; negative as long as it is the rival that continues the
 * closest point of the last accepted point, so that the sign turns where the two change places.  What else jumps there
 * is held in the indicators until the point behind is accepted: a jump has no zero to go by. */
static inline double surface_jump(const Element *e, int i)
{
#if SURFACE == SURFACE_REVOLUTION || SURFACE == SURFACE_EXTRUSION
    double from_rival = 0.0, from_place = 0.0, apart = 0.0;
    if (re(e->singular[i]) != 0.0) /* the last closest point is kept */
        return CC_SINGULAR;
    for (int k = 0; k < 3; k++) {
        double last = re(e->previous[i].foot[k]), rival = re(e->rival[i][k]), place = re(e->place[i][k]);
        from_rival += (rival - last) * (rival - last);
        from_place += (place - last) * (place - last);
        apart += (rival - place) * (rival - place);
    }
    return re(e->gap[i]) * (apart > 0.0 ? (from_rival - from_place) / apart : 1.0);
#else
    (void)e, (void)i;
    return 1.0;
#endif
}

/* The slip speed of a point, held as above. */
static inline Real surface_slip(const Element *e, int i)
{
#if SURFACE == SURFACE_REVOLUTION || SURFACE == SURFACE_EXTRUSION
    if (surface_jump(e, i) < 0.0)
        return e->previous[i].slip_speed;
#endif
    return e->slip_speed[i];
}

/* Indicators of the edges, one for each: their minimum could cross zero twice in a step; and of a profile's corners. */
static inline void surface_edges(const Element *e, int i, Indicators *z)
{
#if SURFACE == SURFACE_PLANE
    z->edge_x_from[i] = re(e->place[i][0]) - surface_x[0];
    z->edge_x_to[i] = surface_x[1] - re(e->place[i][0]);
    z->edge_y_from[i] = re(e->place[i][1]) - surface_y[0];
    z->edge_y_to[i] = surface_y[1] - re(e->place[i][1]);
#elif SURFACE == SURFACE_DISC
    z->edge_radius[i] = re(e->edge[i]);
#else
    (void)e, (void)i, (void)z;
#endif
#if SURFACE == SURFACE_CYLINDER || SURFACE == SURFACE_CONE || SURFACE == SURFACE_EXTRUSION
    z->edge_z_from[i] = re(e->place[i][2]) - surface_z[0];
    z->edge_z_to[i] = surface_z[1] - re(e->place[i][2]);
#endif
#if SURFACE == SURFACE_REVOLUTION || SURFACE == SURFACE_EXTRUSION
    double jump = surface_jump(e, i);
    z->edge_profile_from[i] = re(jump < 0.0 ? e->previous[i].edge[0] : e->edge[i][0]);
    z->edge_profile_to[i] = re(jump < 0.0 ? e->previous[i].edge[1] : e->edge[i][1]);
    z->jump[i] = jump;
    z->corner[i] = re(jump < 0.0 ? e->previous[i].way : e->way[i]);
#endif
}

/* The closest point of an accepted point: kept where a later one is not unique. */
static inline void keep_foot(Element *e, int i)
{
#if SURFACE_FLAT
    (void)e, (void)i;
#else
    CC_UNROLL for (int k = 0; k < 3; k++)
        e->previous[i].foot[k] = e->place[i][k];
#endif
#if SURFACE == SURFACE_REVOLUTION || SURFACE == SURFACE_EXTRUSION
    for (int k = 0; k < 2; k++)
        e->previous[i].edge[k] = e->edge[i][k];
    e->previous[i].way = e->way[i];
    e->previous[i].slip_speed = e->slip_speed[i];
#endif
}

#endif
