/* What FMI 2.0 gives the instances: its types, memory and log of the importer, the names of functions in messages. */
#ifndef CC_IMPORTER_H
#define CC_IMPORTER_H

#include "fmi2Functions.h"

typedef fmi2CallbackFunctions CcImporter;

#define CC_FUNCTION /* of the standard: exported */
#define CC_CALLED(name) "fmi2" #name
#define CC_GUID_NAME "GUID"
#define CC_RESOURCES_NAME "fmuResourceLocation"
#define CC_FATAL_NAME "fmi2Fatal"
#define CC_TYPE_NAMES {"Real", "Integer", "Boolean"}
#define CC_LENGTH(vr) 1 /* scalars of a variable */
#define CC_CAN_DEFER 1 /* a step may be answered with fmi2Pending */
#define CC_IS_PENDING(status) ((status) == fmi2Pending)
#define CC_STEP_MODES CC_STEP_COMPLETE /* of a co-simulation between initialization and end */
#define CC_SHOW(instance, t_c, tau, length, t_end) (void)(tau) /* an accepted substep to the importer: see fmi3/ */

#include "../instance.h"

/* ---- memory: the importer's, or a static pool for those that bring none ---------------------------------------- */

#define CC_POOL_SIZE (CC_PLAIN ? 1 : 4)
#define CC_POOL_LIMIT 1000000 /* bytes; an instance that needs more is for importers that bring memory */

typedef struct {
    char taken;
    _Alignas(16) unsigned char bytes[sizeof(Instance) < CC_POOL_LIMIT ? sizeof(Instance) : 16];
} CcPoolItem;

static CcPoolItem cc_pool[CC_POOL_SIZE];

CC_RARE void *cc_allocate(const CcImporter *importer, size_t size)
{
    void *memory = NULL;
    if (importer->allocateMemory && !CC_PLAIN) {
        memory = importer->allocateMemory(1, size);
    } else {
        for (int i = 0; i < CC_POOL_SIZE && size <= sizeof cc_pool[i].bytes && !memory; i++)
            if (!__atomic_test_and_set(&cc_pool[i].taken, __ATOMIC_ACQUIRE))
                memory = cc_pool[i].bytes;
    }
    if (memory)
        __builtin_memset(memory, 0, size);
    return memory;
}

CC_RARE void cc_release(const CcImporter *importer, void *memory)
{
    for (int i = 0; i < CC_POOL_SIZE; i++)
        if (memory == cc_pool[i].bytes) {
            __atomic_clear(&cc_pool[i].taken, __ATOMIC_RELEASE);
            return;
        }
    if (importer->freeMemory)
        importer->freeMemory(memory);
}

/* ---- log ------------------------------------------------------------------------------------------------------- */

/* The importer's logger treats the text as a printf format in which #r1# stands for a variable: escape % and #. */
CC_RARE void cc_send(const CcImporter *importer, const char *name,
                                              fmi2Status status, const char *category, const CcText *text)
{
    CcText escaped;
    escaped.length = 0;
    for (size_t i = 0; i < text->length && escaped.length + 2 < CC_TEXT_SIZE; i++) { /* never half of a pair */
        if (text->chars[i] == '%' || text->chars[i] == '#')
            cc_text_char(&escaped, text->chars[i]);
        cc_text_char(&escaped, text->chars[i]);
    }
    escaped.length = cc_whole_characters(escaped.chars, escaped.length);
    escaped.chars[escaped.length] = '\0';
    if (importer->logger && escaped.length)
        importer->logger(importer->componentEnvironment, name, status, category, escaped.chars);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* Value `at` of an array of the importer for variables of a type. */
static inline double cc_given(int type, const void *values, size_t k)
{
    return type == CC_REAL      ? ((const fmi2Real *)values)[k]
           : type == CC_INTEGER ? (double)((const fmi2Integer *)values)[k]
           : ((const fmi2Boolean *)values)[k] != fmi2False ? 1.0
                                                           : 0.0;
}

#endif
