/* The binary of a prototype, an element whose physics is Python: it stands between the importer and the binary of
 * pythonfmu, which runs Python and lies with all that belongs to it in the folder `resources`.
 *
 * It does what that binary leaves out:
 *   status   pythonfmu knows two answers, fmi2OK and, to a Python exception, fmi2Fatal, after which it crashes.  Here
 *            the answer is the worst status among the messages that Python logged during the call, so Python says what
 *            went wrong and the importer hears fmi2Error or fmi2Discard.
 *   Python   Its binary for Linux looks for Python in the process and does not load it.  Here a shared libpython is
 *            loaded where the process has none: FMU_BUILDER_PYTHON names the file, else the newest that is found.
 *   calls    NULL arguments, a foreign GUID, model exchange are refused; after fmi2Fatal nothing is passed on.
 *   paths    every URI of the resources is turned into a path.
 *
 * The libraries stay loaded and Python stays alive: its extension modules survive neither. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "fmi2Functions.h"

#include "../base/text.h"

#ifdef _WIN32
#define SLAVE_LIBRARY "pythonfmu.dll"
#define LOAD_WITH_ALTERED_SEARCH_PATH 8u
#define CP_UTF8 65001u
#define HEAP_ZERO_MEMORY 8u
/* of kernel32.dll, as its documentation declares them; the headers of Windows would bring a C library along */
__declspec(dllimport) void *__stdcall LoadLibraryExW(const unsigned short *path, void *file, unsigned long flags);
__declspec(dllimport) void *__stdcall GetProcAddress(void *library, const char *name);
__declspec(dllimport) void *__stdcall GetModuleHandleA(const char *name);
__declspec(dllimport) unsigned long __stdcall GetLastError(void);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned page, unsigned long flags, const char *text,
                                                        int length, unsigned short *wide, int size);
__declspec(dllimport) void *__stdcall GetProcessHeap(void);
__declspec(dllimport) void *__stdcall HeapAlloc(void *heap, unsigned long flags, size_t size);
__declspec(dllimport) int __stdcall HeapFree(void *heap, unsigned long flags, void *memory);
static void *allocate(size_t size) { return HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size); }
static void release(void *memory) { HeapFree(GetProcessHeap(), 0, memory); }
#else
#include <dlfcn.h>
#include <stdlib.h>
#define SLAVE_LIBRARY "pythonfmu.so"
static void *allocate(size_t size) { return calloc(1, size); }
static void release(void *memory) { free(memory); }
#endif

#define PATH_SIZE 900 /* bytes; with the name of a library it fits into CcText */

/* A value reference that no variable has: the slave takes the GUID under it. */
static const fmi2ValueReference guid_reference = 0x7fffffffu;

typedef struct {
    fmi2CallbackFunctions importer; /* a copy: the importer's struct is valid during fmi2Instantiate only */
    fmi2CallbackFunctions ours;     /* what the slave is given; it keeps the address */
    fmi2Component slave;
    fmi2Status worst; /* of the messages of this call */
    fmi2Status step;  /* answer to the last fmi2DoStep */
    int logging, is_dead;
    char *categories; /* wanted ones, each ended by a zero, then an empty one; NULL for all */
    char folder[PATH_SIZE]; /* of the resources */
    CcText why; /* there is no instance */
    fmi2InstantiateTYPE *instantiate;
    fmi2FreeInstanceTYPE *free_instance;
    fmi2SetDebugLoggingTYPE *set_debug_logging;
    fmi2SetupExperimentTYPE *setup_experiment;
    fmi2EnterInitializationModeTYPE *enter_initialization_mode;
    fmi2ExitInitializationModeTYPE *exit_initialization_mode;
    fmi2TerminateTYPE *terminate;
    fmi2ResetTYPE *reset;
    fmi2GetRealTYPE *get_real;
    fmi2GetIntegerTYPE *get_integer;
    fmi2GetBooleanTYPE *get_boolean;
    fmi2SetRealTYPE *set_real;
    fmi2SetIntegerTYPE *set_integer;
    fmi2SetBooleanTYPE *set_boolean;
    fmi2SetStringTYPE *set_string;
    fmi2DoStepTYPE *do_step;
    fmi2GetRealStatusTYPE *get_real_status;
} Instance;

/* ---- text and log ---------------------------------------------------------------------------------------------- */

static size_t length_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static int is_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Add to the text; returns NULL, so that `return say(...)` says why there is none. */
__attribute__((format(printf, 2, 3))) static void *say(CcText *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_text_format(text, format, arguments);
    va_end(arguments);
    return NULL;
}

/* The importer takes the text as a printf format: % is escaped.  # is escaped by the slave. */
static void send(const fmi2CallbackFunctions *to, fmi2String name, fmi2Status status, fmi2String category,
                 const char *text)
{
    char *escaped = to->logger ? allocate(2 * length_of(text) + 1) : NULL, *end = escaped;
    if (!escaped)
        return;
    for (; *text; text++) {
        if (*text == '%')
            *end++ = '%';
        *end++ = *text;
    }
    to->logger(to->componentEnvironment, name, status, category, escaped);
    release(escaped);
}

static int is_wanted(const Instance *instance, const char *category)
{
    const char *wanted = instance->categories;
    if (!wanted)
        return 1;
    for (; *wanted; wanted += length_of(wanted) + 1)
        if (is_same(wanted, category) || is_same(wanted, "logAll"))
            return 1;
    return 0;
}

/* Errors are always told; everything else only while logging is on and its category wanted. */
static void receive(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                    fmi2String text, ...)
{
    Instance *instance = environment;
    const char *group = category ? category : "logStatusError";
    if (status > instance->worst)
        instance->worst = status;
    if (status >= fmi2Error || (instance->logging && is_wanted(instance, group)))
        send(&instance->importer, name, status, group, text);
}

/* ---- libraries ------------------------------------------------------------------------------------------------- */

#ifdef _WIN32

static void *load(const char *path, CcText *why)
{
    unsigned short *wide = allocate(2 * (length_of(path) + 1));
    if (!wide || !MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, (int)length_of(path) + 1))
        return say(why, "%s is no path in UTF-8", path);
    for (unsigned short *w = wide; *w; w++)
        if (*w == '/')
            *w = '\\';
    void *library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library)
        say(why, "%s: Windows error %d; it needs python3.dll of Python 3.11 or newer on the PATH and the Visual C++ "
            "runtime", path, (int)GetLastError());
    release(wide);
    return library;
}

static void *find(void *library, const char *name) { return GetProcAddress(library, name); }

static int has_python(CcText *why) /* the slave's library is linked to it */
{
    (void)why;
    return 1;
}

static void *of_python(const char *name)
{
    void *python = GetModuleHandleA("python3.dll");
    return python ? GetProcAddress(python, name) : NULL;
}

#else

static void *load(const char *path, CcText *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? library : say(why, "%s", dlerror());
}

static void *find(void *library, const char *name) { return dlsym(library, name); }
static void *of_python(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static int has_python(CcText *why)
{
    if (dlsym(RTLD_DEFAULT, "Py_IsInitialized"))
        return 1;
    const char *given = getenv("FMU_BUILDER_PYTHON");
    if (given && *given) {
        if (dlopen(given, RTLD_NOW | RTLD_GLOBAL))
            return 1;
        say(why, "FMU_BUILDER_PYTHON: %s", dlerror());
        return 0;
    }
    for (int minor = 30; minor >= 11; minor--) {
        CcText name = {0};
        say(&name, "libpython3.%d.so.1.0", minor);
        if (dlopen(name.chars, RTLD_NOW | RTLD_GLOBAL))
            return 1;
    }
    say(why, "there is no Python in this process and no shared library of Python 3.11 or newer where libraries are "
        "looked for: install one (Debian: libpython3.11), or set FMU_BUILDER_PYTHON to the file");
    return 0;
}

#endif

/* Start Python, unless it runs, and leave it to every thread.  The slave's library would end it again when it is
 * unloaded, which extension modules such as numpy do not survive; here it lives as long as the process.  numpy is
 * imported before the slave's library is loaded: imported by its functions in a process that is no Python, numpy
 * breaks the memory in which the process ends. */
static int start_python(CcText *why)
{
    int (*is_initialized)(void) = (int (*)(void))of_python("Py_IsInitialized");
    void (*initialize)(int) = (void (*)(int))of_python("Py_InitializeEx");
    void *(*save_thread)(void) = (void *(*)(void))of_python("PyEval_SaveThread");
    int (*ensure)(void) = (int (*)(void))of_python("PyGILState_Ensure");
    void (*leave)(int) = (void (*)(int))of_python("PyGILState_Release");
    void *(*import)(const char *) = (void *(*)(const char *))of_python("PyImport_ImportModule");
    void (*clear)(void) = (void (*)(void))of_python("PyErr_Clear");
    if (!is_initialized || !initialize || !save_thread || !ensure || !leave || !import || !clear)
        return 1; /* Windows, where the slave's library brings it */
    if (!is_initialized()) {
        initialize(0); /* the importer's signals stay its own */
        save_thread();
    }
    int state = ensure(), is_there = import("numpy") != NULL;
    if (!is_there)
        clear();
    leave(state);
    if (!is_there)
        say(why, "this Python cannot import numpy: install it there, or put the Python that has it on the PATH first");
    return is_there;
}

/* ---- creation -------------------------------------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The path of a file URI, without a slash at the end; what is no such URI is taken for a path.  0 if it is too long. */
static int path_of(const char *uri, char *path, size_t size)
{
    static const char scheme[] = "file:";
    size_t same = 0;
    while (scheme[same] && uri[same] == scheme[same])
        same++;
    int is_uri = !scheme[same];
    if (is_uri)
        uri += same;
    if (is_uri && uri[0] == '/' && uri[1] == '/') { /* a host, or none */
        uri += 2;
        while (*uri && *uri != '/')
            uri++;
    }
    if (uri[0] == '/' && uri[1] && uri[2] == ':') /* /C:/... */
        uri++;
    size_t length = 0;
    for (; *uri; uri++) {
        if (length + 1 >= size)
            return 0;
        char c = *uri;
        if (is_uri && c == '%' && digit(uri[1]) >= 0 && digit(uri[2]) >= 0) {
            c = (char)(16 * digit(uri[1]) + digit(uri[2]));
            uri += 2;
        }
        path[length++] = c;
    }
    while (length > 1 && path[length - 1] == '/')
        length--;
    path[length] = '\0';
    return 1;
}

/* The functions of the slave's library; the name of one that is missing, or NULL. */
static const char *find_functions(Instance *instance, void *library)
{
#define FIND(member, name)                                                                                             \
    if (!(*(void **)&instance->member = find(library, #name)))                                                         \
    return #name
    FIND(instantiate, fmi2Instantiate);
    FIND(free_instance, fmi2FreeInstance);
    FIND(set_debug_logging, fmi2SetDebugLogging);
    FIND(setup_experiment, fmi2SetupExperiment);
    FIND(enter_initialization_mode, fmi2EnterInitializationMode);
    FIND(exit_initialization_mode, fmi2ExitInitializationMode);
    FIND(terminate, fmi2Terminate);
    FIND(reset, fmi2Reset);
    FIND(get_real, fmi2GetReal);
    FIND(get_integer, fmi2GetInteger);
    FIND(get_boolean, fmi2GetBoolean);
    FIND(set_real, fmi2SetReal);
    FIND(set_integer, fmi2SetInteger);
    FIND(set_boolean, fmi2SetBoolean);
    FIND(set_string, fmi2SetString);
    FIND(do_step, fmi2DoStep);
    FIND(get_real_status, fmi2GetRealStatus);
#undef FIND
    return NULL;
}

/* The slave in the folder of the resources, told its GUID; else NULL, and instance->why unless it has told itself. */
static fmi2Component make_slave(Instance *instance, fmi2String name, fmi2String guid, fmi2String resources)
{
    CcText *why = &instance->why, path = {0};
    if (!path_of(resources, instance->folder, PATH_SIZE))
        return say(why, "the path of the resources has more than %d characters", PATH_SIZE - 1);
    if (!has_python(why) || !start_python(why))
        return NULL;
    say(&path, "%s/" SLAVE_LIBRARY, instance->folder);
    void *library = load(path.chars, why);
    if (!library)
        return NULL;
    const char *missing = find_functions(instance, library);
    if (missing)
        return say(why, "%s has no function %s", path.chars, missing);
    /* Its logging stays on: the answers are made of the messages. */
    fmi2Component slave =
        instance->instantiate(name, fmi2CoSimulation, guid, instance->folder, &instance->ours, fmi2False, fmi2True);
    if (!slave)
        return say(why, "Python cannot load the prototype: it must be 3.11 or newer");
    fmi2Status status = instance->set_string(slave, &guid_reference, 1, &guid);
    if (status == fmi2OK && instance->worst < fmi2Error)
        return slave;
    if (status != fmi2Fatal)
        instance->free_instance(slave);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    static const fmi2CallbackFunctions none = {0};
    (void)visible;
    if (!functions)
        functions = &none;
    Instance *instance = allocate(sizeof *instance);
    if (!instance)
        return NULL;
    CcText *why = &instance->why;
    instance->importer = *functions;
    instance->ours.logger = receive;
    instance->ours.componentEnvironment = instance;
    instance->logging = loggingOn != fmi2False;
    if (!instanceName || !*instanceName)
        say(why, "the instance name is empty");
    else if (fmuType != fmi2CoSimulation)
        say(why, "a prototype in Python is for co-simulation only");
    else if (!fmuGUID || !fmuResourceLocation)
        say(why, "the argument %s is NULL", fmuGUID ? "fmuResourceLocation" : "fmuGUID");
    else
        instance->slave = make_slave(instance, instanceName, fmuGUID, fmuResourceLocation);
    if (instance->slave)
        return instance;
    if (why->length) {
        CcText text = {0};
        say(&text, "fmi2Instantiate: %s", why->chars);
        send(functions, instanceName ? instanceName : "", fmi2Error, "logStatusError", text.chars);
    }
    release(instance);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    Instance *instance = c;
    if (!instance)
        return;
    if (!instance->is_dead)
        instance->free_instance(instance->slave);
    if (instance->categories)
        release(instance->categories);
    release(instance);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static fmi2Status refuse(Instance *instance, fmi2Status status, const char *function, const char *what)
{
    CcText text = {0};
    say(&text, "%s: %s", function, what);
    send(&instance->importer, "", status, status == fmi2Discard ? "logStatusDiscard" : "logStatusError", text.chars);
    return status;
}

/* Leave with fmi2Error without an instance, with fmi2Fatal after its end. */
#define ENTER()                                                                                                        \
    Instance *instance = c;                                                                                            \
    if (!instance)                                                                                                     \
        return fmi2Error;                                                                                              \
    if (instance->is_dead)                                                                                             \
        return fmi2Fatal;                                                                                              \
    instance->worst = fmi2OK

#define NEED(n, pointer)                                                                                               \
    if ((n) > 0 && !(pointer))                                                                                         \
    return refuse(instance, fmi2Error, __func__, "the argument " #pointer " is NULL")

/* The answer to a call that the slave answered with `status`. */
static fmi2Status answer(Instance *instance, fmi2Status status)
{
    instance->is_dead = status == fmi2Fatal;
    return status > instance->worst ? status : instance->worst;
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    ENTER();
    NEED(nCategories, categories);
    size_t length = 1;
    for (size_t i = 0; i < nCategories; i++)
        length += categories[i] ? length_of(categories[i]) + 1 : 0;
    char *wanted = nCategories ? allocate(length) : NULL, *end = wanted;
    if (nCategories && !wanted)
        return refuse(instance, fmi2Error, __func__, "no memory");
    for (size_t i = 0; i < nCategories; i++)
        if (categories[i] && *categories[i]) {
            __builtin_memcpy(end, categories[i], length_of(categories[i]));
            end += length_of(categories[i]) + 1;
        }
    if (instance->categories)
        release(instance->categories);
    instance->categories = wanted;
    instance->logging = loggingOn != fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    ENTER();
    return answer(instance, instance->setup_experiment(instance->slave, toleranceDefined, tolerance, startTime,
                                                       stopTimeDefined, stopTime));
}

#define DEFINE_PLAIN(Name, member)                                                                                     \
    fmi2Status fmi2##Name(fmi2Component c)                                                                             \
    {                                                                                                                  \
        ENTER();                                                                                                       \
        return answer(instance, instance->member(instance->slave));                                                    \
    }

DEFINE_PLAIN(EnterInitializationMode, enter_initialization_mode)
DEFINE_PLAIN(ExitInitializationMode, exit_initialization_mode)
DEFINE_PLAIN(Terminate, terminate)
DEFINE_PLAIN(Reset, reset)

#define DEFINE_ACCESS(Name, member, Value)                                                                             \
    fmi2Status fmi2##Name(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, Value value[])                   \
    {                                                                                                                  \
        ENTER();                                                                                                       \
        NEED(nvr, vr);                                                                                                 \
        NEED(nvr, value);                                                                                              \
        return answer(instance, instance->member(instance->slave, vr, nvr, value));                                    \
    }

DEFINE_ACCESS(GetReal, get_real, fmi2Real)
DEFINE_ACCESS(GetInteger, get_integer, fmi2Integer)
DEFINE_ACCESS(GetBoolean, get_boolean, fmi2Boolean)
DEFINE_ACCESS(SetReal, set_real, const fmi2Real)
DEFINE_ACCESS(SetInteger, set_integer, const fmi2Integer)
DEFINE_ACCESS(SetBoolean, set_boolean, const fmi2Boolean)

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    ENTER();
    fmi2Status status = instance->do_step(instance->slave, currentCommunicationPoint, communicationStepSize,
                                          noSetFMUStatePriorToCurrentPoint);
    return instance->step = answer(instance, status);
}

/* ---- status ---------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
{
    ENTER();
    NEED(1, value);
    if (s != fmi2DoStepStatus)
        return refuse(instance, fmi2Discard, __func__, "only fmi2DoStepStatus is offered");
    *value = instance->step;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    ENTER();
    NEED(1, value);
    if (s != fmi2LastSuccessfulTime)
        return refuse(instance, fmi2Discard, __func__, "only fmi2LastSuccessfulTime is offered");
    return answer(instance, instance->get_real_status(instance->slave, s, value));
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    ENTER();
    NEED(1, value);
    if (s != fmi2Terminated)
        return refuse(instance, fmi2Discard, __func__, "only fmi2Terminated is offered");
    *value = fmi2False;
    return fmi2OK;
}

/* ---- what a prototype does not offer --------------------------------------------------------------------------- */

#define DEFINE_REFUSED(Name, arguments)                                                                                \
    fmi2Status fmi2##Name arguments                                                                                    \
    {                                                                                                                  \
        ENTER();                                                                                                       \
        return refuse(instance, fmi2Error, __func__, "a prototype in Python does not offer it");                       \
    }

#ifdef __clang__
#pragma clang diagnostic ignored "-Wunused-parameter"
#else
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

typedef const fmi2ValueReference *References;

DEFINE_REFUSED(GetString, (fmi2Component c, References vr, size_t nvr, fmi2String value[]))
DEFINE_REFUSED(SetString, (fmi2Component c, References vr, size_t nvr, const fmi2String value[]))
DEFINE_REFUSED(GetFMUstate, (fmi2Component c, fmi2FMUstate *state))
DEFINE_REFUSED(SetFMUstate, (fmi2Component c, fmi2FMUstate state))
DEFINE_REFUSED(FreeFMUstate, (fmi2Component c, fmi2FMUstate *state))
DEFINE_REFUSED(SerializedFMUstateSize, (fmi2Component c, fmi2FMUstate state, size_t *size))
DEFINE_REFUSED(SerializeFMUstate, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size))
DEFINE_REFUSED(DeSerializeFMUstate, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state))
DEFINE_REFUSED(GetDirectionalDerivative, (fmi2Component c, References unknowns, size_t nUnknown, References knowns,
                                          size_t nKnown, const fmi2Real direction[], fmi2Real derivative[]))
DEFINE_REFUSED(SetRealInputDerivatives, (fmi2Component c, References vr, size_t nvr, const fmi2Integer order[],
                                         const fmi2Real value[]))
DEFINE_REFUSED(GetRealOutputDerivatives, (fmi2Component c, References vr, size_t nvr, const fmi2Integer order[],
                                          fmi2Real value[]))
DEFINE_REFUSED(CancelStep, (fmi2Component c))
DEFINE_REFUSED(GetIntegerStatus, (fmi2Component c, const fmi2StatusKind s, fmi2Integer *value))
DEFINE_REFUSED(GetStringStatus, (fmi2Component c, const fmi2StatusKind s, fmi2String *value))
