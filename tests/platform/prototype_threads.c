/* An importer that is no Python: makes an instance of each FMU in a thread, all at once, and prints how many there are.
 *
 *     prototype_threads GUID RESOURCES LIBRARY ... */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"

enum { MOST = 16 };

static const char *guid, *resources;
static pthread_barrier_t all_ready;
static fmi2InstantiateTYPE *instantiate[MOST];
static fmi2Component made[MOST];

static void logger(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    vprintf(text, arguments);
    puts("");
    va_end(arguments);
    (void)environment, (void)name, (void)status, (void)category;
}

static const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};

static void *make(void *number)
{
    size_t i = (size_t)number;
    pthread_barrier_wait(&all_ready);
    made[i] = instantiate[i]("slave", fmi2CoSimulation, guid, resources, &callbacks, 0, 0);
    return NULL;
}

int main(int count, char **arguments)
{
    int libraries = count - 3, there = 0;
    pthread_t threads[MOST];
    if (libraries < 1 || libraries > MOST)
        return 2;
    guid = arguments[1];
    resources = arguments[2];
    for (int i = 0; i < libraries; i++) {
        void *library = dlopen(arguments[3 + i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            return 2;
        }
        instantiate[i] = (fmi2InstantiateTYPE *)dlsym(library, "fmi2Instantiate");
    }
    pthread_barrier_init(&all_ready, NULL, (unsigned)libraries);
    for (size_t i = 0; i < (size_t)libraries; i++)
        pthread_create(&threads[i], NULL, make, (void *)i);
    for (int i = 0; i < libraries; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < libraries; i++)
        there += made[i] != NULL;
    printf("%d\n", there);
    return 0;
}
