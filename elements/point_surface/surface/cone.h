/* A cone with the half angle surface_angle, drawn between the ends of surface_z. */
#include "shared/cone_foot.h"

#include "oriented.h"
#include "ends_in_z.h"
#include "smooth.h"
