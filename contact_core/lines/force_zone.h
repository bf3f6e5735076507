/* How a force on a line is shared among the bodies that carry its points.
 *
 * Way from the foot, m     x_i       of point i, along the chords; on closed lines the shorter way round
 * Weight, 1                w_i = max(0, 1 - x_i/zone) / sum        the two ends of the foot's chord if no point is
 *                                                                  nearer than the zone: 1 - u and u
 * Common shift, m          c = P - sum w_i r_i
 * Force on the line        -w_i F at r_i + c, for the force F on the point P
 *
 * As sum w_i = 1, the forces sum up to -F and their moments to -P x F: to rounding, for any weights.  Without the shift
 * (`shifted` = 0) the forces act at the points and leave the moment c x F.
 *
 * Per body b, with the frame at o_b: weight W = sum w_i,  arm A = sum w_i (r_i + c - o_b) over its points, so that
 *   force on the body -W F,  moment about o_b  -A x F,  velocity of the line  v_L = sum over b of W v_b + w_b x A,
 * and the power of the pair is F (v_P - v_L), exactly. */
#ifndef CC_FORCE_ZONE_H
#define CC_FORCE_ZONE_H

#include "line_foot.h"

typedef struct {
    Real weight; /* W */
    Real arm[3]; /* A, m */
} CcZoneShare;

CC_API void cc_zone_point(const CcLine *line, int i, const CcLinePoint *at, const Real P[3], Real weight,
                          CcZoneShare shares[])
{
    CcZoneShare *share = &shares[line->bodies ? (int)line->bodies[i] : 0];
    share->weight += weight;
    for (int k = 0; k < 3; k++)
        share->arm[k] += weight * (at->r[k] - P[k]);
}

/* shares[bodies] of the force at the foot; `zone` > 0, m. */
CC_APART void cc_force_zone(const CcLine *line, const CcCarrier carriers[], const CcLineFoot *foot, const Real P[3],
                            Real zone, int shifted, int bodies, CcZoneShare shares[])
{
    for (int b = 0; b < bodies; b++) {
        shares[b].weight = 0.0;
        for (int k = 0; k < 3; k++)
            shares[b].arm[k] = 0.0;
    }
    int back = foot->span, ahead = cc_line_index(line, back + 1), left = line->count;
    int can_back = 1, can_ahead = 1;
    Real way_back = foot->u * foot->length, way_ahead = (1.0 - foot->u) * foot->length, sum = 0.0;
    CcLinePoint at_back, at_ahead, next;
    cc_line_point(line, carriers, back, &at_back);
    cc_line_point(line, carriers, ahead, &at_ahead);
    const CcLinePoint ends[2] = {at_back, at_ahead};
    const int end[2] = {back, ahead};
    while (left > 0 && (can_back || can_ahead)) {
        int goes_back = can_back && (!can_ahead || re(way_back) <= re(way_ahead));
        Real way = goes_back ? way_back : way_ahead;
        if (!(re(way) < re(zone)))
            break;
        int i = goes_back ? back : ahead;
        CcLinePoint *at = goes_back ? &at_back : &at_ahead;
        Real weight = 1.0 - way / zone, step[3];
        cc_zone_point(line, i, at, P, weight, shares);
        sum += weight;
        left--;
        int following = cc_line_index(line, goes_back ? i - 1 : i + 1);
        if (following < 0 || following >= line->count) {
            *(goes_back ? &can_back : &can_ahead) = 0;
            continue;
        }
        cc_line_point(line, carriers, following, &next);
        for (int k = 0; k < 3; k++)
            step[k] = next.r[k] - at->r[k];
        *at = next;
        *(goes_back ? &back : &ahead) = following;
        *(goes_back ? &way_back : &way_ahead) = way + cc_norm(step);
    }
    if (re(sum) == 0.0) {
        cc_zone_point(line, end[0], &ends[0], P, 1.0 - foot->u, shares);
        cc_zone_point(line, end[1], &ends[1], P, foot->u, shares);
        sum = 1.0;
    }
    Real shift[3] = {0.0, 0.0, 0.0}, inverse = 1.0 / sum;
    for (int b = 0; b < bodies; b++) {
        shares[b].weight *= inverse;
        for (int k = 0; k < 3; k++) {
            shares[b].arm[k] *= inverse;
            shift[k] -= shifted ? shares[b].arm[k] : (Real)0.0;
        }
    }
    for (int b = 0; b < bodies; b++)
        for (int k = 0; k < 3; k++)
            shares[b].arm[k] += shares[b].weight * (P[k] + shift[k] - (carriers ? carriers[b].r[k] : (Real)0.0));
}

#endif
