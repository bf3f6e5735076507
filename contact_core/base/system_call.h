/* System calls of Linux on x86-64 and aarch64, for binaries that import nothing.
 *
 * The numbers of these calls stay, where a symbol of the C library would be found only in processes that have one. */
#ifndef CC_SYSTEM_CALL_H
#define CC_SYSTEM_CALL_H

#include "real.h"

#if defined __x86_64__

enum { CC_CLOSE = 3, CC_LSEEK = 8, CC_MMAP = 9, CC_MUNMAP = 11, CC_OPENAT = 257 };

CC_API long cc_call_system(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

#elif defined __aarch64__

enum { CC_CLOSE = 57, CC_LSEEK = 62, CC_MMAP = 222, CC_MUNMAP = 215, CC_OPENAT = 56 };

CC_API long cc_call_system(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

#else
#error "system_call.h knows x86-64 and aarch64: compile with a C library"
#endif

/* The number of the error that a call answered with, or 0. */
CC_API int cc_error_of(long answer) { return answer < 0 && answer > -4096 ? (int)-answer : 0; }

#endif
