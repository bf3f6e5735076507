/* The importer's logger and stepFinished, recorded on their way.
 *
 * An FMU is given entries of this table in their place, two for each instance.  An entry knows its number, and the code
 * behind it jumps to the importer's function with all registers and the stack as they were: a logger takes any number
 * of arguments, which C cannot pass on.  Instances beyond SLOTS get the importer's own functions.
 * allocateMemory, freeMemory and componentEnvironment are always the importer's. */
#ifndef RECORDER_CALLBACKS_H
#define RECORDER_CALLBACKS_H

#include "fmi2FunctionTypes.h"
#include "record_file.h"

#include <stdarg.h>

#define SLOTS 256 /* in the assembly too */

static struct Slot {
    fmi2CallbackFunctions given, real;
    fmi2Component component;
    int is_taken;
} slots[SLOTS];

__attribute__((visibility("hidden"), used)) const void *recorder_callback(uint64_t entry, const uint64_t *registers,
                                                                          void *stack, void *vectors);
__attribute__((visibility("hidden"))) extern const char recorder_entries[];

#if defined __APPLE__
#define C_NAME "_"
#define ENTRIES ".private_extern _recorder_entries\n.globl _recorder_entries\n_recorder_entries:\n"
#elif defined __ELF__
#define C_NAME ""
#define ENTRIES ".hidden recorder_entries\n.globl recorder_entries\nrecorder_entries:\n"
#else
#define C_NAME ""
#define ENTRIES ".globl recorder_entries\nrecorder_entries:\n"
#endif

/* All entries, from the instructions of one, which begin with its number. */
#define ALL_ENTRIES(instructions)                                                                                      \
    ".p2align 4\n" ENTRIES ".set recorder_number, 0\n.rept 512\n" instructions                                         \
    ".set recorder_number, recorder_number + 1\n.endr\n"

#if defined __x86_64__ && defined _WIN32

/* The first four arguments go to the places that the caller keeps for them on the stack, before the others: an array of
 * all.  rsp is 8 below a multiple of 16 here. */
#define ENTRY_SIZE 16
__asm__(".text\n"
        "recorder_common:\n"
        "    movq %rcx, 8(%rsp)\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %r8, 24(%rsp)\n"
        "    movq %r9, 32(%rsp)\n"
        "    subq $40, %rsp\n"
        "    movq %r11, %rcx\n"
        "    leaq 48(%rsp), %rdx\n"
        "    xorl %r8d, %r8d\n"
        "    xorl %r9d, %r9d\n"
        "    callq recorder_callback\n"
        "    addq $40, %rsp\n"
        "    movq 8(%rsp), %rcx\n"
        "    movq 16(%rsp), %rdx\n"
        "    movq 24(%rsp), %r8\n"
        "    movq 32(%rsp), %r9\n"
        "    jmpq *%rax\n"
        ALL_ENTRIES("    movl $recorder_number, %r11d\n"
                    "    jmp recorder_common\n"
                    "    .p2align 4\n"));

static int argument_list(va_list *list, const uint64_t *registers, void *stack, void *vectors, int named)
{
    (void)stack, (void)vectors;
    *list = (va_list)(uintptr_t)(registers + named);
    return 1;
}

#elif defined __x86_64__

#define ENTRY_SIZE 16
__asm__(".text\n"
        "recorder_common:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    subq $192, %rsp\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %rcx, 24(%rsp)\n"
        "    movq %r8, 32(%rsp)\n"
        "    movq %r9, 40(%rsp)\n"
        "    movaps %xmm0, 48(%rsp)\n"
        "    movaps %xmm1, 64(%rsp)\n"
        "    movaps %xmm2, 80(%rsp)\n"
        "    movaps %xmm3, 96(%rsp)\n"
        "    movaps %xmm4, 112(%rsp)\n"
        "    movaps %xmm5, 128(%rsp)\n"
        "    movaps %xmm6, 144(%rsp)\n"
        "    movaps %xmm7, 160(%rsp)\n"
        "    movq %rax, 176(%rsp)\n" /* al: how many of these hold arguments */
        "    movl %r11d, %edi\n"
        "    movq %rsp, %rsi\n"
        "    leaq 16(%rbp), %rdx\n"
        "    leaq 48(%rsp), %rcx\n"
        "    callq " C_NAME "recorder_callback\n"
        "    movq %rax, %r11\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    movq 16(%rsp), %rdx\n"
        "    movq 24(%rsp), %rcx\n"
        "    movq 32(%rsp), %r8\n"
        "    movq 40(%rsp), %r9\n"
        "    movaps 48(%rsp), %xmm0\n"
        "    movaps 64(%rsp), %xmm1\n"
        "    movaps 80(%rsp), %xmm2\n"
        "    movaps 96(%rsp), %xmm3\n"
        "    movaps 112(%rsp), %xmm4\n"
        "    movaps 128(%rsp), %xmm5\n"
        "    movaps 144(%rsp), %xmm6\n"
        "    movaps 160(%rsp), %xmm7\n"
        "    movq 176(%rsp), %rax\n"
        "    leave\n"
        "    jmpq *%r11\n"
        ALL_ENTRIES("    movl $recorder_number, %r11d\n"
                    "    jmp recorder_common\n"
                    "    .p2align 4\n"));

static int argument_list(va_list *list, const uint64_t *registers, void *stack, void *vectors, int named)
{
    const struct {
        unsigned integers, floats; /* bytes from `registers` to the next of each */
        void *stack;
        const void *registers;
    } next = {8u * (unsigned)named, 48, stack, registers};
    (void)vectors;
    _Static_assert(sizeof next == sizeof(va_list), "as the ABI of System V has it");
    __builtin_memcpy(list, &next, sizeof next);
    return 1;
}

#elif defined __aarch64__

#define ENTRY_SIZE 8
__asm__(".text\n"
        ".p2align 2\n"
        "recorder_common:\n"
        "    stp x29, x30, [sp, #-208]!\n"
        "    mov x29, sp\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    stp x4, x5, [sp, #48]\n"
        "    stp x6, x7, [sp, #64]\n"
        "    stp q0, q1, [sp, #80]\n"
        "    stp q2, q3, [sp, #112]\n"
        "    stp q4, q5, [sp, #144]\n"
        "    stp q6, q7, [sp, #176]\n"
        "    mov x0, x17\n"
        "    add x1, sp, #16\n"
        "    add x2, sp, #208\n"
        "    add x3, sp, #80\n"
        "    bl " C_NAME "recorder_callback\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x4, x5, [sp, #48]\n"
        "    ldp x6, x7, [sp, #64]\n"
        "    ldp q0, q1, [sp, #80]\n"
        "    ldp q2, q3, [sp, #112]\n"
        "    ldp q4, q5, [sp, #144]\n"
        "    ldp q6, q7, [sp, #176]\n"
        "    ldp x29, x30, [sp], #208\n"
        "    br x16\n"
        ALL_ENTRIES("    mov x17, #recorder_number\n"
                    "    b recorder_common\n"));

#ifdef __APPLE__ /* all arguments that have no name are on the stack */
static int argument_list(va_list *list, const uint64_t *registers, void *stack, void *vectors, int named)
{
    (void)registers, (void)vectors, (void)named;
    *list = (va_list)stack;
    return 1;
}
#else
static int argument_list(va_list *list, const uint64_t *registers, void *stack, void *vectors, int named)
{
    const struct {
        void *stack;
        const void *integers, *floats; /* ends of the saved registers */
        int to_integer, to_float;      /* bytes from there to the next of each */
    } next = {stack, registers + 8, (const char *)vectors + 128, -8 * (8 - named), -128};
    _Static_assert(sizeof next == sizeof(va_list), "as the ABI of ARM has it");
    __builtin_memcpy(list, &next, sizeof next);
    return 1;
}
#endif

#endif

/* ---- what a logger is given ------------------------------------------------------------------------------------ */

enum { MOST_ARGUMENTS = 32 };
static char copied[MOST_ARGUMENTS][SCRATCH_SIZE]; /* texts of the arguments of one message */

static char *open_file(void) { return room_for(sizeof(Head)); }

/* A text that an argument points to, if it does: messages with a % that means itself are given none.  Returns NULL for
 * no text; longer ones are cut. */
static const char *copied_text(const char *from, char to[SCRATCH_SIZE])
{
    size_t n = 0;
    while (n < SCRATCH_SIZE - 1) {
        size_t piece = 64 - (size_t)((uintptr_t)(from + n) % 64); /* which lies in one page */
        if (piece > SCRATCH_SIZE - 1 - n)
            piece = SCRATCH_SIZE - 1 - n;
        if (!from || !open_file() || !system_read_memory(recorder.file, SCRATCH, from + n, to + n, piece))
            return NULL;
        for (size_t end = n + piece; n < end; n++)
            if (!to[n])
                return to;
    }
    to[n] = 0;
    return to;
}

typedef struct {
    Field fields[MOST_ARGUMENTS + 2];
    int64_t integers[MOST_ARGUMENTS];
    double reals[MOST_ARGUMENTS];
    const char *texts[MOST_ARGUMENTS];
} Arguments;

static int is_one_of(char c, const char *some)
{
    for (; c && *some; some++)
        if (c == *some)
            return 1;
    return 0;
}

/* The arguments of a message with the format of printf, up to the first that C99 does not define or `long double`. */
static void collect(Arguments *found, int n, const char *format, va_list *list)
{
    int k = 0;
    for (; *format && k < MOST_ARGUMENTS; format++) {
        if (*format != '%')
            continue;
        int longs = 0, size = 0;
        for (format++; is_one_of(*format, "-+ #0123456789.*hlqjzt"); format++) {
            if (*format == '*' && k < MOST_ARGUMENTS) {
                found->integers[k] = va_arg(*list, int);
                found->fields[n++] = (Field){NUMBERS, 1, &found->integers[k]};
                k++;
            }
            longs += *format == 'l';
            size = is_one_of(*format, "qjzt") ? 8 : size;
        }
        if (k == MOST_ARGUMENTS || !*format)
            break;
        if (is_one_of(*format, "diuxXoc")) {
            int is_8 = size == 8 || longs > 1 || (longs == 1 && sizeof(long) == 8);
            found->integers[k] = is_8 ? va_arg(*list, int64_t) : va_arg(*list, int);
            found->fields[n++] = (Field){NUMBERS, 1, &found->integers[k]};
        } else if (is_one_of(*format, "aAeEfFgG")) {
            found->reals[k] = va_arg(*list, double);
            found->fields[n++] = (Field){REALS, 1, &found->reals[k]};
        } else if (*format == 'p') {
            found->integers[k] = (int64_t)(intptr_t)va_arg(*list, void *);
            found->fields[n++] = (Field){NUMBERS, 1, &found->integers[k]};
        } else if (*format == 's' && !longs) {
            found->texts[k] = copied_text(va_arg(*list, const char *), copied[k]);
            found->fields[n++] = (Field){TEXTS, 1, &found->texts[k]};
        } else if (*format != '%') {
            break;
        } else {
            continue;
        }
        k++;
    }
    found->fields[n] = (Field){NOTHING, 0, NULL};
}

/* Called by the entries with the first arguments and what va_list is made of; returns where they go. */
const void *recorder_callback(uint64_t entry, const uint64_t *registers, void *stack, void *vectors)
{
    const struct Slot *slot = &slots[entry % SLOTS];
    const Head head = {.kind = entry < SLOTS ? LOG : STEP_FINISHED,
                       .status = (int32_t)registers[entry < SLOTS ? 2 : 1],
                       .component = (uint64_t)(uintptr_t)slot->component};
    if (entry >= SLOTS) {
        const Field none = {NOTHING, 0, NULL};
        lock();
        record(head, &none);
        unlock();
        return (const void *)(uintptr_t)slot->real.stepFinished;
    }
    const char *texts[3] = {(const char *)(uintptr_t)registers[1], (const char *)(uintptr_t)registers[3],
                            (const char *)(uintptr_t)registers[4]};
    static Arguments found; /* under the lock: Windows has a page of stack for each call */
    va_list list;
    lock();
    found.fields[0] = (Field){TEXTS, 3, texts};
    found.fields[1] = (Field){NOTHING, 0, NULL};
    if (texts[2] && argument_list(&list, registers, stack, vectors, 5))
        collect(&found, 1, texts[2], &list);
    record(head, found.fields);
    unlock();
    return (const void *)(uintptr_t)slot->real.logger;
}

/* What an FMU is given in the place of `real`, and the slot that this takes, -1 if all are taken. */
static const fmi2CallbackFunctions *take_slot(const fmi2CallbackFunctions *real, int *number)
{
    *number = -1;
    if (!real)
        return real;
    lock();
    for (int i = 0; i < SLOTS && *number < 0; i++)
        if (!slots[i].is_taken) {
            const char *entry = recorder_entries + (size_t)i * ENTRY_SIZE;
            slots[i] = (struct Slot){.given = *real, .real = *real, .is_taken = 1};
            if (real->logger)
                slots[i].given.logger = (fmi2CallbackLogger)(uintptr_t)entry;
            if (real->stepFinished)
                slots[i].given.stepFinished = (fmi2StepFinished)(uintptr_t)(entry + (size_t)SLOTS * ENTRY_SIZE);
            *number = i;
        }
    unlock();
    return *number < 0 ? real : &slots[*number].given;
}

static void free_slot_of(fmi2Component component)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].is_taken && slots[i].component == component)
            slots[i].is_taken = 0;
}

#endif
