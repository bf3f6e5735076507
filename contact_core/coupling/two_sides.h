/* The lag by the motion of each of the two bodies in contact.
 *
 * What else moves one of them is often far from the other: in a row of balls the one that is struck is pushed on by the
 * next one, but that one is moved by this contact alone.  Along the normal its acceleration is y = a + W f, or
 * y = a - W f of the body of the surface, with a that does not change, and of its changes the true lag leaves nothing:
 *
 *     J_L = sum Dy^2 - max(+-sum Dy Df_(i-L), 0)^2 / sum Df_(i-L)^2           since the contact began
 *
 * A body counts whose acceleration changed little before the first force.  It decides by what it shows first: when the
 * next neighbour answers that is part of J of all lags. */
#ifndef CC_TWO_SIDES_H
#define CC_TWO_SIDES_H

#include "lag.h"

#define CC_SIDE_SURE 0.05  /* J of another lag over that of the present one, */
#define CC_SIDE_LATE 0.01  /* and of L = 2, */
#define CC_SIDE_LEAST 1e-3 /* which is more than this share of the answer */
#define CC_SIDE_QUIET 0.1  /* of the answer, squared: what changed before the force has to stay below it */
#define CC_SIDE_FORGETS 0.8 /* share of that which an interval leaves */

/* One body: its acceleration along the normal, m/s^2; what changed of it before the force; sums since the contact
 * began: Df^2 and Df Dy of each lag, Dy^2. */
typedef struct {
    double y, before CC_FROM(0), pushes[CC_LAGS] CC_FROM(0), products[CC_LAGS], answer CC_FROM(0);
} CcSide;

typedef struct {
    double carried;             /* given: velocity of the surface at the point, along the normal, m/s */
    double v;                   /* that of the last sample */
    double samples CC_FROM(0);  /* since the start */
    double decided CC_IN(0, 1); /* 1 from a decision on, as long as a force acts */
    CcSide side[2];             /* body of the point, of the surface */
} CcTwoSides;

/* An interval in which no force acts, and y became that. */
CC_API void cc_side_rest(CcSide *s, double y)
{
    double Dy = y - s->y, before = cc_faded(CC_SIDE_FORGETS, s->before) + Dy * Dy;
    if (s->answer != 0.0 || s->pushes[0] != 0.0)
        *s = (CcSide){.y = y};
    s->y = y, s->before = before;
}

/* Add an interval in which y became that, under changes df of the force along it, the newest first. */
CC_API void cc_side_add(CcSide *s, double y, const double df[CC_LAGS])
{
    double Dy = y - s->y;
    s->y = y;
    s->answer += Dy * Dy;
    for (int L = 0; L < CC_LAGS; L++) {
        s->pushes[L] += df[L] * df[L];
        s->products[L] += df[L] * Dy;
    }
}

/* The lag that the body shows, or -1; `floor`: m/s^2, of changes that are noise. */
CC_API int cc_side_lag(const CcSide *s, int now, double floor)
{
    double left[CC_LAGS];
    for (int L = 0; L < CC_LAGS; L++)
        left[L] = cc_remainder(s->pushes[L], cc_max(s->products[L], 0.0), s->answer);
    int best = cc_least_lag(left), clear = s->answer > floor * floor && s->before < CC_SIDE_QUIET * s->answer;
    double share = best == 2 ? CC_SIDE_LATE : CC_SIDE_SURE;
    return clear && left[now] > CC_SIDE_LEAST * s->answer && left[best] < share * left[now] ? best : -1;
}

/* The lag to go on with after an interval of H, s, in which the relative acceleration was y and the forces along the
 * normal f, N, the newest first; `best`: by other evidence. */
CC_API int cc_lag_by_sides(CcTwoSides *t, int now, int best, double y, double H, const double *f, double floor,
                           int quiet)
{
    double y_s = (t->carried - t->v) / H, df[2][CC_LAGS];
    t->v = t->carried;
    t->samples += 1.0;
    if (t->samples < 3.0) { /* no change of y yet */
        t->side[0].y = y + y_s, t->side[1].y = y_s;
        return best;
    }
    if (quiet) {
        t->decided = 0.0;
        cc_side_rest(&t->side[0], y + y_s);
        cc_side_rest(&t->side[1], y_s);
        return best;
    }
    for (int L = 0; L < CC_LAGS; L++)
        df[0][L] = f[L] - f[L + 1], df[1][L] = -df[0][L];
    cc_side_add(&t->side[0], y + y_s, df[0]);
    cc_side_add(&t->side[1], y_s, df[1]);
    if (t->side[1].answer == 0.0) /* of a surface at rest y shows all */
        return best;
    int first = cc_side_lag(&t->side[0], now, floor), second = cc_side_lag(&t->side[1], now, floor);
    int shown = first < 0 ? second : second < 0 || second == first ? first : -1;
    if (shown >= 0) {
        t->decided = 1.0;
        return shown;
    }
    return t->decided != 0.0 ? now : best;
}

#endif
