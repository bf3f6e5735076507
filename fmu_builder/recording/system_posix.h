/* Linux and macOS (system.h). */
#ifndef RECORDER_SYSTEM_POSIX_H
#define RECORDER_SYSTEM_POSIX_H

#define SEPARATORS "/"

typedef struct {
    const char *file;
    void *base;
    const char *symbol;
    void *address;
} LibraryInfo;

typedef struct {
    long seconds, nanoseconds;
} TimeSpan;

int open(const char *path, int flags, ...);
int close(int file);
long pread(int file, void *to, size_t size, long at);
long pwrite(int file, const void *from, size_t size, long at);
long lseek(int file, long offset, int from);
int ftruncate(int file, long size);
void *mmap(void *at, size_t size, int access, int flags, int file, long offset);
int munmap(void *at, size_t size);
int clock_gettime(int clock, TimeSpan *time);
char *getenv(const char *name);
char *getcwd(char *path, size_t size);
int getpid(void);
int sched_yield(void);
void *pthread_self(void);
void *dlopen(const char *path, int mode);
int dlclose(void *library);
void *dlsym(void *library, const char *name);
char *dlerror(void);
int dladdr(const void *address, LibraryInfo *info);

#ifdef __APPLE__
enum { CREATE_NEW = 0x200 | 0x800 | 2 | 0x1000000, EXISTING = 2 | 0x1000000, READ = 0x1000000 };
enum { MONOTONIC = 8, LOAD = 1 | 4 }; /* CLOCK_UPTIME_RAW; RTLD_LAZY | RTLD_LOCAL */
#else
enum { CREATE_NEW = 0100 | 0200 | 2 | 02000000, EXISTING = 2 | 02000000, READ = 02000000 };
enum { MONOTONIC = 1, LOAD = 1 };
#endif
enum { REAL_TIME = 0, READ_WRITE = 3, SHARED = 1, END = 2 };

typedef int File;
#define NO_FILE (-1)

static uint64_t time_of(int clock)
{
    TimeSpan now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

static uint64_t system_ticks(void) { return time_of(MONOTONIC); }
static uint64_t system_ticks_per_second(void) { return 1000000000u; }
static uint64_t system_date(void) { return time_of(REAL_TIME); } /* ns since 1970 */
static uint64_t system_thread(void) { return (uint64_t)(uintptr_t)pthread_self(); }
static uint32_t system_process(void) { return (uint32_t)getpid(); }
static void system_yield(void) { sched_yield(); }

static char path_at_load[PATH_SIZE];

/* An importer may load a library by a relative path, and change its folder before the first call. */
__attribute__((constructor)) static void find_own_path(void)
{
    LibraryInfo info;
    size_t n = 0, i = 0;
    if (!dladdr((const void *)&find_own_path, &info) || !info.file)
        return;
    if (info.file[0] != '/' && getcwd(path_at_load, PATH_SIZE - 1)) {
        while (path_at_load[n])
            n++;
        path_at_load[n++] = '/';
    }
    for (; info.file[i] && n + i + 1 < PATH_SIZE; i++)
        path_at_load[n + i] = info.file[i];
    path_at_load[info.file[i] ? 0 : n + i] = 0;
}

static int system_own_path(char path[PATH_SIZE])
{
    if (!path_at_load[0])
        find_own_path();
    return path_at_load[0] && copy_path(path, path_at_load);
}

static int system_environment(const char *name, char value[PATH_SIZE])
{
    const char *given = getenv(name);
    return given && *given && copy_path(value, given);
}

/* A relative path from the current folder on, which an importer may change. */
static int system_make_absolute(char path[PATH_SIZE])
{
    static char given[PATH_SIZE];
    size_t n = 0;
    if (path[0] == '/')
        return 1;
    copy_path(given, path);
    if (!getcwd(path, PATH_SIZE - 1))
        return 0;
    while (path[n])
        n++;
    path[n++] = '/';
    size_t i = 0;
    for (; given[i] && n + i + 1 < PATH_SIZE; i++)
        path[n + i] = given[i];
    path[n + i] = 0;
    return given[i] == 0;
}

static void *system_load(const char *path, char why[PATH_SIZE])
{
    void *library = dlopen(path, LOAD);
    const char *reason = library ? "" : dlerror();
    copy_path(why, reason ? reason : "");
    return library;
}

#ifndef __APPLE__ /* where the library stays loaded (recorder.c) */
static void system_unload(void *library) { dlclose(library); }
#endif
static void *system_symbol(void *library, const char *name) { return dlsym(library, name); }

/* A new file; `exists` is set if there is one already. */
static File file_create(const char *path, int *exists)
{
    File file = open(path, CREATE_NEW, 0666);
    File other = file == NO_FILE ? open(path, READ) : NO_FILE;
    *exists = other != NO_FILE;
    if (*exists)
        close(other);
    return file;
}

static File file_open(const char *path, int to_write) { return open(path, to_write ? EXISTING : READ); }
static void file_close(File file) { close(file); }
static uint64_t file_size(File file) { return (uint64_t)lseek(file, 0, END); }
static void file_truncate(File file, uint64_t size) { (void)!ftruncate(file, (long)size); }

static int file_read(File file, void *to, size_t size, uint64_t at)
{
    return pread(file, to, size, (long)at) == (long)size;
}

static int file_write(File file, const void *from, size_t size, uint64_t at)
{
    return pwrite(file, from, size, (long)at) == (long)size;
}

/* Zeros are written, not only the size set: a store into a map of a file that has no room on the disk is a crash. */
static int file_extend(File file, uint64_t from, uint64_t to)
{
    static char zeros[PAGE]; /* not const: it would be stored in the library */
    for (; from < to; from += PAGE - from % PAGE)
        if (!file_write(file, zeros, to - from < PAGE ? (size_t)(to - from) : PAGE - (size_t)(from % PAGE), from))
            return 0;
    return 1;
}

static char *file_map(File file, uint64_t at, size_t size)
{
    void *map = mmap(NULL, size, READ_WRITE, SHARED, file, (long)at);
    return map == (void *)-1 ? NULL : map;
}

static void file_unmap(char *map, size_t size) { munmap(map, size); }

/* Reads memory that may not be there: the kernel refuses to write such memory to a file. */
static int system_read_memory(File scratch, uint64_t at, const char *from, char *to, size_t size)
{
    return file_write(scratch, from, size, at) && file_read(scratch, to, size, at);
}

#endif
