/* What the recorder takes of the platform, and all that it takes: loading a library, a file that is mapped into memory,
 * a clock.  The functions are declared here, because the headers of a platform would bring its C library along.
 *
 *   Linux    libdl.so.2, libc.so.6: functions that glibc has had since 2.17, and musl, without versions
 *   macOS    libSystem
 *   Windows  kernel32.dll
 *
 * Nothing is printed, and no memory is allocated.  Paths are UTF-8 and end with 0; functions that may fail return 0. */
#ifndef RECORDER_SYSTEM_H
#define RECORDER_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

enum { PATH_SIZE = 4096, PAGE = 65536 }; /* a multiple of the granularity of maps on every platform */

/* 0 if it is too long. */
static int copy_path(char to[PATH_SIZE], const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < PATH_SIZE; i++)
        to[i] = from[i];
    to[i] = 0;
    return from[i] == 0;
}

#ifdef _WIN32
#include "system_windows.h"
#else
#include "system_posix.h"
#endif

#endif
