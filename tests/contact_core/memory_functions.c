/* The memory functions of binaries without a C library, under names of their own. */
#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#include "base/freestanding.c"
#undef memcpy
#undef memmove
#undef memset

#define EXPORT __attribute__((visibility("default")))

EXPORT void copy(void *to, const void *from, size_t n) { own_memcpy(to, from, n); }
EXPORT void move(void *to, const void *from, size_t n) { own_memmove(to, from, n); }
EXPORT void set(void *to, int value, size_t n) { own_memset(to, value, n); }
