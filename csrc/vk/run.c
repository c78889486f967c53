/* Running a plan: cut into pieces, each bound to windows of two places (a storage, or host memory that is imported, or staged
 * where that fails), recorded as one copy or dispatch, submitted together, and queued or waited for. */
#include "vk/job.h"

#include <string.h>

#include "core/host.h"

enum {
    HOST_BYTES = 32 * 1024, /* moved between host and mapped storage without the device, */
    HOST_RUN = 4096         /* or any number, in runs of so many */
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

dml_code dml_job_reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind, dml_status *status)
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
    return dml_buffer_import(context, begin, (uint64_t)(window.end - window.begin), &binding->imported, &binding->offset);
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

static uint64_t base_of(const dml_place *place)
{
    return place->storage ? place->offset : (uint64_t)(uintptr_t)place->data;
}

static dml_code stage_window(dml_context *context, dml_job *job, int side, dml_binding *binding, dml_span window,
                             dml_status *status)
{
    set_window(binding, window);
    binding->buffer = &job->staging[side];
    binding->offset = 0;
    return dml_job_reserve(context, binding->buffer, binding->size, side == 0 ? DML_MEMORY_HOST : DML_MEMORY_HOST_CACHED,
                           status);
}

/* Binds one side's window. `*refused` is set where memory could not be imported. */
static dml_code bind_window(dml_context *context, dml_job *job, int side, dml_binding *binding, dml_span window, bool import,
                            bool *refused, dml_status *status)
{
    const dml_place *place = side == 0 ? &job->src : &job->dst;
    if (place->storage) {
        set_window(binding, window);
        binding->buffer = &place->storage->buffer;
        binding->offset = place->offset + (uint64_t)window.begin;
    } else if (import) {
        *refused = *refused || !import_window(context, binding, place->data, window);
    } else {
        return stage_window(context, job, side, binding, window, status);
    }
    return DML_OK;
}

/* What a dispatch counts the shares that are taken with: a word for each invocation of a work group. */
static uint64_t counter_bytes(const dml_context *context)
{
    return round_up(context->traits.plan.group_size * sizeof(uint32_t), 16);
}

/* Room in the arena, at an offset that a descriptor may have: what to bind, and where the host writes to it. */
static char *arena_take(dml_context *context, dml_job *job, uint64_t size, VkDescriptorBufferInfo *room)
{
    *room = (VkDescriptorBufferInfo){job->arena.handle, job->arena_used, size};
    job->arena_used = round_up(room->offset + size, context->traits.plan.alignment);
    return (char *)job->arena.mapped + room->offset;
}

static uint64_t arena_needs(const dml_context *context, const dml_job *job)
{
    dml_span lengths = dml_plan_length_span(&job->piece.plan);
    return sizeof job->dispatch.table + counter_bytes(context) + 3 * (uint64_t)context->traits.plan.alignment +
           (job->lengths ? 0 : (uint64_t)(lengths.end - lengths.begin) * sizeof(int64_t));
}

static VkResult write_set(dml_context *context, dml_job *job, const VkDescriptorBufferInfo *buffers, VkDescriptorSet *set)
{
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = job->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &context->set_layout};
    VkResult result = context->vk.vkAllocateDescriptorSets(context->device, &info, set);
    if (result)
        return result;
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

/* The lengths of job->piece where the device finds them: in their storage, or copied to the arena. A shader that looks at none is
 * bound to something all the same. */
static VkDescriptorBufferInfo bind_lengths(dml_context *context, dml_job *job)
{
    const dml_plan *plan = &job->piece.plan;
    dml_span span = dml_plan_length_span(plan);
    uint64_t begin = (uint64_t)span.begin * sizeof(int64_t), bytes = (uint64_t)(span.end - span.begin) * sizeof(int64_t);
    if (bytes == 0)
        return (VkDescriptorBufferInfo){job->arena.handle, 0, 16};
    if (job->lengths) {
        uint64_t early = begin % context->traits.plan.alignment;
        job->dispatch.table[DML_TABLE_LENGTH] += (uint32_t)(early / sizeof(int64_t));
        return (VkDescriptorBufferInfo){job->lengths->buffer.handle, begin - early, bytes + early};
    }
    VkDescriptorBufferInfo room;
    memcpy(arena_take(context, job, bytes, &room), plan->lengths + span.begin, bytes);
    return room;
}

dml_code dml_job_record(dml_context *context, dml_job *job, dml_slot *slot, dml_status *status)
{
    const dml_dispatch *dispatch = &job->dispatch;
    VkDescriptorBufferInfo buffers[DML_BINDINGS] = {{slot->src.buffer->handle, slot->src.offset, slot->src.size},
                                                    {slot->dst.buffer->handle, slot->dst.offset, slot->dst.size}};
    buffers[3] = bind_lengths(context, job); /* it changes the table */
    memcpy(arena_take(context, job, sizeof dispatch->table, &buffers[2]), dispatch->table,
           dispatch->table_words * sizeof dispatch->table[0]);
    memset(arena_take(context, job, counter_bytes(context), &buffers[4]), 0, counter_bytes(context));

    VkDescriptorSet set;
    if (dml_pipeline_take(context, dispatch, job->may_wait, &slot->pipeline, status))
        return status->code;
    VkResult result = write_set(context, job, buffers, &set);
    if (result)
        return dml_vk_fail(context, result, "vkAllocateDescriptorSets", status);
    context->vk.vkCmdBindPipeline(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, slot->pipeline->handle);
    context->vk.vkCmdBindDescriptorSets(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, context->layout, 0, 1, &set, 0, NULL);
    context->vk.vkCmdDispatch(job->commands, dispatch->groups, 1, 1);
    return DML_OK;
}

/* Binds and records job->piece. `*refused` is set, and nothing recorded, where its memory could not be imported. */
static dml_code record_piece(dml_context *context, dml_job *job, bool import, bool *refused, dml_status *status)
{
    dml_slot *slot = &job->slots[job->pieces];
    memset(slot, 0, sizeof *slot);
    if (job->pieces++ == 0 && dml_job_begin(context, job, status))
        return status->code;
    dml_dispatch *dispatch = &job->dispatch;
    dml_dispatch_choose(&job->piece, &context->traits.plan, base_of(&job->src), base_of(&job->dst), context->traits.forced,
                        dispatch);
    if (bind_window(context, job, 0, &slot->src, dispatch->src_window, import, refused, status) ||
        bind_window(context, job, 1, &slot->dst, dispatch->dst_window, import, refused, status))
        return status->code;
    if (*refused)
        return DML_OK;
    if (!import && !job->src.storage)
        copy_side(&job->piece, true, job->src.data, (char *)slot->src.buffer->mapped - dispatch->src_window.begin);
    /* A cut piece leaves elements alone that are copied back all the same. */
    if (!import && !job->dst.storage && job->piece.cut)
        copy_side(&job->piece, false, job->dst.data, (char *)slot->dst.buffer->mapped - dispatch->dst_window.begin);
    job->bytes += slot->dst.size;
    if (dispatch->kernel == DML_KERNEL_COPY)
        record_copy(context, job, slot);
    else
        return dml_job_record(context, job, slot, status);
    return DML_OK;
}

/* All pieces of job->plan, in as few submissions as they fit; the last one is left to be queued or flushed. */
static dml_code run_pieces(dml_context *context, dml_job *job, bool import, bool *refused, dml_status *status)
{
    bool staged = !import && !(job->src.storage && job->dst.storage);
    int64_t limit = context->traits.plan.window, staging = (int64_t)context->traits.staging;
    dml_split_begin(&job->split, &job->plan, staged && staging < limit ? staging : limit);
    while (dml_split_next(&job->split, &job->piece)) {
        uint64_t needs = arena_needs(context, job);
        bool full = job->pieces == DML_MAX_PIECES || (job->pieces > 0 && job->arena_used + needs > job->arena.size);
        if (full && dml_job_flush(context, job, status))
            return status->code;
        if (dml_job_reserve(context, &job->arena, needs > DML_ARENA_BYTES ? needs : DML_ARENA_BYTES, DML_MEMORY_HOST, status) ||
            record_piece(context, job, import, refused, status))
            return status->code;
        if (*refused)
            return DML_OK;
        if (!staged)
            continue;
        char *result = (char *)job->staging[1].mapped - job->dispatch.dst_window.begin;
        if (dml_job_flush(context, job, status))
            return status->code;
        if (!job->dst.storage)
            copy_side(&job->piece, false, result, job->dst.data);
    }
    return DML_OK;
}

/* What the host sees of a place; NULL if it does not. */
static char *seen_by_host(const dml_place *place)
{
    char *first = place->storage ? place->storage->buffer.mapped : place->data;
    return first ? first + (place->storage ? place->offset : 0) : NULL;
}

/* Whether the host moves the bytes itself, between memory of its own and a storage that it sees. */
static bool host_moves(dml_job *job, const dml_context *context)
{
    const dml_plan *plan = &job->plan;
    bool one = !job->src.storage != !job->dst.storage;
    return one && seen_by_host(&job->src) && seen_by_host(&job->dst) && context->traits.forced == DML_KERNEL_COUNT &&
           (plan->item >= HOST_RUN || dml_plan_count(plan) * plan->item <= HOST_BYTES);
}

/* Takes job->plan to its end, except that a job whose work is all between storages may still have to be queued. */
static dml_code run_job(dml_context *context, dml_job *job, dml_status *status)
{
    if (host_moves(job, context)) {
        const dml_storage *storage = job->src.storage ? job->src.storage : job->dst.storage;
        if (dml_jobs_wait(context, dml_storage_last_use(context, storage), status))
            return status->code;
        dml_host_run(&job->plan, seen_by_host(&job->src), seen_by_host(&job->dst));
        return DML_OK;
    }
    bool import = context->traits.host_import, refused = false;
    dml_code code = run_pieces(context, job, import, &refused, status);
    if (refused) {
        dml_job_reset(context, job);
        refused = false;
        code = job->broken ? dml_vk_fail(context, job->broken, "resetting a command buffer", status)
                           : run_pieces(context, job, false, &refused, status);
    }
    bool queued = job->src.storage && job->dst.storage;
    return code || queued || job->pieces == 0 ? code : dml_job_flush(context, job, status);
}

dml_code dml_vk_run(dml_context *context, const dml_plan *plan, dml_place src, dml_place dst, dml_storage *lengths, bool wait,
                    dml_status *status)
{
    dml_job *job = NULL;
    if (dml_plan_count(plan) == 0)
        return DML_OK;
    if (dml_job_take(context, wait, &job, status))
        return status->code;
    dml_plan_copy(&job->plan, plan);
    dml_plan_simplify(&job->plan);
    job->src = src;
    job->dst = dst;
    job->lengths = lengths;
    job->after_others = src.storage || dst.storage;
    dml_code code = run_job(context, job, status);
    bool queued = !code && job->pieces > 0;
    if (queued)
        code = dml_job_queue(context, job, status);
    if (!queued || code)
        dml_job_finish(context, job);
    return code;
}
