/* The queue of a device: submitting submissions, together where they are small; waiting for them; taking back those that are done. */
#include "vk/submission.h"

#include <string.h>
#include <time.h>

enum {
    LISTEN_NS = 100000000,   /* from asking whether to stop to asking again */
    SPIN_NS = 200000,        /* of a wait that will be short, without sleeping */
    NAP_NS = 200000,         /* the first sleep of a wait; each is twice as long as the one before */
    SPIN_BYTES = 256 * 1024, /* written by a submission that is waited for without sleeping */
    HELD_BYTES = 64 * 1024   /* written by a submission that may be held back */
};

/* --- waiting ------------------------------------------------------------------------------------------------------ */

int64_t dml_nanoseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What is waited for: a fence, or else that the timeline reaches a timeline_value. */
typedef struct goal {
    VkFence fence;
    uint64_t timeline_value;
    bool briefly;  /* it will not take long */
    bool naps;     /* it may, and has the cores for itself */
    bool leaves;   /* as soon as the caller wants to stop; else when it is reached */
    bool *in_turn; /* whether the caller has the context's `turn`; one who then stops has it no more */
    dml_interrupt_poll *listener;
} goal;

static VkResult wait_once(dml_context *context, const goal *goal, uint64_t timeout)
{
    if (goal->fence)
        return context->vk.vkWaitForFences(context->device, 1, &goal->fence, VK_TRUE, timeout);
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &context->timeline,
                                .pValues = &goal->timeline_value};
    return context->vk.vkWaitSemaphores(context->device, &info, timeout);
}

dml_interrupt_poll dml_listen_from_now(void)
{
    return (dml_interrupt_poll){false, dml_nanoseconds()};
}

/* Asks whether the caller wants to stop, if that was not asked just now. Who answers may fork: false in the child; or wait for a turn of
 * its own. */
static bool listen(dml_context *context, const goal *goal)
{
    dml_interrupt_poll *listener = goal->listener;
    int64_t now = dml_nanoseconds();
    bool just_now = now >= listener->listened && now < listener->listened + LISTEN_NS;
    if (!dml_interrupted || listener->interrupted || just_now)
        return true;
    listener->listened = now;
    bool in_turn = goal->in_turn && *goal->in_turn;
    if (in_turn)
        dml_lock_release(&context->turn);
    bool ours = dml_context_outside(context, dml_interrupted, &listener->interrupted);
    if (in_turn) {
        *goal->in_turn = ours && !listener->interrupted;
        if (*goal->in_turn)
            dml_context_acquire_lock(context, &context->turn);
    }
    return ours;
}

/* Waiting in a loop that never sleeps costs half of what sleeping does; so wait like that for a little while, where little is to
 * be done. Where there is much, or others wait too, a driver that computes on the CPU has better use for this core. But its threads,
 * woken together, may all be queued for another one. When a core falls idle the system looks for such, and leaves those alone that ran
 * within half a millisecond or so: hence naps at first, so that it looks again and again. */
static VkResult wait_for(dml_context *context, const goal *goal)
{
    const int64_t start = dml_nanoseconds();
    VkResult result;
    do /* unsigned, so that a clock set back ends it */
        result = wait_once(context, goal, 0);
    while (result == VK_TIMEOUT && goal->briefly && (uint64_t)(dml_nanoseconds() - start) < SPIN_NS);
    uint64_t nap = goal->naps ? NAP_NS : LISTEN_NS;
    while (true) {
        if (!listen(context, goal))
            return VK_ERROR_DEVICE_LOST; /* what is here is the parent's */
        if (result != VK_TIMEOUT || (goal->leaves && goal->listener->interrupted))
            break;
        result = wait_once(context, goal, nap);
        nap = 2 * nap < LISTEN_NS ? 2 * nap : LISTEN_NS;
    }
    if (result && result != VK_TIMEOUT && result != VK_ERROR_DEVICE_LOST) {
        /* No memory for waiting, say. What is asked for has been submitted; there is another way to wait for it. */
        dml_lock_acquire(&context->lock);
        result = context->vk.vkQueueWaitIdle(context->queue);
        dml_lock_release(&context->lock);
    }
    return result;
}

/* --- submitting --------------------------------------------------------------------------------------------------- */

dml_code dml_submission_begin(dml_context *context, dml_submission *submission, dml_status *status)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = context->vk.vkBeginCommandBuffer(submission->commands, &info);
    if (result)
        return dml_vk_fail(context, result, "vkBeginCommandBuffer", status);
    /* Submissions begin in order, but only this keeps one from overtaking another. */
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = writes,
                               .dstAccessMask = writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT};
    if (submission->after_others)
        context->vk.vkCmdPipelineBarrier(submission->commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
    return DML_OK;
}

static VkResult end_commands(dml_context *context, dml_submission *submission)
{
    /* Waiting alone does not make what was written visible to the host. */
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    context->vk.vkCmdPipelineBarrier(submission->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                                     VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    return context->vk.vkEndCommandBuffer(submission->commands);
}

/* With the lock held: submits `submission`, if it is not NULL, and before it what was held back, if it comes after others. */
static VkResult submit(dml_context *context, const dml_submission *submission, VkFence fence)
{
    VkCommandBuffer commands[DML_MAX_BATCHED + 1];
    uint32_t count = 0;
    uint64_t timeline_value = context->submitted + 1;
    if (context->held > 0 && (!submission || submission->after_others))
        for (const dml_submission *other = context->queued_first; other; other = other->next)
            if (other->timeline_value == timeline_value)
                commands[count++] = other->commands;
    bool counted = count > 0 || !fence;
    if (submission)
        commands[count++] = submission->commands;
    VkTimelineSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .signalSemaphoreValueCount = counted,
                                            .pSignalSemaphoreValues = &timeline_value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &signal,
                         .commandBufferCount = count,
                         .pCommandBuffers = commands,
                         .signalSemaphoreCount = counted,
                         .pSignalSemaphores = &context->timeline};
    VkResult result = context->vk.vkQueueSubmit(context->queue, 1, &info, fence);
    if (result == VK_SUCCESS && counted) {
        context->submitted = timeline_value;
        context->held = 0;
    }
    return result;
}

/* After these nothing was submitted; after others nobody knows. */
static bool nothing_submitted(VkResult result)
{
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* With the lock held. */
static VkResult submit_held(dml_context *context)
{
    VkResult result = context->held > 0 ? submit(context, NULL, VK_NULL_HANDLE) : VK_SUCCESS;
    if (result && !nothing_submitted(result))
        context->lost = true;
    return result;
}

/* With the lock held. */
static void count_pieces(dml_context *context, const dml_submission *submission)
{
    for (int i = 0; i < submission->pieces; i++)
        context->counts[submission->slots[i].pipeline ? submission->slots[i].pipeline->kernel : DML_KERNEL_COPY]++;
}

dml_code dml_submission_abandon(dml_context *context, dml_submission *submission, dml_status *status)
{
    submission->abandoned = true;
    status->in_use = 1;
    dml_lock_acquire(&context->lock);
    context->abandoned++;
    /* When its allocations may be freed cannot be told any more, so none of this context's ever will be. */
    if (submission->after_others)
        context->lost = true;
    dml_lock_release(&context->lock);
    return status->code;
}

static dml_code submit_failed(dml_context *context, dml_submission *submission, VkResult result, dml_status *status)
{
    dml_vk_fail(context, result, "vkQueueSubmit", status);
    return nothing_submitted(result) ? status->code : dml_submission_abandon(context, submission, status);
}

static void mark_allocation(dml_allocation *allocation, uint64_t timeline_value)
{
    if (allocation)
        allocation->timeline_value = timeline_value;
}

dml_code dml_submission_queue(dml_context *context, dml_submission *submission, dml_status *status)
{
    VkResult result = end_commands(context, submission);
    if (result)
        return dml_vk_fail(context, result, "vkEndCommandBuffer", status);
    dml_lock_acquire(&context->lock);
    submission->timeline_value = context->submitted + 1;
    bool held = submission->bytes <= HELD_BYTES && context->held < DML_MAX_BATCHED;
    if (!held)
        result = submit(context, submission, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        mark_allocation(submission->src.allocation, submission->timeline_value);
        mark_allocation(submission->dst.allocation, submission->timeline_value);
        mark_allocation(submission->lengths, submission->timeline_value);
        count_pieces(context, submission);
        submission->next = NULL;
        *(context->queued_last ? &context->queued_last->next : &context->queued_first) = submission;
        context->queued_last = submission;
        context->queued++;
        context->held += held;
        context->in_flight--;
    }
    dml_lock_release(&context->lock);
    return result ? submit_failed(context, submission, result, status) : DML_OK;
}

dml_code dml_submission_submit(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (!submission->may_wait)
        return dml_fail(status, DML_WOULD_WAIT, "would wait");
    VkResult result = end_commands(context, submission);
    if (result)
        return dml_vk_fail(context, result, "vkEndCommandBuffer", status);
    dml_lock_acquire(&context->lock);
    submission->alone = context->in_flight == 1 && !context->queued_first;
    result = submit(context, submission, submission->fence);
    if (result == VK_SUCCESS)
        count_pieces(context, submission);
    dml_lock_release(&context->lock);
    return result ? submit_failed(context, submission, result, status) : DML_OK;
}

dml_code dml_submission_await(dml_context *context, dml_submission *submission, dml_status *status)
{
    bool little = submission->bytes <= SPIN_BYTES;
    VkResult result = wait_for(context, &(goal){.fence = submission->fence,
                                                .briefly = little && submission->alone,
                                                .naps = !little && submission->alone,
                                                .listener = submission->listener});
    if (result) {
        dml_vk_fail(context, result, "waiting for the device", status);
        return dml_submission_abandon(context, submission, status);
    }
    submission->broken = context->vk.vkResetFences(context->device, 1, &submission->fence);
    dml_submission_reset(context, submission);
    if (submission->listener->interrupted)
        return dml_fail(status, DML_INTERRUPTED, "interrupted");
    return submission->broken ? dml_vk_fail(context, submission->broken, "resetting a command buffer", status) : DML_OK;
}

dml_code dml_submission_flush(dml_context *context, dml_submission *submission, dml_status *status)
{
    return dml_submission_submit(context, submission, status) ? status->code : dml_submission_await(context, submission, status);
}

void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT])
{
    dml_lock_acquire(&context->lock);
    memcpy(counts, context->counts, DML_KERNEL_COUNT * sizeof counts[0]);
    dml_lock_release(&context->lock);
}

/* --- what is queued ---------------------------------------------------------------------------------------------- */

void dml_submissions_retire(dml_context *context)
{
    dml_submission *done = NULL, **end = &done;
    uint64_t completed;
    dml_lock_acquire(&context->lock);
    if (context->queued_first &&
        context->vk.vkGetSemaphoreCounterValue(context->device, context->timeline, &completed) == VK_SUCCESS)
        context->completed = completed;
    while (context->queued_first && context->queued_first->timeline_value <= context->completed) {
        *end = context->queued_first;
        end = &(*end)->next;
        context->queued_first = *end;
        context->queued--;
    }
    *end = NULL;
    if (!context->queued_first)
        context->queued_last = NULL;
    dml_lock_release(&context->lock);
    if (done)
        dml_allocations_trim(context, context->kept_bound);
    while (done) {
        dml_submission *submission = done;
        done = submission->next;
        dml_submission_release(context, submission);
    }
}

void dml_submissions_flush_batch(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    submit_held(context); /* or else whoever waits does */
    dml_lock_release(&context->lock);
    dml_submissions_retire(context);
}

dml_code dml_submissions_wait_throttled(dml_context *context, uint64_t timeline_value, bool *in_turn, dml_status *status)
{
    dml_lock_acquire(&context->lock);
    VkResult result = timeline_value > context->submitted ? submit_held(context) : VK_SUCCESS;
    if (timeline_value > context->submitted)
        timeline_value = context->submitted;
    bool done = timeline_value <= context->completed, last = timeline_value == context->submitted;
    dml_lock_release(&context->lock);
    if (result)
        return dml_vk_fail(context, result, "vkQueueSubmit", status);
    if (done)
        return DML_OK;
    dml_interrupt_poll listener = dml_listen_from_now();
    result = wait_for(
        context,
        &(goal){.timeline_value = timeline_value, .briefly = last, .naps = last, .leaves = true, .in_turn = in_turn, .listener = &listener});
    if (result != VK_ERROR_DEVICE_LOST) /* else there is no device to ask any more, least of all in the child of a fork */
        dml_submissions_retire(context);
    if (listener.interrupted)
        return dml_fail(status, DML_INTERRUPTED, "interrupted");
    if (result)
        return dml_vk_fail(context, result, "waiting for the device", status);
    return DML_OK;
}

dml_code dml_submissions_wait(dml_context *context, uint64_t timeline_value, dml_status *status)
{
    return dml_submissions_wait_throttled(context, timeline_value, NULL, status);
}
