/* Directional and adjoint derivatives, derivatives of outputs. */
#ifndef CC_FMI3_DERIVATIVES_H
#define CC_FMI3_DERIVATIVES_H

#include "../fmi2/fmi2_derivatives.h"
#include "fmi3_variables.h"

/* Enter a function of derivatives unless one of its arrays is missing or of another length than its references have:
 * n_of_unknowns, n_of_knowns: lengths of those with values of the unknowns and of the knowns. */
#define CC_ENTER_DERIVATIVE(name, n_of_unknowns, n_of_knowns)                                                          \
    CC_ENTER_AS("fmi3Get" #name "Derivative", CC_READABLE & ~CC_UPDATE);                                               \
    CC_NEED(nUnknowns, unknowns);                                                                                      \
    CC_NEED(nKnowns, knowns);                                                                                          \
    CC_NEED(nSeed, seed);                                                                                              \
    CC_NEED(nSensitivity, sensitivity);                                                                                \
    if (cc_check_count(instance, function, unknowns, nUnknowns, n_of_unknowns) != fmi3OK                               \
        || cc_check_count(instance, function, knowns, nKnowns, n_of_knowns) != fmi3OK)                                 \
    return fmi3Error

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    CC_ENTER_DERIVATIVE(Directional, nSensitivity, nSeed);
    return fmi2GetDirectionalDerivative(c, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity);
}

/* The sum of seed times derivative over the scalars of the unknowns, after an evaluation over dual numbers. */
static double cc_product_with(const Instance *instance, const fmi3ValueReference unknowns[], size_t n,
                              const fmi3Float64 seed[])
{
    double sum = 0.0;
    CC_EACH_SCALAR (unknowns, n)
        sum += seed[at] * cc_slope(instance, index);
    return sum;
}

/* The products of the seed of the unknowns with their derivatives with respect to each known: an evaluation over dual
 * numbers for each of them. */
fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                    size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    CC_ENTER_DERIVATIVE(Adjoint, nSeed, nSensitivity);
    for (size_t k = 0; k < nUnknowns; k++)
        if (!cc_is_unknown(instance, function, unknowns[k]))
            return fmi3Error;
    for (size_t k = 0; k < nKnowns; k++)
        if (!cc_is_known(instance, function, knowns[k]))
            return fmi3Error;
    cc_refresh(instance, 0);
    fmi3Status status = fmi3OK;
    CC_EACH_SCALAR (knowns, nKnowns) {
        cc_make_dual(instance);
        if (cc_variable(index)->type == CC_REAL)
            instance->dual[2 * index + 1] = CC_DUAL_STEP;
        cc_add_start_directions(instance);
        CC_ENTRY(dual)(instance->dual, 1);
        sensitivity[at] = cc_product_with(instance, unknowns, nUnknowns, seed);
        if (!cc_is_finite(sensitivity[at]) && status == fmi3OK)
            status = cc_refuse(instance, cc_not_finite(instance), "%s: the derivative with respect to %s is not finite",
                               function, cc_name(index));
    }
    return status;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t nValues)
{
    CC_ENTER_AS("fmi3GetOutputDerivatives", CC_STEP_MODES | CC_UPDATE | CC_ERROR | CC_TERMINATED);
    CC_NEED(nValueReferences, valueReferences);
    CC_NEED(nValues, values);
    if (cc_check_count(instance, function, valueReferences, nValueReferences, nValues) != fmi3OK)
        return fmi3Error;
    return fmi2GetRealOutputDerivatives(c, valueReferences, nValueReferences, orders, values);
}

#endif
