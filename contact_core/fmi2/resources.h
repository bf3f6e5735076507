/* Data of a model that lie in a file of the FMU's folder `resources`, in the place of each of its binaries.
 *
 * The file, little-endian; fmu_builder/export/resources.py writes it:
 *
 *      0  8 bytes   "FMUBDATA"
 *      8  unsigned  1, the format: what is described here
 *     12  unsigned  64, where the data begin
 *     16  u64       size of the data in bytes, a multiple of 64
 *     24  4 u64     check sums of the data
 *     56  8 bytes   0
 *     64            the data, as the element reads them: of a mesh surfaces/mesh.h
 *
 * The binary has size and check sums too (cc_resources in model_tables.c, generated), so it takes the file of its own
 * build and no other.
 *
 * Check sums, over the words w of 32 bits in their order, mod 2^64, from 0:  a += w, b += a, c += b, d += c.  A change
 * of one or two words changes a or b.   Source: Fletcher (1982), IEEE Transactions on Communications 30, 247; with four
 * sums as in ZFS.
 *
 * All instances of a process have one map of the file.  The first of them makes and checks it, the last one gives it
 * back.  In between the pointers do not change, so threads read them without a lock. */
#ifndef CC_RESOURCES_H
#define CC_RESOURCES_H

#include "../base/mapped_file.h"
#include "../base/resource_path.h"
#include "../base/text.h"

#include <stddef.h>

typedef struct {
    unsigned long long magic;
    unsigned format, header;
    unsigned long long size, sums[4], spare;
} CcResourceHeader;

#define CC_RESOURCE_MAGIC 0x4154414442554D46ull /* "FMUBDATA" */
enum { CC_RESOURCE_FORMAT = 1, CC_RESOURCE_HEADER = 64 };
_Static_assert(sizeof(CcResourceHeader) == CC_RESOURCE_HEADER, "the header has no gaps");

CC_API void cc_add_up(const unsigned *words, unsigned long long count, unsigned long long sums[4])
{
    unsigned long long a = 0, b = 0, c = 0, d = 0;
    for (unsigned long long i = 0; i < count; i++) {
        a += words[i];
        b += a;
        c += b;
        d += c;
    }
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

CC_API int cc_differ(const unsigned long long a[4], const unsigned long long b[4])
{
    return a[0] != b[0] || a[1] != b[1] || a[2] != b[2] || a[3] != b[3];
}

/* Why bytes as many as those of the file are not its own; NULL if they are. */
CC_APART const char *cc_fault_of(const CcResource *resource, const unsigned char *bytes)
{
    const CcResourceHeader *head = (const CcResourceHeader *)(const void *)bytes;
    unsigned long long sums[4];
    if (head->magic != CC_RESOURCE_MAGIC)
        return "is no file of data of an FMU: it does not begin with FMUBDATA";
    if (head->format != CC_RESOURCE_FORMAT || head->header != CC_RESOURCE_HEADER)
        return "has another format than this binary reads";
    if (head->size != resource->size || cc_differ(head->sums, resource->sums))
        return "belongs to another FMU, or to another build of this one";
    cc_add_up((const unsigned *)(const void *)(bytes + CC_RESOURCE_HEADER), resource->size / 4, sums);
    return cc_differ(sums, resource->sums) || head->spare ? "was changed: its check sums are wrong" : NULL;
}

CC_APART CcMapped cc_open_resource(const CcResource *resource, const char *folder, CcText *path, CcText *why)
{
    const unsigned long long size = CC_RESOURCE_HEADER + resource->size;
    cc_append(path, "%s/%s", folder, resource->file);
    CcMapped found = cc_map_file(path->chars, size);
    if (found.bytes) {
        const char *fault = cc_fault_of(resource, found.bytes);
        if (!fault)
            return found;
        cc_unmap_file(&found);
        found.bytes = NULL;
        cc_append(why, "%s", fault);
    } else if (found.error == CC_NOT_FOUND || found.error == CC_NO_FOLDER) {
        cc_append(why, "is missing");
    } else if (found.error == CC_NOT_ALLOWED) {
        cc_append(why, "may not be read: permission denied");
    } else if (found.error) {
        cc_append(why, "cannot be read: error %d of the system", found.error);
    } else {
        cc_append(why, "has %g bytes in the place of %g: it was cut off, or is another file", (double)found.size,
                   (double)size);
    }
    return found;
}

/* ---- of all instances -------------------------------------------------------------------------------------------- */

typedef struct {
    char lock;
    int users;
    CcMapped maps[CC_RESOURCES];
} CcHeld;

static CcHeld cc_held;

static void cc_lock_held(void)
{
    while (__atomic_test_and_set(&cc_held.lock, __ATOMIC_ACQUIRE)) {
    } /* others hold it for some assignments */
}

static void cc_unlock_held(void) { __atomic_clear(&cc_held.lock, __ATOMIC_RELEASE); }

CC_APART void cc_unmap_all(CcMapped maps[CC_RESOURCES])
{
    for (int i = 0; i < CC_RESOURCES; i++)
        if (maps[i].bytes)
            cc_unmap_file(&maps[i]);
}

/* One more user of the data, if there are some or `maps` brings them. */
CC_APART int cc_join(const CcMapped *maps)
{
    cc_lock_held();
    int has_users = cc_held.users > 0;
    for (int i = 0; i < CC_RESOURCES && !has_users && maps; i++) {
        cc_held.maps[i] = maps[i];
        *cc_resources[i].data = (const unsigned *)(const void *)(maps[i].bytes + CC_RESOURCE_HEADER);
    }
    cc_held.users += has_users || maps;
    cc_unlock_held();
    return has_users;
}

/* Data for one more instance, which gives them back by cc_give_back_resources; 0 and why if there are none.
 * argument   name of that by which the importer gave the folder */
CC_APART int cc_take_resources(const char *argument, const char *given, CcText *why)
{
    char folder[CC_PATH_SIZE];
    CcMapped maps[CC_RESOURCES] = {{NULL, 0, 0}};
    if (cc_join(NULL))
        return 1;
    if (!given || !*given)
        return cc_append(why, "%s is %s, and the FMU needs %s of its folder resources: unpack the FMU as a whole and "
                          "give that folder", argument, given ? "empty" : "NULL", cc_resources[0].file);
    if (!cc_path_of(given, folder, sizeof folder))
        return cc_append(why, "%s is no path of at most %d bytes: unpack the FMU into another folder", argument,
                          CC_PATH_SIZE - 1);
    for (int i = 0; i < CC_RESOURCES; i++) {
        CcText path = {0};
        cc_append(why, "%s ", cc_resources[i].file);
        maps[i] = cc_open_resource(&cc_resources[i], folder, &path, why);
        if (!maps[i].bytes) {
            cc_unmap_all(maps);
            return cc_append(why, "; the FMU takes the file of its own build: unpack it again as a whole, and give its "
                              "folder resources as %s; looked for at %s", argument, path.chars);
        }
        why->length = 0;
    }
    if (cc_join(maps)) /* another thread was faster */
        cc_unmap_all(maps);
    return 1;
}

CC_APART void cc_give_back_resources(void)
{
    CcMapped maps[CC_RESOURCES] = {{NULL, 0, 0}};
    cc_lock_held();
    int is_last = --cc_held.users == 0;
    for (int i = 0; i < CC_RESOURCES && is_last; i++) {
        maps[i] = cc_held.maps[i];
        *cc_resources[i].data = NULL;
    }
    cc_unlock_held();
    cc_unmap_all(maps);
}

#endif
