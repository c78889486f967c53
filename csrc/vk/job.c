/* Jobs: making, emptying and keeping them. */
#include "vk/job.h"

#include <stdlib.h>

enum { ARENA_KEPT = 1024 * 1024 }; /* bytes of an idle job's arena */

static void destroy_job(dml_context *context, dml_job *job)
{
    dml_buffer_destroy(context, &job->arena);
    context->vk.vkDestroyDescriptorPool(context->device, job->sets, NULL);
    context->vk.vkDestroyFence(context->device, job->fence, NULL);
    context->vk.vkDestroyCommandPool(context->device, job->pool, NULL);
    free(job);
}

void dml_jobs_destroy(dml_context *context)
{
    while (context->queued_first) {
        dml_job *job = context->queued_first;
        context->queued_first = job->next;
        dml_job_reset(context, job);
        destroy_job(context, job);
    }
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
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, dml_storage_buffers(context) * DML_MAX_PIECES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, DML_MAX_PIECES}};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = DML_MAX_PIECES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    return DML_MADE(context->vk.vkCreateDescriptorPool(context->device, &sets, NULL, &job->sets), &job->sets);
}

/* The submission after which there is room for more jobs; 0 if there is. Whoever waits is not woken for each single one. */
static uint64_t find_room(dml_context *context)
{
    dml_jobs_reap(context);
    dml_lock_take(&context->lock);
    const dml_job *job = context->queued < DML_MAX_QUEUED ? NULL : context->queued_first;
    for (int i = 1; job && i < DML_MAX_QUEUED * 3 / 4; i++)
        job = job->next;
    uint64_t serial = job ? job->serial : 0;
    dml_lock_give(&context->lock);
    return serial;
}

/* One thread at a time waits: each submission that ends wakes all who wait for a later one. */
static dml_code make_room(dml_context *context, bool wait, dml_status *status)
{
    if (find_room(context) == 0)
        return DML_OK;
    if (!wait)
        return dml_fail(status, DML_WOULD_WAIT, "would wait");
    dml_context_take(context, &context->turn);
    uint64_t serial = find_room(context);
    bool in_turn = true;
    dml_code code = serial > 0 ? dml_jobs_wait_in_turn(context, serial, &in_turn, status) : DML_OK;
    if (in_turn)
        dml_lock_give(&context->turn);
    return code;
}

/* NULL if there can be none. */
static dml_job *idle_or_new(dml_context *context, dml_status *status)
{
    dml_lock_take(&context->lock);
    dml_job *job = context->idle;
    if (job)
        context->idle = job->next;
    dml_lock_give(&context->lock);
    if (job)
        return job;
    job = calloc(1, sizeof *job);
    VkResult made = job ? create_handles(context, job) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!made)
        return job;
    if (job)
        destroy_job(context, job);
    dml_vk_fail(context, made, "making a command buffer", status);
    return NULL;
}

dml_code dml_job_take(dml_context *context, bool wait, dml_job **result, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_job *job = make_room(context, wait, status) ? NULL : idle_or_new(context, status);
    if (!job) {
        dml_context_leave(context);
        return status->code;
    }
    job->listening = dml_listen_from_now();
    job->listener = &job->listening;
    job->may_wait = wait;
    *result = job;
    return DML_OK;
}

dml_code dml_job_another(dml_context *context, const dml_job *job, dml_job **another, dml_status *status)
{
    dml_job *other = idle_or_new(context, status);
    if (!other)
        return status->code;
    other->listener = job->listener;
    other->may_wait = job->may_wait;
    other->after_others = job->after_others;
    other->src = job->src;
    other->dst = job->dst;
    other->lengths = job->lengths;
    *another = other;
    return DML_OK;
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
    job->refused = false;
    if (!job->broken)
        job->broken = context->vk.vkResetDescriptorPool(context->device, job->sets, 0);
    if (!job->broken)
        job->broken = context->vk.vkResetCommandPool(context->device, job->pool, 0);
}

static void keep_job(dml_context *context, dml_job *job)
{
    if (job->broken) {
        destroy_job(context, job);
        return;
    }
    if (job->arena.size > ARENA_KEPT)
        dml_buffer_destroy(context, &job->arena);
    dml_lock_take(&context->lock);
    job->next = context->idle;
    context->idle = job;
    dml_lock_give(&context->lock);
}

void dml_job_give(dml_context *context, dml_job *job)
{
    if (job->abandoned)
        return;
    if (job->pieces > 0)
        dml_job_reset(context, job);
    keep_job(context, job);
}

void dml_job_finish(dml_context *context, dml_job *job)
{
    dml_job_give(context, job);
    dml_context_leave(context);
}
