/* Running a plan: cut into pieces, each bound to windows of two places (a storage, or host memory that is imported, or staged
 * where that fails), recorded as one copy or dispatch, submitted together, and queued or waited for. */
#include "vk/job.h"

#include <string.h>

#include "core/host.h"

enum {
    LEAST_STAGED = 64 * 1024, /* bytes of a staging buffer */
    HOST_BYTES = 32 * 1024,   /* moved between host and mapped storage without the device, */
    HOST_RUN = 4096           /* or any number, in runs of so many */
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

/* A window may begin early by less than the alignment. */
dml_limits dml_job_limits(const dml_context *context)
{
    const dml_traits *traits = &context->traits.plan;
    int64_t binding = traits->binding - traits->alignment;
    return (dml_limits){.window = traits->window, .binding = binding < traits->window ? binding : traits->window};
}

/* What the offsets of one side of a plan count from, as far as its bytes' alignment goes. */
static uint64_t base_of(const dml_job *job, const dml_place *place)
{
    if (place->storage)
        return place->offset;
    return job->staging ? 0 : (uint64_t)(uintptr_t)place->data;
}

/* Binds the window of one side of job->piece. */
static dml_code bind_window(dml_context *context, dml_job *job, dml_side side, dml_binding *binding, dml_status *status)
{
    const dml_place *place = side == DML_SRC ? &job->src : &job->dst;
    dml_span window = side == DML_SRC ? job->dispatch.src_window : job->dispatch.dst_window;
    binding->size = round_up((uint64_t)(window.end - window.begin), 16);
    if (place->storage) {
        binding->buffer = &place->storage->buffer;
        binding->offset = place->offset + (uint64_t)window.begin;
        return DML_OK;
    }
    if (!job->staging) {
        binding->buffer = &binding->imported;
        job->refused =
            job->refused || !dml_buffer_import(context, (const char *)place->data + window.begin,
                                               (uint64_t)(window.end - window.begin), &binding->imported, &binding->offset);
        return DML_OK;
    }
    binding->buffer = &job->staging->side[side];
    binding->offset = 0;
    uint64_t size = LEAST_STAGED;
    while (size < binding->size)
        size *= 2;
    return dml_job_reserve(context, binding->buffer, size, side == DML_SRC ? DML_MEMORY_HOST : DML_MEMORY_HOST_CACHED, status);
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

/* A window as banks; those beyond it are bound to something, and never looked at. */
static void cut_window(const VkDescriptorBufferInfo *window, int32_t bank, VkDescriptorBufferInfo banks[DML_MOST_BANKS])
{
    const VkDeviceSize size = (VkDeviceSize)1 << bank;
    for (uint32_t i = 0; i < DML_MOST_BANKS; i++) {
        VkDeviceSize begin = i * size < window->range ? i * size : 0, left = window->range - begin;
        banks[i] = (VkDescriptorBufferInfo){window->buffer, window->offset + begin, left < size ? left : size};
    }
}

static VkResult write_set(dml_context *context, dml_job *job, const VkDescriptorBufferInfo *buffers, VkDescriptorSet *set)
{
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = job->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &dml_modules_for(context, &job->dispatch)->set_layout};
    VkResult result = context->vk.vkAllocateDescriptorSets(context->device, &info, set);
    if (result)
        return result;
    VkWriteDescriptorSet writes[DML_BINDINGS];
    VkDescriptorBufferInfo banks[2][DML_MOST_BANKS];
    for (uint32_t i = 0; i < DML_BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = *set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = dml_binding_types[i],
                                           .pBufferInfo = &buffers[i]};
    const int32_t bank = job->dispatch.constants[DML_BANK];
    for (uint32_t i = 0; i < 2 && bank > 0; i++) {
        cut_window(&buffers[i], bank, banks[i]);
        writes[i].descriptorCount = DML_MOST_BANKS;
        writes[i].pBufferInfo = banks[i];
    }
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
    context->vk.vkCmdBindDescriptorSets(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        dml_modules_for(context, dispatch)->layout, 0, 1, &set, 0, NULL);
    context->vk.vkCmdDispatch(job->commands, dispatch->groups, 1, 1);
    return DML_OK;
}

dml_code dml_job_add(dml_context *context, dml_job *job, dml_status *status)
{
    if (!job->piece.cut)
        dml_plan_simplify(&job->piece.plan);
    uint64_t needs = arena_needs(context, job);
    if (dml_job_reserve(context, &job->arena, needs > DML_ARENA_BYTES ? needs : DML_ARENA_BYTES, DML_MEMORY_HOST, status))
        return status->code;
    dml_slot *slot = &job->slots[job->pieces];
    memset(slot, 0, sizeof *slot);
    if (job->pieces++ == 0 && dml_job_begin(context, job, status))
        return status->code;
    dml_dispatch *dispatch = &job->dispatch;
    dml_dispatch_choose(&job->piece, &context->traits.plan, base_of(job, &job->src), base_of(job, &job->dst),
                        context->traits.forced, dispatch);
    if (bind_window(context, job, DML_SRC, &slot->src, status) || bind_window(context, job, DML_DST, &slot->dst, status))
        return status->code;
    if (job->refused)
        return DML_OK;
    job->bytes += slot->dst.size;
    if (dispatch->kernel == DML_KERNEL_COPY)
        record_copy(context, job, slot);
    else
        return dml_job_record(context, job, slot, status);
    return DML_OK;
}

/* All pieces of job->plan, in as few submissions as they fit; the last one is left to be queued or flushed. Ends early where an import is
 * refused. */
static dml_code run_pieces(dml_context *context, dml_job *job, dml_status *status)
{
    dml_limits limits = dml_job_limits(context);
    dml_split_begin(&job->split, &job->plan, &limits);
    while (!job->refused && dml_split_next(&job->split, &job->piece)) {
        bool full =
            job->pieces == DML_MAX_PIECES || (job->pieces > 0 && job->arena_used + arena_needs(context, job) > job->arena.size);
        if ((full && dml_job_flush(context, job, status)) || dml_job_add(context, job, status))
            return status->code;
    }
    return DML_OK;
}

/* With the host's memory imported; or staged after all. */
static dml_code import_pieces(dml_context *context, dml_job *job, dml_status *status)
{
    if (run_pieces(context, job, status))
        return status->code;
    if (!job->refused)
        return job->pieces == 0 ? DML_OK : dml_job_flush(context, job, status);
    dml_job_reset(context, job);
    return job->broken ? dml_vk_fail(context, job->broken, "resetting a command buffer", status)
                       : dml_job_stage(context, job, status);
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
    if (job->src.storage && job->dst.storage)
        return run_pieces(context, job, status);
    dml_trial trial;
    if (dml_trial_begin(context, job, &trial, status))
        return status->code;
    dml_code code = trial.import ? import_pieces(context, job, status) : dml_job_stage(context, job, status);
    if (!code)
        dml_trial_end(context, &trial);
    return code;
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
