/* A file that is mapped into memory, to be read only.
 *
 * Processes share the memory, and it is read from the disk where it is looked at.
 *
 *     Linux                   system calls: the binary imports nothing
 *     Windows                 kernel32.dll, which every process has loaded
 *     macOS                   libSystem, which the linker always names
 *     with a C library        the same functions by its headers: the sources, whoever compiles them
 *
 * As a library that is loaded, a mapped file must not be written or cut: what is read of it would change, or end the
 * process.  Windows refuses that. */
#ifndef CC_MAPPED_FILE_H
#define CC_MAPPED_FILE_H

#include "real.h"
#include "resource_path.h"

#include <stddef.h>

typedef struct {
    const unsigned char *bytes; /* NULL if there are none */
    unsigned long long size;
    int error; /* the platform's number of the reason, or 0 */
} CcMapped;

#ifdef _WIN32

/* as the documentation of kernel32.dll declares them; the headers of Windows would bring a C library along */
__declspec(dllimport) unsigned long __stdcall GetLastError(void);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned page, unsigned long flags, const char *text,
                                                        int length, unsigned short *wide, int size);
__declspec(dllimport) unsigned long __stdcall GetFullPathNameW(const unsigned short *path, unsigned long size,
                                                               unsigned short *full, unsigned short **file);
__declspec(dllimport) void *__stdcall CreateFileW(const unsigned short *path, unsigned long access,
                                                  unsigned long share, void *security, unsigned long how,
                                                  unsigned long flags, void *like);
__declspec(dllimport) int __stdcall GetFileSizeEx(void *file, long long *size);
__declspec(dllimport) int __stdcall CloseHandle(void *handle);
__declspec(dllimport) void *__stdcall CreateFileMappingW(void *file, void *security, unsigned long access,
                                                         unsigned long high, unsigned long low,
                                                         const unsigned short *name);
__declspec(dllimport) void *__stdcall MapViewOfFile(void *map, unsigned long access, unsigned long high,
                                                    unsigned long low, size_t size);
__declspec(dllimport) int __stdcall UnmapViewOfFile(const void *at);

enum { CC_UTF8 = 65001, CC_LONGEST_WIDE = 1000, CC_SHARE_READ_AND_DELETE = 1 | 4, CC_OPEN_EXISTING = 3 };
enum { CC_PAGE_READONLY = 2, CC_MAP_READ = 4, CC_NOT_FOUND = 2, CC_NO_FOLDER = 3, CC_NOT_ALLOWED = 5 };

CC_APART void *cc_open_wide(const unsigned short *wide) /* apart: no frame may be longer than a page (text.h) */
{
    unsigned short full[CC_LONG_PREFIX + CC_LONGEST_WIDE];
    unsigned long length = GetFullPathNameW(wide, CC_LONGEST_WIDE, full + CC_LONG_PREFIX, NULL);
    if (length == 0 || length >= CC_LONGEST_WIDE)
        return (void *)-1;
    return CreateFileW(cc_long_path(full), 0x80000000ul, CC_SHARE_READ_AND_DELETE, NULL, CC_OPEN_EXISTING, 0, NULL);
}

CC_APART void *cc_open_file(const char *path)
{
    unsigned short wide[CC_LONGEST_WIDE];
    int is_text = MultiByteToWideChar(CC_UTF8, 0, path, -1, wide, CC_LONGEST_WIDE);
    return is_text ? cc_open_wide(wide) : (void *)-1;
}

/* The bytes of a file that has this size; of any other one the size only. */
CC_APART CcMapped cc_map_file(const char *path, unsigned long long size)
{
    CcMapped found = {NULL, 0, 0};
    long long there = 0;
    void *file = cc_open_file(path), *map;
    if (file == (void *)-1 || !GetFileSizeEx(file, &there)) {
        found.error = (int)GetLastError();
        if (file != (void *)-1)
            CloseHandle(file);
        return found;
    }
    found.size = (unsigned long long)there;
    if (found.size == size) {
        map = CreateFileMappingW(file, NULL, CC_PAGE_READONLY, 0, 0, NULL);
        found.bytes = map ? MapViewOfFile(map, CC_MAP_READ, 0, 0, 0) : NULL;
        found.error = found.bytes ? 0 : (int)GetLastError();
        if (map)
            CloseHandle(map); /* the view keeps it, and the file */
    }
    CloseHandle(file);
    return found;
}

CC_API void cc_unmap_file(const CcMapped *map) { UnmapViewOfFile(map->bytes); }

#else

/* A file that is a pipe is not waited for.  Of each platform: open, size, map, answer below 0 with the number of an
 * error. */
enum { CC_NOT_FOUND = 2, CC_NO_FOLDER = 20, CC_NOT_ALLOWED = 13, CC_INTERRUPTED = 4 };

#if !__STDC_HOSTED__ && defined __linux__

#include "system_call.h"

enum { CC_OF_THIS_FOLDER = -100, CC_NOT_WAITING = 04000 | 02000000, CC_END = 2, CC_READ = 1, CC_PRIVATE = 2 };

CC_API int cc_open_file(const char *path)
{
    return (int)cc_call_system(CC_OPENAT, CC_OF_THIS_FOLDER, (long)path, CC_NOT_WAITING, 0, 0, 0);
}

CC_API long long cc_size_of_file(int file) { return cc_call_system(CC_LSEEK, file, 0, CC_END, 0, 0, 0); }

CC_API int cc_map_opened(int file, size_t size, const unsigned char **bytes)
{
    long answer = cc_call_system(CC_MMAP, 0, (long)size, CC_READ, CC_PRIVATE, file, 0);
    *bytes = cc_error_of(answer) ? NULL : (const unsigned char *)answer;
    return -cc_error_of(answer);
}

CC_API void cc_close_file(int file) { cc_call_system(CC_CLOSE, file, 0, 0, 0, 0, 0); }
CC_API void cc_unmap(const void *bytes, size_t size) { cc_call_system(CC_MUNMAP, (long)bytes, (long)size, 0, 0, 0, 0); }

#else

#if __STDC_HOSTED__
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef O_CLOEXEC /* of POSIX 2008 */
#define O_CLOEXEC 0
#endif
#else /* macOS, whose headers would bring its C library along */
int open(const char *path, int flags, ...);
long long lseek(int file, long long offset, int from);
int close(int file);
void *mmap(void *at, size_t size, int access, int flags, int file, long long offset);
int munmap(void *at, size_t size);
int *__error(void);
#define errno (*__error())
enum { O_RDONLY = 0, O_NONBLOCK = 4, O_CLOEXEC = 0x1000000, SEEK_END = 2, PROT_READ = 1, MAP_PRIVATE = 2 };
#define MAP_FAILED ((void *)-1)
#endif

CC_API int cc_open_file(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

CC_API long long cc_size_of_file(int file)
{
    long long size = (long long)lseek(file, 0, SEEK_END);
    return size < 0 ? -errno : size;
}

CC_API int cc_map_opened(int file, size_t size, const unsigned char **bytes)
{
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    *bytes = map == MAP_FAILED ? NULL : map;
    return *bytes ? 0 : -errno;
}

CC_API void cc_close_file(int file) { close(file); }
CC_API void cc_unmap(const void *bytes, size_t size) { munmap((void *)bytes, size); }

#endif

/* The bytes of a file that has this size; of any other one the size only. */
CC_APART CcMapped cc_map_file(const char *path, unsigned long long size)
{
    CcMapped found = {NULL, 0, 0};
    int file;
    do
        file = cc_open_file(path);
    while (file == -CC_INTERRUPTED);
    long long there = file < 0 ? file : cc_size_of_file(file);
    if (there >= 0)
        found.size = (unsigned long long)there;
    if (there >= 0 && found.size == size)
        there = cc_map_opened(file, (size_t)size, &found.bytes);
    if (there < 0)
        found.error = (int)-there;
    if (file >= 0)
        cc_close_file(file); /* the map keeps it */
    return found;
}

CC_API void cc_unmap_file(const CcMapped *map) { cc_unmap(map->bytes, (size_t)map->size); }

#endif

#endif
