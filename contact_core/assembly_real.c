/* An assembly over double: all of the waist. */
#include "assembly.h"

#include <stddef.h>

void CC_ENTRY(evaluate)(Element *e, int on_demand)
{
    double *block = (double *)e;
    const CcCopy *copy = CC_ENTRY(copies);
    for (int i = 0; i < CC_EVALUATIONS; i++) {
        const CcEvaluation *now = &CC_ENTRY(schedule)[i];
        const CcPart *part = &CC_ENTRY(parts)[now->part];
        copy = cc_connect(block, copy, CC_ENTRY(copies) + now->copies);
        block[part->offset] = block[0];
        part->type->evaluate(block + part->offset, on_demand | part->on_demand);
    }
}

void CC_ENTRY(initial_states)(Element *e)
{
    double *block = (double *)e;
    for (int i = 0; i < CC_PARTS; i++)
        CC_ENTRY(parts)[i].type->initial_states(block + CC_ENTRY(parts)[i].offset);
}

/* The initial x of all parts, then in the order of the schedule the initial m of each, from inputs that are known. */
void CC_ENTRY(start)(Element *e)
{
    double *block = (double *)e;
    const CcCopy *copy = CC_ENTRY(copies);
    CC_ENTRY(initial_states)(e);
    for (int i = 0; i < CC_EVALUATIONS; i++) {
        const CcEvaluation *now = &CC_ENTRY(schedule)[i];
        const CcPart *part = &CC_ENTRY(parts)[now->part];
        copy = cc_connect(block, copy, CC_ENTRY(copies) + now->copies);
        block[part->offset] = block[0];
        if (now->last && part->type->start)
            part->type->start(block + part->offset);
        part->type->evaluate(block + part->offset, part->on_demand);
    }
}

/* Every part reads the outputs of the same point; they are computed again if the memory of a part changed. */
int CC_ENTRY(accept)(Element *e, CcHost *host, double step)
{
    double *block = (double *)e;
    int changed = 0;
    for (int i = 0; i < CC_PARTS; i++) {
        const CcPart *part = &CC_ENTRY(parts)[i];
        if (part->type->accept) {
            CC_ENTRY(speaker)(host, part->name);
            changed |= part->type->accept(block + part->offset, host, step);
        }
    }
    CC_ENTRY(speaker)(host, NULL);
    if (changed)
        CC_ENTRY(evaluate)(e, 0);
    return changed;
}

void CC_ENTRY(indicators)(const Element *e, double z[])
{
    const double *block = (const double *)e;
    for (int i = 0; i < CC_PARTS; i++) {
        const CcPart *part = &CC_ENTRY(parts)[i];
        if (part->type->indicators)
            part->type->indicators(block + part->offset, z + part->indicators);
    }
}

void CC_ENTRY(check)(const Element *e, CcHost *host)
{
    const double *block = (const double *)e;
    for (int i = 0; i < CC_PARTS; i++) {
        const CcPart *part = &CC_ENTRY(parts)[i];
        if (part->type->check) {
            CC_ENTRY(speaker)(host, part->name);
            part->type->check(block + part->offset, host);
        }
    }
    CC_ENTRY(speaker)(host, NULL);
}
