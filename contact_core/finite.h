/* The values of an instance: brought up to date with what was set, and all finite behind a call. */
#ifndef CC_FINITE_H
#define CC_FINITE_H

#include "instance.h"

/* Two doubles at any address, for sums whose order does not matter. */
typedef double CcTwo __attribute__((vector_size(16), aligned(8), may_alias));

/* 1 if a sum of all n numbers is finite: then each of them is. */
static inline int cc_sum_is_finite(const double *x, int n)
{
    CcTwo sums[8] = {{0.0}};
    double last = n % 2 ? x[n - 1] : 0.0;
    int i = 0;
    for (; i + 16 <= n; i += 16)
        CC_UNROLL for (int k = 0; k < 8; k++)
            sums[k] += *(const CcTwo *)(x + i + 2 * k);
    for (; i + 2 <= n; i += 2)
        sums[0] += *(const CcTwo *)(x + i);
    CC_UNROLL for (int k = 1; k < 8; k++)
        sums[0] += sums[k];
    return cc_is_finite(last + sums[0][0] + sums[0][1]);
}

/* Compute what is on demand, beside the block: reading it moves no bit of anything else. */
CC_RARE void cc_catch_up(Instance *instance)
{
    double *block = cc_block(instance), *aside = instance->dual;
    __builtin_memcpy(aside, block, sizeof(Element));
    CC_ENTRY(evaluate)((Element *)aside, 1);
    for (size_t i = 0; i < CC_VARIABLES; i++)
        if (cc_variable(i)->on_demand)
            block[i] = aside[i];
    instance->now.behind = 0.0;
}

/* What is on demand are energies, powers and balances, sums of products of up to six values of the point.  While those
 * that are set, and the states, are below this, they are finite; beyond, they are computed with the step. */
#define CC_FAR_VALUE 1e50
#define CC_FAR_TO_INFINITE (CC_HUGE / CC_FAR_VALUE) /* a factor: the products of greater values are infinite */

static inline int cc_is_far(double value) { return !(value < CC_FAR_VALUE && value > -CC_FAR_VALUE); }

static inline int cc_may_overflow(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_INPUTS && instance->now.extrapolate != 0.0; i++)
        if (cc_is_far(block[cc_inputs[i]]))
            instance->now.far = 1.0;
    double sum = block[0] * CC_FAR_TO_INFINITE;
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
        sum += block[cc_states[i]] * CC_FAR_TO_INFINITE;
    return instance->now.far != 0.0 || !cc_is_finite(sum);
}

#define CC_PRIVATE_TURNS 8 /* steps in which all of the memory that only the element reads is looked at */

/* 1 if all variables are finite, but where nothing is far of the memory that only the element reads an eighth alone,
 * another one in each step: what it gives of it is looked at each time. */
static inline int cc_seems_finite(Instance *instance)
{
    const double *block = cc_block(instance), *private = block + CC_PRIVATE_FROM;
    if (CC_PRIVATE_COUNT == 0 || instance->now.far != 0.0)
        return cc_sum_is_finite(block, CC_VARIABLES);
    int count = CC_PRIVATE_COUNT, part = (count + CC_PRIVATE_TURNS - 1) / CC_PRIVATE_TURNS;
    int from = (int)((unsigned long long)instance->now.steps_done % CC_PRIVATE_TURNS) * part;
    int n = from < count - part ? part : from < count ? count - from : 0, behind = CC_PRIVATE_FROM + count;
    return cc_sum_is_finite(block, CC_PRIVATE_FROM) && cc_sum_is_finite(block + behind, CC_VARIABLES - behind)
           && cc_sum_is_finite(private + from, n);
}

/* Index of the first variable that is not finite, else -1; those on demand count only where they are current, or could
 * overflow: an importer can read all of them after an accepted point.  `by_parts`: as cc_seems_finite. */
static inline int cc_first_not_finite(Instance *instance, int by_parts)
{
    const double *block = cc_block(instance);
    if (CC_HAS_RATES && instance->now.behind != 0.0 && cc_may_overflow(instance))
        cc_catch_up(instance);
    if (by_parts ? cc_seems_finite(instance) : cc_sum_is_finite(block, CC_VARIABLES))
        return -1;
    for (int i = 0; i < CC_VARIABLES; i++)
        if (!cc_is_finite(block[i]) && !(instance->now.behind != 0.0 && cc_variable((size_t)i)->on_demand))
            return i;
    return -1;
}

/* Bring outputs up to date with what was set, those on demand if asked for.  In initialization mode the initial state
 * follows the parameters. */
static void cc_refresh(Instance *instance, int on_demand)
{
    if (instance->now.dirty != 0.0) {
        if (instance->now.mode == CC_INITIALIZATION)
            CC_ENTRY(start)(&instance->now.element);
        CC_ENTRY(evaluate)(&instance->now.element, on_demand);
        instance->now.behind = !on_demand;
        instance->now.dirty = 0.0;
    } else if (CC_HAS_RATES && on_demand && instance->now.behind != 0.0) {
        cc_catch_up(instance);
    }
}

#endif
