/* Names of what every FMU has of its own, such as CC_ENTRY(evaluate).
 *
 * They carry the name of the model, so that several FMUs can be linked together.  In a library that is built at once
 * all of them are hidden, and fmu-builder has the compiler define one name for all models: FMUs of the same element and
 * structure then share their objects. */
#ifndef CC_NAMING_H
#define CC_NAMING_H

#ifndef CC_MODEL
#include "model_name.h" /* generated: CC_MODEL */
#endif

#define CC_NAMED_AS(model, name) model##name
#define CC_NAMED(model, name) CC_NAMED_AS(model, name) /* of what CC_MODEL stands for */

#endif
