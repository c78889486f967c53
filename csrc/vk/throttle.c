#include "vk/queue.h"

#include "base/blocking.h"
#include "vk/cpu_needs.h"
#include "vk/quiesce.h"

/* The timeline value at which there is room in the queue again; 0 if there is room. A waiting call sleeps until many are
 * done, so that it is not woken for each one. One that only queues asks the device nothing while little is queued. */
static uint64_t find_room(dml_context *context, bool waits)
{
    if (!waits && !dml_queue_is_long(context))
        return 0;
    dml_queue_retire(context);
    return dml_queue_nth_value(context, DML_MAX_QUEUED, DML_MAX_QUEUED * 3 / 4);
}

/* One thread at a time waits: a driver wakes all threads that wait for a semaphore whenever its value changes. */
static dml_code make_room(dml_context *context, bool waits, dml_status *status)
{
    if (find_room(context, waits) == 0)
        return DML_OK;
    dml_about_to_block();
    dml_context_acquire_lock(context, &context->throttle_lock);
    dml_held_lock lock = {&context->throttle_lock, true};
    uint64_t timeline_value = find_room(context, true);
    dml_code code = timeline_value > 0 ? dml_queue_wait(context, timeline_value, &lock, status) : DML_OK;
    if (lock.held)
        dml_lock_release(&context->throttle_lock);
    return code;
}

dml_code dml_throttle_acquire(dml_context *context, bool waits, dml_submission **result, dml_status *status)
{
    if (make_room(context, waits, status) || dml_cpu_check(context, DML_CPU_CALL, status))
        return status->code;
    dml_submission *submission = dml_submission_create(context, status);
    if (!submission)
        return status->code;
    submission->own_poll = dml_interrupt_poll_from_now();
    submission->interrupt = &submission->own_poll;
    *result = submission;
    return DML_OK;
}

dml_code dml_throttle_acquire_another(dml_context *context, const dml_submission *submission, dml_submission **another,
                                      dml_status *status)
{
    dml_submission *other = dml_submission_create(context, status);
    if (!other)
        return status->code; /* uncovered: a fault that only soak injects */
    other->interrupt = submission->interrupt;
    other->after_others = submission->after_others;
    other->transfer = submission->transfer;
    other->src = submission->src;
    other->dst = submission->dst;
    *another = other;
    return DML_OK;
}
