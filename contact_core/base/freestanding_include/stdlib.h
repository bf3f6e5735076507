/* Stands in for the C library's header, which the FMI headers include for size_t and NULL only. */
#include <stddef.h>
