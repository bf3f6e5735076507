/* The modes of an instance.
 *
 * Also whether its FMU is one that may answer fmi2Fatal and fmi2Pending (all_statuses.h), and what it keeps of a step
 * that is pending. */
#ifndef CC_MODES_H
#define CC_MODES_H

#include "waist.h"

/* Modes of FMI 2.0, as bits so that a function can name those it is legal in. */
enum {
    CC_INSTANTIATED = 1,
    CC_INITIALIZATION = 2,
    CC_STEP_COMPLETE = 4, /* co-simulation */
    CC_ERROR = 8, /* a step, an event or the initialization failed; fmi2SetFMUstate, fmi2Reset, fmi2FreeInstance help */
    CC_TERMINATED = 16,
    CC_EVENT = 32,      /* model exchange; co-simulation of FMI 3.0 */
    CC_CONTINUOUS = 64, /* model exchange */
    CC_ANY = 127,
    CC_UPDATE = 128, /* FMI 3.0: inside of a step, while the importer looks at an accepted substep; not in CC_ANY */
    CC_IN_PROGRESS = 256, CC_CORRUPT = 512 /* after fmi2Pending, fmi2Fatal (all_statuses.h); not in CC_ANY */
};

/* An element may have the switch `statuses` of [structure]. */
#if defined STATUSES && STATUSES
#define CC_ALL_STATUSES 1
#else
#define CC_ALL_STATUSES 0
#endif

/* begin: of the step, s    mode: of the instance behind it    questions: after which its result is known */
typedef struct {
    double begin, mode;
    int is_wanted, questions;
} CcDeferred;

#endif
