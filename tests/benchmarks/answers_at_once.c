/* FMI functions that do nothing and answer fmi2OK: what is left of a run with them is the master's own time. */
#include "fmi2Functions.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int access_values(fmi2Component c, const fmi2ValueReference *references, size_t n, fmi2Real *values)
{
    return (void)c, (void)references, (void)n, (void)values, fmi2OK;
}

EXPORT int do_step(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean for_good)
{
    return (void)c, (void)time, (void)step, (void)for_good, fmi2OK;
}

EXPORT int set_slopes(fmi2Component c, const fmi2ValueReference *references, size_t n, const fmi2Integer *orders,
                      const fmi2Real *slopes)
{
    return (void)c, (void)references, (void)n, (void)orders, (void)slopes, fmi2OK;
}

EXPORT int give_derivatives(fmi2Component c, const fmi2ValueReference *unknowns, size_t n,
                            const fmi2ValueReference *knowns, size_t m, const fmi2Real *seed, fmi2Real *answer)
{
    return (void)c, (void)unknowns, (void)n, (void)knowns, (void)m, (void)seed, (void)answer, fmi2OK;
}
