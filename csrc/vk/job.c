/* Jobs: making and keeping them, submitting, waiting. */
#include "vk/job.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LISTEN_MS = 100, /* from asking whether to stop to asking again */
    ARENA_KEPT = 1024 * 1024, /* bytes of an idle job's arena */
    SPIN_BYTES = 256 * 1024   /* written by a submission that is waited for without sleeping */
};

static int64_t milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void destroy_job(dml_context *context, dml_job *job)
{
    dml_buffer_destroy(context, &job->arena);
    dml_buffer_destroy(context, &job->staging[0]);
    dml_buffer_destroy(context, &job->staging[1]);
    context->vk.vkDestroyDescriptorPool(context->device, job->sets, NULL);
    context->vk.vkDestroyFence(context->device, job->fence, NULL);
    context->vk.vkDestroyCommandPool(context->device, job->pool, NULL);
    free(job);
}

void dml_jobs_destroy(dml_context *context)
{
    while (context->idle) {
        dml_job *job = context->idle;
        context->idle = job->next;
        destroy_job(context, job);
    }
}

static VkResult create_handles(dml_context *context, dml_job *job)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = context->traits.queue_family};
    VkResult result = DML_MADE(context->vk.vkCreateCommandPool(context->device, &pool, NULL, &job->pool), &job->pool);
    if (result)
        return result;
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = job->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    result = context->vk.vkAllocateCommandBuffers(context->device, &commands, &job->commands);
    if (result)
        return result;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = DML_MADE(context->vk.vkCreateFence(context->device, &fence, NULL, &job->fence), &job->fence);
    if (result)
        return result;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3 * DML_MAX_PIECES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, DML_MAX_PIECES}};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = DML_MAX_PIECES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    return DML_MADE(context->vk.vkCreateDescriptorPool(context->device, &sets, NULL, &job->sets), &job->sets);
}

dml_code dml_job_take(dml_context *context, dml_job **result, dml_status *status)
{
    dml_lock_take(&context->lock);
    bool closed = context->closed;
    dml_job *job = closed ? NULL : context->idle;
    if (job)
        context->idle = job->next;
    context->in_flight += !closed;
    dml_lock_give(&context->lock);
    if (closed)
        return dml_fail(status, DML_NO_DEVICE, "the interpreter is exiting");
    if (!job) {
        job = calloc(1, sizeof *job);
        VkResult made = job ? create_handles(context, job) : VK_ERROR_OUT_OF_HOST_MEMORY;
        if (made) {
            if (job)
                destroy_job(context, job);
            dml_lock_take(&context->lock);
            context->in_flight--;
            dml_lock_give(&context->lock);
            return dml_vk_fail(context, made, "making a command buffer", status);
        }
    }
    job->interrupted = false;
    job->listened = milliseconds();
    *result = job;
    return DML_OK;
}

/* --- submit and wait ------------------------------------------------------------------------------------------- */

dml_code dml_job_begin(dml_context *context, dml_job *job, dml_status *status)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = context->vk.vkBeginCommandBuffer(job->commands, &info);
    return result ? dml_vk_fail(context, result, "vkBeginCommandBuffer", status) : DML_OK;
}

/* Asks whether the caller wants to stop, if that was not asked just now. */
static void listen(dml_job *job)
{
    int64_t now = milliseconds();
    bool just_now = now >= job->listened && now < job->listened + LISTEN_MS;
    if (!dml_interrupted || job->interrupted || just_now)
        return;
    job->interrupted = dml_interrupted();
    job->listened = now;
}

/* Waiting in a loop that never sleeps costs half of what sleeping does; so wait like that for a little while, where little is to
 * be done. Where there is much, or others wait too, a driver that computes on the CPU has better use for this core. */
static VkResult wait_for(dml_context *context, dml_job *job)
{
    const long spin_ns = job->bytes <= SPIN_BYTES && job->alone ? 200000 : 0;
    struct timespec start, now;
    timespec_get(&start, TIME_UTC);
    VkResult result;
    do {
        result = context->vk.vkWaitForFences(context->device, 1, &job->fence, VK_TRUE, 0);
        timespec_get(&now, TIME_UTC);
    } while (result == VK_TIMEOUT && now.tv_sec == start.tv_sec && now.tv_nsec - start.tv_nsec < spin_ns);
    while (result == VK_TIMEOUT) {
        result = context->vk.vkWaitForFences(context->device, 1, &job->fence, VK_TRUE, LISTEN_MS * UINT64_C(1000000));
        listen(job);
    }
    if (result && result != VK_ERROR_DEVICE_LOST) {
        /* No memory for waiting, say. What is asked for has been submitted; there is another way to wait for it. */
        dml_lock_take(&context->lock);
        result = context->vk.vkQueueWaitIdle(context->queue);
        dml_lock_give(&context->lock);
    }
    return result;
}

static VkResult submit_commands(dml_context *context, dml_job *job)
{
    /* Waiting alone does not make what was written visible to the host. */
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    context->vk.vkCmdPipelineBarrier(job->commands,
                                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                                     VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    VkResult result = context->vk.vkEndCommandBuffer(job->commands);
    if (result)
        return result;
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &job->commands};
    dml_lock_take(&context->lock);
    job->alone = context->in_flight == 1;
    result = context->vk.vkQueueSubmit(context->queue, 1, &info, job->fence);
    for (int i = 0; i < job->pieces; i++)
        context->counts[job->slots[i].pipeline ? job->slots[i].pipeline->kernel : DML_KERNEL_COPY]++;
    dml_lock_give(&context->lock);
    return result;
}

void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT])
{
    dml_lock_take(&context->lock);
    memcpy(counts, context->counts, sizeof context->counts);
    dml_lock_give(&context->lock);
}

/* Gives back what the pieces of a finished (or never submitted) submission held. */
void dml_job_reset(dml_context *context, dml_job *job)
{
    for (int i = 0; i < job->pieces; i++) {
        dml_slot *slot = &job->slots[i];
        dml_buffer_destroy(context, &slot->src.imported);
        dml_buffer_destroy(context, &slot->dst.imported);
        if (slot->pipeline)
            dml_pipeline_give(context, slot->pipeline);
    }
    job->pieces = 0;
    job->bytes = 0;
    job->arena_used = 0;
    if (!job->broken)
        job->broken = context->vk.vkResetDescriptorPool(context->device, job->sets, 0);
    if (!job->broken)
        job->broken = context->vk.vkResetCommandPool(context->device, job->pool, 0);
}

/* The device may still be using the job, and all it holds: none of it is ever touched again. */
static dml_code abandon(dml_context *context, dml_job *job, dml_status *status)
{
    job->abandoned = true;
    status->in_use = 1;
    dml_lock_take(&context->lock);
    context->abandoned++;
    context->in_flight--;
    dml_lock_give(&context->lock);
    return status->code;
}

dml_code dml_job_flush(dml_context *context, dml_job *job, dml_status *status)
{
    VkResult result = submit_commands(context, job);
    if (result) {
        dml_vk_fail(context, result, "vkQueueSubmit", status);
        /* Out of memory, nothing was submitted; else nobody knows. */
        bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
        return memory ? status->code : abandon(context, job, status);
    }
    result = wait_for(context, job);
    if (result) {
        dml_vk_fail(context, result, "waiting for the device", status);
        return abandon(context, job, status);
    }
    job->broken = context->vk.vkResetFences(context->device, 1, &job->fence);
    dml_job_reset(context, job);
    listen(job);
    if (job->interrupted)
        return dml_fail(status, DML_INTERRUPTED, "interrupted");
    return job->broken ? dml_vk_fail(context, job->broken, "resetting a command buffer", status) : DML_OK;
}

/* What an idle job need not keep. */
static void shrink(dml_context *context, dml_job *job)
{
    if (job->arena.size > ARENA_KEPT)
        dml_buffer_destroy(context, &job->arena);
    for (int i = 0; i < 2; i++)
        if (job->staging[i].size > context->traits.staging + 2 * context->traits.plan.alignment)
            dml_buffer_destroy(context, &job->staging[i]);
}

void dml_job_finish(dml_context *context, dml_job *job)
{
    if (job->abandoned)
        return;
    if (job->pieces > 0)
        dml_job_reset(context, job);
    if (job->broken) {
        destroy_job(context, job);
        job = NULL;
    } else {
        shrink(context, job);
    }
    dml_lock_take(&context->lock);
    if (job) {
        job->next = context->idle;
        context->idle = job;
    }
    context->in_flight--;
    dml_lock_give(&context->lock);
}
