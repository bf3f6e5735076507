/* A cone with the half angle surface_angle, drawn between the ends of surface_z. */
#include "shared/cone_foot.h"

#include "curved.h"
