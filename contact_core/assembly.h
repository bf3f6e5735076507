/* An assembly: parts that are elements, connected, in one flat block and under one solver.
 *
 * The block       time, the variables of the solver, then the block of every part, its own time first.  A variable of
 *                 part P is called P.name and has the value reference offset(P) + its index in the element.
 * Connections     are copies from outputs into inputs; an input with several sources gets their sum, added in the
 *                 order of the recipe.
 * Order           Found when the FMU is built (fmu_builder/model/evaluation_order.py), from what element.toml says an
 *                 output depends on.  A part is evaluated when all its inputs are known, and once more before that if
 *                 another part needs an output which does not depend on all of them.  States are known before anything
 *                 is evaluated. So one pass through the schedule computes all outputs and derivatives.  Algebraic
 *                 loops have no such order and are refused by the build.
 *
 * The tables are generated (assembly_tables.c) and shared by both meanings of Real. */
#ifndef CC_ASSEMBLY_H
#define CC_ASSEMBLY_H

#include "waist.h"

/* The functions of the waist for all parts of one element, one structure and one set of constants; each takes the
 * block of a part.  NULL where the element has none. */
typedef struct {
    void (*evaluate)(double *block, int on_demand);
    void (*dual)(double *block, int on_demand);
    void (*initial_states)(double *block);
    void (*start)(double *block);
    int (*accept)(double *block, CcHost *host, double step);
    void (*indicators)(const double *block, double z[]);
    void (*check)(const double *block, CcHost *host);
} CcPartType;

typedef struct {
    const char *name;
    const CcPartType *type;
    int offset;     /* of its block, in variables */
    int indicators; /* place of its first one among those of the assembly */
    int on_demand;  /* 1 if another part reads variables on demand: they are always computed */
} CcPart;

/* block[target + k] = or += block[source + k] for k < count */
typedef struct {
    int target, source, count, adds;
} CcCopy;

/* Evaluate a part after the copies up to `copies`; `last`: all its inputs are known. */
typedef struct {
    int part, copies, last;
} CcEvaluation;

#ifdef CC_PARTS
CC_HIDDEN extern const CcPart CC_ENTRY(parts)[CC_PARTS];
CC_HIDDEN extern const CcEvaluation CC_ENTRY(schedule)[CC_EVALUATIONS];
CC_HIDDEN extern const CcCopy CC_ENTRY(copies)[];

/* The part that the following messages name; NULL: none. */
CC_HIDDEN void CC_ENTRY(speaker)(CcHost *host, const char *part);

/* Bring the inputs up to date that are known at this place of the schedule; returns the first copy left. */
CC_API const CcCopy *cc_connect(Real *block, const CcCopy *copy, const CcCopy *end)
{
    for (; copy < end; copy++) {
        Real *to = block + copy->target;
        const Real *from = block + copy->source;
        if (copy->adds)
            CC_ONE_BY_ONE for (int k = 0; k < copy->count; k++)
                to[k] += from[k];
        else
            CC_ONE_BY_ONE for (int k = 0; k < copy->count; k++)
                to[k] = from[k];
    }
    return copy;
}
#endif

#endif
