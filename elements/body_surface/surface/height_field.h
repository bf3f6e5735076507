/* Heights over a grid: a patch whose parameters are x and y. */
#include "patch.h"
