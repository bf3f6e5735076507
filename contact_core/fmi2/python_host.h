/* Python for the elements that are written in it: found or started, the functions of the waist fetched.
 *
 * pythonfmu's binary, which lies in the folder `resources`, loads the module prototype_<GUID>.py that lies there too
 * and makes its slave, which fills in CcPythonLoad.  The slave does nothing else.
 *
 * The binary for Linux looks for Python in the process and does not load it.  Here a shared libpython is loaded where
 * the process has none: FMU_BUILDER_PYTHON names the file, else the newest that is found.
 *
 * The libraries stay loaded, the slave is not freed and Python is never finalized: its extension modules do not survive
 * that.
 *
 * pythonfmu 0.7 counts references to its interpreter.  finalizePythonInterpreter, which runs when the process ends,
 * decrements the counter after destructors of C++ have freed it, and so corrupts memory.  Called early it gives up its
 * reference once; the slave keeps another. */
#ifndef CC_PYTHON_HOST_H
#define CC_PYTHON_HOST_H

#include "../base/resource_path.h"
#include "../instance.h"
#include "../python_waist.h"

#ifdef _WIN32
#define CC_SLAVE_LIBRARY "pythonfmu.dll"
#define LOAD_WITH_ALTERED_SEARCH_PATH 8u
#define CP_UTF8 65001u
/* of kernel32.dll, as its documentation declares them; the headers of Windows would bring a C library along */
__declspec(dllimport) void *__stdcall LoadLibraryExW(const unsigned short *path, void *file, unsigned long flags);
__declspec(dllimport) void *__stdcall GetProcAddress(void *library, const char *name);
__declspec(dllimport) void *__stdcall GetModuleHandleA(const char *name);
__declspec(dllimport) unsigned long __stdcall GetLastError(void);
__declspec(dllimport) int __stdcall SwitchToThread(void);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned page, unsigned long flags, const char *text,
                                                        int length, unsigned short *wide, int size);
#else
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#define CC_SLAVE_LIBRARY "pythonfmu.so"
#define CC_ANYWHERE NULL /* RTLD_DEFAULT of glibc */
#endif

CcPythonElement CC_PYTHON_ELEMENTS[CC_PYTHON];

/* What the slave is given, as text: the address of this. */
typedef struct {
    CcPythonElement *elements; /* to be filled in */
    int count;
    int is_done;
    char why[CC_TEXT_SIZE]; /* not */
} CcPythonLoad;

/* ---- libraries ------------------------------------------------------------------------------------------------- */

#ifdef _WIN32

CC_RARE void *cc_load(const char *path, CcText *why)
{
    unsigned short wide[CC_TEXT_SIZE];
    if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, CC_TEXT_SIZE))
        return cc_append(why, "%s is no path in UTF-8", path), NULL;
    for (unsigned short *w = wide; *w; w++)
        if (*w == '/')
            *w = '\\';
    void *library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library)
        cc_append(why, "%s: Windows error %d; it needs python3.dll of Python 3.11 or newer on the PATH and the Visual "
                  "C++ runtime", path, (int)GetLastError());
    return library;
}

static void *cc_symbol(void *library, const char *name) { return GetProcAddress(library, name); }

static void cc_let_others_run(void) { SwitchToThread(); }

static int cc_has_python(CcText *why) /* the slave's library is linked to it */
{
    (void)why;
    return 1;
}

static void *cc_of_python(const char *name)
{
    void *python = GetModuleHandleA("python3.dll");
    return python ? GetProcAddress(python, name) : NULL;
}

#else

CC_RARE void *cc_load(const char *path, CcText *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        cc_append(why, "%s", dlerror());
    return library;
}

static void *cc_symbol(void *library, const char *name) { return dlsym(library, name); }
static void *cc_of_python(const char *name) { return dlsym(CC_ANYWHERE, name); }
static void cc_let_others_run(void) { sched_yield(); }

CC_RARE int cc_has_python(CcText *why)
{
    if (cc_of_python("Py_IsInitialized"))
        return 1;
    const char *given = getenv("FMU_BUILDER_PYTHON");
    if (given && *given) {
        if (dlopen(given, RTLD_NOW | RTLD_GLOBAL))
            return 1;
        return cc_append(why, "FMU_BUILDER_PYTHON: %s", dlerror());
    }
    for (int minor = 30; minor >= 11; minor--) {
        CcText name = {0};
        cc_append(&name, "libpython3.%d.so.1.0", minor);
        if (dlopen(name.chars, RTLD_NOW | RTLD_GLOBAL))
            return 1;
    }
    return cc_append(why, "there is no Python in this process and no shared library of Python 3.11 or newer where "
                      "libraries are looked for: install one (Debian: libpython3.11), or set FMU_BUILDER_PYTHON to the "
                      "file");
}

#endif

typedef int (*CcPythonHook)(void);

/* 1: this thread is to start Python, and sets `busy` back then; 0: it runs.
 *
 * One thread of the process at a time may start it, whichever FMU it is in, and two FMUs share nothing but Python's
 * library.  Of its variables PyOS_InputHook, a function that an interactive Python calls before it waits for input, is
 * NULL before Python runs.  It is the lock: while Python starts it is Py_IsInitialized, which may be called at any time
 * and is the same for all.  Where Python runs nothing is written.  Loading takes no lock: Python's own one orders it,
 * and a thread that holds that one must not wait here for another that needs it. */
CC_RARE int cc_is_to_start(CcPythonHook runs, CcPythonHook *busy)
{
    for (;;) {
        int is_running = runs(); /* read first: it is true before the start has ended */
        CcPythonHook holder = __atomic_load_n(busy, __ATOMIC_ACQUIRE);
        if (holder == runs)
            cc_let_others_run();
        else if (is_running)
            return 0;
        else if (holder || __atomic_compare_exchange_n(busy, &holder, runs, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return 1;
    }
}

/* Start Python, unless it runs, and leave it to every thread.  numpy is imported before the slave's library is loaded:
 * imported by its functions in a process that is no Python, numpy corrupts memory when the process ends. */
CC_RARE int cc_start_python(CcText *why)
{
    int (*is_initialized)(void) = (int (*)(void))cc_of_python("Py_IsInitialized");
    void (*initialize)(int) = (void (*)(int))cc_of_python("Py_InitializeEx");
    void *(*save_thread)(void) = (void *(*)(void))cc_of_python("PyEval_SaveThread");
    int (*ensure)(void) = (int (*)(void))cc_of_python("PyGILState_Ensure");
    void (*leave)(int) = (void (*)(int))cc_of_python("PyGILState_Release");
    void *(*import)(const char *) = (void *(*)(const char *))cc_of_python("PyImport_ImportModule");
    void (*clear)(void) = (void (*)(void))cc_of_python("PyErr_Clear");
    if (!is_initialized || !initialize || !save_thread || !ensure || !leave || !import || !clear)
        return 1; /* Windows, where the slave's library brings it */
    static CcPythonHook of_this_fmu; /* should Python lack the variable */
    CcPythonHook *shared = (CcPythonHook *)cc_of_python("PyOS_InputHook");
    CcPythonHook *busy = shared ? shared : &of_this_fmu;
    if (cc_is_to_start(is_initialized, busy)) {
        if (!is_initialized()) { /* another thread may have started it since it was looked at */
            initialize(0); /* without signal handlers: the importer has its own */
            save_thread();
        }
        CcPythonHook holder = is_initialized;
        __atomic_compare_exchange_n(busy, &holder, (CcPythonHook)NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
    int state = ensure(), is_there = import("numpy") != NULL;
    if (!is_there)
        clear();
    leave(state);
    if (!is_there)
        cc_append(why, "this Python cannot import numpy: install it there, or put the Python that has it on the PATH "
                  "first");
    return is_there;
}

/* ---- the resources --------------------------------------------------------------------------------------------- */

/* pythonfmu keeps the address of its callbacks; what goes wrong is written into CcPythonLoad. */
static void cc_no_logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                         fmi2String text, ...)
{
    (void)environment, (void)name, (void)status, (void)category, (void)text;
}

static const fmi2CallbackFunctions cc_no_callbacks = {.logger = cc_no_logger};

/* The functions of the elements in Python, from the folder of the resources, unless they are there; else 0, and why.
 * Two threads that come here at once fetch the same ones. */
CC_RARE int cc_load_python(fmi2String instance_name, fmi2String resources, CcText *why)
{
    static int is_loaded;
    if (__atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE))
        return 1;
    char folder[CC_PATH_SIZE];
    if (!resources)
        return cc_append(why, "the argument fmuResourceLocation is NULL");
    if (!cc_path_of(resources, folder, CC_PATH_SIZE))
        return cc_append(why, "the path of the resources has more than %d characters", CC_PATH_SIZE - 1);
    if (!cc_has_python(why) || !cc_start_python(why))
        return 0;
    CcText path = {0}, address = {0};
    cc_append(&path, "%s/" CC_SLAVE_LIBRARY, folder);
    void *library = cc_load(path.chars, why);
    if (!library)
        return 0;
    fmi2InstantiateTYPE *instantiate = (fmi2InstantiateTYPE *)cc_symbol(library, "fmi2Instantiate");
    fmi2SetStringTYPE *set_string = (fmi2SetStringTYPE *)cc_symbol(library, "fmi2SetString");
    if (!instantiate || !set_string)
        return cc_append(why, "%s has no function %s", path.chars, instantiate ? "fmi2SetString" : "fmi2Instantiate");
    fmi2Component slave =
        instantiate(instance_name, fmi2CoSimulation, CC_GUID, folder, &cc_no_callbacks, fmi2False, fmi2False);
    void (*let_go)(void) = (void (*)(void))cc_symbol(library, "finalizePythonInterpreter");
    if (let_go)
        let_go();
    if (!slave)
        return cc_append(why, "Python cannot load the prototype: it must be 3.11 or newer");
    CcPythonLoad load = {.elements = CC_PYTHON_ELEMENTS, .count = CC_PYTHON};
    cc_text_integer(&address, (long long)(size_t)&load);
    const fmi2String values[] = {CC_GUID, address.chars};
    const fmi2ValueReference references[] = {0, 1};
    set_string(slave, references, 2, values);
    if (!load.is_done)
        return cc_append(why, "%s", *load.why ? load.why : "the prototype does not answer");
    __atomic_store_n(&is_loaded, 1, __ATOMIC_RELEASE);
    return 1;
}

#endif
