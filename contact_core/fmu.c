/* The FMU around the element, in one file, so that every internal name stays private to it. */
#include "instance.h"
#include "solver.h"
#include "fmi2.h"
