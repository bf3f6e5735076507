/* The calls of a master for a mass on a floor, written out: what a loop of operations is measured against. */
#include "fmi2FunctionTypes.h"

typedef struct {
    fmi2SetRealTYPE *set;
    fmi2DoStepTYPE *step;
    fmi2GetRealTYPE *get;
    fmi2Component component;
    const fmi2ValueReference *inputs, *outputs;
} Slave;

__attribute__((visibility("default"))) int run_raw(const Slave *body, const Slave *floor, double *motion, double *force,
                                                   double h, long first, long last);

/* Jacobi: `motion` has 6 values, `force` 3. */
int run_raw(const Slave *body, const Slave *floor, double *motion, double *force, double h, long first, long last)
{
    int status = 0;
    for (long k = first; k < last && !status; k++) {
        double t = (double)k * h;
        status |= body->set(body->component, body->inputs, 3, force);
        status |= floor->set(floor->component, floor->inputs, 6, motion);
        status |= body->step(body->component, t, h, 1);
        status |= floor->step(floor->component, t, h, 1);
        status |= body->get(body->component, body->outputs, 6, motion);
        status |= floor->get(floor->component, floor->outputs, 3, force);
    }
    return status;
}
