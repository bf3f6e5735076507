/* A profile that turns about z. */
#include "shared/revolution_foot.h"

#include "profile.h"

static inline void surface_edges(const Element *e, int i, Indicators *z) { profile_edges(e, i, z); }
