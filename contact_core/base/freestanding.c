/* What a binary without a C library has to provide.
 *
 * The memory functions that compilers call implicitly, and the entry points and the stack probe that Windows needs.
 * Not for an importer who compiles the sources with a C library. */
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))
#if defined __clang__
#define NO_BUILTIN __attribute__((no_builtin)) /* else the loop becomes a call of itself */
#else
#define NO_BUILTIN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t n);
HIDDEN void *memmove(void *to, const void *from, size_t n);
HIDDEN void *memset(void *to, int value, size_t n);

#ifdef __OPTIMIZE__
#define WORDS 8
#else
#define WORDS 1 /* unoptimized, the copy of more is a call of memcpy */
#endif
#define LONG 1024 /* bytes */

/* Copy words, where the processor does so by itself: of LONG bytes and more in two thirds of the time of a loop.
 * Returns how many bytes it has copied. */
static inline size_t copy_words(void *to, const void *from, size_t words)
{
#if defined __x86_64__
    size_t bytes = 8 * words;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
    return bytes;
#else
    (void)to, (void)from, (void)words;
    return 0;
#endif
}

NO_BUILTIN void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    struct __attribute__((packed, may_alias)) Words { unsigned long long bits[WORDS]; } *t = to;
    const struct Words *f = from;
    unsigned char *bytes = to;
    const unsigned char *others = from;
    size_t copied = n >= LONG ? copy_words(to, from, n / 8) : 0;
    for (size_t i = copied / sizeof *t; i < n / sizeof *t; i++)
        t[i] = f[i];
    if (n >= sizeof *t) /* the last bytes, some of them a second time */
        *(struct Words *)(bytes + n - sizeof *t) = *(const struct Words *)(others + n - sizeof *t);
    else
        for (size_t i = 0; i < n; i++)
            bytes[i] = others[i];
    return to;
}

NO_BUILTIN void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if ((size_t)(t - f) >= n && (size_t)(f - t) >= n)
        return memcpy(to, from, n);
    for (size_t i = 0; t < f && i < n; i++)
        t[i] = f[i];
    while (t > f && n--)
        t[n] = f[n];
    return to;
}

NO_BUILTIN void *memset(void *to, int value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = (unsigned char)value;
    return to;
}

#if defined __APPLE__ /* clang turns memset to zero into one of these */
HIDDEN void bzero(void *to, size_t n);
HIDDEN void __bzero(void *to, size_t n);
NO_BUILTIN void bzero(void *to, size_t n) { memset(to, 0, n); }
NO_BUILTIN void __bzero(void *to, size_t n) { memset(to, 0, n); }
#endif

#if defined _WIN32 && defined __x86_64__
/* Called with the bytes in rax before a function takes a page of stack or more: Windows commits the pages of a stack
 * one after the other, so each of them is read on the way down.  All registers keep their values. */
__asm__(".globl ___chkstk_ms\n"
        "___chkstk_ms:\n"
        "    pushq %r10\n"
        "    pushq %r11\n"
        "    leaq 24(%rsp), %r10\n" /* where the caller's stack ends: behind both and the return address */
        "    movq %r10, %r11\n"
        "    subq %rax, %r11\n" /* where it will end */
        "1:  subq $4096, %r10\n"
        "    cmpq %r11, %r10\n"
        "    jbe 2f\n"
        "    testb %al, (%r10)\n"
        "    jmp 1b\n"
        "2:  testb %al, (%r11)\n"
        "    popq %r11\n"
        "    popq %r10\n"
        "    retq\n");
#endif

#if defined _WIN32
int _fltused = 1; /* compilers refer to it where floating point is used */
int __stdcall DllMainCRTStartup(void *module, unsigned long reason, void *reserved);
int __stdcall _DllMainCRTStartup(void *module, unsigned long reason, void *reserved);
int __stdcall DllMainCRTStartup(void *module, unsigned long reason, void *reserved)
{
    (void)module, (void)reason, (void)reserved;
    return 1;
}
int __stdcall _DllMainCRTStartup(void *module, unsigned long reason, void *reserved) /* the entry for zig up to 0.16 */
{
    return DllMainCRTStartup(module, reason, reserved);
}
#endif
