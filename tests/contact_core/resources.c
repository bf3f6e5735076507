/* Paths of Windows and of other platforms on this one, check sums, and a map that a signal interrupts. */
#include <errno.h>
#include <fcntl.h>

static int interruptions; /* of calls of open to come */
#define open(...) (interruptions > 0 ? (interruptions--, errno = EINTR, -1) : open(__VA_ARGS__))

#ifdef WINDOWS
#define CC_PATHS_OF_WINDOWS 1
#endif

#define CC_RESOURCES 1
typedef struct {
    const unsigned **data;
    const char *file;
    unsigned long long size, sums[4];
} CcResource;
static const unsigned *data;
static const CcResource cc_resources[] = {{&data, "none", 64, {0, 0, 0, 0}}};
#include "fmi2/resources.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int path_of(const char *given, char *path, size_t size) { return cc_path_of(given, path, size); }

/* In the place of a path behind CC_LONG_PREFIX characters. */
EXPORTED const unsigned short *long_path(unsigned short *full) { return cc_long_path(full); }

EXPORTED void add_up(const unsigned *words, unsigned long long count, unsigned long long sums[4])
{
    cc_add_up(words, count, sums);
}

/* The error of a map of a file of this size, -1 if there is neither one nor bytes. */
EXPORTED int map_error(const char *path, unsigned long long size, int interrupted)
{
    interruptions = interrupted;
    CcMapped map = cc_map_file(path, size);
    if (!map.bytes)
        return map.error ? map.error : -1;
    cc_unmap_file(&map);
    return map.error;
}
