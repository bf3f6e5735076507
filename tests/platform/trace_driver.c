/* Runs one FMU for STEP_COUNT steps and prints one line: a hash of every bit it returned, the steps with status OK, and
 * the steps in which the counted Boolean was true.  The same line on every platform means the same trace on every
 * platform.  Any other status, a missing function or a value that is not finite: one line that names the call, exit
 * code 1.
 *
 * One source for three builds: Linux on x86-64 and on ARM with libc, Windows with kernel32 alone, because zig needs a
 * minute to build a Windows C runtime for an executable, and a tenth of a second without one.
 *
 * The inputs come from integers, +, - and * only, which IEEE 754 rounds in one way; compile without fused multiply-add.
 * FMI, 2 or 3, is the version of the FMU: trace_fmi2.h and trace_fmi3.h call it.  Its values hash to the same bits.
 *
 * driver_config.h is written by test_platforms.py: LIBRARY, MODEL_GUID, STEP_COUNT, STEP_SIZE in s, REAL_INPUTS with
 * REAL_INPUT_LOW and _HIGH in SI, REALS, INTEGERS, BOOLEANS (value references, each with its _COUNT),
 * ENUMERATIONS (those of INTEGERS) and COUNTED_BOOLEAN, an index into BOOLEANS or -1. */

#include "driver_platform.h"

#include "driver_config.h"

#ifndef RESOURCES /* where they are, if there are some */
#define RESOURCES NULL
#endif

#if FMI == 3
#define GET_REALS "fmi3GetFloat64"
#else
#define GET_REALS "fmi2GetReal"
#endif

/* --- one line of text --------------------------------------------------------------------------------------------- */

static char line[1024];
static size_t line_length;

static void add_text(const char *text)
{
    while (*text && line_length < sizeof line - 1) { /* one place stays free for the newline */
        line[line_length++] = *text == '\n' ? ' ' : *text;
        text++;
    }
}

static void add_number(uint64_t number, unsigned base, int least_digits)
{
    char digits[24];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    for (int i = 0; i < least_digits || number != 0; i++) {
        *--first = "0123456789abcdef"[number % base];
        number /= base;
    }
    add_text(first);
}

static _Noreturn void print_line_and_exit(int exit_code)
{
    line[line_length++] = '\n';
    print_and_exit(line, line_length, exit_code);
}

/* --- what the FMU says, and failures ------------------------------------------------------------------------------ */

static char last_message[512]; /* a copy: the FMU may free its text after the call */
static uint64_t step;

static void keep_message(const char *message)
{
    size_t i = 0;
    for (; message && message[i] && i < sizeof last_message - 1; i++) last_message[i] = message[i];
    last_message[i] = '\0';
}

static _Noreturn void fail(const char *call, const char *fault)
{
    line_length = 0;
    add_text(call);
    add_text(fault);
    add_text(", step ");
    add_number(step, 10, 1);
    if (last_message[0]) {
        add_text(", the FMU says: ");
        add_text(last_message);
    }
    print_line_and_exit(1);
}

static void require_ok(int status, const char *call)
{
    static const char *const faults[] = {"", " returned Warning", " returned Discard", " returned Error",
                                         " returned Fatal", " returned Pending"};
    if (status == 0) return;
    int is_defined = (unsigned)status < sizeof faults / sizeof *faults;
    fail(call, is_defined ? faults[status] : " returned a status that FMI does not define");
}

static void *require_function(void *library, const char *name)
{
    void *function = find_symbol(library, name);
    if (!function) fail(name, " is not exported");
    return function;
}

/* --- smooth motion of the inputs ---------------------------------------------------------------------------------- */

#define STEPS_PER_TARGET 64   /* an input heads for another random value of its range every so many steps */
#define FILTER_FRACTION  0.05 /* part of the way left that is made per step; two filters, so the speed is smooth too */

typedef struct {
    double target, follower, value; /* all within [low, high] of the input */
} Motion;

static double random_between(double low, double high, uint64_t *generator)
{
    *generator = *generator * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's MMIX */
    double fraction = (double)(int64_t)(*generator >> 11) * 0x1p-53; /* 53 bits: exact, in [0, 1) */
    return low + (high - low) * fraction;
}

static void move_inputs(Motion *motion, double *inputs, uint64_t *generator)
{
    for (size_t i = 0; i < REAL_INPUTS_COUNT; i++) {
        if (step % STEPS_PER_TARGET == 0)
            motion[i].target = random_between(REAL_INPUT_LOW[i], REAL_INPUT_HIGH[i], generator);
        if (step == 0) motion[i].follower = motion[i].value = motion[i].target;
        motion[i].follower += FILTER_FRACTION * (motion[i].target - motion[i].follower);
        motion[i].value += FILTER_FRACTION * (motion[i].follower - motion[i].value);
        inputs[i] = motion[i].value;
    }
}

/* --- the hash: FNV-1a with 64 bits over little-endian bytes ------------------------------------------------------- */

static uint64_t hash = UINT64_C(14695981039346656037);

static void hash_bits(uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        hash = (hash ^ (bits >> 8 * i & 0xff)) * UINT64_C(1099511628211);
    }
}

static void hash_real(double value)
{
    union {
        double value;
        uint64_t bits;
    } real = {value};
    /* not-a-number has other bits on ARM than on x86, so it must be named here instead of showing up as another hash */
    if ((real.bits >> 52 & 0x7ff) == 0x7ff) fail(GET_REALS, " returned OK and a value that is not finite");
    hash_bits(real.bits, 8);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

#define AT_LEAST_ONE(count) ((count) > 0 ? (count) : 1) /* C has no empty arrays */

static Motion motion[AT_LEAST_ONE(REAL_INPUTS_COUNT)];
static double inputs[AT_LEAST_ONE(REAL_INPUTS_COUNT)];
static double reals[AT_LEAST_ONE(REALS_COUNT)];
static int integers[AT_LEAST_ONE(INTEGERS_COUNT)];
static int booleans[AT_LEAST_ONE(BOOLEANS_COUNT)];

#if FMI == 3
#include "trace_fmi3.h"
#else
#include "trace_fmi2.h"
#endif

static _Noreturn void run(void)
{
    uint64_t generator = 1, steps_ok = 0, steps_counted = 0;
    void *library = load_library(LIBRARY);
    if (!library) fail(LIBRARY, " does not load");
    begin(library);
    for (step = 0; step < STEP_COUNT; step++) {
        move_inputs(motion, inputs, &generator);
        make_step();
        steps_ok++;
        get_values();
        for (size_t i = 0; i < REALS_COUNT; i++) hash_real(reals[i]);
        for (size_t i = 0; i < INTEGERS_COUNT; i++) hash_bits((uint32_t)integers[i], 4);
        for (size_t i = 0; i < BOOLEANS_COUNT; i++) hash_bits((uint32_t)booleans[i], 4);
        if (COUNTED_BOOLEAN >= 0 && booleans[COUNTED_BOOLEAN >= 0 ? COUNTED_BOOLEAN : 0]) steps_counted++;
    }
    end();
    add_number(hash, 16, 16);
    add_text(" ");
    add_number(steps_ok, 10, 1);
    add_text(" ");
    add_number(steps_counted, 10, 1);
    print_line_and_exit(0);
}

#ifdef _WIN32
void mainCRTStartup(void) { run(); }
#else
int main(void) { run(); }
#endif
