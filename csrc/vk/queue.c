#include "vk/queue.h"

#include <string.h>

#include "vk/allocation_pool.h"
#include "vk/barriers.h"
#include "vk/quiesce.h"
#include "vk/results.h"
#include "vk/run.h"

static dml_code end_commands(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (submission->host_sees) /* a fence alone does not make what was written visible to the host */
        dml_barrier_record(context, submission->commands, true);
    VkResult result = context->vk.vkEndCommandBuffer(submission->commands);
    submission->recording = result != VK_SUCCESS;
    return result ? dml_vk_fail(context, result, "vkEndCommandBuffer", status) : DML_OK;
}

/* With the lock held: submits `submission`, if it is not NULL, and before it the batch, unless it does not come after others.
 * The timeline gets the value of what was queued last. */
static VkResult submit(dml_context *context, dml_submission *submission, VkFence fence)
{
    const uint64_t submitted = context->queue.submitted, queued = context->queue.queued;
    dml_commands commands = {.signalled = queued};
    const bool signals = queued > submitted && (!submission || submission->after_others);
    for (dml_submission *other = signals ? context->queue.first : NULL; other; other = other->next)
        if (other->timeline_value > submitted)
            dml_barriers_add(context, other, &commands);
    if (submission)
        dml_barriers_add(context, submission, &commands);
    VkTimelineSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .signalSemaphoreValueCount = signals,
                                            .pSignalSemaphoreValues = &queued};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &signal,
                         .commandBufferCount = commands.count,
                         .pCommandBuffers = commands.list,
                         .signalSemaphoreCount = signals,
                         .pSignalSemaphores = &context->timeline};
    VkResult result = context->vk.vkQueueSubmit(context->device_queue, 1, &info, fence);
    if (result == VK_SUCCESS && signals) {
        context->queue.submitted = queued;
        context->queue.in_flight += context->queue.batched_bytes;
        context->queue.batched_bytes = 0;
    }
    return result;
}

/* After these errors of vkQueueSubmit nothing was submitted; after others that is unknown. */
static bool nothing_submitted(VkResult result)
{
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

uint64_t dml_queue_batch(const dml_context *context)
{
    return context->queue.queued > context->queue.submitted ? context->queue.submitted + 1 : 0;
}

/* With the lock held. */
static VkResult submit_batch(dml_context *context)
{
    VkResult result = dml_queue_batch(context) > 0 ? submit(context, NULL, VK_NULL_HANDLE) : VK_SUCCESS;
    if (result && !nothing_submitted(result))
        context->lost = true;
    return result;
}

/* With the lock held. */
static void count_pieces(dml_context *context, const dml_submission *submission)
{
    for (int i = 0; i < submission->pieces; i++)
        context->queue.counts[submission->slots[i].pipeline ? submission->slots[i].pipeline->kernel : DML_KERNEL_COPY]++;
}

dml_code dml_queue_abandon(dml_context *context, dml_submission *submission, dml_status *status)
{
    submission->abandoned = true;
    status->in_use = 1;
    /* The device may use its allocations for ever, so none of the context's may be freed or reused. */
    if (submission->after_others)
        context->lost = true;
    context->queue.abandoned++;
    return status->code;
}

static dml_code submit_failed(dml_context *context, dml_submission *submission, VkResult result, dml_status *status)
{
    dml_vk_fail(context, result, "vkQueueSubmit", status);
    return nothing_submitted(result) ? status->code : dml_queue_abandon(context, submission, status);
}

/* With the lock held: whether a submission, which has its timeline value, need not be submitted now. Larger work is batched
 * while the device is busy, and less of it than what keeps it busy: until somebody calls or waits again, nobody submits it. */
static bool may_batch(const dml_context *context, const dml_submission *submission)
{
    const dml_tunables *tunables = &context->traits.core.tunables;
    const uint64_t busy = (uint64_t)tunables->busy_bytes, bytes = submission->bytes;
    const bool more = context->queue.in_flight >= busy && context->queue.batched_bytes + bytes < busy;
    return submission->timeline_value - context->queue.submitted <= DML_MAX_BATCHED &&
           (more || bytes <= (uint64_t)tunables->batched_bytes);
}

dml_code dml_queue_enqueue(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (end_commands(context, submission, status))
        return status->code;
    dml_lock_acquire(&context->lock);
    submission->timeline_value = ++context->queue.queued;
    dml_barriers_find(context, submission);
    const bool batched = may_batch(context, submission);
    VkResult result = batched ? VK_SUCCESS : submit(context, submission, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        dml_barriers_advance(context, submission);
        count_pieces(context, submission);
        *(batched ? &context->queue.batched_bytes : &context->queue.in_flight) += submission->bytes;
        submission->next = NULL;
        *(context->queue.last ? &context->queue.last->next : &context->queue.first) = submission;
        context->queue.last = submission;
        context->queue.count++;
    } else {
        context->queue.queued--;
    }
    dml_lock_release(&context->lock);
    return result ? submit_failed(context, submission, result, status) : DML_OK;
}

dml_code dml_queue_submit(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (end_commands(context, submission, status))
        return status->code;
    dml_lock_acquire(&context->lock);
    submission->alone = dml_context_alone(context) && !context->queue.first;
    dml_barriers_find(context, submission);
    VkResult result = submit(context, submission, submission->fence);
    if (result == VK_SUCCESS) {
        submission->timeline_value = context->queue.submitted; /* it comes right after that, and is waited for by its fence */
        dml_barriers_advance(context, submission);
        count_pieces(context, submission);
    }
    dml_lock_release(&context->lock);
    return result ? submit_failed(context, submission, result, status) : DML_OK;
}

dml_code dml_queue_await(dml_context *context, dml_submission *submission, dml_status *status)
{
    bool polled = submission->alone && submission->bytes <= (uint64_t)context->traits.core.tunables.polled_bytes;
    VkResult result = dml_wait_for(context, &(dml_wait){.fence = submission->fence,
                                                        .poll_ns = polled ? context->traits.core.tunables.poll_ns : 0,
                                                        .nap = submission->alone,
                                                        .interrupt = submission->interrupt});
    if (result) {
        dml_vk_fail(context, result, "waiting for the device", status);
        return dml_queue_abandon(context, submission, status);
    }
    submission->broken = context->vk.vkResetFences(context->device, 1, &submission->fence);
    dml_submission_reset(context, submission);
    if (submission->interrupt->interrupted)
        return dml_fail(status, DML_INTERRUPTED, "interrupted");
    return submission->broken ? dml_vk_fail(context, submission->broken, "resetting a command buffer", status) : DML_OK;
}

dml_code dml_queue_submit_and_await(dml_context *context, dml_submission *submission, dml_status *status)
{
    return dml_queue_submit(context, submission, status) ? status->code : dml_queue_await(context, submission, status);
}

/* --- what is queued ---------------------------------------------------------------------------------------------- */

/* Removes the submissions that are done from the queue: a list of them. */
static dml_submission *remove_done(dml_context *context)
{
    dml_submission *done = NULL, **end = &done;
    uint64_t completed;
    dml_lock_acquire(&context->lock);
    if (context->queue.first &&
        context->vk.vkGetSemaphoreCounterValue(context->device, context->timeline, &completed) == VK_SUCCESS)
        context->queue.completed = completed;
    while (context->queue.first && context->queue.first->timeline_value <= context->queue.completed) {
        *end = context->queue.first;
        context->queue.in_flight -= (*end)->bytes;
        end = &(*end)->next;
        context->queue.first = *end;
        context->queue.count--;
    }
    *end = NULL;
    if (!context->queue.first)
        context->queue.last = NULL;
    dml_lock_release(&context->lock);
    return done;
}

void dml_queue_trim_pool(dml_context *context, int64_t before, bool wait)
{
    dml_allocations_trim(context, before, wait, context->queue.completed);
}

void dml_queue_retire(dml_context *context)
{
    dml_submission *done = remove_done(context);
    if (done)
        dml_queue_trim_pool(context, INT64_MIN, false);
    for (dml_submission *next; done; done = next) {
        next = done->next;
        dml_submission_release(context, done);
    }
}

void dml_queue_flush_batch(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    submit_batch(context); /* after a failure the batch stays, and a wait submits it again */
    dml_lock_release(&context->lock);
    dml_queue_retire(context);
}

dml_code dml_queue_wait(dml_context *context, uint64_t timeline_value, dml_held_lock *lock, dml_status *status)
{
    dml_lock_acquire(&context->lock);
    VkResult result = timeline_value > context->queue.submitted ? submit_batch(context) : VK_SUCCESS;
    const dml_submission *submission = context->queue.first;
    while (submission && submission->timeline_value < timeline_value && submission->next)
        submission = submission->next;
    bool done = !submission || timeline_value <= context->queue.completed;
    timeline_value = submission ? submission->signalled : 0; /* the validation layer takes no value in between */
    bool last = timeline_value == context->queue.submitted;
    dml_lock_release(&context->lock);
    if (result)
        return dml_vk_fail(context, result, "vkQueueSubmit", status);
    if (done)
        return DML_OK;
    dml_interrupt_poll interrupt = dml_interrupt_poll_from_now();
    result = dml_wait_for(context, &(dml_wait){.timeline_value = timeline_value,
                                               .poll_ns = last ? context->traits.core.tunables.poll_queued_ns : 0,
                                               .nap = last,
                                               .stop_early = true,
                                               .lock = lock,
                                               .interrupt = &interrupt});
    if (result != VK_ERROR_DEVICE_LOST) /* a lost device, or an inherited one, must not be asked for its timeline */
        dml_queue_retire(context);
    if (interrupt.interrupted)
        return dml_fail(status, DML_INTERRUPTED, "interrupted");
    return result ? dml_vk_fail(context, result, "waiting for the device", status) : DML_OK;
}

bool dml_queue_is_running(dml_context *context, uint64_t timeline_value)
{
    dml_lock_acquire(&context->lock);
    const bool running = timeline_value > context->queue.completed && timeline_value <= context->queue.submitted;
    dml_lock_release(&context->lock);
    return running;
}

bool dml_queue_is_long(dml_context *context)
{
    const uint64_t busy = (uint64_t)context->traits.core.tunables.busy_bytes;
    dml_lock_acquire(&context->lock);
    const bool is_long = context->queue.count >= DML_MAX_BATCHED || context->queue.in_flight >= busy;
    dml_lock_release(&context->lock);
    return is_long;
}

uint64_t dml_queue_nth_value(dml_context *context, int length, int nth)
{
    dml_lock_acquire(&context->lock);
    const dml_submission *submission = context->queue.count < length ? NULL : context->queue.first;
    for (int i = 1; submission && i < nth; i++)
        submission = submission->next;
    uint64_t timeline_value = submission ? submission->timeline_value : 0;
    dml_lock_release(&context->lock);
    return timeline_value;
}

uint64_t dml_queue_abandoned(dml_context *context)
{
    return context->queue.abandoned + context->lost;
}

void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT])
{
    dml_lock_acquire(&context->lock);
    memcpy(counts, context->queue.counts, DML_KERNEL_COUNT * sizeof counts[0]);
    dml_lock_release(&context->lock);
}

void dml_queue_destroy(dml_context *context)
{
    while (context->queue.first) {
        dml_submission *submission = context->queue.first;
        context->queue.first = submission->next;
        dml_submission_reset(context, submission);
        dml_submission_destroy(context, submission);
    }
}
