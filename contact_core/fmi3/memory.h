/* Memory of FMI 3.0, whose importers bring none: an instance, or a state that is kept, is one block of zeros.
 *
 *     compiled with a C library   calloc, free: the sources, whoever compiles them, and the sanitizers of the tests
 *     Linux                       pages of its own by system calls: the binary imports nothing
 *     Windows                     the heap of the process: HeapAlloc of kernel32.dll, which every process has loaded
 *     macOS                       calloc, free of libSystem, which the linker always names
 *
 * There is no fixed number of instances.  System calls of Windows and macOS have no numbers that stay; those of Linux
 * do, and a symbol of the C library would be found only in processes that have one. */
#ifndef CC_MEMORY_H
#define CC_MEMORY_H

#include <stddef.h>

#if __STDC_HOSTED__

#include <stdlib.h>

static void *cc_new_block(size_t size) { return calloc(1, size); }
static void cc_delete_block(void *block) { free(block); }

#elif defined _WIN32

/* as the documentation of kernel32.dll declares them; the headers of Windows would bring a C library along */
__declspec(dllimport) void *__stdcall GetProcessHeap(void);
__declspec(dllimport) void *__stdcall HeapAlloc(void *heap, unsigned long flags, size_t size);
__declspec(dllimport) int __stdcall HeapFree(void *heap, unsigned long flags, void *block);

#define CC_ZEROED 8u /* HEAP_ZERO_MEMORY */

static void *cc_new_block(size_t size) { return HeapAlloc(GetProcessHeap(), CC_ZEROED, size); }
static void cc_delete_block(void *block) { HeapFree(GetProcessHeap(), 0, block); }

#elif defined __APPLE__

void *calloc(size_t count, size_t size);
void free(void *block);

static void *cc_new_block(size_t size) { return calloc(1, size); }
static void cc_delete_block(void *block) { free(block); }

#elif defined __linux__

#include "../base/system_call.h"

enum { CC_READ_WRITE = 3, CC_PRIVATE_ANONYMOUS = 0x22, CC_BLOCK_HEADER = 16 };

/* The size of its pages lies before a block. */
static void *cc_new_block(size_t size)
{
    size_t whole = size + CC_BLOCK_HEADER;
    long answer = cc_call_system(CC_MMAP, 0, (long)whole, CC_READ_WRITE, CC_PRIVATE_ANONYMOUS, -1, 0);
    if (cc_error_of(answer))
        return NULL;
    size_t *pages = (size_t *)answer;
    pages[0] = whole;
    return (unsigned char *)pages + CC_BLOCK_HEADER;
}

static void cc_delete_block(void *block)
{
    size_t *pages = (size_t *)((unsigned char *)block - CC_BLOCK_HEADER);
    cc_call_system(CC_MUNMAP, (long)pages, (long)pages[0], 0, 0, 0, 0);
}

#else
#error "memory.h knows Linux, Windows and macOS: compile with a C library"
#endif

#endif
