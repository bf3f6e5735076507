/* The waist: the interface between contact_core and an element, of which the core names no variable.
 *
 * An element includes headers of the rooms as well, such as laws/, surfaces/ and coupling/.
 *
 * An element is an ordinary differential equation with events over one flat struct `Element` of Reals, generated from
 * element.toml: time t, parameters p, inputs u, states x, their derivatives, outputs y, memory m.  It defines, as
 * static functions of these names,
 *
 *   outputs      y from t, p, u, x, m; may be called any number of times and changes nothing else      always
 *   rates        as outputs, without the variables that are declared `on_demand`, of which derivatives, indicators and
 *                accept need none                                                               if there are any
 *   derivatives  dx/dt from t, p, u, x, m, after outputs        if a state declares no `rate`; the others are generated
 *   initial      the states that declare `initial`, from p                                          if there are any
 *   start        the initial m from t, p, u, x                                                     if it has [memory]
 *   accept       bookkeeping at an accepted point, step = length of the step that led there, s,    if it has [memory]
 *                or 0 when initialization ends; only start, accept and sample change m; returns CC_CHANGED if
 *                outputs depend on the change and have to be computed again, CC_JUMPED if states jumped as well, else
 *                0; without CC_JUMPED x may change only where nothing that is computed depends on it; a state that
 *                changes in either way declares `reinit`
 *                (cc_fail here makes the call an error: the step, the accepted point or the initialization; cc_stop
 *                ends the step at this point)
 *   sample       bookkeeping at a communication point of co-simulation, step = length of the step that begins, s; the
 *                inputs are those of the point; may change m and x; returns CC_CHANGED if outputs depend on the change,
 *                else 0                                                           if a switch of [structure] `samples`
 *   indicators   zero-crossing functions z->name, the generated struct Indicators; between two of their sign changes
 *                outputs are smooth                                                            if it has [indicators]
 *   check        rules across parameters, cc_fail for each one broken; and where a value of the point is not finite,
 *                the reason, if the element has one                                                if it has [rules]
 *
 * Variables on demand are computed where an importer reads them, and neither in the stages of the solver nor at trial
 * points of the importer.
 * Derivatives of all this are compiled from the same text (real.h); only outputs, rates and derivatives run on
 * duals. */
#ifndef CC_WAIST_H
#define CC_WAIST_H

#ifdef CC_MODEL_DATA
#include CC_MODEL_DATA /* of one type of part in an assembly */
#else
#include "model_data.h" /* generated: Element, structure constants, index tables, CC_HAS_*, CC_ENTRY */
#endif
#include "base/real.h"

#include <stddef.h>

/* In front of loops over values that have just been computed: two at once would wait until both have been stored. */
#if defined __clang__
#define CC_ONE_BY_ONE _Pragma("clang loop vectorize(disable)")
#else
#define CC_ONE_BY_ONE
#endif

/* In front of loops over the states in what every evaluation does. */
#if CC_STATES <= 16
#define CC_STATE_LOOP CC_UNROLL
#elif CC_STATES <= 32
#define CC_STATE_LOOP CC_ONE_BY_ONE
#else
#define CC_STATE_LOOP
#endif

#define CC_HIDDEN __attribute__((visibility("hidden")))

typedef struct CcHost CcHost; /* receives the messages of an element: its instance */

enum { CC_INFO, CC_WARNING };
enum { CC_CHANGED = 1, CC_JUMPED = 3 }; /* of accept and sample */

#ifndef CC_HOST_ENTRY /* an element that is an FMU of its own */
#define CC_HOST_ENTRY CC_ENTRY
#endif
#define cc_report CC_HOST_ENTRY(report)
#define cc_held_over CC_HOST_ENTRY(held_over)
#define cc_keep CC_HOST_ENTRY(keep)
#define cc_repeats CC_HOST_ENTRY(repeats)
#define cc_inputs_move CC_HOST_ENTRY(inputs_move)
#define cc_inputs_set_again CC_HOST_ENTRY(inputs_set_again)
#define cc_inputs_at CC_HOST_ENTRY(inputs_at)
#define cc_fail CC_HOST_ENTRY(fail)
#define cc_stop CC_HOST_ENTRY(stop)
#ifndef CC_MODEL_DATA
#define cc_corrupt CC_HOST_ENTRY(corrupt)
#define cc_defer CC_HOST_ENTRY(defer)
#else /* the FMU of an assembly answers neither */
#define cc_corrupt cc_fail
#define cc_defer(host, questions) ((void)(host), (void)(questions))
#endif

/* Log a message in a declared category.  Format: %s text, %d integer, %g number with up to 9 digits, %.3g with 3. */
CC_HIDDEN __attribute__((format(printf, 4, 5))) void cc_report(CcHost *host, int level, const char *category,
                                                            const char *format, ...);

/* A rule across variables is broken: the text names the variables, their values and the rule.  Call once a fault. */
CC_HIDDEN __attribute__((format(printf, 2, 3))) void cc_fail(CcHost *host, const char *format, ...);

/* Go no further than this point, for the reason of the text (accept only): fmi2DoStep ends here, with fmi2Discard.
 * ends: 1 if the simulation has to end, 0 if the importer may go on from here; the latter has no effect at the end of a
 * step and in model exchange. */
CC_HIDDEN __attribute__((format(printf, 3, 4))) void cc_stop(CcHost *host, int ends, const char *format, ...);

#ifndef CC_MODEL_DATA
/* Nothing can be computed any more, by any instance: fmi2Fatal.  For an element with the switch `statuses` (accept
 * only). */
CC_HIDDEN __attribute__((format(printf, 2, 3))) void cc_corrupt(CcHost *host, const char *format, ...);

/* The step that is made is answered with fmi2Pending until the importer has asked for a status so often (accept only).
 * No effect in model exchange and in FMI 3.0.  For an element with the switch `statuses`. */
CC_HIDDEN void cc_defer(CcHost *host, int questions);
#endif

/* Length of the communication steps over which the motion at the ports is held, s; 0 where it is not: in model
 * exchange, in an assembly, with derivatives of the inputs, and before the first step. */
CC_HIDDEN double cc_held_over(const CcHost *host);

/* Whether the communication step that begins was made before from a state that was restored since (sample only). */
enum { CC_NO_REPEAT, CC_SAME_AGAIN, CC_WITH_OTHER_INPUTS };
CC_HIDDEN int cc_repeats(const CcHost *host);

/* 1 if the inputs change within the step, for the importer gave their derivatives (sample only). */
CC_HIDDEN int cc_inputs_move(const CcHost *host);

/* 1 if the importer, since the step before, read outputs of inputs that it has replaced: the forces among them may have
 * moved bodies (sample only). */
CC_HIDDEN int cc_inputs_set_again(const CcHost *host);

/* Evaluate the element with its inputs as they are the time tau after the step begins, s (sample only); 0 brings them
 * back. */
CC_HIDDEN void cc_inputs_at(CcHost *host, double tau);

/* Keep the `size` numbers that the element's variables last_contact.* have for one place, which begin at `record`: call
 * before those of the next contact that ended are written, in accept only (contact_record.h). */
CC_HIDDEN void cc_keep(CcHost *host, const void *record, size_t size);

/* What contact_core calls.  CC_ENTRY(name) carries the name of the model, so several FMUs can be linked together.
 * accept returns what the element's did, and computes the outputs again unless that is 0.  on_demand = 0 leaves out
 * variables on demand, as accept and sample do. */
#ifndef CC_DUAL
CC_HIDDEN void CC_ENTRY(evaluate)(Element *e, int on_demand);
CC_HIDDEN void CC_ENTRY(initial_states)(Element *e);
CC_HIDDEN void CC_ENTRY(start)(Element *e);
CC_HIDDEN int CC_ENTRY(accept)(Element *e, CcHost *host, double step);
CC_HIDDEN void CC_ENTRY(sample)(Element *e, CcHost *host, double step);
CC_HIDDEN void CC_ENTRY(indicators)(const Element *e, double z[]);
CC_HIDDEN void CC_ENTRY(check)(const Element *e, CcHost *host);
#endif
CC_HIDDEN void CC_ENTRY(dual)(double *block, int on_demand);

/* The GUID changes with every edit, and stands in model_tables.c so that this compiles nothing else again. */
#define CC_GUID CC_ENTRY(guid)
CC_HIDDEN extern const char CC_GUID[39];

#endif
