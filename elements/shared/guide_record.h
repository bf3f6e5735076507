/* When a point came onto an open line and left it, for the two elements of guides (guide.h), as a contact that begins
 * and ends.
 *
 * The foot passes an end plane where its way inside, `inside` of the element, changes its sign.  Between two accepted
 * points it is taken to move evenly: where the solver ends its substep at the plane, the error is that of this zero;
 * where inputs are held, the error is that of a chord, a T^2/(8 w) for the acceleration a and the speed w along the
 * line.  Switching by `work`, or a jump, counts at the point that shows it. */
#ifndef CC_GUIDE_RECORD_H
#define CC_GUIDE_RECORD_H

#if CLOSED

static inline void end_indicators(const Element *e, Indicators *z) { (void)e, (void)z; }
static inline void guide_record_remember(Element *e) { (void)e; }
static inline void guide_record_start(Element *e) { (void)e; }
static inline void guide_record(Element *e, CcHost *host, double step) { (void)e, (void)host, (void)step; }

#else

#include "surfaces/crossing.h"

static inline void end_indicators(const Element *e, Indicators *z)
{
    z->first_end = re(e->inside[0]);
    z->last_end = re(e->inside[1]);
}

static void guide_record_remember(Element *e)
{
    for (int end = 0; end < 2; end++)
        e->previous.inside[end] = e->inside[end];
}

static void guide_record_start(Element *e)
{
    e->contact_count = e->on;
    e->release_count = e->last_contact.start = e->last_contact.end = 0.0;
    e->present_contact.start = e->time;
    guide_record_remember(e);
}

/* Of an accepted point at which the point came onto the line or left it, `step` after the one before. */
static void guide_record(Element *e, CcHost *host, double step)
{
    CcCrossing passage = {re(e->time), 0.0};
    for (int end = 0; end < 2; end++) {
        double d_0 = re(e->previous.inside[end]), d = re(e->inside[end]), w = (d_0 - d) / step;
        if ((d_0 > 0.0) != (d > 0.0))
            cc_crossing(re(e->time), step, d_0, w, d, w, &passage);
    }
    if (re(e->on) != 0.0) {
        e->present_contact.start = passage.time;
        e->contact_count += 1.0;
    } else {
        if (re(e->release_count) > 0.0)
            cc_keep(host, &e->last_contact, sizeof e->last_contact / sizeof(Real));
        e->last_contact.start = e->present_contact.start;
        e->last_contact.end = passage.time;
        e->release_count += 1.0;
    }
}

#endif

#endif
