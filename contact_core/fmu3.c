/* The FMU around the element for FMI 3.0, in one file, so that every internal name stays private to it. */
#include "fmi3/fmi3_importer.h"
#include "fmi2/fmi2.h"
#include "fmi3/fmi3.h"
#include "fmi3/fmi3_absent.h"
#include "fmi3/fmi3_derivatives.h"
#include "fmi3/fmi3_state.h"
#include "fmi3/fmi3_step.h"
#include "fmi3/fmi3_variables.h"
