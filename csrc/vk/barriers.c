#include "vk/barriers.h"

#include "vk/allocation_pool.h"
#include "vk/results.h"

void dml_barrier_record(const dml_context *context, VkCommandBuffer commands, bool on_host)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = writes,
                               .dstAccessMask = on_host ? VK_ACCESS_HOST_READ_BIT : writes | reads};
    context->vk.vkCmdPipelineBarrier(commands, stages, on_host ? VK_PIPELINE_STAGE_HOST_BIT : stages, 0, 1, &barrier, 0, NULL,
                                     0, NULL);
}

static VkResult record_one(dml_context *context)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkResult result = context->vk.vkBeginCommandBuffer(context->barriers.commands, &info);
    if (result)
        return result;
    dml_barrier_record(context, context->barriers.commands, false);
    return context->vk.vkEndCommandBuffer(context->barriers.commands);
}

dml_code dml_barriers_init(dml_context *context, dml_status *status)
{
    VkResult result = dml_commands_create(context, 0, &context->barriers.pool, &context->barriers.commands);
    if (result == VK_SUCCESS)
        result = record_one(context);
    return result ? dml_vk_fail(context, result, "recording a barrier", status) : DML_OK;
}

void dml_barriers_destroy(dml_context *context)
{
    context->vk.vkDestroyCommandPool(context->device, context->barriers.pool, NULL);
}

/* What reads comes after what wrote the same, and what writes after what read or wrote it. */
void dml_barriers_find(const dml_context *context, dml_submission *submission)
{
    const dml_allocation *allocation, *result = submission->transfer->results->allocation;
    int64_t at = 0;
    bool writes;
    submission->conflicts = false;
    submission->host_sees = !submission->after_others || !result || result->data;
    if (!submission->after_others)
        return;
    while ((allocation = dml_transfer_next(submission->transfer, &at, &writes)))
        submission->conflicts |=
            (writes ? allocation->place->timeline_value : allocation->place->written) >= context->barriers.unordered;
}

void dml_barriers_begin(dml_context *context, dml_submission *submission)
{
    dml_lock_acquire(&context->lock);
    dml_barriers_find(context, submission);
    dml_lock_release(&context->lock);
    submission->has_barrier = submission->conflicts;
    if (submission->has_barrier)
        dml_barrier_record(context, submission->commands, false);
}

void dml_barriers_advance(dml_context *context, const dml_submission *submission)
{
    dml_allocation *allocation;
    int64_t at = 0;
    bool writes;
    if (submission->conflicts || submission->has_barrier)
        context->barriers.unordered = submission->timeline_value;
    if (!submission->after_others)
        return;
    while ((allocation = dml_transfer_next(submission->transfer, &at, &writes))) {
        allocation->place->timeline_value = submission->timeline_value;
        if (writes)
            allocation->place->written = submission->timeline_value;
    }
}

void dml_barriers_add(const dml_context *context, dml_submission *submission, dml_commands *commands)
{
    if (submission->conflicts && !submission->has_barrier)
        commands->list[commands->count++] = context->barriers.commands;
    commands->list[commands->count++] = submission->commands;
    submission->signalled = commands->signalled;
}
