/* A cylinder of the radius surface_radius, drawn between the ends of surface_z. */
#include "shared/cylinder_foot.h"

#include "curved.h"
