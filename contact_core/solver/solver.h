/* Integration of one communication step: substeps, their length and method, events.
 *
 * Inputs are held, or follow u(t) = u(t_c) + u' (t - t_c) where the importer gave derivatives.
 *
 * Exact       Where held inputs fix the course of all states (CC_EXACT, from what element.toml says they depend on),
 *             the step is one substep with one evaluation, without error; solver.method, .tolerance and .max_step have
 *             no effect there.  Where held inputs hold all that is computed (CC_STILL), there is nothing to evaluate
 *             at its end.  All else is about the other models, and about inputs with derivatives.
 * Substeps    An attempt is refused while its estimated error in a state is greater than cc_allowed (substep.h).  The
 *             next one is 0.9 e^(-3/16) times as long, e its error as a multiple of what is allowed, between 1/5 and 5
 *             times: near the roots 1/4 and 1/5 of the orders 4 and 5, by square roots alone.  The length is remembered
 *             over communication steps.
 * Method      Dormand-Prince 5(4), or Bogacki-Shampine 3(2) in substeps so short that the result is the same; the
 *             L-stable RODAS 4(3) once stability and not accuracy limited CC_STIFF_HINTS substeps (h times the largest
 *             rate above CC_STIFF_LIMIT), or an attempt as short as they get.  Back when that falls below
 *             CC_SMOOTH_LIMIT, after every event, and where a derivative that RODAS needs is not finite.
 * Events      Between two of their zeros the indicators promise smooth right-hand sides.  An attempt is broken off at
 *             the first stage behind a zero, before its right-hand side is used, and begun again with the length at
 *             which a parabola has the zero: it goes through the indicator at the beginning, with its slope there, and
 *             at the stage.  Estimates get better as attempts get shorter, and later ones are cut by a tenth of what
 *             they correct, to end before the zero.  The substep that ends within `width` before it stands, and a step
 *             of Euler's method of that length leads across.  So no substep mixes both sides, whatever jumps there, and
 *             no zero is found later than width = 2^-42 of the communication step.
 *             Where that step turns no sign, or CC_MOST_LANDINGS substeps in a row did not come near enough, the
 *             estimates are wrong: only error control limits the next substep.  An indicator that is 0 at its beginning
 *             has not turned where it goes back against its slope: that is rounding, as of a point that leaves slowly.
 * Grazing     Where an indicator turns inside a substep without having crossed at a stage, the dense output is looked
 *             at where a parabola has its extremum.
 * Rounding    Crossings within tolerance * nominal of an indicator on both sides are no events: a body at rest, whose
 *             rates are zero up to rounding, costs no more than one that moves smoothly.  Ledgers whose rates
 *             jump with them are held to a coarser tolerance.
 *
 * The element accepts the end of every substep, and may end the step there (cc_stop).
 *
 * Sources: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I (II.4: step control) and II (IV.2:
 * detection of stiffness). */
#ifndef CC_SOLVER_H
#define CC_SOLVER_H

#include "../finite.h"
#include "bogacki_shampine.h"
#include "dormand_prince.h"
#include "variation.h"
#if CC_IMPLICIT
#include "rosenbrock.h"
#else
#include "explicit_only.h"
#endif

enum { CC_AUTO = 1, CC_EXPLICIT, CC_IMPLICIT_ONLY }; /* solver.method */

#define CC_EVENT_WIDTH 0x1p-42   /* of the communication step: how sharply events are located */
#define CC_SHORTEST_STEP 0x1p-46 /* of the communication step: attempts this short are not refused for their error */
#define CC_STIFF_HINTS 8         /* substeps that stability limits, with fewer than CC_SMOOTH_HINTS others between */
#define CC_SMOOTH_HINTS 4
#define CC_STIFF_LIMIT 2.0       /* h times the largest rate: the explicit method is stable below 3.3 */
#define CC_SMOOTH_LIMIT 1.0
#define CC_MOST_LANDINGS 40      /* substeps in a row that end before a zero: most need two, grazing ones some ten */
#define CC_SURE_CROSSINGS 8      /* attempts broken off from one point before the estimated lengths are halved */

/* How much longer the next substep may be for an error e as a multiple of what is allowed. */
static inline double cc_growth(double e)
{
    if (e < 1e-4) /* 0.9 e^(-3/16) > 5 */
        return 5.0;
    double root = cc_sqrt(cc_sqrt(cc_sqrt(e))); /* e^(1/8) */
    double factor = 0.9 / (root * cc_sqrt(root));
    return factor > 5.0 ? 5.0 : factor > 0.2 ? factor : 0.2; /* 0.2 if e is no number */
}

/* Keep the point the block is at as the beginning of the next substep. */
__attribute__((noinline)) static void cc_begin_substep(Instance *instance)
{
    const double *block = cc_block(instance);
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++) {
        instance->x_0[i] = block[cc_states[i]];
        instance->slopes[0][i] = block[cc_state_derivatives[i]];
    }
    CC_ENTRY(indicators)(&instance->now.element, instance->z_0);
}

/* Accept the end of a substep of length h, at `tau`; the importer may have the communication step end there. */
static inline void cc_accept(Instance *instance, CcStep *step, double h, double tau)
{
    if (instance->followed)
        cc_accept_followed(instance, h);
    else
        CC_ENTRY(accept)(&instance->now.element, instance, h);
    step->accepted += 1.0;
    CC_SHOW(instance, step->t_c, tau, &step->length, &step->t_end);
}

/* From tau across a zero expected within h, along the slope at the beginning; twice as far if that was not enough.
 * Returns the time behind it. */
static double cc_step_across(Instance *instance, CcStep *step, double tau, double h)
{
    double end = tau;
    int turned = 0;
    for (int doubled = 0; !turned && doubled < 8; doubled++, h *= 2.0) {
        end = tau + h < step->length ? tau + h : step->length;
        for (int i = 0; i < CC_STATES; i++)
            instance->x_1[i] = instance->x_0[i] + (end - tau) * instance->slopes[0][i];
        cc_evaluate_at(instance, step, end);
        CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
        for (int i = 0; i < CC_INDICATORS && !turned; i++) /* from 0 back against its slope is rounding */
            turned = cc_has_turned(instance, i)
                     && !(instance->z_0[i] == 0.0 && instance->z_1[i] * instance->z_slope[i] < 0.0);
    }
    step->events += turned;
    if (instance->followed) {
        cc_follow_by(instance, step, tau, end, &cc_euler, 1);
        instance->followed->crosses = turned;
    }
    cc_accept(instance, step, end - tau, end);
    if (instance->followed)
        cc_follow_crossing(instance, step, tau, end);
    step->landings = 0;
    step->ignores_zeros = !turned; /* the stage behind a zero was a wrong estimate */
    return end;
}

/* The share of a finished explicit substep at which the first zero lies if an indicator went there and back inside,
 * else CC_NO_ZERO.  Leaves the block at the end of the substep. */
static double cc_grazing_zero(Instance *instance, CcStep *step, double tau, double end)
{
    double first = CC_NO_ZERO;
    if (!CC_INDICATORS || instance->now.implicit != 0.0 || step->ignores_zeros)
        return first;
    double *z_end = instance->z_end;
    __builtin_memcpy(z_end, instance->z_1, sizeof instance->z_end);
    for (int i = 0; i < CC_INDICATORS; i++) {
        double z_0 = instance->z_0[i], slope = instance->z_slope[i], bend = z_end[i] - z_0 - slope;
        if (!(cc_abs(slope) < 2.0 * cc_abs(bend)))
            continue; /* most turn outside of the substep, if at all: nothing to divide */
        double turn = -0.5 * slope / bend, least = z_0 + 0.5 * slope * turn;
        double near = cc_min(cc_abs(z_0), cc_abs(z_end[i])), noise = step->tolerance * cc_indicator_nominals[i];
        if (!(turn > 0.0 && turn < 1.0) || (z_0 > 0.0) != (z_end[i] > 0.0) || (z_0 > 0.0 ? least : -least) > 0.1 * near
            || (near <= noise && cc_abs(least) <= noise))
            continue;
        cc_dense_output(instance, step, end - tau, turn);
        cc_evaluate_with(instance, step, instance->x_between, tau + turn * (end - tau));
        CC_ENTRY(indicators)(&instance->now.element, instance->z_1);
        if (cc_has_crossed(instance, step, i)) {
            double zero = cc_zero_of_parabola(z_0, slope, instance->z_1[i], turn);
            first = zero < first ? zero : first;
        }
        cc_evaluate_at(instance, step, end);
    }
    return first;
}

static inline void cc_choose(Instance *instance, int implicit)
{
    instance->now.implicit = implicit;
    instance->now.stiff_hints = instance->now.smooth_hints = 0.0;
}

/* A zero is expected at the share `zero` of the attempt from tau: cross it if it is near, else set `wanted` to end
 * before it.  Returns the time now. */
__attribute__((noinline)) static double cc_approach(Instance *instance, CcStep *step, double tau, double tried,
                                                    double zero)
{
    double before = zero * tried - 0.5 * step->width, earlier = before - 0.1 * (tried - before);
    step->wanted = before;
    if (++step->broken_off > CC_SURE_CROSSINGS)
        step->wanted = cc_min(before, 0.5 * tried);
    else if (step->broken_off > 1 && earlier > 0.5 * before)
        step->wanted = earlier; /* an estimate errs by much less than it corrects the last one: end before the zero */
    if (step->wanted > 0.5 * step->width)
        return tau;
    if (instance->now.element.solver.method == CC_AUTO)
        cc_choose(instance, 0);
    return cc_step_across(instance, step, tau, before + step->width);
}

/* At the beginning of an implicit substep: 0 if the explicit method has to take it, for one of the derivatives that the
 * implicit one needs is not finite.  Where that one alone is allowed its attempts are refused until the step fails. */
static inline int cc_has_jacobian(Instance *instance, CcStep *step)
{
    if (cc_linearize(instance, step) || instance->now.element.solver.method != CC_AUTO)
        return 1;
    cc_choose(instance, 0);
    return 0;
}

/* One attempt from the beginning of the substep, at tau, to `end`.  Returns the share at which the first zero of an
 * indicator is expected, else CC_NO_ZERO with the error as a multiple of what is allowed and, of the explicit method,
 * the length times the largest rate. */
static inline double cc_attempt(Instance *instance, CcStep *step, double tau, double end, int fresh, double *error,
                         double *stiffness)
{
    double zero;
    step->is_short = 0;
    if (CC_IMPLICIT && instance->now.implicit != 0.0 && (!fresh || cc_has_jacobian(instance, step))) {
        zero = cc_implicit_stages(instance, step, tau, end);
        if (!(zero < CC_NO_ZERO))
            *error = cc_implicit_error(instance, step);
        return zero;
    }
    if (end - tau <= instance->now.short_length) {
        step->is_short = 1;
        zero = cc_short_stages(instance, step, tau, end);
        if (zero < CC_NO_ZERO)
            return zero;
        double short_error = cc_short_error(instance, step, end - tau);
        cc_learn_short(instance, end - tau, short_error);
        if (short_error <= 1.0)
            return CC_NO_ZERO; /* and nothing by the measure of the larger pair */
        step->is_short = 0;
    }
    zero = cc_explicit_stages(instance, step, tau, end);
    if (!(zero < CC_NO_ZERO))
        *error = cc_explicit_error(instance, step, end - tau, stiffness);
    return zero;
}

/* The length that follows an accepted substep, which its error would let grow. */
static inline void cc_propose(CcStep *step, double tried, double growth)
{
    double grown = tried * (step->refused ? cc_min(growth, 1.0) : growth);
    if (step->noisy)
        return; /* a length that is right until the next flicker is no measure */
    if (step->refused || tried >= step->proposed || grown > step->proposed)
        step->proposed = grown; /* else it ended at an event or the end of the step, and shows nothing of longer ones */
}

/* After an accepted substep: whether the next one is implicit. */
static inline void cc_choose_next(Instance *instance, const CcStep *step, double stiffness)
{
    if (!CC_IMPLICIT)
        return;
    if (instance->now.implicit != 0.0) {
        if (step->proposed * cc_fastest_rate(instance, step) < CC_SMOOTH_LIMIT)
            cc_choose(instance, 0);
    } else if (stiffness > CC_STIFF_LIMIT) {
        instance->now.smooth_hints = 0.0;
        instance->now.stiff_hints += 1.0;
        if (instance->now.stiff_hints >= CC_STIFF_HINTS)
            cc_choose(instance, 1);
    } else if ((instance->now.smooth_hints += 1.0) >= CC_SMOOTH_HINTS) {
        instance->now.stiff_hints = 0.0;
    }
}

static inline double cc_clamp_count(double count) { return count < 2147483647.0 ? count : 2147483647.0; }

static inline void cc_add_counters(Instance *instance, const CcStep *step)
{
    Element *e = &instance->now.element;
    e->solver.steps = cc_clamp_count(e->solver.steps + step->accepted);
    e->solver.rejected = cc_clamp_count(e->solver.rejected + step->attempts - step->accepted);
    e->solver.events = cc_clamp_count(e->solver.events + step->events);
    e->solver.evaluations = cc_clamp_count(e->solver.evaluations + step->evaluations);
}

/* No substep from tau on, however short, has a finite end: name a value that is not finite, the earliest one first. */
CC_RARE void cc_log_not_finite(Instance *instance, const CcStep *step, double tau)
{
    const double *block = cc_block(instance);
    int bad = cc_first_not_finite(instance, 0), by = 0;
    double time = block[0], value = bad < 0 ? 0.0 : block[bad];
    int steep = CC_IMPLICIT && instance->now.implicit != 0.0 ? cc_first_not_linear(instance, &by) : -1;
    for (int i = CC_STATES - 1; i >= 0; i--)
        if (!cc_is_finite(instance->slopes[0][i])) {
            bad = cc_state_derivatives[i];
            time = step->t_c + tau;
            value = instance->slopes[0][i];
            steep = -1;
        }
    cc_log_origin(instance, fmi2Error, value);
    if (steep >= 0)
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DoStep) ": the derivative of %s by %s is not finite at %g s, and the implicit method needs "
                  "it, so the step from %g s to %g s fails: another solver.method needs none",
                  cc_name(cc_state_derivatives[steep]), cc_name(by), step->t_c + tau, step->t_c, step->t_end);
    else if (bad >= 0)
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DoStep) ": %s is not finite at %g s, so the step from %g s to %g s fails", cc_name(bad),
                  time, step->t_c, step->t_end);
    else
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DoStep) ": the estimated error of %s is not finite at %g s, however short the substep, so "
                  "the step from %g s to %g s fails", cc_name(cc_states[step->worst_state]), step->t_c + tau, step->t_c,
                  step->t_end);
}

/* From tau to the end of the step with one evaluation at most, where inputs are held: x = x_0 + h x' + h^2 x''/2, or
 * with a primitive P of x', x = x_0 + P(t_end) - P(t). */
static inline void cc_exact_step(Instance *instance, CcStep *step, double tau)
{
    double *block = cc_block(instance), h = step->length - tau;
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++) {
        double bend = cc_state_bends[i] >= 0 ? block[cc_state_bends[i]] : 0.0;
        instance->x_1[i] = block[cc_states[i]] + h * (block[cc_state_derivatives[i]] + 0.5 * h * bend);
        instance->x_0[i] = block[cc_states[i]];
        instance->x_late[i] = cc_state_primitives[i] >= 0 ? block[cc_state_primitives[i]] : 0.0;
    }
    cc_evaluate_at(instance, step, step->length);
    CC_STATE_LOOP for (int i = 0; i < CC_STATES; i++)
        if (cc_state_primitives[i] >= 0) /* no output follows such a state */
            block[cc_states[i]] = instance->x_0[i] + (block[cc_state_primitives[i]] - instance->x_late[i]);
    step->attempts = 1.0;
    cc_accept(instance, step, h, step->length);
}

/* From the block's time to t_end, accepting every substep.  Returns 1 if it came there; else it reported why not. */
static inline int cc_integrate(Instance *instance, double t_c, double t_end)
{
    double *block = cc_block(instance);
    cc_keep_inputs(instance);
    CcStep step = {.t_c = t_c, .t_end = t_end, .length = t_end - t_c, .tolerance = cc_tolerance(instance)};
    double most = instance->now.element.solver.max_substeps, longest = instance->now.element.solver.max_step;
    int method = (int)instance->now.element.solver.method;
    double tau = block[0] - t_c;
    step.width = CC_EVENT_WIDTH * step.length;
    if (CC_EXACT && instance->now.extrapolate == 0.0 && !instance->followed) {
        cc_exact_step(instance, &step, tau);
        cc_add_counters(instance, &step);
        return 1;
    }
    if (step.length > most * longest) {
        cc_refuse(instance, fmi2Error,
                  CC_CALLED(DoStep) ": a step of %g s takes more than solver.max_substeps = %g substeps "
                  "of solver.max_step = %g s", step.length, most, longest);
        return 0;
    }
    if (!CC_IMPLICIT || method == CC_EXPLICIT || instance->followed)
        cc_choose(instance, 0);
    else if (method == CC_IMPLICIT_ONLY)
        cc_choose(instance, 1);
    step.proposed = instance->now.substep > 0.0 ? instance->now.substep : step.length;
    double begun_at = -1.0; /* tau of the point that is kept as the beginning of the substep */
    double stiff_at = -1.0; /* tau of the last one from which the explicit method could not be short enough */
    while (tau < step.length && !instance->failures && !instance->stopped) {
        int fresh = begun_at != tau;
        if (fresh) {
            cc_begin_substep(instance);
            begun_at = tau;
            step.wanted = step.proposed;
            step.broken_off = step.refused = step.noisy = 0;
        }
        double left = step.length - tau, tried = cc_min(cc_min(step.wanted, longest), left);
        if (!step.broken_off && left - tried < step.width)
            tried = left;
        double end = tried == left ? step.length : tau + tried;
        if (!(end > tau)) {
            cc_refuse(instance, fmi2Error,
                      CC_CALLED(DoStep) ": the substeps are %g s long at %g s and do not move the clock "
                      "any more; the largest error is that of %s: a step shorter than %g s, or a larger "
                      "solver.max_step or solver.tolerance, helps", tried, t_c + tau,
                      cc_name(cc_states[step.worst_state]), step.length);
            return 0;
        }
        if (!(step.attempts < most)) {
            cc_refuse(instance, fmi2Error,
                      CC_CALLED(DoStep) ": solver.max_substeps = %g are used up at %g s, the substeps are "
                      "%g s long there; the largest error is that of %s, %g events were located: a larger "
                      "solver.max_substeps or solver.tolerance, or a shorter step, helps", most, t_c + tau, tried,
                      cc_name(cc_states[step.worst_state]), step.events);
            return 0;
        }
        step.attempts += 1.0;
        step.flickers = 0;
        if (CC_PYTHON)
            step.is_lost = 0;
        double stiffness = 0.0, error = 0.0;
        double zero = cc_attempt(instance, &step, tau, end, fresh, &error, &stiffness);
        if (CC_PYTHON && step.is_lost)
            zero = CC_NO_ZERO, error = __builtin_inf();
        if (zero < CC_NO_ZERO) {
            tau = cc_approach(instance, &step, tau, tried, zero);
            continue;
        }
        if (CC_IMPLICIT && !(error <= 1.0) && tried <= CC_SHORTEST_STEP * step.length && stiffness > CC_STIFF_LIMIT
            && method == CC_AUTO && !instance->followed && stiff_at != tau) {
            cc_choose(instance, 1); /* an unstable attempt that is accepted may add anything to a ledger */
            cc_evaluate_with(instance, &step, instance->x_0, tau);
            stiff_at = tau;
            begun_at = -1.0;
            continue;
        }
        if (!(error <= 1.0) && (tried > CC_SHORTEST_STEP * step.length || !cc_is_finite(error))) {
            if (tried <= CC_SHORTEST_STEP * step.length) {
                cc_log_not_finite(instance, &step, tau);
                return 0;
            }
            step.wanted = tried * cc_min(cc_growth(error), 0.5);
            step.refused++;
            step.noisy += step.flickers && !cc_is_core[step.worst_state];
            continue;
        }
        zero = cc_grazing_zero(instance, &step, tau, end);
        if (zero < CC_NO_ZERO) {
            tau = cc_approach(instance, &step, tau, tried, zero);
            continue;
        }
        if (instance->followed) {
            double varied = cc_follow_substep(instance, &step, tau, end);
            if (!(varied <= 1.0)) {
                step.wanted = tried * cc_min(cc_growth(varied), 0.5);
                step.refused++;
                continue;
            }
            error = cc_max(error, varied);
        }
        cc_accept(instance, &step, tried, end);
        if (!step.is_short && instance->now.implicit == 0.0)
            cc_learn_long(instance, &step, tried, error);
        step.landings = step.broken_off ? step.landings + 1 : 0;
        step.ignores_zeros = step.landings > CC_MOST_LANDINGS;
        tau = end;
        cc_propose(&step, tried, cc_growth(error));
        if (method == CC_AUTO && !instance->followed)
            cc_choose_next(instance, &step, stiffness);
    }
    instance->now.substep = step.proposed;
    cc_add_counters(instance, &step);
    return 1;
}

#endif
