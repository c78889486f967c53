#include "vk/submission.h"

#include <stdlib.h>

#include "vk/results.h"

enum { MAX_IDLE_ARENA = 1024 * 1024 }; /* bytes; a larger one is destroyed with its submission's work */

void dml_submission_destroy(dml_context *context, dml_submission *submission)
{
    dml_buffer_destroy(context, &submission->arena);
    dml_descriptors_destroy(context, &submission->descriptors);
    context->vk.vkDestroyFence(context->device, submission->fence, NULL);
    context->vk.vkDestroyCommandPool(context->device, submission->pool, NULL);
    free(submission);
}

void dml_stagings_destroy(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    dml_staging *idle = context->submission.idle_staging;
    context->submission.idle_staging = NULL;
    dml_lock_release(&context->lock);
    while (idle) {
        dml_staging *staging = idle;
        idle = staging->next;
        dml_buffer_destroy(context, &staging->side[DML_SRC]);
        dml_buffer_destroy(context, &staging->side[DML_DST]);
        free(staging);
    }
}

void dml_submissions_destroy(dml_context *context)
{
    dml_stagings_destroy(context);
    while (context->submission.idle) {
        dml_submission *submission = context->submission.idle;
        context->submission.idle = submission->next;
        dml_submission_destroy(context, submission);
    }
}

VkResult dml_commands_create(dml_context *context, VkCommandPoolCreateFlags flags, VkCommandPool *pool,
                             VkCommandBuffer *commands)
{
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .flags = flags, .queueFamilyIndex = context->traits.queue_family};
    const VkResult result = DML_CREATE(context, CommandPool, &info, pool);
    if (result)
        return result;
    const VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = *pool,
                                             .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                             .commandBufferCount = 1};
    return context->vk.vkAllocateCommandBuffers(context->device, &one, commands);
}

static VkResult create_handles(dml_context *context, dml_submission *submission)
{
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result =
        dml_commands_create(context, VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                            &submission->pool, &submission->commands);
    if (result == VK_SUCCESS)
        result = DML_CREATE(context, Fence, &fence, &submission->fence);
    return result ? result : dml_descriptors_create(context, &submission->descriptors);
}

dml_submission *dml_submission_create(dml_context *context, dml_status *status)
{
    dml_lock_acquire(&context->lock);
    dml_submission *submission = context->submission.idle;
    if (submission)
        context->submission.idle = submission->next;
    dml_lock_release(&context->lock);
    if (submission)
        return submission;
    submission = calloc(1, sizeof *submission);
    VkResult made = submission ? create_handles(context, submission) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!made)
        return submission;
    if (submission)
        dml_submission_destroy(context, submission); /* uncovered: a fault that only soak injects */
    dml_vk_fail(context, made, "making a command buffer", status);
    return NULL;
}

dml_code dml_submission_acquire_staging(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (submission->staging)
        return DML_OK;
    dml_lock_acquire(&context->lock);
    submission->staging = context->submission.idle_staging;
    if (submission->staging)
        context->submission.idle_staging = submission->staging->next;
    dml_lock_release(&context->lock);
    if (!submission->staging)
        submission->staging = calloc(1, sizeof *submission->staging);
    return submission->staging ? DML_OK : dml_fail(status, DML_NO_MEMORY, "no memory for staging");
}

void dml_submission_reset(dml_context *context, dml_submission *submission)
{
    for (int i = 0; i < submission->pieces; i++) {
        dml_slot *slot = &submission->slots[i];
        dml_buffer_destroy(context, &slot->src.imported);
        dml_buffer_destroy(context, &slot->dst.imported);
        dml_buffer_destroy(context, &slot->entries);
        if (slot->pipeline)
            slot->pipeline->users--;
    }
    submission->pieces = 0;
    submission->bytes = 0;
    submission->arena_used = 0;
    submission->refused = false;
    if (submission->recording && !submission->broken) /* what was ended is reset when it is begun again */
        submission->broken = context->vk.vkResetCommandPool(context->device, submission->pool, 0);
    submission->recording = false;
}

void dml_submission_release(dml_context *context, dml_submission *submission)
{
    if (submission->abandoned)
        return;
    if (submission->pieces > 0)
        dml_submission_reset(context, submission);
    if (submission->arena.size > MAX_IDLE_ARENA)
        dml_buffer_destroy(context, &submission->arena); /* uncovered: needs large arrays, which this run leaves out */
    const bool reusable = !submission->broken;
    dml_lock_acquire(&context->lock);
    if (submission->staging) {
        submission->staging->next = context->submission.idle_staging;
        context->submission.idle_staging = submission->staging;
        submission->staging = NULL;
    }
    if (reusable) {
        submission->next = context->submission.idle;
        context->submission.idle = submission;
    }
    dml_lock_release(&context->lock);
    if (!reusable)
        dml_submission_destroy(context, submission);
}
