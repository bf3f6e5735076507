/* A cylinder of the radius surface_radius, drawn between the ends of surface_z. */
#include "shared/cylinder_foot.h"

#include "oriented.h"
#include "ends_in_z.h"
#include "smooth.h"
