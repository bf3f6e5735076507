/* Whether a line that several bodies carry is even enough: distances of its points, and turns between them. */
#ifndef CC_GUIDE_CHECK_H
#define CC_GUIDE_CHECK_H

#include "lines/line.h"

/* Distance of neighbours i and i + 1 in the world, m. */
static double guide_spacing(const CcLine *line, const Guide *g, int i, CcChord *chord)
{
    CcLinePoint a, b;
    cc_line_point(line, guide_carriers(g), i, &a);
    cc_line_point(line, guide_carriers(g), cc_line_index(line, i + 1), &b);
    cc_chord(&a, &b, 0, 0, chord);
    return re(chord->length);
}

static double guide_least_spacing(const Element *e)
{
    if (BODIES == 1)
        return line_spacing[0];
    Guide g;
    CcLine line = guide_line();
    CcChord chord;
    guide_see(e, &g);
    double least = __builtin_inf();
    for (int i = 0; i < cc_line_spans(&line); i++) {
        double length = guide_spacing(&line, &g, i, &chord);
        least = length < least ? length : least;
    }
    return least;
}

#define GUIDE_RATIO 4.0                  /* greatest to least distance of neighbours */
#define GUIDE_COSINE 0.86602540378443865 /* of 30 degrees, the largest turn between chords */
#define GUIDE_ROUNDING 1e-12

/* Distances and turns at the start of a line that several bodies carry; the builder checks those within one body. */
static void guide_check_line(const Element *e, CcHost *host)
{
    if (BODIES == 1 || re(e->started) != 0.0)
        return;
    Guide g;
    CcLine line = guide_line();
    CcChord chord, before;
    guide_see(e, &g);
    int spans = cc_line_spans(&line), shortest = 0, longest = 0;
    double least = __builtin_inf(), greatest = 0.0;
    for (int i = 0; i < spans; i++) {
        double length = guide_spacing(&line, &g, i, &chord);
        if (length < least)
            shortest = i, least = length;
        if (length > greatest)
            longest = i, greatest = length;
    }
    if (!(greatest <= GUIDE_RATIO * least))
        cc_fail(host, "the points %d and %d of the line are %g m apart at the start, %d and %d %g m: the ratio must be "
                "at most 4", longest + 1, cc_line_index(&line, longest + 1) + 1, greatest, shortest + 1,
                cc_line_index(&line, shortest + 1) + 1, least);
    for (int i = CLOSED ? 0 : 1; i < spans && least > 0.0; i++) {
        guide_spacing(&line, &g, i ? i - 1 : spans - 1, &before);
        guide_spacing(&line, &g, i, &chord);
        double cosine = re(cc_dot(before.q, chord.q));
        if (cosine < GUIDE_COSINE - GUIDE_ROUNDING)
            cc_fail(host, "at the start the line turns at point %d by an angle whose cosine is %g: at least "
                    "0.866 is needed, 30 degrees", i + 1, cosine);
    }
}

/* Whether the four points around the foot still keep the rules; a warning when they no longer do. */
static void guide_check_around(Element *e, const Guide *g, CcHost *host)
{
    if (BODIES == 1)
        return;
    CcLine line = guide_line();
    CcChord chord[3];
    int span = (int)re(e->foot_span), spans = cc_line_spans(&line), even = 1;
    double least = __builtin_inf(), greatest = 0.0;
    for (int j = 0, count = 0; j < 3; j++) {
        int i = cc_line_index(&line, span - 1 + j);
        if (i < 0 || i >= spans)
            continue;
        double length = guide_spacing(&line, g, i, &chord[count]);
        least = length < least ? length : least;
        greatest = length > greatest ? length : greatest;
        even &= count == 0 || re(cc_dot(chord[count - 1].q, chord[count].q)) >= GUIDE_COSINE - GUIDE_ROUNDING;
        count++;
    }
    even &= greatest <= GUIDE_RATIO * least;
    if (!even && re(e->previous.uneven) == 0.0)
        cc_report(host, CC_WARNING, "guide", "the line has become uneven around the foot, at point %d: distances from "
                  "%g m to %g m; their ratio should stay below 4 and turns below 30 degrees", span + 1, least,
                  greatest);
    e->previous.uneven = !even;
}

#endif
