/* The FMU around the element, in one file, so that every internal name stays private to it. */
#include "fmi2/fmi2_importer.h"
#include "fmi2/fmi2.h"
#include "fmi2/fmi2_derivatives.h"
#include "fmi2/fmi2_model_exchange.h"
#include "fmi2/fmi2_own.h"
#include "fmi2/fmi2_sensitivities.h"
#include "fmi2/fmi2_state.h"
#include "fmi2/fmi2_step.h"
