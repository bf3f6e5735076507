/* Foot, axes and shares of the force on a line over dual numbers, behind one function. */
#define CC_API static __attribute__((unused))
#define CC_DUAL
#include "lines/base_plane.h"
#include "lines/force_zone.h"

typedef struct {
    Real P[3], v_P[3], a[3], b[3], w[3];
    Real body[4][13]; /* r, q, v, w of each */
    Real zone;
} Input;

typedef struct {
    Real u, point[3], tangent[3], away[3], margin, point_t[3], tangent_t[3];
    Real V1[3], V2[3], delta1, delta2, spin, handedness;
    Real weight[4], arm[4][3];
    double place, span;
} Output;

__attribute__((visibility("default"))) void dual_line(const double *points, const double *bodies, int count, int closed,
                                                      int spline, int carried, int from, Input *in, Output *out)
{
    CcLine line = {points, bodies, count, closed, spline, 0.0};
    CcCarrier carriers[4];
    CcLineFoot foot;
    CcBasePlane plane;
    CcZoneShare shares[4];
    for (int b = 0; b < 4; b++)
        cc_carrier(in->body[b], in->body[b] + 3, in->body[b] + 7, in->body[b] + 10, &carriers[b]);
    const CcCarrier *moving = carried ? carriers : NULL;
    cc_line_track(&line, moving, in->P, in->v_P, from, &foot);
    cc_base_plane(in->a, in->b, in->w, &foot, &plane);
    cc_force_zone(&line, moving, &foot, in->P, in->zone, 1, 4, shares);
    out->u = foot.u;
    out->margin = foot.margin;
    out->delta1 = plane.delta1;
    out->delta2 = plane.delta2;
    out->spin = plane.spin;
    out->handedness = plane.handedness;
    out->place = foot.place;
    out->span = foot.span;
    for (int k = 0; k < 3; k++) {
        out->point[k] = foot.point[k];
        out->tangent[k] = foot.tangent[k];
        out->away[k] = foot.away[k];
        out->point_t[k] = foot.point_t[k];
        out->tangent_t[k] = foot.tangent_t[k];
        out->V1[k] = plane.V1[k];
        out->V2[k] = plane.V2[k];
    }
    for (int b = 0; b < 4; b++) {
        out->weight[b] = shares[b].weight;
        for (int k = 0; k < 3; k++)
            out->arm[b][k] = shares[b].arm[k];
    }
}
