/* Ordinary differential equations that are hard to integrate, each in a file of system/. */
#include SYSTEM_FILE

static void outputs(Element *e) { (void)e; }
