/* The waist between C and an element in Python: the functions of waist.h.
 *
 * fmu_builder/export/prototype_slave.py gives them when the first instance is made (fmi2/python_host.h). */
#ifndef CC_PYTHON_WAIST_H
#define CC_PYTHON_WAIST_H

#include "waist.h"

/* What a function of element.py has as `host`. */
typedef struct {
    CcHost *host;
    void (*report)(CcHost *host, int level, const char *category, const char *text);
    void (*fail)(CcHost *host, const char *text);
    double (*held_over)(const CcHost *host);
    void (*keep)(CcHost *host, const void *record, size_t size);
} CcPythonHost;

/* One element.py.  Each function takes a block, in which the time is NaN, and the time; it works on a copy, and copies
 * that back unless an exception ended it: the time stays NaN then.  indicators copies the indicators only, check
 * nothing.  lost is called after a call that copied nothing back, as an interrupt from the keyboard may leave no other
 * trace; check reports the exception behind missing values. */
typedef struct {
    void (*evaluate)(double *block, double time); /* outputs and derivatives */
    void (*initial)(double *block, double time);
    void (*start)(double *block, double time);
    int (*accept)(double *block, double time, const CcPythonHost *host, double step);
    int (*sample)(double *block, double time, const CcPythonHost *host, double step);
    void (*indicators)(const double *block, double z[]);
    void (*lost)(void);
    void (*check)(const double *block, const CcPythonHost *host);
} CcPythonElement;

/* Of all elements of the FMU that are Python. */
#define CC_PYTHON_ELEMENTS CC_HOST_ENTRY(python)
CC_HIDDEN extern CcPythonElement CC_PYTHON_ELEMENTS[];

#endif
