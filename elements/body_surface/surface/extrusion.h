/* A profile that is drawn out along z, between the ends of surface_z. */
#include "shared/extrusion_foot.h"

#include "curved.h"
