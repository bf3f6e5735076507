/* A torus, surface_radius: of its circle, and of the tube. */
#include "shared/torus_foot.h"

#include "oriented.h"
#include "edgeless.h"
#include "smooth.h"
