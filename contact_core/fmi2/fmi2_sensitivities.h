/* Sensitivities of a co-simulation run by start values: two functions that FMI 2.0 does not have.
 *
 * Its directional derivatives hold the states.  Importers that do not know these functions lose nothing. */
#ifndef CC_FMI2_SENSITIVITIES_H
#define CC_FMI2_SENSITIVITIES_H

#include "fmi2_variables.h"

#define fmuBuilderFollowStarts fmi2FullName(fmuBuilderFollowStarts)
#define fmuBuilderGetSensitivities fmi2FullName(fmuBuilderGetSensitivities)

FMI2_Export fmi2Status fmuBuilderFollowStarts(fmi2Component c, const fmi2ValueReference vr[], size_t n);
FMI2_Export fmi2Status fmuBuilderGetSensitivities(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                                  fmi2Real value[]);

/* Why this FMU has none; NULL where it has. */
CC_RARE const char *cc_unfollowed(const Instance *instance)
{
    if (CC_PYTHON)
        return "an element in Python has no exact derivatives";
    if (CC_HAS_SAMPLE)
        return "a force that is held over the communication step follows what was identified of its partner";
#if CC_STATES
    if (instance->now.element.solver.method == 3.0)
        return "solver.method = implicit has none; choose auto or explicit";
#endif
    (void)instance;
    return NULL;
}

/* Follow the derivatives of all variables by these start values, parameters or inputs that stay as they are, through
 * the run that is initialized next; n = 0 ends it, as do fmi2Reset and fmi2FreeInstance.  While they are followed, the
 * explicit methods integrate. */
fmi2Status fmuBuilderFollowStarts(fmi2Component c, const fmi2ValueReference vr[], size_t n)
{
    CC_ENTER_OF_AS("fmuBuilderFollowStarts", fmi2CoSimulation, CC_INSTANTIATED | CC_INITIALIZATION);
    CC_NEED(n, vr);
    cc_release_followed(instance);
    if (n == 0)
        return fmi2OK;
    const char *why = cc_unfollowed(instance);
    if (why)
        return cc_refuse(instance, fmi2Error, "fmuBuilderFollowStarts is not supported: %s", why);
    for (size_t k = 0; k < n; k++) {
        const CcVariable *v = cc_known_reference(instance, "fmuBuilderFollowStarts", vr[k]);
        if (!v)
            return fmi2Error;
        if (v->type != CC_REAL || (v->kind != CC_FIXED && v->kind != CC_TUNABLE && v->kind != CC_INPUT))
            return cc_refuse(instance, fmi2Error, "fmuBuilderFollowStarts: %s is neither a parameter nor an input that "
                             "is a Real", cc_name(vr[k]));
    }
    size_t most = ((size_t)-1 - sizeof(CcFollowed)) / sizeof(CcColumn) - 1;
    CcFollowed *f = n < most ? cc_allocate(&instance->importer, sizeof(CcFollowed) + (n + 1) * sizeof(CcColumn))
                             : NULL;
    if (!f)
        return cc_refuse(instance, fmi2Error, "fmuBuilderFollowStarts: no memory for %g start values", (double)n);
    f->count = (int)n;
    for (size_t k = 0; k < n; k++)
        f->columns[k].start = (int)vr[k];
    f->columns[n].start = -1;
    instance->followed = f;
    return fmi2OK;
}

/* Derivatives of Reals by the n start values that are followed: value[k n + i] of vr[k] by the i-th.  fmi2Discard where
 * one is unknown, as of a variable that keeps what was at an earlier event. */
fmi2Status fmuBuilderGetSensitivities(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    CC_ENTER_OF_AS("fmuBuilderGetSensitivities", fmi2CoSimulation, CC_STEP_COMPLETE | CC_TERMINATED);
    CC_NEED(nvr, vr);
    CC_NEED(nvr, value);
    CcFollowed *f = instance->followed;
    if (f && f->lost == CC_LEAPT)
        return cc_refuse(instance, fmi2Discard, "fmuBuilderGetSensitivities: a state jumped at an event, derivatives "
                         "behind it are unknown");
    if (!f || f->lost)
        return cc_refuse(instance, fmi2Error, "fmuBuilderGetSensitivities: %s",
                         f ? "the state was restored from one without them"
                           : "no start values are followed, fmuBuilderFollowStarts names them before initialization");
    if (cc_check_references(instance, "fmuBuilderGetSensitivities", CC_REAL, vr, nvr) != fmi2OK)
        return fmi2Error;
    for (int i = 0; i < f->count; i++)
        if (cc_block(instance)[f->columns[i].start] != f->columns[i].value)
            return cc_refuse(instance, fmi2Error, "fmuBuilderGetSensitivities: %s was set after the initialization",
                             cc_name((size_t)f->columns[i].start));
    if (instance->now.dirty != 0.0) /* a value was set, which is accepted with the next step */
        for (int i = 0; i <= f->count; i++)
            f->columns[i].fresh = f->settled = 0;
    int on_demand = 0;
    for (size_t k = 0; k < nvr; k++)
        on_demand |= cc_variable(vr[k])->on_demand;
    cc_refresh(instance, 0);
    for (int i = f->count; i >= 0; i--) {
        const double *dual = f->columns[i].dual;
        if (i < f->count || on_demand || !f->settled)
            cc_evaluate_column(instance, f->columns + i, on_demand);
        for (size_t k = 0; k < nvr; k++) {
            double slope = dual[2 * vr[k] + 1] / CC_DUAL_STEP;
            if (i == f->count ? !cc_is_faint(dual[2 * vr[k] + 1], dual[2 * vr[k]]) : !cc_is_finite(slope))
                return cc_refuse(instance, fmi2Discard, "fmuBuilderGetSensitivities: %s depends on what was kept at an "
                                 "event, its derivatives are unknown", cc_name(vr[k]));
            if (i < f->count)
                value[k * (size_t)f->count + (size_t)i] = slope;
        }
    }
    return fmi2OK;
}

#endif
