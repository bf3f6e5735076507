/* The calls of a master for masses, each on a floor of its own, written out: what a loop of operations is measured
 * against. */
#include "fmi2FunctionTypes.h"

typedef struct {
    fmi2SetRealTYPE *set;
    fmi2DoStepTYPE *step;
    fmi2GetRealTYPE *get;
    fmi2Component component;
    const fmi2ValueReference *inputs, *outputs;
} Slave;

typedef struct {
    Slave body, floor;
    double *motion, *force; /* 6 and 3 values, from one to the other */
} Pair;

__attribute__((visibility("default"))) int run_raw(const Pair *pairs, long count, double h, long first, long last);

/* Jacobi: all slaves are given their inputs, all are stepped, and then their outputs are got. */
int run_raw(const Pair *pairs, long count, double h, long first, long last)
{
    const Pair *end = pairs + count;
    int status = 0;
    for (long k = first; k < last && !status; k++) {
        double t = (double)k * h;
        for (const Pair *p = pairs; p < end; p++) {
            status |= p->body.set(p->body.component, p->body.inputs, 3, p->force);
            status |= p->floor.set(p->floor.component, p->floor.inputs, 6, p->motion);
        }
        for (const Pair *p = pairs; p < end; p++) {
            status |= p->body.step(p->body.component, t, h, 1);
            status |= p->floor.step(p->floor.component, t, h, 1);
        }
        for (const Pair *p = pairs; p < end; p++) {
            status |= p->body.get(p->body.component, p->body.outputs, 6, p->motion);
            status |= p->floor.get(p->floor.component, p->floor.outputs, 3, p->force);
        }
    }
    return status;
}
