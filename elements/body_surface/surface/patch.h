/* A patch of bicubic pieces, from control points or through heights: CcPatch of the constants of structure.py. */
#include "shared/patch_foot.h"

#include "curved.h"
