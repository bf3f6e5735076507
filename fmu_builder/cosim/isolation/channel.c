/* A slave in a process of its own: FMI 2.0 functions here, their calls there, by memory that both processes map.
 *
 * The functions of this library are those of an FMU; their component is a Proxy.  Each writes its arguments into the
 * Channel, wakes the other process, and waits for its answer; there `serve` makes the call.  Both sides look at the
 * memory for a moment before they sleep, so that a call takes some microseconds where two processors are free.
 *
 * asked, answered   numbers of calls; a call is under way while they differ
 * ended             set by this process when the other one has ended: every call answers fmi2Error from then on
 * text              messages of the slave since the last call, as records of a Message with its two texts
 *
 * What a function of FMI returns in arrays is copied from `data` by the sizes that it was called with, whatever the
 * other process has written elsewhere. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if defined _WIN32
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* child.py has the same numbers and structs */
enum {
    SETUP, ENTER, EXIT, TERMINATE, RESET, GET_REAL, GET_INTEGER, GET_BOOLEAN, SET_REAL, SET_INTEGER, SET_BOOLEAN,
    SET_STRING, STEP, GET_STATE, SET_STATE, FREE_STATE, DERIVATIVE, INPUT_SLOPES, OUTPUT_SLOPES, REAL_STATUS,
    BOOLEAN_STATUS, FREE, FUNCTIONS
};
enum { OK = 0, ERROR = 3 };
enum { TEXT = 65536 };

typedef struct {
    _Atomic uint32_t asked, answered, ended, sleeps;
    uint32_t function;
    int32_t status, flags[2];
    uint64_t counts[2], state;
    double numbers[3];
    _Atomic uint64_t text_size, text_lost;
    uint64_t capacity; /* bytes of data */
    char text[TEXT];
    char data[];
} Channel;

typedef struct {
    int32_t status;
    uint32_t category, message; /* bytes with their final zeros; padded together to a multiple of 4 */
} Message;

/* How a process waits: with the futex of Linux, else by looking again and again. */
typedef struct {
    long (*system)(long number, ...); /* syscall of the C library, or null */
    int (*sleep)(const int64_t time[2], int64_t left[2]); /* nanosleep */
    uint64_t looks; /* before it sleeps */
    uint32_t sleep_first, next_sleep_first; /* waits that begin with sleep, as looking has found nothing */
} Waiting;

typedef void Logger(void *environment, const char *name, int status, const char *category, const char *text, ...);

typedef struct {
    Channel *channel;
    Logger *logger;
    void *environment;
    const char *name;
    Waiting waiting;
    uint64_t capacity;
    uint32_t calls; /* those that are answered */
} Proxy;

typedef struct {
    Channel *channel;
    void *component;
    Waiting waiting;
    void *functions[FUNCTIONS];
} Server;

_Static_assert(sizeof(Waiting) == 32 && sizeof(Proxy) == 80 && sizeof(Server) == 48 + 8 * FUNCTIONS &&
                   offsetof(Channel, text) == 104,
               "child.py has other sizes");

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

#if defined __linux__ && defined __x86_64__
enum { FUTEX = 202 };
#elif defined __linux__ && defined __aarch64__
enum { FUTEX = 98 };
#else
enum { FUTEX = 0 };
#endif
static int has_futex(const Waiting *waiting) { return FUTEX != 0 && waiting->system != 0; }

enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1 };
enum { MOST_SLEEPS = 1024 };
enum { NAP = 50000, LONG_NAP = 20000000 }; /* ns, of a sleep that nobody ends and of one that the other process ends */

static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Whether the word changes while this process looks at it.  Where it does not, the other process may want the processor
 * that looks: then the next waits begin with sleep, twice as many each time. */
static int is_seen_to_change(_Atomic uint32_t *word, uint32_t old, Waiting *waiting)
{
    if (waiting->sleep_first) {
        waiting->sleep_first--;
        return 0;
    }
    for (uint64_t i = 0; i < waiting->looks; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old) {
            waiting->next_sleep_first = 1;
            return 1;
        }
        relax();
    }
    waiting->sleep_first = waiting->next_sleep_first;
    waiting->next_sleep_first = waiting->next_sleep_first < MOST_SLEEPS ? 2 * waiting->next_sleep_first : MOST_SLEEPS;
    return 0;
}

/* Returns when the word is no longer `old`, or after a nap. */
static void await_change(_Atomic uint32_t *word, uint32_t old, _Atomic uint32_t *sleeps, Waiting *waiting)
{
    if (is_seen_to_change(word, old, waiting))
        return;
    int64_t nap[2] = {0, has_futex(waiting) ? LONG_NAP : NAP};
    if (has_futex(waiting)) {
        atomic_fetch_add(sleeps, 1);
        waiting->system(FUTEX, word, (long)FUTEX_WAIT, (long)old, nap, 0L, 0L); /* not if it has changed */
        atomic_fetch_sub(sleeps, 1);
    } else {
        waiting->sleep(nap, 0);
    }
}

static void change(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleeps, const Waiting *waiting)
{
    atomic_store(word, value);
    if (has_futex(waiting) && atomic_load(sleeps))
        waiting->system(FUTEX, word, (long)FUTEX_WAKE, 1L, 0L, 0L, 0L);
}

/* ---- this process: the functions of an FMU ---------------------------------------------------------------------- */

static void copy(void *to, const void *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

static uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/* Messages of the slave, to the logger that it was instantiated with. */
static void pass_on_messages(Proxy *p)
{
    Channel *c = p->channel;
    uint64_t size = atomic_load(&c->text_size), at = 0;
    if (size == 0 || size > TEXT)
        return;
    while (at + sizeof(Message) <= size) {
        Message m;
        copy(&m, c->text + at, sizeof m);
        uint64_t texts = at + sizeof m, end = texts + m.category + m.message;
        if (end > size || m.category == 0 || m.message == 0 || c->text[texts + m.category - 1] || c->text[end - 1])
            break;
        p->logger(p->environment, p->name, m.status, c->text + texts, "%s", c->text + texts + m.category);
        at = (end + 3) / 4 * 4;
    }
    atomic_store(&c->text_size, 0);
    if (atomic_load(&c->text_lost)) {
        p->logger(p->environment, p->name, 1, "fmu-builder", "some messages of a call were too long to be kept");
        atomic_store(&c->text_lost, 0);
    }
}

static int ask(Proxy *p, uint32_t function)
{
    Channel *c = p->channel;
    if (atomic_load(&c->ended))
        return ERROR;
    c->function = function;
    uint32_t before = p->calls, number = before + 1;
    change(&c->asked, number, &c->sleeps, &p->waiting);
    while (atomic_load_explicit(&c->answered, memory_order_acquire) != number) {
        if (atomic_load(&c->ended)) {
            pass_on_messages(p);
            return ERROR;
        }
        await_change(&c->answered, before, &c->sleeps, &p->waiting);
    }
    p->calls = number;
    int status = c->status;
    if (atomic_load_explicit(&c->text_size, memory_order_relaxed))
        pass_on_messages(p);
    return status;
}

EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources,
                             void *const functions[5], int visible, int logging)
{
    (void)name, (void)type, (void)guid, (void)resources, (void)visible, (void)logging;
    Proxy *p = functions[4]; /* the component environment; the other process has answered its first call, for this */
    pass_on_messages(p);
    return p->channel->status ? 0 : p;
}

EXPORT void fmi2FreeInstance(void *p) { ask(p, FREE); }
EXPORT int fmi2EnterInitializationMode(void *p) { return ask(p, ENTER); }
EXPORT int fmi2ExitInitializationMode(void *p) { return ask(p, EXIT); }
EXPORT int fmi2Terminate(void *p) { return ask(p, TERMINATE); }
EXPORT int fmi2Reset(void *p) { return ask(p, RESET); }

EXPORT int fmi2SetupExperiment(Proxy *p, int has_tolerance, double tolerance, double start, int has_stop, double stop)
{
    Channel *c = p->channel;
    c->flags[0] = has_tolerance, c->flags[1] = has_stop;
    c->numbers[0] = tolerance, c->numbers[1] = start, c->numbers[2] = stop;
    return ask(p, SETUP);
}

EXPORT int fmi2DoStep(Proxy *p, double time, double step, int no_set_state)
{
    p->channel->numbers[0] = time, p->channel->numbers[1] = step, p->channel->flags[0] = no_set_state;
    return ask(p, STEP);
}

/* data: references, values */
static int get(Proxy *p, uint32_t function, const uint32_t *references, size_t n, void *values, size_t size)
{
    Channel *c = p->channel;
    uint64_t begin = padded(4 * n);
    if (begin + size * n > p->capacity)
        return ERROR;
    c->counts[0] = n;
    copy(c->data, references, 4 * n);
    int status = ask(p, function);
    copy(values, c->data + begin, size * n);
    return status;
}

static int set(Proxy *p, uint32_t function, const uint32_t *references, size_t n, const void *values, size_t size)
{
    Channel *c = p->channel;
    uint64_t begin = padded(4 * n);
    if (begin + size * n > p->capacity)
        return ERROR;
    c->counts[0] = n;
    copy(c->data, references, 4 * n);
    copy(c->data + begin, values, size * n);
    return ask(p, function);
}

EXPORT int fmi2GetReal(Proxy *p, const uint32_t r[], size_t n, double v[]) { return get(p, GET_REAL, r, n, v, 8); }
EXPORT int fmi2GetInteger(Proxy *p, const uint32_t r[], size_t n, int v[]) { return get(p, GET_INTEGER, r, n, v, 4); }
EXPORT int fmi2GetBoolean(Proxy *p, const uint32_t r[], size_t n, int v[]) { return get(p, GET_BOOLEAN, r, n, v, 4); }
EXPORT int fmi2SetReal(Proxy *p, const uint32_t r[], size_t n, const double v[])
{
    return set(p, SET_REAL, r, n, v, 8);
}
EXPORT int fmi2SetInteger(Proxy *p, const uint32_t r[], size_t n, const int v[])
{
    return set(p, SET_INTEGER, r, n, v, 4);
}
EXPORT int fmi2SetBoolean(Proxy *p, const uint32_t r[], size_t n, const int v[])
{
    return set(p, SET_BOOLEAN, r, n, v, 4);
}

/* data: references, room for pointers, texts one after another */
EXPORT int fmi2SetString(Proxy *p, const uint32_t references[], size_t n, const char *const values[])
{
    Channel *c = p->channel;
    uint64_t at = padded(4 * n) + 8 * n;
    if (at > p->capacity)
        return ERROR;
    for (size_t i = 0; i < n; i++) {
        uint64_t size = 1;
        for (const char *end = values[i]; *end; end++)
            size++;
        if (size > p->capacity - at)
            return ERROR;
        copy(c->data + at, values[i], size);
        at += size;
    }
    c->counts[0] = n;
    copy(c->data, references, 4 * n);
    return ask(p, SET_STRING);
}

/* data: references, orders, values */
static int slopes(Proxy *p, uint32_t function, const uint32_t references[], size_t n, const int orders[],
                  const double *given, double *found)
{
    Channel *c = p->channel;
    uint64_t part = padded(4 * n);
    if (2 * part + 8 * n > p->capacity)
        return ERROR;
    c->counts[0] = n;
    copy(c->data, references, 4 * n);
    copy(c->data + part, orders, 4 * n);
    if (given)
        copy(c->data + 2 * part, given, 8 * n);
    int status = ask(p, function);
    if (found)
        copy(found, c->data + 2 * part, 8 * n);
    return status;
}

EXPORT int fmi2SetRealInputDerivatives(Proxy *p, const uint32_t r[], size_t n, const int orders[], const double v[])
{
    return slopes(p, INPUT_SLOPES, r, n, orders, v, 0);
}
EXPORT int fmi2GetRealOutputDerivatives(Proxy *p, const uint32_t r[], size_t n, const int orders[], double v[])
{
    return slopes(p, OUTPUT_SLOPES, r, n, orders, 0, v);
}

/* data: references of unknowns and of knowns, seed, derivatives */
EXPORT int fmi2GetDirectionalDerivative(Proxy *p, const uint32_t unknown[], size_t m, const uint32_t known[], size_t n,
                                        const double seed[], double derivative[])
{
    Channel *c = p->channel;
    uint64_t knowns = padded(4 * m), seeds = knowns + padded(4 * n), derivatives = seeds + 8 * n;
    if (derivatives + 8 * m > p->capacity)
        return ERROR;
    c->counts[0] = m, c->counts[1] = n;
    copy(c->data, unknown, 4 * m);
    copy(c->data + knowns, known, 4 * n);
    copy(c->data + seeds, seed, 8 * n);
    int status = ask(p, DERIVATIVE);
    copy(derivative, c->data + derivatives, 8 * m);
    return status;
}

EXPORT int fmi2GetFMUstate(Proxy *p, uint64_t *state)
{
    p->channel->state = *state;
    int status = ask(p, GET_STATE);
    *state = p->channel->state;
    return status;
}

EXPORT int fmi2SetFMUstate(Proxy *p, uint64_t state)
{
    p->channel->state = state;
    return ask(p, SET_STATE);
}

EXPORT int fmi2FreeFMUstate(Proxy *p, uint64_t *state)
{
    p->channel->state = *state;
    int status = ask(p, FREE_STATE);
    *state = 0;
    return status;
}

EXPORT int fmi2GetRealStatus(Proxy *p, int kind, double *value)
{
    p->channel->flags[0] = kind, p->channel->numbers[0] = *value;
    int status = ask(p, REAL_STATUS);
    *value = p->channel->numbers[0];
    return status;
}

EXPORT int fmi2GetBooleanStatus(Proxy *p, int kind, int *value)
{
    p->channel->flags[0] = kind, p->channel->flags[1] = *value;
    int status = ask(p, BOOLEAN_STATUS);
    *value = p->channel->flags[1];
    return status;
}

/* What a library of FMI has to export and the master never calls, whatever its arguments. */
#define NOT_CALLED(name)                                                                                               \
    EXPORT int name(void);                                                                                             \
    EXPORT int name(void) { return ERROR; }
NOT_CALLED(fmi2SetDebugLogging)
NOT_CALLED(fmi2GetString)
NOT_CALLED(fmi2SerializedFMUstateSize)
NOT_CALLED(fmi2SerializeFMUstate)
NOT_CALLED(fmi2DeSerializeFMUstate)
NOT_CALLED(fmi2CancelStep)
NOT_CALLED(fmi2GetStatus)
NOT_CALLED(fmi2GetIntegerStatus)
NOT_CALLED(fmi2GetStringStatus)

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

/* ---- the other process: the calls ------------------------------------------------------------------------------- */

typedef int OfInstance(void *component);
typedef int Setup(void *component, int, double, double, int, double);
typedef int Access(void *component, const uint32_t *references, size_t n, void *values);
typedef int Step(void *component, double, double, int);
typedef int State(void *component, void *state);
typedef int Slopes(void *component, const uint32_t *references, size_t n, const int *orders, double *values);
typedef int Derivative(void *component, const uint32_t *, size_t, const uint32_t *, size_t, const double *, double *);
typedef int Status(void *component, int kind, void *value);

static int call(Server *s)
{
    Channel *c = s->channel;
    uint32_t function = c->function;
    if (function >= FUNCTIONS || !s->functions[function])
        return ERROR;
    void *address = s->functions[function], *component = s->component;
    uint64_t n = c->counts[0], begin = padded(4 * n);
    const uint32_t *references = (const uint32_t *)c->data;
    switch (function) {
    case ENTER: case EXIT: case TERMINATE: case RESET:
        return ((OfInstance *)address)(component);
    case FREE:
        ((OfInstance *)address)(component);
        return OK;
    case SETUP:
        return ((Setup *)address)(component, c->flags[0], c->numbers[0], c->numbers[1], c->flags[1], c->numbers[2]);
    case GET_REAL: case GET_INTEGER: case GET_BOOLEAN: case SET_REAL: case SET_INTEGER: case SET_BOOLEAN:
        return ((Access *)address)(component, references, n, c->data + begin);
    case SET_STRING: {
        char **texts = (char **)(c->data + begin), *text = c->data + begin + 8 * n;
        for (uint64_t i = 0; i < n; i++) {
            texts[i] = text;
            while (*text++)
                ;
        }
        return ((Access *)address)(component, references, n, texts);
    }
    case STEP:
        return ((Step *)address)(component, c->numbers[0], c->numbers[1], c->flags[0]);
    case GET_STATE: case FREE_STATE:
        return ((State *)address)(component, &c->state);
    case SET_STATE:
        return ((State *)address)(component, (void *)(uintptr_t)c->state);
    case INPUT_SLOPES: case OUTPUT_SLOPES:
        return ((Slopes *)address)(component, references, n, (int *)(c->data + begin), (double *)(c->data + 2 * begin));
    case DERIVATIVE: {
        uint64_t knowns = begin, seeds = knowns + padded(4 * c->counts[1]), values = seeds + 8 * c->counts[1];
        return ((Derivative *)address)(component, references, n, (uint32_t *)(c->data + knowns), c->counts[1],
                                       (double *)(c->data + seeds), (double *)(c->data + values));
    }
    case REAL_STATUS:
        return ((Status *)address)(component, c->flags[0], c->numbers);
    case BOOLEAN_STATUS:
        return ((Status *)address)(component, c->flags[0], c->flags + 1);
    default:
        return ERROR;
    }
}

/* Answers calls until the instance is freed. */
EXPORT void serve(Server *s);
EXPORT void serve(Server *s)
{
    Channel *c = s->channel;
    for (uint32_t answered = atomic_load(&c->answered);; answered++) {
        while (atomic_load_explicit(&c->asked, memory_order_acquire) == answered)
            await_change(&c->asked, answered, &c->sleeps, &s->waiting);
        c->status = call(s);
        int is_last = c->function == FREE;
        change(&c->answered, answered + 1, &c->sleeps, &s->waiting);
        if (is_last)
            return;
    }
}
