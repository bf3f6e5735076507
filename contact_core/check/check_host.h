/* The host of an element that a build checks (check.c, check_assembly.c): it drops messages and counts broken rules.
 * Behind waist.h. */
#ifndef CC_CHECK_HOST_H
#define CC_CHECK_HOST_H

static int cc_broken_rules;

double cc_held_over(const CcHost *host) { return (void)host, 0.0; }

int cc_repeats(const CcHost *host) { return (void)host, CC_NO_REPEAT; }

int cc_inputs_move(const CcHost *host) { return (void)host, 0; }

int cc_inputs_set_again(const CcHost *host) { return (void)host, 0; }

void cc_inputs_at(CcHost *host, double tau) { (void)host, (void)tau; }

void cc_keep(CcHost *host, const void *record, size_t size) { (void)host, (void)record, (void)size; }

void cc_report(CcHost *host, int level, const char *category, const char *format, ...)
{
    (void)host, (void)level, (void)category, (void)format;
}

void cc_fail(CcHost *host, const char *format, ...)
{
    (void)host, (void)format;
    cc_broken_rules++;
}

void cc_stop(CcHost *host, int ends, const char *format, ...) { (void)host, (void)ends, (void)format; }

#ifndef CC_MODEL_DATA
void cc_corrupt(CcHost *host, const char *format, ...) { (void)host, (void)format; }

void cc_defer(CcHost *host, int questions) { (void)host, (void)questions; }
#endif

#endif
