/* What a page of a browser calls besides the functions of FMI 2.0: memory, an instance, and its log.
 *
 * A module holds one FMU for co-simulation.  Its memory only grows, by what instances and the page reserve; a page that
 * starts anew makes a new instance of the module. */
#include <stddef.h>
#include <stdint.h>
#include "fmi2Functions.h"

#define PAGE 65536u /* bytes by which the memory of a module grows */
#define EXPORT(name) __attribute__((export_name(#name), visibility("default"))) name

__attribute__((import_module("page"), import_name("log"))) void page_log(int status, const char *category,
                                                                         const char *text);
extern unsigned char __heap_base; /* of the linker: where what it has laid out ends */

void *EXPORT(page_reserve)(size_t size);
fmi2Component EXPORT(page_instantiate)(const char *name, const char *guid);

/* size  bytes, 0 at first, at a multiple of 16; NULL if the browser has no more memory */
void *page_reserve(size_t size)
{
    static uintptr_t end;
    if (!end)
        end = (uintptr_t)&__heap_base;
    uintptr_t begin = (end + 15u) & ~(uintptr_t)15u;
    size_t all = __builtin_wasm_memory_size(0) * PAGE;
    if (size > all - begin && __builtin_wasm_memory_grow(0, (size - (all - begin) + PAGE - 1) / PAGE) == (size_t)-1)
        return NULL;
    end = begin + size;
    return (void *)begin;
}

static void *allocate(size_t count, size_t size) { return page_reserve(count * size); }
static void release(void *memory) { (void)memory; }

/* text  finished, with % and # doubled, as FMI 2.0 wants it */
static void logger(fmi2ComponentEnvironment page, fmi2String name, fmi2Status status, fmi2String category,
                   fmi2String text, ...)
{
    (void)page, (void)name;
    page_log((int)status, category, text);
}

fmi2Component page_instantiate(const char *name, const char *guid)
{
    static const fmi2CallbackFunctions callbacks = {logger, allocate, release, NULL, NULL};
    return fmi2Instantiate(name, fmi2CoSimulation, guid, "", &callbacks, fmi2False, fmi2False);
}
