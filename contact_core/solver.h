/* Integration of one communication step: substeps, their length and method, events.
 *
 * Inputs are held, or follow u(t) = u(t_c) + u' (t - t_c) where the importer gave derivatives.
 *
 * Substeps    An attempt is refused while its estimated error in a state is greater than cc_allowed (substep.h).  The
 *             next one is 0.9 e^(-3/16) times as long, e its error as a multiple of what is allowed, between 1/5 and 5
 *             times: the roots of orders 4 and 5 without a power function.  The length is remembered over communication
 *             steps.
 * Method      Dormand-Prince 5(4); the L-stable RODAS 4(3) once stability and not accuracy limited CC_STIFF_HINTS
 *             substeps (h times the largest rate above CC_STIFF_LIMIT).  Back when that falls below CC_SMOOTH_LIMIT, and
 *             after every event.
 * Events      Between two of their zeros the indicators promise smooth right-hand sides.  An attempt is broken off at
 *             the first stage behind a zero, before its right-hand side is used, and begun again with the length at which
 *             a parabola has the zero: it goes through the indicator at the beginning, with its slope there, and at the
 *             stage.  Estimates get better as attempts get shorter; the substep that ends within `width` before the zero
 *             stands, and a step of Euler's method of that length leads across.  So no substep mixes both sides, whatever
 *             jumps there, and no zero is found later than width = 2^-42 of the communication step.
 * Grazing     Where an indicator turns inside a substep without having crossed at a stage, the dense output is looked at
 *             where a parabola has its extremum.
 * Rounding    Crossings within tolerance * nominal of an indicator on both sides are no events: a body at rest, whose
 *             rates are zero up to rounding, costs no more than one that moves smoothly.  Ledgers whose rates
 *             jump with them are held to a coarser tolerance.
 *
 * The element accepts the end of every substep.
 *
 * Sources: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I (II.4: step control) and II (IV.2:
 * detection of stiffness). */
#ifndef CC_SOLVER_H
#define CC_SOLVER_H

#include "dormand_prince.h"
#include "rosenbrock.h"

#if CC_STATES

enum { CC_AUTO = 1, CC_EXPLICIT, CC_IMPLICIT_ONLY }; /* solver.method */

#define CC_EVENT_WIDTH 0x1p-42   /* of the communication step: how sharply events are located */
#define CC_SHORTEST_STEP 0x1p-46 /* of the communication step: attempts this short are not refused for their error */
#define CC_STIFF_HINTS 8         /* substeps that stability limits, with fewer than CC_SMOOTH_HINTS others in a row between */
#define CC_SMOOTH_HINTS 4
#define CC_STIFF_LIMIT 2.0       /* h times the largest rate: the explicit method is stable below 3.3 */
#define CC_SMOOTH_LIMIT 1.0
#define CC_SURE_CROSSINGS 2      /* attempts broken off from one point before the estimated lengths are halved */

/* How much longer the next substep may be for an error e as a multiple of what is allowed. */
static double cc_growth(double e)
{
    double root = cc_sqrt(cc_sqrt(cc_sqrt(e))); /* e^(1/8) */
    double factor = 0.9 / (root * cc_sqrt(root));
    return factor > 5.0 || e == 0.0 ? 5.0 : factor > 0.2 ? factor : 0.2; /* 0.2 if e is no number */
}

/* Keep the point the block is at as the beginning of the next substep. */
static void cc_begin_substep(Instance *instance)
{
    const double *block = cc_block(instance);
    for (int i = 0; i < CC_STATES; i++) {
        instance->x_0[i] = block[cc_states[i]];
        instance->slopes[0][i] = block[cc_state_derivatives[i]];
    }
    CC_ENTRY(indicators)(&instance->now.element, instance->z_0);
}

static void cc_accept(Instance *instance, CcStep *step, double h)
{
    CC_ENTRY(accept)(&instance->now.element, instance, h);
    step->accepted += 1.0;
}

/* From tau across a zero expected within h, along the slope at the beginning; twice as far if that was not enough.
 * Returns the time behind it. */
static double cc_cross(Instance *instance, CcStep *step, double tau, double h)
{
    double end = tau;
    for (int doubled = 0; doubled < 8; doubled++, h *= 2.0) {
        end = tau + h < step->length ? tau + h : step->length;
        for (int i = 0; i < CC_STATES; i++)
            instance->x_1[i] = instance->x_0[i] + (end - tau) * instance->slopes[0][i];
        cc_evaluate_at(instance, step, end);
        CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
        for (int i = 0; i < CC_INDICATORS; i++)
            if (cc_has_turned(instance, i)) {
                step->events += 1.0;
                doubled = 8;
                break;
            }
    }
    cc_accept(instance, step, end - tau);
    return end;
}

/* The share of a finished explicit substep at which the first zero lies if an indicator went there and back inside, else
 * CC_NO_ZERO.  Leaves the block at the end of the substep. */
static double cc_grazing_zero(Instance *instance, CcStep *step, double tau, double end)
{
    double first = CC_NO_ZERO;
#if CC_INDICATORS
    double *z_end = instance->z_end;
    __builtin_memcpy(z_end, instance->z_1, sizeof instance->z_end);
    for (int i = 0; i < CC_INDICATORS; i++) {
        double z_0 = instance->z_0[i], slope = instance->z_slope[i], bend = z_end[i] - z_0 - slope;
        double turn = bend != 0.0 ? -0.5 * slope / bend : 0.0, least = z_0 + 0.5 * slope * turn;
        double near = cc_min(cc_abs(z_0), cc_abs(z_end[i]));
        if (!(turn > 0.0 && turn < 1.0) || (z_0 > 0.0) != (z_end[i] > 0.0) || (z_0 > 0.0 ? least : -least) > 0.1 * near
            || near <= step->tolerance * cc_indicator_nominals[i])
            continue;
        cc_dense_output(instance, end - tau, turn);
        cc_evaluate_with(instance, step, instance->x_between, tau + turn * (end - tau));
        CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
        if (cc_has_crossed(instance, step, i)) {
            double zero = cc_zero_of_parabola(z_0, slope, instance->z_1[i], turn);
            first = zero < first ? zero : first;
        }
        cc_evaluate_at(instance, step, end);
    }
#else
    (void)instance, (void)step, (void)tau, (void)end;
#endif
    return first;
}

#if CC_IMPLICIT
/* After an accepted explicit substep of this stiffness: whether the next one should be implicit. */
static int cc_is_stiff(Instance *instance, double stiffness)
{
    if (stiffness > CC_STIFF_LIMIT) {
        instance->now.smooth_hints = 0.0;
        instance->now.stiff_hints += 1.0;
    } else if ((instance->now.smooth_hints += 1.0) >= CC_SMOOTH_HINTS) {
        instance->now.stiff_hints = 0.0;
    }
    return instance->now.stiff_hints >= CC_STIFF_HINTS;
}
#endif

static void cc_choose(Instance *instance, int implicit)
{
    instance->now.implicit = implicit;
    instance->now.stiff_hints = instance->now.smooth_hints = 0.0;
}

static double cc_clamp_count(double count) { return count < 2147483647.0 ? count : 2147483647.0; }

static void cc_count(Instance *instance, const CcStep *step)
{
    Element *e = &instance->now.element;
    e->solver.steps = cc_clamp_count(e->solver.steps + step->accepted);
    e->solver.rejected = cc_clamp_count(e->solver.rejected + step->attempts - step->accepted);
    e->solver.events = cc_clamp_count(e->solver.events + step->events);
    e->solver.evaluations = cc_clamp_count(e->solver.evaluations + step->evaluations);
}

/* No substep from tau on, however short, has a finite end. */
static void cc_tell_not_finite(Instance *instance, const CcStep *step, double tau)
{
    const double *block = cc_block(instance);
    int bad = cc_first_not_finite(block);
    double time = block[0];
    for (int i = CC_STATES - 1; i >= 0; i--)
        if (!cc_is_finite(instance->slopes[0][i])) {
            bad = cc_state_derivatives[i];
            time = step->t_c + tau;
        }
    cc_refuse(instance, fmi2Error, "fmi2DoStep: %s is not finite at %g s, so the step from %g s to %g s fails",
              cc_name(bad < 0 ? cc_states[step->worst_state] : bad), time, step->t_c, step->t_end);
}

/* From the block's time to t_end, accepting every substep.  Returns 1 if it came there; else it told why not. */
static int cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    for (int i = 0; i < CC_INPUTS; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
    CcStep step = {.t_c = t_c, .t_end = t_end, .length = t_end - t_c, .tolerance = cc_tolerance(instance)};
    double most = instance->now.element.solver.max_substeps, longest = instance->now.element.solver.max_step;
    int method = (int)instance->now.element.solver.method;
    double tau = block[0] - t_c, width = CC_EVENT_WIDTH * step.length;
    if (CC_QUADRATURE && instance->now.extrapolate == 0.0) { /* all rates are constant */
        for (int i = 0; i < CC_STATES; i++)
            instance->x_1[i] = block[cc_states[i]] + (step.length - tau) * block[cc_state_derivatives[i]];
        step.attempts = 1.0;
        cc_evaluate_at(instance, &step, step.length);
        cc_accept(instance, &step, step.length - tau);
        cc_count(instance, &step);
        return 1;
    }
    if (!CC_IMPLICIT || method == CC_EXPLICIT)
        cc_choose(instance, 0);
    else if (method == CC_IMPLICIT_ONLY)
        cc_choose(instance, 1);
    double h = instance->now.substep > 0.0 ? instance->now.substep : step.length; /* what the error control proposes */
    double wanted = h;                                                           /* what an event asks for */
    int begun = 0, broken_off = 0, refused = 0;
    while (tau < step.length) {
        if (!begun) {
            cc_begin_substep(instance);
            wanted = h;
            broken_off = refused = 0;
        }
        double left = step.length - tau, tried = cc_min(cc_min(wanted, longest), left);
        if (!broken_off && left - tried < width)
            tried = left;
        double end = tried == left ? step.length : tau + tried, stiffness = 0.0, error;
        if (!(step.attempts < most)) {
            cc_refuse(instance, fmi2Error, "fmi2DoStep: solver.max_substeps = %g are used up at %g s, the substeps are "
                      "%g s long there; the largest error is that of %s, %g events were located: a larger "
                      "solver.max_substeps or solver.tolerance, or a shorter step, helps", most, t_c + tau, tried,
                      cc_name(cc_states[step.worst_state]), step.events);
            return 0;
        }
        step.attempts += 1.0;
        step.flickers = 0;
#if CC_IMPLICIT
        double zero = instance->now.implicit != 0.0 ? cc_implicit_stages(instance, &step, tau, end, !begun)
                                                    : cc_explicit_stages(instance, &step, tau, end);
#else
        double zero = cc_explicit_stages(instance, &step, tau, end);
#endif
        begun = 1;
        if (zero < CC_NO_ZERO) {
            double before = zero * tried - 0.5 * width;
            if (before <= 0.5 * width) {
                double from = tau, events = step.events;
                tau = cc_cross(instance, &step, tau, before + width);
                if (step.events == events) /* an indicator that leaves zero flatly is not behind it yet: go on from near */
                    h = cc_min(h, 2.0 * (tau - from));
                if (method == CC_AUTO)
                    cc_choose(instance, 0);
                begun = 0;
            } else {
                wanted = ++broken_off > CC_SURE_CROSSINGS ? cc_min(before, 0.5 * tried) : before;
            }
            continue;
        }
#if CC_IMPLICIT
        error = instance->now.implicit != 0.0 ? cc_implicit_error(instance, &step)
                                              : cc_explicit_error(instance, &step, tried, &stiffness);
#else
        error = cc_explicit_error(instance, &step, tried, &stiffness);
#endif
        if (!(error <= 1.0) && (tried > CC_SHORTEST_STEP * step.length || !cc_is_finite(error))) {
            if (tried <= CC_SHORTEST_STEP * step.length) {
                cc_tell_not_finite(instance, &step, tau);
                return 0;
            }
            h = wanted = tried * cc_min(cc_growth(error), 0.5);
            refused = 1;
            continue;
        }
        if (instance->now.implicit == 0.0 && (zero = cc_grazing_zero(instance, &step, tau, end)) < CC_NO_ZERO) {
            broken_off++;
            wanted = cc_min(cc_max(zero * tried - 0.5 * width, width), 0.9 * tried);
            continue;
        }
        cc_accept(instance, &step, tried);
        tau = end;
        begun = 0;
        double grown = tried * cc_growth(error);
        h = tried < h && grown < h ? h : refused ? cc_min(grown, tried) : grown; /* cut for an event or the end: keep h */
#if CC_IMPLICIT
        if (method == CC_AUTO) {
            if (instance->now.implicit == 0.0 && cc_is_stiff(instance, stiffness))
                cc_choose(instance, 1);
            else if (instance->now.implicit != 0.0 && h * cc_fastest_rate(instance, &step) < CC_SMOOTH_LIMIT)
                cc_choose(instance, 0);
        }
#endif
    }
    instance->now.substep = h;
    cc_count(instance, &step);
    return 1;
}

#else

/* Nothing to integrate: the outputs of the end. */
static int cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    CcStep step = {.t_c = t_c, .t_end = t_end, .length = t_end - t_c};
    for (int i = 0; i < CC_INPUTS; i++)
        instance->input_starts[i] = block[cc_inputs[i]];
    double h = t_end - block[0];
    cc_evaluate_at(instance, &step, step.length);
    CC_ENTRY(accept)(&instance->now.element, instance, h);
    return 1;
}

#endif

#endif
