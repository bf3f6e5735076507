/* The loop of the master: it runs a list of operations once in every tick, a communication step of the run.
 *
 * The algorithm is the order of the operations (program.py).  FMI functions are called by their addresses; what an
 * operation cannot do here, Python does: the loop returns, and continues behind that operation when it is called again.
 *
 * time of tick k   start + k step, never accumulated
 * pause            set by another thread; the loop returns before the next tick */
#include "operations.h"
#include "../implicit/group.h"

#if defined _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT int run_loop(Loop *loop);
EXPORT int run_loop(Loop *loop)
{
    for (; loop->tick < loop->end; loop->tick++, loop->next = 0) {
        if (loop->next == 0 && atomic_load_explicit(&loop->pause, memory_order_relaxed))
            return PAUSED;
        for (uint32_t i = loop->next; i < loop->size; i++) {
            Operation *o = loop->operations + i;
            if (o->every > 1) {
                if (o->wait) {
                    o->wait--;
                    continue;
                }
                o->wait = o->every - 1;
            }
            Outcome outcome = o->kind == GROUP ? advance_group((void *)o->values, loop) : operate(loop, o);
            if (outcome != DONE) {
                loop->next = outcome == PAUSED ? i : i + 1; /* a group goes on with its steps */
                return outcome;
            }
        }
    }
    return DONE;
}

EXPORT uint64_t prepare_group(Group *group, double *memory);
uint64_t prepare_group(Group *group, double *memory)
{
    return lay_out(group, memory);
}
