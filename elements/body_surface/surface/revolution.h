/* A profile that turns about z. */
#include "shared/revolution_foot.h"

#include "curved.h"
