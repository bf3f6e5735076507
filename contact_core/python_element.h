/* The element of a prototype: its physics is element.py.
 *
 * fmu_builder/export/prototype_slave.py calls that over a copy of the block.
 *
 * What a call had to compute is NaN where it raised an exception, as in C where a formula has no value: a point that an
 * integrator only tries may have none.  Where that makes an FMI call fail, the function `check` gives the reason.
 *
 * Derivatives of what is computed, y, over z, which are time, states and continuous inputs, are central differences
 * along the direction d that is asked for:
 *
 *     (y(z + s d) - y(z - s d)) / (2 s),    s |d_i| <= 2^-20 max(|z_i|, nominal of z_i) for every i
 *
 * With s |d_i| = 2^-20 |z_i| rounding errs by 2^-32 |y/z_i| and the formula by 2^-40 z_i^2 |y'''|/6: enough for the
 * implicit method, which alone uses them; fmi2GetDirectionalDerivative is not supported. */
#ifndef CC_PYTHON_ELEMENT_H
#define CC_PYTHON_ELEMENT_H

#include <stddef.h>

#include "python_waist.h"

#define CC_PHYSICS CC_PYTHON_ELEMENTS[CC_PYTHON_PLACE]

static void cc_compute(void (*function)(double *block, double time), double *block)
{
    double time = block[0];
    block[0] = __builtin_nan("");
    function(block, time);
    if (block[0] != block[0]) {
        block[0] = time;
        CC_PHYSICS.lost();
    }
}

static void cc_fill_computed(double *block, double value)
{
    for (int i = 0; i < CC_COMPUTED; i++)
        block[cc_computed[i]] = value;
}

/* A point that is not finite is not passed to Python: its origin is the fault. */
static void cc_evaluate_python(double *block)
{
    double sum = 0.0;
    cc_fill_computed(block, 0.0);
    for (int i = 0; i < CC_VARIABLES; i++)
        sum += block[i] - block[i];
    cc_fill_computed(block, __builtin_nan(""));
    if (sum == 0.0)
        cc_compute(CC_PHYSICS.evaluate, block);
}

#ifdef CC_DUAL

/* The longest s of the header that is not above `step`, for one value. */
static double cc_difference_step(Real value, double nominal, double step)
{
    double direction = __builtin_fabs(__imag__ value) / CC_DUAL_STEP, size = __builtin_fabs(re(value));
    double most = 0x1p-20 * (size > nominal ? size : nominal);
    return direction * step > most ? most / direction : step;
}

static void cc_move(double plus[], double minus[], Real value, int place, double step)
{
    double way = __imag__ value / CC_DUAL_STEP * step;
    plus[place] = re(value) + way;
    minus[place] = re(value) - way;
}

static void outputs(Element *e)
{
    Real *block = (Real *)e;
    double plus[CC_VARIABLES], minus[CC_VARIABLES], none = __builtin_inf();
    double step = cc_difference_step(block[0], 1.0, none);
    for (int i = 0; i < CC_STATES; i++)
        step = cc_difference_step(block[cc_states[i]], cc_state_nominals[i], step);
    for (int i = 0; i < CC_INPUTS; i++)
        step = cc_difference_step(block[cc_inputs[i]], 1.0, step);
    int is_moved = step < none;
    for (int i = 0; i < CC_VARIABLES; i++)
        plus[i] = minus[i] = re(block[i]);
    if (is_moved) {
        cc_move(plus, minus, block[0], 0, step);
        for (int i = 0; i < CC_STATES; i++)
            cc_move(plus, minus, block[cc_states[i]], cc_states[i], step);
        for (int i = 0; i < CC_INPUTS; i++)
            cc_move(plus, minus, block[cc_inputs[i]], cc_inputs[i], step);
        cc_evaluate_python(plus);
        cc_evaluate_python(minus);
    }
    for (int i = 0; i < CC_COMPUTED; i++) { /* the values are those of the point, which was evaluated before */
        int k = cc_computed[i];
        block[k] = cc_real(re(block[k]), is_moved ? (plus[k] - minus[k]) / (2.0 * step) * CC_DUAL_STEP : 0.0);
    }
}

#else

static void outputs(Element *e) { cc_evaluate_python((double *)e); }

static void python_report(CcHost *host, int level, const char *category, const char *text)
{
    cc_report(host, level, category, "%s", text);
}

static void python_fail(CcHost *host, const char *text) { cc_fail(host, "%s", text); }

static void check(const Element *e, CcHost *host)
{
    CcPythonHost listener = {host, python_report, python_fail, cc_held_over, cc_keep};
    CC_PHYSICS.check((const double *)e, &listener);
}

static void initial(Element *e)
{
    if (CC_HAS_INITIAL)
        cc_compute(CC_PHYSICS.initial, (double *)e);
}

/* An indicator without a value makes the point one without values, so that it is refused and `check` gives the reason.
 * */
static void indicators(const Element *e, Indicators *z)
{
    double *values = (double *)z, *block = (double *)(size_t)e;
    if (!CC_INDICATORS)
        return;
    for (int i = 0; i < CC_INDICATORS; i++)
        values[i] = __builtin_nan("");
    double sum = 0.0;
    for (int i = 0; i < CC_STATES; i++)
        sum += block[cc_states[i]] - block[cc_states[i]];
    if (sum != 0.0)
        return; /* as for evaluate */
    CC_PHYSICS.indicators(block, values);
    int is_complete = 1;
    for (int i = 0; i < CC_INDICATORS; i++)
        is_complete &= values[i] == values[i];
    if (!is_complete) {
        CC_PHYSICS.lost();
        cc_fill_computed(block, __builtin_nan(""));
    }
}

static int cc_keep_account(int (*function)(double *block, double time, const CcPythonHost *host, double step),
                           double *block, CcHost *host, double step)
{
    CcPythonHost listener = {host, python_report, python_fail, cc_held_over, cc_keep};
    double time = block[0];
    block[0] = __builtin_nan("");
    int changed = function(block, time, &listener, step);
    if (block[0] == block[0])
        return changed;
    block[0] = time;
    python_fail(host, "KeyboardInterrupt");
    return 0;
}

static void start(Element *e)
{
    if (CC_HAS_ACCEPT)
        cc_compute(CC_PHYSICS.start, (double *)e);
}

static int accept(Element *e, CcHost *host, double step)
{
    return CC_HAS_ACCEPT ? cc_keep_account(CC_PHYSICS.accept, (double *)e, host, step) : 0;
}

static int sample(Element *e, CcHost *host, double step)
{
    return CC_HAS_SAMPLE ? cc_keep_account(CC_PHYSICS.sample, (double *)e, host, step) : 0;
}

#endif

static void rates(Element *e) { outputs(e); }

#endif
