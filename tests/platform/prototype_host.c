/* An importer that is no Python: runs ten steps of a prototype and prints the status of each call and the last state.
 *
 *     prototype_host LIBRARY GUID RESOURCES FAULT X
 *         FAULT: value of the Integer 1; X: value reference of the state */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    printf("%s %d %s: ", name, (int)status, category);
    vprintf(text, arguments);
    puts("");
    va_end(arguments);
    (void)environment;
}

#define FIND(name) name##TYPE *name = (name##TYPE *)dlsym(library, #name)

int main(int count, char **arguments)
{
    if (count != 6)
        return 2;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        puts(dlerror());
        return 2;
    }
    FIND(fmi2Instantiate);
    FIND(fmi2SetInteger);
    FIND(fmi2SetupExperiment);
    FIND(fmi2EnterInitializationMode);
    FIND(fmi2ExitInitializationMode);
    FIND(fmi2DoStep);
    FIND(fmi2GetReal);
    FIND(fmi2Terminate);
    FIND(fmi2FreeInstance);
    const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
    fmi2Component c = fmi2Instantiate("slave", fmi2CoSimulation, arguments[2], arguments[3], &callbacks, 0, 0);
    if (!c)
        return 1;
    fmi2ValueReference fault = 1, x = (fmi2ValueReference)atoi(arguments[5]);
    fmi2Integer value = atoi(arguments[4]);
    fmi2Real state = -1.0;
    printf("%d", (int)fmi2SetInteger(c, &fault, 1, &value));
    printf(" %d", (int)fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0));
    printf(" %d", (int)fmi2EnterInitializationMode(c));
    printf(" %d\n", (int)fmi2ExitInitializationMode(c));
    for (int i = 0; i < 10; i++)
        printf("%d ", (int)fmi2DoStep(c, 0.1 * i, 0.1, 1));
    printf("\n%d", (int)fmi2GetReal(c, &x, 1, &state));
    printf(" %a\n", state);
    fmi2Terminate(c);
    fmi2FreeInstance(c);
    dlclose(library);
    puts("alive");
    return 0;
}
