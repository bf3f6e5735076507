/* One instance of the FMU: its memory, its log, its rules.
 *
 * There are no globals.  Types, memory and log are those of the version of FMI, from fmi2_importer.h or
 * fmi3_importer.h, which include this file. */
#ifndef CC_INSTANCE_H
#define CC_INSTANCE_H

#include "base/text.h"
#include "modes.h"
#include "waist.h"

#include "model_tables.h" /* generated: CcVariable and all of its tables, log categories */

#include "contact_record.h" /* counts of waist.h */
#ifdef CC_PARTS
#include "assembly.h"
#endif

/* In front of what is called seldom: one small copy.  The FMI layer is most of what has to be compiled for an FMU. */
#define CC_RARE __attribute__((noinline, cold)) static

/* An element may have the switch `capabilities` of [structure]: false leaves out what FMI 2.0 makes optional. */
#if defined CAPABILITIES && !CAPABILITIES
#define CC_PLAIN 1
#else
#define CC_PLAIN 0
#endif

#define CC_NAME_SIZE 256 /* a longer name is cut in the log */
#define CC_STAGES 7            /* of dormand_prince.h */
#define CC_ROSENBROCK_STAGES 6 /* of rosenbrock.h */
#define CC_MOST_CORE 64        /* states in the dense linear system of rosenbrock.h */
#define CC_IMPLICIT (CC_CORE > 0 && CC_CORE <= CC_MOST_CORE) /* without any there is nothing to solve */

/* The numbers of an instance beside its element: ENTRY(name, is whole, least, greatest). */
#define CC_HUGE 1.7976931348623157e308
#define CC_STATE_NUMBERS(ENTRY)                                                                                        \
    ENTRY(zero, 1, 0.0, 0.0)     /* some importers take the first word of a state for an address */                    \
    ENTRY(type, 1, fmi2ModelExchange, fmi2CoSimulation)                                                                \
    ENTRY(mode, 1, CC_INSTANTIATED, CC_CONTINUOUS)                                                                     \
    ENTRY(experiment, 1, 0.0, 1.0) /* 1 after fmi2SetupExperiment */                                                   \
    ENTRY(stop_defined, 1, 0.0, 1.0)                                                                                   \
    ENTRY(stop_time, 0, -CC_HUGE, CC_HUGE)                                                                             \
    ENTRY(logging, 1, 0.0, 1.0)                                                                                        \
    ENTRY(categories, 1, 0.0, 4294967295.0)                                                                            \
    ENTRY(dirty, 1, 0.0, 1.0)    /* outputs are older than a set value */                                              \
    ENTRY(behind, 1, 0.0, 1.0)   /* what is computed on demand is older than the other outputs */                      \
    ENTRY(far, 1, 0.0, 1.0)      /* a value beyond CC_FAR_VALUE was set: what is on demand may overflow */             \
    ENTRY(jumped, 1, 0.0, 1.0)   /* a value was set since the last step or accepted point */                           \
    ENTRY(shown, 1, 0.0, 1.0)    /* outputs were read that follow from values set since the last step */               \
    ENTRY(changed, 1, 0.0, 1.0)  /* a tunable parameter or discrete input was set since then */                        \
    ENTRY(thrown, 1, 0.0, 1.0)   /* states jumped at an accepted point; not reported to the importer yet */            \
    ENTRY(extrapolate, 1, 0.0, 1.0)    /* fmi2SetRealInputDerivatives was called since the last step */                \
    ENTRY(sloped, 1, 0.0, 1.0)   /* input_rates are those of the next step or, until one is given, of the last step */ \
    ENTRY(last_step, 0, 0.0, CC_HUGE)  /* length of the last communication or accepted integrator step, s; 0: none */  \
    ENTRY(steps_done, 0, 0.0, CC_HUGE) /* communication steps since the initialization */                              \
    ENTRY(accepted, 0, -CC_HUGE, CC_HUGE)      /* time of the last accepted point of model exchange, s */              \
    ENTRY(last_status, 1, fmi2OK, fmi2Error)   /* of fmi2DoStep */                                                     \
    ENTRY(ended, 1, 0.0, 1.0)    /* the element has asked to end the simulation */                                     \
    ENTRY(substep, 0, 0.0, __builtin_inf())    /* length that the error control proposes, s; 0 before the first step */\
    ENTRY(short_length, 0, 0.0, __builtin_inf()) /* of the longest substep that bogacki_shampine.h is tried for, s */  \
    ENTRY(implicit, 1, 0.0, 1.0)       /* 1 while the implicit method integrates */                                    \
    ENTRY(stiff_hints, 0, 0.0, CC_HUGE)        /* substeps that stability limited, */                                  \
    ENTRY(smooth_hints, 0, 0.0, CC_HUGE)       /* and others since the last of them */

/* A communication step that was made: its beginning and length, s, and what its inputs were. */
typedef struct {
    double time, length;
    unsigned long long inputs;
} CcTried;

#define CC_MOST_TRIED 8  /* steps that an importer may take back at once and is found to repeat */
#define CC_ITERATING 100 /* steps */

#if CC_CLOCKS /* in FMI 3.0 */
/* What the importer knows of a clock that counts down: 1 if it has read the interval to the moment of the next tick, s,
 * and that interval. */
typedef struct {
    double is_read, moment, interval;
} CcReadInterval;
#endif

#define CC_STATE_MEMBER(name, is_whole, least, greatest) double name;

/* All that fmi2GetFMUstate keeps: doubles only, so that saving is a copy and serializing a loop. */
typedef struct {
    CC_STATE_NUMBERS(CC_STATE_MEMBER)
    Element element;
    /* from here on, what no call that may return to what it began with changes, but for the records: CC_STATE_SHORT */
    double input_rates[CC_INPUTS + 1]; /* du/dt of the continuous inputs; 0 where none was given */
    double given_rates[CC_INPUTS + 1]; /* 1 where fmi2SetRealInputDerivatives gave one */
    double sides[CC_INDICATORS + 1];   /* of the indicators at the last event of model exchange: +1 above 0, else -1 */
#if CC_TEXTS
    double texts[CC_TEXTS][CC_TEXT_WORDS]; /* String variables: bytes in UTF-8, zeros behind them */
#endif
#if CC_RECORDS
    CcRecords records; /* which change in few steps */
#endif
#if CC_CLOCKS
    CcReadInterval read_intervals[CC_CLOCKS]; /* of clocks that count down */
#endif
} CcState;

/* Bytes that every step copies: up to CC_STATE_SHORT, but for the row of memory that only the element reads, some of
 * which is most of the state.  What a call returns to is in error and makes no step, so nothing reads that memory. */
#define CC_STATE_SHORT offsetof(CcState, input_rates)
#define CC_BEFORE_PRIVATE (offsetof(CcState, element) + CC_PRIVATE_FROM * sizeof(double))
#define CC_STATE_FRONT (CC_PRIVATE_COUNT ? CC_BEFORE_PRIVATE : CC_STATE_SHORT)
#define CC_STATE_BACK (CC_STATE_FRONT + CC_PRIVATE_COUNT * sizeof(double))
#define CC_STATE_COPIED (CC_STATE_SHORT - CC_PRIVATE_COUNT * sizeof(double))

/* A step of many instances in turn waits for memory: each line of the cache that it touches is fetched.  So what every
 * step touches stands together, in front: scratch memory of a substep, what is counted, and `now`, whose members stand
 * in the same order.  `now` and `before` lie at multiples of 16 bytes, as memory for an instance does: they are copied,
 * and 16 bytes that lie across two lines of the cache take twice the time of others. */
struct CcHost {
    double step_end;             /* s, of the step of co-simulation that is made or was made last */
    struct CcFollowed *followed; /* sensitivity.h; NULL while none are followed */
    const char *part;            /* of an assembly: the one that logs, else NULL */
    int failures;                /* of rules, counted by cc_fail */
    int stopped;                 /* 1 if the element goes no further than this point: cc_stop */
    int records_saved;           /* 1 if `before` holds the records too: one was kept since */
    int keeps, repeats;          /* keeps: 1 if the importer has taken a state     repeats: cc_repeats */
    int tried_next;              /* in `tried` */
    int iterates; /* steps in which a repeated one is still taken for one with other inputs: rounds converge */
    /* states at the beginning of a substep and at its end or a stage, x' at the stages */
    double x_0[CC_STATES + 1], x_1[CC_STATES + 1], slopes[CC_STAGES][CC_STATES + 1];
    /* indicators at the beginning of a substep, at a stage and at the end, and their slopes at the beginning over its
     * length */
    double z_0[CC_INDICATORS + 1], z_1[CC_INDICATORS + 1], z_end[CC_INDICATORS + 1], z_slope[CC_INDICATORS + 1];
    double input_starts[CC_INPUTS + 1]; /* continuous inputs at the beginning of the step */
    _Alignas(16) CcState now;
    _Alignas(16) CcState before; /* what a call began with, to return to when it fails: cc_save, cc_return */
    CcImporter importer;         /* a copy: what FMI 2.0 gives is valid during fmi2Instantiate only */
    char name[CC_NAME_SIZE];
    /* The steps made last, for a state does not show what was made after it: no number of the state depends on them,
     * but an element may ask whether a step is repeated (cc_repeats). */
    CcTried tried[CC_MOST_TRIED];
    double x_late[CC_STATES + 1], x_between[CC_STATES + 1]; /* states at the last stage but one, and in between */
#if CC_IMPLICIT
    double jacobian[CC_STATES][CC_CORE + 1], time_slope[CC_STATES]; /* dx'/dx over the core states, dx'/dt */
    double factors[(CC_CORE + 1) * (CC_CORE + 1)]; /* by rows of CC_CORE */
    int pivots[CC_CORE + 1];
    double u[CC_ROSENBROCK_STAGES][CC_STATES]; /* solutions of the stages */
#endif
    double dual[2 * CC_VARIABLES];
#if CC_ALL_STATUSES
    CcDeferred deferred;
#endif
};

typedef struct CcHost Instance;
typedef struct CcFollowed CcFollowed;

static inline void cc_copy_short(unsigned char *front, unsigned char *back, const CcState *from)
{
    __builtin_memcpy(front, from, CC_STATE_FRONT);
    if (CC_PRIVATE_COUNT)
        __builtin_memcpy(back, (const unsigned char *)from + CC_STATE_BACK, CC_STATE_SHORT - CC_STATE_BACK);
}

static inline void cc_save(Instance *instance)
{
    unsigned char *to = (unsigned char *)&instance->before;
    cc_copy_short(to, to + CC_STATE_BACK, &instance->now);
    instance->records_saved = 0;
}

/* The memory that only the element reads: of calls that may be refused after the element has started. */
static inline void cc_copy_private(CcState *to, const CcState *from)
{
    __builtin_memcpy((unsigned char *)to + CC_STATE_FRONT, (const unsigned char *)from + CC_STATE_FRONT,
                     CC_PRIVATE_COUNT * sizeof(double));
}

/* What fmi2DoStep began with, as cc_save keeps it: on the stack, unless it is large, for the stack is in the cache, and
 * `before` of one instance among many is not.  Functions with more than 4096 bytes of it need help on Windows. */
#define CC_MOST_ON_STACK 2048
typedef struct {
    _Alignas(16) unsigned char bytes[CC_STATE_COPIED <= CC_MOST_ON_STACK ? CC_STATE_COPIED : 1];
} CcBeforeStep;

static inline void cc_save_step(Instance *instance, CcBeforeStep *kept)
{
    if (sizeof kept->bytes == 1) {
        cc_save(instance);
        return;
    }
    cc_copy_short(kept->bytes, kept->bytes + CC_STATE_FRONT, &instance->now);
    instance->records_saved = 0;
}

/* To what was saved, as an instance in error. */
CC_RARE void cc_return(Instance *instance)
{
    unsigned char *to = (unsigned char *)&instance->now;
    cc_copy_short(to, to + CC_STATE_BACK, &instance->before);
#if CC_RECORDS
    if (instance->records_saved)
        instance->now.records = instance->before.records;
#endif
    instance->now.mode = CC_ERROR;
}

CC_RARE void cc_return_from_step(Instance *instance, const CcBeforeStep *kept)
{
    if (sizeof kept->bytes > 1) {
        unsigned char *to = (unsigned char *)&instance->before;
        __builtin_memcpy(to, kept->bytes, CC_STATE_FRONT);
        __builtin_memcpy(to + CC_STATE_BACK, kept->bytes + CC_STATE_FRONT, CC_STATE_SHORT - CC_STATE_BACK);
    }
    cc_return(instance);
}

void cc_keep(CcHost *host, const void *record, size_t size)
{
#if CC_RECORDS
    const double *values = record;
    if (!host->records_saved)
        host->before.records = host->now.records;
    host->records_saved = 1;
    cc_keep_record(&host->now.records, (size_t)(values - (const double *)&host->now.element), values, size);
#endif
    (void)host, (void)record, (void)size;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Memory at a multiple of 16 bytes, of zeros; NULL if there is none. */
static void *cc_allocate(const CcImporter *importer, size_t size);
static void cc_release(const CcImporter *importer, void *memory);

/* ---- log ------------------------------------------------------------------------------------------------------- */

CC_RARE int cc_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Length without an incomplete character of UTF-8 at the end: importers decode what they log. */
CC_RARE size_t cc_whole_characters(const char *chars, size_t length)
{
    size_t lead = length;
    while (lead > 0 && ((unsigned char)chars[lead - 1] & 0xc0u) == 0x80u)
        lead--;
    if (lead == 0)
        return length;
    unsigned char first = (unsigned char)chars[lead - 1];
    size_t bytes = first >= 0xf0u ? 4 : first >= 0xe0u ? 3 : first >= 0xc0u ? 2 : 1;
    return length - lead + 1 < bytes ? lead - 1 : length;
}

/* Hand a text to the importer's log, if it has one. */
static void cc_send(const CcImporter *importer, const char *name, fmi2Status status, const char *category,
                    const CcText *text);

/* Errors are always logged; everything else only while logging and its category are on. */
__attribute__((noinline)) static void cc_message(Instance *instance, fmi2Status status, const char *category,
                                                 const char *format, va_list arguments)
{
    if (status < fmi2Error || CC_IS_PENDING(status)) {
        int index = 0;
        while (index < CC_LOG_CATEGORIES && !cc_same(category, cc_log_categories[index]))
            index++;
        if (instance->now.logging == 0.0 || !((unsigned)instance->now.categories >> index & 1u))
            return;
    }
    CcText text;
    text.length = 0;
    if (instance->part) {
        cc_text_string(&text, instance->part);
        cc_text_string(&text, ": ");
    }
    cc_text_format(&text, format, arguments);
    cc_send(&instance->importer, instance->name, status, category, &text);
}

void cc_report(CcHost *host, int level, const char *category, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_message(host, level == CC_INFO ? fmi2OK : fmi2Warning, category, format, arguments);
    va_end(arguments);
}

double cc_held_over(const CcHost *host)
{
#ifdef CC_PARTS
    (void)host;
    return 0.0;
#else
    return host->now.type == fmi2CoSimulation && host->now.extrapolate == 0.0 ? host->now.last_step : 0.0;
#endif
}

int cc_repeats(const CcHost *host) { return host->repeats; }

int cc_inputs_move(const CcHost *host) { return host->now.extrapolate != 0.0; }

int cc_inputs_set_again(const CcHost *host) { return host->now.shown != 0.0; }

void cc_inputs_at(CcHost *host, double tau)
{
    double *block = (double *)&host->now.element;
    for (int i = 0; i < CC_INPUTS && cc_inputs_move(host); i++)
        block[cc_inputs[i]] = host->input_starts[i] + host->now.input_rates[i] * tau;
    CC_ENTRY(evaluate)(&host->now.element, 0);
}

void cc_fail(CcHost *host, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    host->failures++;
    cc_message(host, fmi2Error, "logStatusError", format, arguments);
    va_end(arguments);
}

void cc_stop(CcHost *host, int ends, const char *format, ...)
{
    va_list arguments;
    if (!ends && *(const double *)&host->now.element >= host->step_end)
        return; /* of the step nothing is left */
    va_start(arguments, format);
    host->stopped = 1;
    if (ends)
        host->now.ended = 1.0;
    cc_message(host, fmi2Discard, "logStatusDiscard", format, arguments);
    va_end(arguments);
}

#ifdef CC_PARTS
void CC_ENTRY(speaker)(CcHost *host, const char *part) { host->part = part; }
#endif

/* Log the reason and return the status: `return cc_refuse(instance, fmi2Error, "...")`. */
__attribute__((noinline, cold, format(printf, 3, 4))) static fmi2Status cc_refuse(Instance *instance, fmi2Status status,
                                                                  const char *format, ...)
{
    static const char *const categories[] = {"logStatusWarning", "logStatusWarning", "logStatusDiscard",
                                             "logStatusError"};
    va_list arguments;
    va_start(arguments, format);
    cc_message(instance, status, categories[status], format, arguments);
    va_end(arguments);
    return status;
}

/* Log the origin of a value that is not finite: a table of a law without a value there (law.h, cc_no_value), or the
 * reason that the element gives. */
CC_RARE void cc_log_origin(Instance *instance, fmi2Status status, double value)
{
#if CC_LAW_TABLES
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    unsigned long long number = bits >> 44 & 127u, rest = bits << 20;
    if (value != value && number > 0 && number <= CC_LAW_TABLES) {
        double x;
        __builtin_memcpy(&x, &rest, sizeof x);
        const CcLawTable *t = &cc_law_tables[number - 1];
        const char *space = *t->unit ? " " : "";
        cc_refuse(instance, status, "the table of the law %s has no value at %s = %g%s%s, only from %g to %g%s%s, and "
                  "outside = 'error': a longer table has one, or outside = 'hold' or 'linear'", t->law, t->argument,
                  (x - t->offset) / t->factor, space, t->unit, t->from, t->to, space, t->unit);
    }
#endif
    (void)value;
    if (status == fmi2Error || CC_PYTHON) /* an exception is reported wherever it ends a call */
        CC_ENTRY(check)(&instance->now.element, instance);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static inline const CcVariable *cc_variable(size_t reference) { return &cc_variables[cc_variable_rows[reference]]; }
static inline double cc_start(size_t reference) { return cc_start_values[cc_start_rows[reference]]; }
/* Of a variable, or behind these of an indicator. */
CC_RARE const char *cc_name(size_t reference)
{
    unsigned place = cc_name_places[reference];
    return cc_names[place / CC_NAMES_ROW] + place % CC_NAMES_ROW;
}

static inline double *cc_block(Instance *instance) { return (double *)&instance->now.element; }

/* Relative error allowed in a substep; of a model without states the size of rounding in its indicators. */
static inline double cc_tolerance(const Instance *instance)
{
#if CC_STATES
    return instance->now.element.solver.tolerance;
#else
    (void)instance;
    return cc_fixed_tolerance[0];
#endif
}

/* Least and greatest value that may be set.  The bound itself of a strict one is let through, as modelDescription.xml
 * does; cc_check refuses it. */
static inline double cc_least(const CcVariable *v) { return v->above > v->min ? v->above : v->min; }
static inline double cc_greatest(const CcVariable *v) { return v->below < v->max ? v->below : v->max; }

/* The unit behind a number, for %s%s: a blank and its name, or nothing. */
#define CC_UNIT(v) *(v)->unit ? " " : "", (v)->unit

/* Rules that need several values or a strict bound; each broken one is logged.  Returns their number. */
static int cc_check_element(Instance *instance, const Element *e)
{
    const double *block = (const double *)e;
    instance->failures = 0;
    for (size_t i = 0; i < CC_VARIABLES; i++) {
        const CcVariable *v = cc_variable(i);
        if (v->strict && !(block[i] > v->above))
            cc_fail(instance, "%s = %g%s%s: it must be greater than %g%s%s", cc_name(i), block[i], CC_UNIT(v), v->above,
                    CC_UNIT(v));
        if (v->strict && !(block[i] < v->below))
            cc_fail(instance, "%s = %g%s%s: it must be less than %g%s%s", cc_name(i), block[i], CC_UNIT(v), v->below,
                    CC_UNIT(v));
    }
#if CC_CORE > CC_MOST_CORE
    if (e->solver.method == 3.0)
        cc_fail(instance, "solver.method = implicit: %d states depend on each other, at most %d are possible; "
                "choose auto or explicit", CC_CORE, CC_MOST_CORE);
#endif
    CC_ENTRY(check)(e, instance);
    return instance->failures;
}

static inline int cc_check(Instance *instance) { return cc_check_element(instance, &instance->now.element); }

/* Orientation quaternions must not vanish: they are normalised on use. */
static inline int cc_check_quaternions(Instance *instance)
{
    const double *block = cc_block(instance);
    instance->failures = 0;
    for (int i = 0; i < CC_QUATERNIONS; i++) {
        const double *q = block + cc_quaternions[i][0];
        double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(square >= 0.25))
            cc_fail(instance, "%s .. [4] = (%g, %g, %g, %g): the length of a quaternion must be 1 and is below 0.5",
                    cc_name((size_t)cc_quaternions[i][0]), q[0], q[1], q[2], q[3]);
    }
    return instance->failures;
}

#endif
