/* contact_core as a shared library for this machine: what tests, prototypes and the master call.
 *
 * CC_API keeps a function private inside an FMU; here it exports it.  fmu_builder/export/host.py reads the declarations
 * from this same text, with CC_API set to a marker of its own: a header included here needs no other entry. */
#ifndef CC_API
#ifdef _WIN32
#define CC_API __attribute__((dllexport))
#else
#define CC_API __attribute__((visibility("default")))
#endif
#endif

#include "base_plane.h"
#include "cone.h"
#include "constraint.h"
#include "contact.h"
#include "crossing.h"
#include "cylinder.h"
#include "disc.h"
#include "elementary.h"
#include "foot.h"
#include "force_zone.h"
#include "line.h"
#include "line_foot.h"
#include "mechanism.h"
#include "plane.h"
#include "profile.h"
#include "real.h"
#include "sphere.h"
#include "text.h"
#include "torus.h"
#include "vector.h"

/* cc_text_format for callers that cannot make a va_list. */
CC_API __attribute__((format(printf, 2, 3))) void cc_host_format(CcText *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_text_format(text, format, arguments);
    va_end(arguments);
}
