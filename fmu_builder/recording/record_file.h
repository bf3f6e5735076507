/* The file of a recording: a header of HEADER_SIZE bytes, then records to its end, or to a size of 0 in a file that
 * was not closed.  Numbers are little endian, as on all platforms of binaries.
 *
 * Records are stored into a map of the file.  The kernel keeps what was stored when the process crashes or is killed,
 * so nothing is flushed: a call costs two stores and the question which process it is in; one in WINDOW bytes extends
 * the file. */
#ifndef RECORDER_FILE_H
#define RECORDER_FILE_H

#include "system.h"

#define ENVIRONMENT "FMU_BUILDER_CALLS" /* a variable that names another folder than the one `record` was given */
#define NOWHERE "none"                  /* as that folder: nothing is recorded */
#define CONFIGURATION ".recorder" /* beside the library: the folder, a line feed, modelDescription.xml deflated */

enum { VERSION = 1, HEADER_SIZE = 4096, SCRATCH = 2048, SCRATCH_SIZE = 1024, WINDOW = 1 << 20, MOST_FILES = 1000000 };
enum { STOPPED_AT = 48 }; /* place of Header.is_stopped */

typedef struct {
    char magic[8];
    uint32_t version, process;
    uint64_t ticks_per_second, first_tick, date; /* ns since 1970 at the first tick */
    uint32_t pointer_size, has_long_of_8;
    uint32_t is_stopped; /* 1 if the disk was full: calls are missing at the end */
} Header;

enum { DESCRIPTION = 1, BEGIN, END_OF_CALL, LOG, STEP_FINISHED }; /* kinds of records */

typedef struct {
    uint32_t size; /* with this head, a multiple of 8; stored last */
    uint8_t kind, function;
    uint16_t unused;
    int32_t status;
    uint32_t call; /* number, from 1; of begin and end */
    uint64_t component, thread, tick;
} Head;

/* Fields follow the head: kind and count, then values, padded to 8 bytes.  A null pointer has no values. */
enum { NOTHING, INTEGERS, REFERENCES, REALS, BYTES, TEXTS, NUMBERS, IS_NULL = 0x80 };

typedef struct {
    uint32_t kind;
    size_t count;
    const void *values;
} Field;

static struct {
    char lock;
    int is_started, is_off;
    int is_recording; /* there is a file, whether open or not */
    int live;                     /* instances */
    uint32_t calls, process;
    File file;
    char *window; /* bytes from window_at to window_end of the file, NULL while it is closed */
    uint64_t window_at, window_end, used;
    char path[PATH_SIZE], folder[PATH_SIZE], name[PATH_SIZE];
} recorder;

static void lock(void)
{
    while (__atomic_test_and_set(&recorder.lock, __ATOMIC_ACQUIRE))
        system_yield();
}

static void unlock(void) { __atomic_clear(&recorder.lock, __ATOMIC_RELEASE); }

static int is_same(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return a[i] == b[i];
}

/* Appends to a path; 0 if it gets too long. */
static int append(char *path, const char *text)
{
    size_t n = 0;
    while (path[n])
        n++;
    size_t i = 0;
    for (; text[i] && n + i + 1 < PATH_SIZE; i++)
        path[n + i] = text[i];
    path[n + i] = 0;
    return text[i] == 0;
}

static void append_number(char *path, unsigned number)
{
    char digits[12];
    int n = 11;
    digits[n] = 0;
    do
        digits[--n] = (char)('0' + number % 10);
    while (number /= 10);
    append(path, digits + n);
}

/* ---- the map --------------------------------------------------------------------------------------------------- */

static void close_window(void)
{
    if (recorder.window) {
        file_unmap(recorder.window, (size_t)(recorder.window_end - recorder.window_at));
        recorder.window = NULL;
    }
}

/* Maps the end of the file with room for a record. */
static int move_window(uint64_t size)
{
    uint64_t at = recorder.used - recorder.used % PAGE, length = recorder.used - at + size + WINDOW - 1;
    uint64_t end = at + length - length % WINDOW, before = file_size(recorder.file);
    close_window();
    if ((before < end && !file_extend(recorder.file, before, end))
        || !(recorder.window = file_map(recorder.file, at, (size_t)(end - at)))) {
        const uint32_t yes = 1;
        file_truncate(recorder.file, recorder.used);
        file_write(recorder.file, &yes, sizeof yes, STOPPED_AT);
        file_close(recorder.file);
        recorder.is_recording = 0;
        return 0;
    }
    recorder.window_at = at;
    recorder.window_end = end;
    return 1;
}

/* While no instance lives, the file is closed and has no zeros at its end.  That of another process stays as it is. */
static void close_file(void)
{
    if (recorder.is_recording && recorder.window && recorder.process == system_process()) {
        close_window();
        file_truncate(recorder.file, recorder.used);
        file_close(recorder.file);
    }
}

/* The place of the next record; NULL if nothing is recorded. */
static char *room_for(uint64_t size)
{
    if (!recorder.is_recording)
        return NULL;
    if (!recorder.window) {
        recorder.window_end = 0;
        recorder.file = file_open(recorder.path, 1);
        if (recorder.file == NO_FILE) {
            recorder.is_recording = 0;
            return NULL;
        }
    }
    if (recorder.used + size > recorder.window_end && !move_window(size))
        return NULL;
    return recorder.window + (recorder.used - recorder.window_at);
}

/* ---- records --------------------------------------------------------------------------------------------------- */

static uint64_t padded(uint64_t size) { return (size + 7) & ~(uint64_t)7; }

static size_t length_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static uint64_t size_of_values(const Field *field)
{
    static const uint8_t sizes[] = {[INTEGERS] = 4, [REFERENCES] = 4, [REALS] = 8, [BYTES] = 1, [NUMBERS] = 8};
    if (!field->values)
        return 0;
    if (field->kind != TEXTS)
        return field->count * sizes[field->kind];
    uint64_t size = 0;
    const char *const *texts = field->values;
    for (size_t i = 0; i < field->count; i++)
        size += 4 + (texts[i] ? length_of(texts[i]) : 0);
    return size;
}

static char *store(char *to, const void *from, size_t size)
{
    __builtin_memcpy(to, from, size);
    return to + size;
}

static char *store_field(char *to, const Field *field)
{
    const uint32_t head[2] = {field->kind | (field->values ? 0 : IS_NULL), (uint32_t)field->count};
    to = store(to, head, sizeof head);
    if (field->values && field->kind == TEXTS) {
        const char *begin = to, *const *texts = field->values;
        for (size_t i = 0; i < field->count; i++) {
            const uint32_t length = texts[i] ? (uint32_t)length_of(texts[i]) : UINT32_MAX;
            to = store(to, &length, sizeof length);
            to = store(to, texts[i], texts[i] ? length : 0);
        }
        return to + padded((uint64_t)(to - begin)) - (uint64_t)(to - begin);
    }
    const uint64_t size = size_of_values(field);
    __builtin_memcpy(to, field->values, field->values ? size : 0);
    return to + padded(size);
}

/* Under the lock; fields end with NOTHING.  head.size and, if it is 0, head.tick are set here. */
static void record(Head head, const Field *fields)
{
    uint64_t size = sizeof head;
    for (const Field *field = fields; field->kind; field++)
        size += 8 + padded(size_of_values(field));
    char *place = room_for(size), *to = place + sizeof head;
    if (!place)
        return;
    for (const Field *field = fields; field->kind; field++)
        to = store_field(to, field);
    head.size = (uint32_t)size;
    head.thread = system_thread();
    if (!head.tick)
        head.tick = system_ticks();
    __builtin_memcpy(place + 4, (const char *)&head + 4, sizeof head - 4);
    __atomic_store_n((uint32_t *)(void *)place, head.size, __ATOMIC_RELEASE); /* now it is there, wholly */
    recorder.used += size;
}

/* ---- a new file ------------------------------------------------------------------------------------------------ */

/* The first record: `size` bytes from `at` on of another file. */
static int record_description(File from, uint64_t at, uint64_t size)
{
    const uint64_t whole = sizeof(Head) + 8 + padded(size);
    const uint32_t field[2] = {BYTES, (uint32_t)size};
    char *place = room_for(whole);
    if (!place || !file_read(from, place + sizeof(Head) + sizeof field, (size_t)size, at))
        return 0;
    const Head head = {.size = (uint32_t)whole, .kind = DESCRIPTION};
    __builtin_memcpy(store(place, &head, sizeof head), field, sizeof field);
    recorder.used += whole;
    return 1;
}

/* Creates FOLDER/NAME.calls, or the first of NAME-2.calls, NAME-3.calls ... that is not there; 0 if that fails, and the
 * path. */
static int create_file(void)
{
    int exists = 1;
    for (unsigned number = 1; exists && number < MOST_FILES; number++) {
        recorder.path[0] = 0;
        int fits = append(recorder.path, recorder.folder) && append(recorder.path, "/")
                   && append(recorder.path, recorder.name);
        if (number > 1) {
            append(recorder.path, "-");
            append_number(recorder.path, number);
        }
        if (!fits || !append(recorder.path, ".calls"))
            return 0;
        recorder.file = file_create(recorder.path, &exists);
    }
    if (recorder.file == NO_FILE)
        return 0;
    const Header header = {.magic = {'F', 'M', 'U', 'C', 'A', 'L', 'L', 'S'},
                           .version = VERSION,
                           .process = system_process(),
                           .ticks_per_second = system_ticks_per_second(),
                           .first_tick = system_ticks(),
                           .date = system_date(),
                           .pointer_size = sizeof(void *),
                           .has_long_of_8 = sizeof(long) == 8};
    _Static_assert(offsetof(Header, is_stopped) == STOPPED_AT, "file_write of move_window goes there");
    recorder.window = NULL;
    recorder.window_end = 0;
    recorder.used = HEADER_SIZE;
    recorder.process = header.process;
    return recorder.is_recording = file_write(recorder.file, &header, sizeof header, 0) && move_window(sizeof(Head));
}

#endif
