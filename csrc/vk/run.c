/* Running a plan: cut into pieces, each bound to windows of host memory (imported, or staged where that fails), recorded
 * as one copy or dispatch, submitted together and waited for. */
#include "vk/context.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/host.h"

enum {
    MAX_PIECES = 32,         /* of one submission */
    ARENA_BYTES = 256 * 1024, /* of tables and lengths; grows with the lengths of one piece */
    ARENA_KEPT = 1024 * 1024,
    SPIN_BYTES = 256 * 1024 /* written by a submission that is waited for without sleeping */
};

/* Which memory one side of a piece is in. */
typedef struct dml_binding {
    dml_buffer *buffer;
    dml_buffer imported;
    uint64_t offset; /* of the window's first byte in the buffer */
    uint64_t size;
} dml_binding;

typedef struct piece_slot {
    dml_binding src;
    dml_binding dst;
    dml_pipeline *pipeline;
} piece_slot;

struct dml_job {
    dml_job *next;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkDescriptorPool sets;
    dml_buffer arena;
    uint64_t arena_used;
    dml_buffer staging[2]; /* source and destination, where imports fail; one piece at a time */
    uint64_t bytes; /* of all pieces' destinations */
    int pieces;
    piece_slot slots[MAX_PIECES];
    /* Too large for a stack of unknown size. */
    dml_plan plan;
    dml_split split;
    dml_piece piece;
    dml_dispatch dispatch;
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* --- jobs ------------------------------------------------------------------------------------------------------ */

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
    VkResult result = context->vk.vkCreateCommandPool(context->device, &pool, NULL, &job->pool);
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
    result = context->vk.vkCreateFence(context->device, &fence, NULL, &job->fence);
    if (result)
        return result;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3 * MAX_PIECES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, MAX_PIECES}};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = MAX_PIECES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    return context->vk.vkCreateDescriptorPool(context->device, &sets, NULL, &job->sets);
}

/* An idle job, or a new one; nobody else has it until it is given back. */
static dml_code take_job(dml_context *context, dml_job **result, dml_status *status)
{
    dml_lock_take(&context->lock);
    dml_job *job = context->idle;
    if (job)
        context->idle = job->next;
    context->in_flight++;
    dml_lock_give(&context->lock);
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
    *result = job;
    return DML_OK;
}

static void give_job(dml_context *context, dml_job *job)
{
    if (job->arena.size > ARENA_KEPT)
        dml_buffer_destroy(context, &job->arena);
    for (int i = 0; i < 2; i++)
        if (job->staging[i].size > context->traits.staging + 2 * context->traits.plan.alignment)
            dml_buffer_destroy(context, &job->staging[i]);
    dml_lock_take(&context->lock);
    job->next = context->idle;
    context->idle = job;
    context->in_flight--;
    dml_lock_give(&context->lock);
}

/* --- submit and wait ------------------------------------------------------------------------------------------- */

static VkResult begin_commands(dml_context *context, dml_job *job)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return context->vk.vkBeginCommandBuffer(job->commands, &info);
}

/* Waiting in a loop that never sleeps costs half of what sleeping does; so wait like that for a little while, where little is to
 * be done. Where there is much, a driver that computes on the CPU has better use for this core. */
static VkResult wait_for(dml_context *context, VkFence fence, bool briefly)
{
    const long spin_ns = briefly ? 200000 : 0;
    struct timespec start, now;
    timespec_get(&start, TIME_UTC);
    VkResult result;
    do {
        result = context->vk.vkWaitForFences(context->device, 1, &fence, VK_TRUE, 0);
        timespec_get(&now, TIME_UTC);
    } while (result == VK_TIMEOUT && now.tv_sec == start.tv_sec && now.tv_nsec - start.tv_nsec < spin_ns);
    while (result == VK_TIMEOUT)
        result = context->vk.vkWaitForFences(context->device, 1, &fence, VK_TRUE, UINT64_C(1000000000));
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
static void release_pieces(dml_context *context, dml_job *job)
{
    for (int i = 0; i < job->pieces; i++) {
        piece_slot *slot = &job->slots[i];
        dml_buffer_destroy(context, &slot->src.imported);
        dml_buffer_destroy(context, &slot->dst.imported);
        if (slot->pipeline)
            dml_pipeline_give(context, slot->pipeline);
    }
    job->pieces = 0;
    job->bytes = 0;
    job->arena_used = 0;
    context->vk.vkResetDescriptorPool(context->device, job->sets, 0);
    context->vk.vkResetCommandPool(context->device, job->pool, 0);
}

/* Submits what is recorded and waits. If even the wait fails the device may still be writing: the job, and all it holds, is then
 * left alone for good, and `*abandoned` set. */
static dml_code flush(dml_context *context, dml_job *job, bool *abandoned, dml_status *status)
{
    VkResult result = submit_commands(context, job);
    if (result)
        return dml_vk_fail(context, result, "vkQueueSubmit", status);
    result = wait_for(context, job->fence, job->bytes <= SPIN_BYTES);
    if (result) {
        *abandoned = true;
        dml_vk_fail(context, result, "waiting for the device", status);
        status->in_use = 1;
        return status->code;
    }
    context->vk.vkResetFences(context->device, 1, &job->fence);
    release_pieces(context, job);
    return DML_OK;
}

/* --- pieces ---------------------------------------------------------------------------------------------------- */

/* Grows what is too small; its contents are lost. */
static dml_code reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind,
                        dml_status *status)
{
    if (buffer->size >= size)
        return DML_OK;
    dml_buffer_destroy(context, buffer);
    return dml_buffer_create(context, size, kind, buffer, status);
}

static void set_window(dml_binding *binding, dml_span window)
{
    binding->size = round_up((uint64_t)(window.end - window.begin), 16);
}

static bool import_window(dml_context *context, dml_binding *binding, const void *base, dml_span window)
{
    const char *begin = (const char *)base + window.begin;
    set_window(binding, window);
    binding->buffer = &binding->imported;
    return dml_buffer_import(context, begin, (uint64_t)(window.end - window.begin), &binding->imported,
                             &binding->offset);
}

/* Copies one side's elements, and no byte between them, between host memory and staging at the same strides. */
static void copy_side(const dml_piece *piece, bool source, const void *from, void *to)
{
    const dml_plan *plan = &piece->plan;
    dml_plan side;
    dml_plan_begin(&side, plan->item);
    side.src_offset = side.dst_offset = source ? plan->src_offset : plan->dst_offset;
    for (int k = 0; k < plan->rank; k++) {
        int64_t stride = source ? plan->axes[k].src_stride : plan->axes[k].dst_stride;
        int64_t extent = source ? dml_piece_src_extent(piece, k) : plan->axes[k].extent;
        dml_plan_add(&side, stride == 0 ? 1 : extent, stride, stride);
    }
    dml_host_run(&side, from, to);
}

static dml_code stage_window(dml_context *context, dml_job *job, int side, dml_binding *binding, dml_span window,
                             dml_status *status)
{
    set_window(binding, window);
    binding->buffer = &job->staging[side];
    binding->offset = 0;
    return reserve(context, binding->buffer, binding->size, side == 0 ? DML_MEMORY_HOST : DML_MEMORY_HOST_CACHED,
                   status);
}

/* Room in the arena, at an offset that a descriptor may have. */
static uint64_t arena_take(dml_context *context, dml_job *job, uint64_t size)
{
    uint64_t offset = job->arena_used;
    job->arena_used = round_up(offset + size, context->traits.plan.alignment);
    return offset;
}

static uint64_t arena_needs(const dml_context *context, const dml_plan *plan)
{
    dml_span lengths = dml_plan_length_span(plan);
    return sizeof ((dml_dispatch *)0)->table + 2 * (uint64_t)context->traits.plan.alignment +
           (uint64_t)(lengths.end - lengths.begin) * sizeof(int64_t);
}

static VkResult write_set(dml_context *context, dml_job *job, const piece_slot *slot, uint64_t table, uint64_t lengths,
                          uint64_t length_bytes, VkDescriptorSet *set)
{
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = job->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &context->set_layout};
    VkResult result = context->vk.vkAllocateDescriptorSets(context->device, &info, set);
    if (result)
        return result;
    const VkDescriptorBufferInfo buffers[DML_BINDINGS] = {
        {slot->src.buffer->handle, slot->src.offset, slot->src.size},
        {slot->dst.buffer->handle, slot->dst.offset, slot->dst.size},
        {job->arena.handle, table, sizeof job->dispatch.table},
        {job->arena.handle, lengths, length_bytes},
    };
    VkWriteDescriptorSet writes[DML_BINDINGS];
    for (uint32_t i = 0; i < DML_BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = *set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = dml_binding_types[i],
                                           .pBufferInfo = &buffers[i]};
    context->vk.vkUpdateDescriptorSets(context->device, DML_BINDINGS, writes, 0, NULL);
    return VK_SUCCESS;
}

static void record_copy(dml_context *context, dml_job *job, const piece_slot *slot)
{
    const dml_plan *plan = &job->piece.plan;
    const dml_dispatch *dispatch = &job->dispatch;
    int64_t src, dst;
    for (int64_t i = 0; dml_dispatch_region(plan, i, &src, &dst); i++) {
        VkBufferCopy region = {slot->src.offset + (uint64_t)(src - dispatch->src_window.begin),
                               slot->dst.offset + (uint64_t)(dst - dispatch->dst_window.begin), (uint64_t)plan->item};
        context->vk.vkCmdCopyBuffer(job->commands, slot->src.buffer->handle, slot->dst.buffer->handle, 1, &region);
    }
}

static dml_code record_dispatch(dml_context *context, dml_job *job, piece_slot *slot, dml_status *status)
{
    const dml_plan *plan = &job->piece.plan;
    const dml_dispatch *dispatch = &job->dispatch;
    dml_span span = dml_plan_length_span(plan);
    uint64_t length_bytes = (uint64_t)(span.end - span.begin) * sizeof(int64_t);
    uint64_t table = arena_take(context, job, sizeof dispatch->table), lengths = table;
    char *arena = job->arena.mapped;
    memcpy(arena + table, dispatch->table, dispatch->table_words * sizeof dispatch->table[0]);
    if (length_bytes > 0) {
        lengths = arena_take(context, job, length_bytes);
        memcpy(arena + lengths, plan->lengths + span.begin, length_bytes);
    }

    VkDescriptorSet set;
    if (dml_pipeline_take(context, dispatch, &slot->pipeline, status))
        return status->code;
    VkResult result = write_set(context, job, slot, table, lengths, length_bytes > 0 ? length_bytes : sizeof dispatch->table, &set);
    if (result)
        return dml_vk_fail(context, result, "vkAllocateDescriptorSets", status);
    context->vk.vkCmdBindPipeline(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, slot->pipeline->handle);
    context->vk.vkCmdBindDescriptorSets(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, context->layout, 0, 1, &set, 0,
                                        NULL);
    context->vk.vkCmdDispatch(job->commands, dispatch->groups, 1, 1);
    return DML_OK;
}

/* Binds and records job->piece. `*refused` is set, and nothing recorded, where its memory could not be imported. */
static dml_code record_piece(dml_context *context, dml_job *job, const void *src, void *dst, bool import, bool *refused,
                             dml_status *status)
{
    piece_slot *slot = &job->slots[job->pieces];
    memset(slot, 0, sizeof *slot);
    if (job->pieces++ == 0) {
        VkResult result = begin_commands(context, job);
        if (result)
            return dml_vk_fail(context, result, "vkBeginCommandBuffer", status);
    }
    dml_dispatch *dispatch = &job->dispatch;
    dml_dispatch_choose(&job->piece, &context->traits.plan, (uint64_t)(uintptr_t)src, (uint64_t)(uintptr_t)dst,
                        context->traits.forced, dispatch);
    if (import) {
        *refused = !import_window(context, &slot->src, src, dispatch->src_window) ||
                   !import_window(context, &slot->dst, dst, dispatch->dst_window);
        if (*refused)
            return DML_OK;
    } else {
        if (stage_window(context, job, 0, &slot->src, dispatch->src_window, status) ||
            stage_window(context, job, 1, &slot->dst, dispatch->dst_window, status))
            return status->code;
        copy_side(&job->piece, true, src, (char *)slot->src.buffer->mapped - dispatch->src_window.begin);
        /* A cut piece leaves elements alone that are copied back all the same. */
        if (job->piece.cut)
            copy_side(&job->piece, false, dst, (char *)slot->dst.buffer->mapped - dispatch->dst_window.begin);
    }
    job->bytes += slot->dst.size;
    if (dispatch->kernel == DML_KERNEL_COPY)
        record_copy(context, job, slot);
    else
        return record_dispatch(context, job, slot, status);
    return DML_OK;
}

/* All pieces of job->plan, in as few submissions as they fit. */
static dml_code run_pieces(dml_context *context, dml_job *job, const void *src, void *dst, bool import, bool *refused,
                           bool *abandoned, dml_status *status)
{
    int64_t limit = context->traits.plan.window, staging = (int64_t)context->traits.staging;
    dml_split_begin(&job->split, &job->plan, import || limit < staging ? limit : staging);
    while (dml_split_next(&job->split, &job->piece)) {
        uint64_t needs = arena_needs(context, &job->piece.plan);
        if (job->pieces == MAX_PIECES || (job->pieces > 0 && job->arena_used + needs > job->arena.size))
            if (flush(context, job, abandoned, status))
                return status->code;
        if (reserve(context, &job->arena, needs > ARENA_BYTES ? needs : ARENA_BYTES, DML_MEMORY_HOST, status) ||
            record_piece(context, job, src, dst, import, refused, status))
            return status->code;
        if (*refused)
            return DML_OK;
        if (!import) {
            char *staged = (char *)job->staging[1].mapped - job->dispatch.dst_window.begin;
            if (flush(context, job, abandoned, status))
                return status->code;
            copy_side(&job->piece, false, staged, dst);
        }
    }
    return job->pieces > 0 ? flush(context, job, abandoned, status) : DML_OK;
}

dml_code dml_vk_run(dml_context *context, const dml_plan *plan, const void *src, void *dst, dml_status *status)
{
    dml_job *job = NULL;
    if (dml_plan_count(plan) == 0)
        return DML_OK;
    if (take_job(context, &job, status))
        return status->code;
    dml_plan_copy(&job->plan, plan);
    dml_plan_simplify(&job->plan);

    bool import = context->traits.host_import, refused = false, abandoned = false;
    dml_code code = run_pieces(context, job, src, dst, import, &refused, &abandoned, status);
    if (refused) {
        release_pieces(context, job);
        refused = false;
        code = run_pieces(context, job, src, dst, false, &refused, &abandoned, status);
    }
    if (abandoned)
        return code;
    if (code)
        release_pieces(context, job);
    give_job(context, job);
    return code;
}

dml_code dml_vk_run_nothing(dml_context *context, dml_status *status)
{
    dml_job *job = NULL;
    if (take_job(context, &job, status))
        return status->code;
    bool abandoned = false;
    dml_plan_begin(&job->piece.plan, 1);
    job->piece.cut = false;
    dml_dispatch_choose(&job->piece, &context->traits.plan, 0, 0, DML_KERNEL_ELEMENTS, &job->dispatch);
    job->dispatch.groups = 1;
    job->dispatch.table[DML_TABLE_TOTAL] = 0;
    piece_slot *slot = &job->slots[0];
    memset(slot, 0, sizeof *slot);
    job->pieces = 1;
    dml_code code = reserve(context, &job->arena, ARENA_BYTES, DML_MEMORY_HOST, status);
    if (!code) {
        slot->src.buffer = slot->dst.buffer = &job->arena;
        slot->src.size = slot->dst.size = 16;
        VkResult result = begin_commands(context, job);
        code = result ? dml_vk_fail(context, result, "vkBeginCommandBuffer", status)
                      : record_dispatch(context, job, slot, status);
    }
    if (!code)
        code = flush(context, job, &abandoned, status);
    if (abandoned)
        return code;
    if (code)
        release_pieces(context, job);
    give_job(context, job);
    return code;
}
