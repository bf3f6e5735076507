/* fmi2Fatal and fmi2Pending, of an FMU that probes its importers: an element with the switch `statuses` of [structure].
 *
 * Fatal     One instance loses everything for all of them: the call answers fmi2Fatal, and so does every call behind
 *           it, which is a fault of the importer and is logged as one.  fmi2Instantiate answers NULL.
 * Pending   A step is made at once, and its result withheld until the importer has asked for a status so often.  No
 *           thread is needed, and every run is the same.  The question that ends the step first calls stepFinished.
 *           With no question to wait for, stepFinished is called before fmi2DoStep answers fmi2Pending, as by a slave
 *           that is fast.  Meanwhile only fmi2Get...Status, fmi2CancelStep and fmi2SetDebugLogging are allowed.
 *           A cancelled step leaves the instance in error, for fmi2Reset.
 *
 * Source: FMI 2.0.5, sections 2.1.3, 4.2.2, 4.2.3, 4.2.4. */
#ifndef CC_ALL_STATUSES_H
#define CC_ALL_STATUSES_H

#include "instance.h"

#if CC_ALL_STATUSES

static int cc_is_corrupt; /* 1 after fmi2Fatal: of all instances, so it is no member of one */

#define CC_MODE(instance) (cc_is_corrupt ? CC_CORRUPT : (int)(instance)->now.mode)
#define CC_FAILURE (cc_is_corrupt ? fmi2Fatal : fmi2Error) /* of a call that failed */

void cc_corrupt(CcHost *host, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_is_corrupt = 1;
    host->failures++;
    cc_message(host, fmi2Fatal, "logStatusFatal", format, arguments);
    va_end(arguments);
}

void cc_defer(CcHost *host, int questions)
{
    host->deferred.is_wanted = host->now.type == fmi2CoSimulation;
    host->deferred.questions = questions;
}

#if CC_CAN_DEFER

static int cc_is_deferred(const Instance *instance) { return instance->now.mode == CC_IN_PROGRESS; }

__attribute__((format(printf, 2, 3))) CC_RARE void cc_say_pending(Instance *instance, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cc_message(instance, fmi2Pending, "logStatusPending", format, arguments);
    va_end(arguments);
}

/* The result of the step is known from here on. */
static void cc_finish_step(Instance *instance)
{
    const CcImporter *importer = &instance->importer;
    instance->now.mode = instance->deferred.mode;
    if (importer->stepFinished)
        importer->stepFinished(importer->componentEnvironment, (fmi2Status)instance->now.last_status);
}

/* What fmi2DoStep answers, of a step from t_c on with this result. */
static fmi2Status cc_answer_step(Instance *instance, fmi2Status result, double t_c)
{
    CcDeferred *deferred = &instance->deferred;
    int is_deferred = deferred->is_wanted && !cc_is_corrupt;
    deferred->is_wanted = 0;
    if (!is_deferred)
        return result;
    deferred->mode = instance->now.mode;
    deferred->begin = t_c;
    instance->now.mode = CC_IN_PROGRESS;
    cc_say_pending(instance, "fmi2DoStep: the step from %g s is pending for %d questions", t_c, deferred->questions);
    if (deferred->questions == 0)
        cc_finish_step(instance);
    return fmi2Pending;
}

/* The importer asks for a status. */
static void cc_count_question(Instance *instance)
{
    if (cc_is_deferred(instance) && --instance->deferred.questions <= 0)
        cc_finish_step(instance);
}

static fmi2Status cc_cancel_step(Instance *instance)
{
    cc_say_pending(instance, "fmi2CancelStep: the step from %g s is cancelled", instance->deferred.begin);
    instance->now.mode = CC_ERROR;
    instance->now.last_status = fmi2Error;
    return fmi2OK;
}

#endif
#endif

#if !CC_ALL_STATUSES
#define CC_MODE(instance) ((int)(instance)->now.mode)
#define CC_FAILURE fmi2Error
#endif
#if !CC_ALL_STATUSES || !CC_CAN_DEFER
#define cc_answer_step(instance, result, t_c) (result)
#define cc_is_deferred(instance) 0
#define cc_count_question(instance) (void)0
#define cc_cancel_step(instance) fmi2Error
#endif

#endif
