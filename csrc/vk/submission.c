/* Jobs: making, emptying and keeping them. */
#include "vk/submission.h"

#include <stdlib.h>

enum { ARENA_KEPT = 1024 * 1024 }; /* bytes of an idle submission's arena */

static void destroy_submission(dml_context *context, dml_submission *submission)
{
    dml_buffer_destroy(context, &submission->arena);
    context->vk.vkDestroyDescriptorPool(context->device, submission->sets, NULL);
    context->vk.vkDestroyFence(context->device, submission->fence, NULL);
    context->vk.vkDestroyCommandPool(context->device, submission->pool, NULL);
    free(submission);
}

void dml_submissions_destroy(dml_context *context)
{
    while (context->queued_first) {
        dml_submission *submission = context->queued_first;
        context->queued_first = submission->next;
        dml_submission_reset(context, submission);
        destroy_submission(context, submission);
    }
    while (context->idle) {
        dml_submission *submission = context->idle;
        context->idle = submission->next;
        destroy_submission(context, submission);
    }
}

static VkResult create_handles(dml_context *context, dml_submission *submission)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = context->traits.queue_family};
    VkResult result = DML_MADE(context->vk.vkCreateCommandPool(context->device, &pool, NULL, &submission->pool), &submission->pool);
    if (result)
        return result;
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = submission->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    result = context->vk.vkAllocateCommandBuffers(context->device, &commands, &submission->commands);
    if (result)
        return result;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = DML_MADE(context->vk.vkCreateFence(context->device, &fence, NULL, &submission->fence), &submission->fence);
    if (result)
        return result;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, dml_storage_buffers(context) * DML_MAX_PIECES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, DML_MAX_PIECES}};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = DML_MAX_PIECES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    return DML_MADE(context->vk.vkCreateDescriptorPool(context->device, &sets, NULL, &submission->sets), &submission->sets);
}

/* The submission after which there is room for more submissions; 0 if there is. Whoever waits is not woken for each single one. */
static uint64_t find_room(dml_context *context)
{
    dml_submissions_retire(context);
    dml_lock_acquire(&context->lock);
    const dml_submission *submission = context->queued < DML_MAX_QUEUED ? NULL : context->queued_first;
    for (int i = 1; submission && i < DML_MAX_QUEUED * 3 / 4; i++)
        submission = submission->next;
    uint64_t timeline_value = submission ? submission->timeline_value : 0;
    dml_lock_release(&context->lock);
    return timeline_value;
}

/* One thread at a time waits: each submission that ends wakes all who wait for a later one. */
static dml_code make_room(dml_context *context, bool wait, dml_status *status)
{
    if (find_room(context) == 0)
        return DML_OK;
    if (!wait)
        return dml_fail(status, DML_WOULD_WAIT, "would wait");
    dml_context_acquire_lock(context, &context->turn);
    uint64_t timeline_value = find_room(context);
    bool in_turn = true;
    dml_code code = timeline_value > 0 ? dml_submissions_wait_throttled(context, timeline_value, &in_turn, status) : DML_OK;
    if (in_turn)
        dml_lock_release(&context->turn);
    return code;
}

/* NULL if there can be none. */
static dml_submission *idle_or_new(dml_context *context, dml_status *status)
{
    dml_lock_acquire(&context->lock);
    dml_submission *submission = context->idle;
    if (submission)
        context->idle = submission->next;
    dml_lock_release(&context->lock);
    if (submission)
        return submission;
    submission = calloc(1, sizeof *submission);
    VkResult made = submission ? create_handles(context, submission) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!made)
        return submission;
    if (submission)
        destroy_submission(context, submission);
    dml_vk_fail(context, made, "making a command buffer", status);
    return NULL;
}

dml_code dml_submission_acquire(dml_context *context, bool wait, dml_submission **result, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_submission *submission = make_room(context, wait, status) ? NULL : idle_or_new(context, status);
    if (!submission) {
        dml_context_leave(context);
        return status->code;
    }
    submission->listening = dml_listen_from_now();
    submission->listener = &submission->listening;
    submission->may_wait = wait;
    *result = submission;
    return DML_OK;
}

dml_code dml_submission_acquire_another(dml_context *context, const dml_submission *submission, dml_submission **another, dml_status *status)
{
    dml_submission *other = idle_or_new(context, status);
    if (!other)
        return status->code;
    other->listener = submission->listener;
    other->may_wait = submission->may_wait;
    other->after_others = submission->after_others;
    other->src = submission->src;
    other->dst = submission->dst;
    other->lengths = submission->lengths;
    *another = other;
    return DML_OK;
}

/* Gives back what the pieces of a finished (or never submitted) submission held. */
void dml_submission_reset(dml_context *context, dml_submission *submission)
{
    for (int i = 0; i < submission->pieces; i++) {
        dml_slot *slot = &submission->slots[i];
        dml_buffer_destroy(context, &slot->src.imported);
        dml_buffer_destroy(context, &slot->dst.imported);
        if (slot->pipeline)
            dml_pipeline_release(context, slot->pipeline);
    }
    submission->pieces = 0;
    submission->bytes = 0;
    submission->arena_used = 0;
    submission->refused = false;
    if (!submission->broken)
        submission->broken = context->vk.vkResetDescriptorPool(context->device, submission->sets, 0);
    if (!submission->broken)
        submission->broken = context->vk.vkResetCommandPool(context->device, submission->pool, 0);
}

static void keep_submission(dml_context *context, dml_submission *submission)
{
    if (submission->broken) {
        destroy_submission(context, submission);
        return;
    }
    if (submission->arena.size > ARENA_KEPT)
        dml_buffer_destroy(context, &submission->arena);
    dml_lock_acquire(&context->lock);
    submission->next = context->idle;
    context->idle = submission;
    dml_lock_release(&context->lock);
}

void dml_submission_release(dml_context *context, dml_submission *submission)
{
    if (submission->abandoned)
        return;
    if (submission->pieces > 0)
        dml_submission_reset(context, submission);
    keep_submission(context, submission);
}

void dml_submission_finish(dml_context *context, dml_submission *submission)
{
    dml_submission_release(context, submission);
    dml_context_leave(context);
}
