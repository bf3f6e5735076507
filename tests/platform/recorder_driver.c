/* Calls Echo.fmu (tests/fmu_builder/echo.c) through its recorder, and checks that the arguments of its message and of
 * stepFinished come through, and that the FMU's own library is unloaded with the recorder.  Prints `good`, or what is
 * wrong with exit code 1.  LIBRARY, ORIGINAL and GUID are given by -D. */
#include "driver_platform.h"

#include <stdarg.h>

static int messages, finished;
static const char *wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right && !wrong) wrong = what;
}

static int is_same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    va_list list;
    messages++;
    va_start(list, message);
    expect(environment == &messages && is_same(name, "driver") && status == fmi2Warning, "the first arguments");
    expect(is_same(category, "logAll") && message[0] == '%' && message[1] == 'd', "the message");
    expect(va_arg(list, int) == -1 && va_arg(list, unsigned) == 7u, "integers");
    expect(va_arg(list, long long) == -(1ll << 40) && va_arg(list, double) == 0.125, "a long long and a double");
    expect(va_arg(list, int) == 4 && va_arg(list, int) == 2, "a width and its integer");
    expect(is_same(va_arg(list, char *), "driver"), "a text");
    for (int i = 1; i < 8; i++) expect(va_arg(list, double) == i + 0.5, "doubles");
    expect(va_arg(list, double) == 0.25 && is_same(va_arg(list, char *), "end"), "a double and a text behind them");
    expect(va_arg(list, int) == 'x' && va_arg(list, size_t) == 9, "the last two");
    va_end(list);
}

static void step_finished(fmi2ComponentEnvironment environment, fmi2Status status)
{
    finished++;
    expect(environment == &messages && status == fmi2Discard, "stepFinished");
}

#define FUNCTION(name) name##TYPE *name = (name##TYPE *)(uintptr_t)find_symbol(library, #name)

static _Noreturn void run(void)
{
    static const fmi2CallbackFunctions callbacks = {logger, allocate, release, step_finished, &messages};
    static const fmi2ValueReference references[3] = {2, 3, 5};
    double values[3] = {0.0};
    void *library = load_library(LIBRARY);
    if (!library) print_and_exit("no library\n", 11, 1);
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2FreeInstance);
    FUNCTION(fmi2GetReal);
    FUNCTION(fmi2DoStep);
    fmi2Component c = fmi2Instantiate("driver", fmi2CoSimulation, GUID, "file:///r", &callbacks, fmi2False, fmi2True);
    if (!c) print_and_exit("no instance\n", 12, 1);
    expect(fmi2DoStep(c, 0.125, 0.25, fmi2True) == fmi2Pending, "the answer of fmi2DoStep");
    expect(fmi2GetReal(c, references, 3, values) == fmi2OK, "the answer of fmi2GetReal");
    expect(values[0] == 2 + 0.1 && values[1] == 3 + 0.1 && values[2] == 5 + 0.1, "values");
    fmi2FreeInstance(c);
    expect(messages == 1 && finished == 1, "how often the callbacks were called");
    expect(is_loaded(ORIGINAL), "the library of the FMU");
    unload_library(library);
    expect(!is_loaded(LIBRARY) && !is_loaded(ORIGINAL), "unloading");
    for (size_t n = 0; wrong; n++)
        if (!wrong[n]) print_and_exit(wrong, n, 1);
    print_and_exit("good\n", 5, 0);
}

#ifdef _WIN32
void mainCRTStartup(void) { run(); }
#else
int main(void) { run(); }
#endif
