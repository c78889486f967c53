/* Running a plan: cut into pieces, each bound to windows of host memory (imported, or staged where that fails), recorded
 * as one copy or dispatch, submitted together and waited for. */
#include "vk/job.h"

#include <string.h>

#include "core/host.h"

enum { ARENA_BYTES = 256 * 1024 }; /* of tables and lengths; grows with the lengths of one piece */

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

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

static VkResult write_set(dml_context *context, dml_job *job, const dml_slot *slot, uint64_t table, uint64_t lengths,
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

static void record_copy(dml_context *context, dml_job *job, const dml_slot *slot)
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

static dml_code record_dispatch(dml_context *context, dml_job *job, dml_slot *slot, dml_status *status)
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
    dml_slot *slot = &job->slots[job->pieces];
    memset(slot, 0, sizeof *slot);
    if (job->pieces++ == 0) {
        if (dml_job_begin(context, job, status))
            return status->code;
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
                           dml_status *status)
{
    int64_t limit = context->traits.plan.window, staging = (int64_t)context->traits.staging;
    dml_split_begin(&job->split, &job->plan, import || limit < staging ? limit : staging);
    while (dml_split_next(&job->split, &job->piece)) {
        uint64_t needs = arena_needs(context, &job->piece.plan);
        if (job->pieces == DML_MAX_PIECES || (job->pieces > 0 && job->arena_used + needs > job->arena.size))
            if (dml_job_flush(context, job, status))
                return status->code;
        if (reserve(context, &job->arena, needs > ARENA_BYTES ? needs : ARENA_BYTES, DML_MEMORY_HOST, status) ||
            record_piece(context, job, src, dst, import, refused, status))
            return status->code;
        if (*refused)
            return DML_OK;
        if (!import) {
            char *staged = (char *)job->staging[1].mapped - job->dispatch.dst_window.begin;
            if (dml_job_flush(context, job, status))
                return status->code;
            copy_side(&job->piece, false, staged, dst);
        }
    }
    return job->pieces > 0 ? dml_job_flush(context, job, status) : DML_OK;
}

dml_code dml_vk_run(dml_context *context, const dml_plan *plan, const void *src, void *dst, dml_status *status)
{
    dml_job *job = NULL;
    if (dml_plan_count(plan) == 0)
        return DML_OK;
    if (dml_job_take(context, &job, status))
        return status->code;
    dml_plan_copy(&job->plan, plan);
    dml_plan_simplify(&job->plan);

    bool import = context->traits.host_import, refused = false;
    dml_code code = run_pieces(context, job, src, dst, import, &refused, status);
    if (refused) {
        dml_job_reset(context, job);
        refused = false;
        code = run_pieces(context, job, src, dst, false, &refused, status);
    }
    dml_job_finish(context, job);
    return code;
}

dml_code dml_vk_run_nothing(dml_context *context, dml_status *status)
{
    dml_job *job = NULL;
    if (dml_job_take(context, &job, status))
        return status->code;
    dml_plan_begin(&job->piece.plan, 1);
    job->piece.cut = false;
    dml_dispatch_choose(&job->piece, &context->traits.plan, 0, 0, DML_KERNEL_ELEMENTS, &job->dispatch);
    job->dispatch.groups = 1;
    job->dispatch.table[DML_TABLE_TOTAL] = 0;
    dml_slot *slot = &job->slots[0];
    memset(slot, 0, sizeof *slot);
    job->pieces = 1;
    dml_code code = reserve(context, &job->arena, ARENA_BYTES, DML_MEMORY_HOST, status);
    if (!code) {
        slot->src.buffer = slot->dst.buffer = &job->arena;
        slot->src.size = slot->dst.size = 16;
        code = dml_job_begin(context, job, status);
    }
    if (!code)
        code = record_dispatch(context, job, slot, status);
    if (!code)
        code = dml_job_flush(context, job, status);
    dml_job_finish(context, job);
    return code;
}
