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

#include "base/elementary.h"
#include "base/real.h"
#include "base/text.h"
#include "base/vector.h"
#include "laws/contact.h"
#include "laws/hold.h"
#include "lines/base_plane.h"
#include "lines/force_zone.h"
#include "lines/line.h"
#include "lines/line_foot.h"
#include "mechanism/constraint.h"
#include "mechanism/mechanism.h"
#include "surfaces/cone.h"
#include "surfaces/crossing.h"
#include "surfaces/cylinder.h"
#include "surfaces/disc.h"
#include "surfaces/foot.h"
#include "surfaces/patch.h"
#include "surfaces/plane.h"
#include "surfaces/profile.h"
#include "surfaces/sphere.h"
#include "surfaces/torus.h"
