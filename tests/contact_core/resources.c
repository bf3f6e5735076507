/* Paths of Windows and of other platforms on this one, and check sums. */
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

EXPORTED void add_up(const unsigned *words, unsigned long long count, unsigned long long sums[4])
{
    cc_add_up(words, count, sums);
}
