/* Windows (system.h). */
#ifndef RECORDER_SYSTEM_WINDOWS_H
#define RECORDER_SYSTEM_WINDOWS_H

#define SEPARATORS "\\/"

typedef unsigned short Wide;
typedef void *File;
#define NO_FILE ((void *)(intptr_t)-1)

enum { CODE_PAGE_UTF8 = 65001, SEARCH_BESIDE_LIBRARY = 8, OF_ADDRESS = 4 | 2, FILE_EXISTS = 80 };
enum { CREATE_NEW = 1, OPEN_EXISTING = 3, SHARE_ALL = 1 | 2 | 4, PAGE_READWRITE = 4, MAP_WRITE = 2 };
#define GENERIC_READ 0x80000000u
#define GENERIC_WRITE 0x40000000u

#define SYSTEM(type) __declspec(dllimport) type __stdcall
SYSTEM(void *) LoadLibraryExW(const Wide *path, void *file, unsigned long flags);
SYSTEM(int) FreeLibrary(void *library);
SYSTEM(void *) GetProcAddress(void *library, const char *name);
SYSTEM(int) GetModuleHandleExW(unsigned long flags, const Wide *address, void **library);
SYSTEM(unsigned long) GetModuleFileNameW(void *library, Wide *path, unsigned long size);
SYSTEM(unsigned long) GetEnvironmentVariableW(const Wide *name, Wide *value, unsigned long size);
SYSTEM(unsigned long) GetLastError(void);
SYSTEM(unsigned long) GetCurrentThreadId(void);
SYSTEM(unsigned long) GetCurrentProcessId(void);
SYSTEM(int) SwitchToThread(void);
SYSTEM(int) QueryPerformanceCounter(uint64_t *ticks);
SYSTEM(int) QueryPerformanceFrequency(uint64_t *ticks);
SYSTEM(void) GetSystemTimeAsFileTime(uint64_t *time);
SYSTEM(int) MultiByteToWideChar(unsigned page, unsigned long flags, const char *text, int length, Wide *wide, int size);
SYSTEM(int) WideCharToMultiByte(unsigned page, unsigned long flags, const Wide *wide, int length, char *text, int size,
                                const char *other, int *used);
SYSTEM(unsigned long) GetFullPathNameW(const Wide *path, unsigned long size, Wide *full, Wide **name);
SYSTEM(void *) CreateFileW(const Wide *path, unsigned long access, unsigned long share, void *security,
                           unsigned long how, unsigned long flags, void *like);
SYSTEM(int) CloseHandle(void *handle);
SYSTEM(int) ReadFile(void *file, void *to, unsigned long size, unsigned long *done, void *how);
SYSTEM(int) WriteFile(void *file, const void *from, unsigned long size, unsigned long *done, void *how);
SYSTEM(int) SetFilePointerEx(void *file, int64_t offset, int64_t *now, unsigned long from);
SYSTEM(int) SetEndOfFile(void *file);
SYSTEM(int) GetFileSizeEx(void *file, uint64_t *size);
SYSTEM(void *) CreateFileMappingW(void *file, void *security, unsigned long access, unsigned long high,
                                  unsigned long low, const Wide *name);
SYSTEM(void *) MapViewOfFile(void *map, unsigned long access, unsigned long high, unsigned long low, size_t size);
SYSTEM(int) UnmapViewOfFile(const void *at);
SYSTEM(int) ReadProcessMemory(void *process, const void *from, void *to, size_t size, size_t *done);

static uint64_t system_ticks(void)
{
    uint64_t ticks = 0;
    QueryPerformanceCounter(&ticks);
    return ticks;
}

static uint64_t system_ticks_per_second(void)
{
    uint64_t ticks = 1;
    QueryPerformanceFrequency(&ticks);
    return ticks;
}

static uint64_t system_date(void) /* ns since 1970 */
{
    uint64_t since_1601 = 0; /* in 100 ns */
    GetSystemTimeAsFileTime(&since_1601);
    return (since_1601 - 116444736000000000u) * 100u;
}

static uint64_t system_thread(void) { return GetCurrentThreadId(); }
static uint32_t system_process(void) { return GetCurrentProcessId(); }
static void system_yield(void) { SwitchToThread(); }

static Wide wide_path[PATH_SIZE]; /* of the last call; the recorder calls all that follows under its lock */

static const Wide *wide(const char *text)
{
    if (!MultiByteToWideChar(CODE_PAGE_UTF8, 0, text, -1, wide_path, PATH_SIZE))
        wide_path[0] = 0;
    for (Wide *w = wide_path; *w; w++)
        if (*w == '/')
            *w = '\\';
    return wide_path;
}

static int narrow(char text[PATH_SIZE])
{
    return WideCharToMultiByte(CODE_PAGE_UTF8, 0, wide_path, -1, text, PATH_SIZE, NULL, NULL) > 0;
}

static int system_own_path(char path[PATH_SIZE])
{
    void *library = NULL;
    if (!GetModuleHandleExW(OF_ADDRESS, (const Wide *)(const void *)&system_own_path, &library))
        return 0;
    unsigned long length = GetModuleFileNameW(library, wide_path, PATH_SIZE);
    return length > 0 && length < PATH_SIZE && narrow(path);
}

static int system_environment(const char *name, char value[PATH_SIZE])
{
    Wide wanted[32];
    size_t i = 0;
    for (; name[i] && i < 31; i++)
        wanted[i] = (Wide)name[i];
    wanted[i] = 0;
    unsigned long length = GetEnvironmentVariableW(wanted, wide_path, PATH_SIZE);
    return length > 0 && length < PATH_SIZE && narrow(value);
}

static int system_make_absolute(char path[PATH_SIZE])
{
    static Wide given[PATH_SIZE];
    __builtin_memcpy(given, wide(path), sizeof given);
    unsigned long length = GetFullPathNameW(given, PATH_SIZE, wide_path, NULL);
    return length > 0 && length < PATH_SIZE && narrow(path);
}

static void *system_load(const char *path, char why[PATH_SIZE])
{
    void *library = LoadLibraryExW(wide(path), NULL, SEARCH_BESIDE_LIBRARY);
    unsigned long code = library ? 0 : GetLastError();
    const char *begin = "Windows error ";
    size_t n = 0, digits = 1;
    for (; begin[n]; n++)
        why[n] = begin[n];
    for (unsigned long rest = code / 10; rest; rest /= 10)
        digits++;
    why[n + digits] = 0;
    for (size_t k = digits; k > 0; k--, code /= 10)
        why[n + k - 1] = (char)('0' + code % 10);
    return library;
}

static void system_unload(void *library) { FreeLibrary(library); }
static void *system_symbol(void *library, const char *name) { return GetProcAddress(library, name); }

/* A new file; `exists` is set if there is one already. */
static File file_create(const char *path, int *exists)
{
    File file = CreateFileW(wide(path), GENERIC_READ | GENERIC_WRITE, SHARE_ALL, NULL, CREATE_NEW, 0, NULL);
    *exists = file == NO_FILE && GetLastError() == FILE_EXISTS;
    return file;
}

static File file_open(const char *path, int to_write)
{
    unsigned long access = GENERIC_READ | (to_write ? GENERIC_WRITE : 0u);
    return CreateFileW(wide(path), access, SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
}

static void file_close(File file) { CloseHandle(file); }

static uint64_t file_size(File file)
{
    uint64_t size = 0;
    GetFileSizeEx(file, &size);
    return size;
}

static void file_truncate(File file, uint64_t size)
{
    if (SetFilePointerEx(file, (int64_t)size, NULL, 0))
        SetEndOfFile(file);
}

static int file_read(File file, void *to, size_t size, uint64_t at)
{
    unsigned long done = 0;
    return SetFilePointerEx(file, (int64_t)at, NULL, 0) && ReadFile(file, to, (unsigned long)size, &done, NULL)
           && done == size;
}

static int file_write(File file, const void *from, size_t size, uint64_t at)
{
    unsigned long done = 0;
    return SetFilePointerEx(file, (int64_t)at, NULL, 0) && WriteFile(file, from, (unsigned long)size, &done, NULL)
           && done == size;
}

/* The room on the disk is taken with the size. */
static int file_extend(File file, uint64_t from, uint64_t to)
{
    (void)from;
    return SetFilePointerEx(file, (int64_t)to, NULL, 0) && SetEndOfFile(file);
}

static char *file_map(File file, uint64_t at, size_t size)
{
    void *map = CreateFileMappingW(file, NULL, PAGE_READWRITE, 0, 0, NULL);
    void *view = map ? MapViewOfFile(map, MAP_WRITE, (unsigned long)(at >> 32), (unsigned long)at, size) : NULL;
    if (map)
        CloseHandle(map); /* the view keeps it */
    return view;
}

static void file_unmap(char *map, size_t size)
{
    (void)size;
    UnmapViewOfFile(map);
}

/* Reads memory that may not be there. */
static int system_read_memory(File scratch, uint64_t at, const char *from, char *to, size_t size)
{
    size_t done = 0;
    (void)scratch, (void)at;
    return ReadProcessMemory((void *)(intptr_t)-1, from, to, size, &done) && done == size;
}

#endif
