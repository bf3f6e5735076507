/* The platform of the drivers: a library, memory, output. */
#ifndef DRIVER_PLATFORM_H
#define DRIVER_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#include "fmi2FunctionTypes.h"

#ifdef _WIN32

__declspec(dllimport) void *LoadLibraryA(const char *path);
__declspec(dllimport) void *GetProcAddress(void *library, const char *name);
__declspec(dllimport) int FreeLibrary(void *library);
__declspec(dllimport) void *GetModuleHandleA(const char *name);
__declspec(dllimport) void *GetProcessHeap(void);
__declspec(dllimport) void *HeapAlloc(void *heap, uint32_t flags, size_t size);
__declspec(dllimport) int HeapFree(void *heap, uint32_t flags, void *block);
__declspec(dllimport) void *GetStdHandle(uint32_t which);
__declspec(dllimport) int WriteFile(void *file, const void *text, uint32_t length, uint32_t *written, void *overlapped);
__declspec(dllimport) _Noreturn void ExitProcess(unsigned exit_code);

#define HEAP_ZERO_MEMORY 8u
#define STD_OUTPUT_HANDLE ((uint32_t)-11)

int _fltused; /* the compiler refers to it as soon as floating point is used; a C runtime would define it */

static void *load_library(const char *path) { return LoadLibraryA(path); }
static void *find_symbol(void *library, const char *name) { return GetProcAddress(library, name); }
static inline void unload_library(void *library) { FreeLibrary(library); }
static inline int is_loaded(const char *path) { return GetModuleHandleA(path) != NULL; }

static void *allocate(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    return HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, count * size);
}

static void release(void *block)
{
    if (block) HeapFree(GetProcessHeap(), 0, block);
}

static _Noreturn void print_and_exit(const char *text, size_t length, int exit_code)
{
    uint32_t written;
    WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), text, (uint32_t)length, &written, NULL);
    ExitProcess((unsigned)exit_code);
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *load_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *find_symbol(void *library, const char *name) { return dlsym(library, name); }
static inline void unload_library(void *library) { dlclose(library); }
static inline int is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD); /* counts as loading it once more */
    return library && dlclose(library) == 0;
}
static void *allocate(size_t count, size_t size) { return calloc(count, size); }
static void release(void *block) { free(block); }

static _Noreturn void print_and_exit(const char *text, size_t length, int exit_code)
{
    fwrite(text, 1, length, stdout);
    exit(exit_code);
}

#endif

#endif
