/* Running a plan: cut into pieces, each bound to windows of two places (a allocation, or host memory that is imported, or staged
 * where that fails), recorded as one copy or dispatch, submitted together, and queued or waited for. */
#include "vk/submission.h"

#include <string.h>

#include "core/choose.h"
#include "core/host.h"

enum {
    LEAST_STAGED = 64 * 1024, /* bytes of a staging buffer */
    HOST_BYTES = 32 * 1024,   /* moved between host and mapped allocation without the device, */
    HOST_RUN = 4096           /* or any number, in runs of so many */
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

dml_code dml_submission_reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind, dml_status *status)
{
    if (buffer->size >= size)
        return DML_OK;
    dml_buffer_destroy(context, buffer);
    return dml_buffer_create(context, size, kind, buffer, status);
}

/* A window may begin early by less than the alignment. */
dml_limits dml_submission_limits(const dml_context *context)
{
    const dml_traits *traits = &context->traits.plan;
    int64_t binding = traits->binding - traits->alignment;
    return (dml_limits){.window = traits->window, .binding = binding < traits->window ? binding : traits->window};
}

/* What the offsets of one side of a plan count from, as far as its bytes' alignment goes. */
static uint64_t base_of(const dml_submission *submission, const dml_operand *place)
{
    if (place->allocation)
        return place->offset;
    return submission->staging ? 0 : (uint64_t)(uintptr_t)place->data;
}

/* Binds the window of one side of submission->piece. */
static dml_code bind_window(dml_context *context, dml_submission *submission, dml_side side, dml_binding *binding, dml_status *status)
{
    const dml_operand *place = side == DML_SRC ? &submission->src : &submission->dst;
    dml_span window = side == DML_SRC ? submission->dispatch.src_window : submission->dispatch.dst_window;
    binding->size = round_up((uint64_t)(window.end - window.begin), 16);
    if (place->allocation) {
        binding->buffer = &place->allocation->buffer;
        binding->offset = place->offset + (uint64_t)window.begin;
        return DML_OK;
    }
    if (!submission->staging) {
        binding->buffer = &binding->imported;
        submission->refused =
            submission->refused || !dml_buffer_import(context, (const char *)place->data + window.begin,
                                               (uint64_t)(window.end - window.begin), &binding->imported, &binding->offset);
        return DML_OK;
    }
    binding->buffer = &submission->staging->side[side];
    binding->offset = 0;
    uint64_t size = LEAST_STAGED;
    while (size < binding->size)
        size *= 2;
    return dml_submission_reserve(context, binding->buffer, size, side == DML_SRC ? DML_MEMORY_HOST : DML_MEMORY_HOST_CACHED, status);
}

/* What a dispatch counts the shares that are taken with: a word for each invocation of a work group. */
static uint64_t counter_bytes(const dml_context *context)
{
    return round_up(context->traits.plan.group_size * sizeof(uint32_t), 16);
}

/* Room in the arena, at an offset that a descriptor may have: what to bind, and where the host writes to it. */
static char *arena_take(dml_context *context, dml_submission *submission, uint64_t size, VkDescriptorBufferInfo *room)
{
    *room = (VkDescriptorBufferInfo){submission->arena.handle, submission->arena_used, size};
    submission->arena_used = round_up(room->offset + size, context->traits.plan.alignment);
    return (char *)submission->arena.mapped + room->offset;
}

static uint64_t arena_needs(const dml_context *context, const dml_submission *submission)
{
    dml_span lengths = dml_plan_length_span(&submission->piece.plan);
    return sizeof submission->dispatch.table + counter_bytes(context) + 3 * (uint64_t)context->traits.plan.alignment +
           (submission->lengths ? 0 : (uint64_t)(lengths.end - lengths.begin) * sizeof(int64_t));
}

/* A window as segments; those beyond it are bound to something, and never looked at. */
static void cut_window(const VkDescriptorBufferInfo *window, int32_t segment, VkDescriptorBufferInfo segments[DML_MAX_SEGMENTS])
{
    const VkDeviceSize size = (VkDeviceSize)1 << segment;
    for (uint32_t i = 0; i < DML_MAX_SEGMENTS; i++) {
        VkDeviceSize begin = i * size < window->range ? i * size : 0, left = window->range - begin;
        segments[i] = (VkDescriptorBufferInfo){window->buffer, window->offset + begin, left < size ? left : size};
    }
}

static VkResult write_set(dml_context *context, dml_submission *submission, const VkDescriptorBufferInfo *buffers, VkDescriptorSet *set)
{
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = submission->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &dml_modules_for(context, &submission->dispatch)->set_layout};
    VkResult result = context->vk.vkAllocateDescriptorSets(context->device, &info, set);
    if (result)
        return result;
    VkWriteDescriptorSet writes[DML_BINDINGS];
    VkDescriptorBufferInfo segments[2][DML_MAX_SEGMENTS];
    for (uint32_t i = 0; i < DML_BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = *set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = dml_binding_types[i],
                                           .pBufferInfo = &buffers[i]};
    const int32_t segment = submission->dispatch.constants[DML_SEGMENT_BITS];
    for (uint32_t i = 0; i < 2 && segment > 0; i++) {
        cut_window(&buffers[i], segment, segments[i]);
        writes[i].descriptorCount = DML_MAX_SEGMENTS;
        writes[i].pBufferInfo = segments[i];
    }
    context->vk.vkUpdateDescriptorSets(context->device, DML_BINDINGS, writes, 0, NULL);
    return VK_SUCCESS;
}

static void record_copy(dml_context *context, dml_submission *submission, const dml_slot *slot)
{
    const dml_plan *plan = &submission->piece.plan;
    const dml_dispatch *dispatch = &submission->dispatch;
    int64_t src, dst;
    for (int64_t i = 0; dml_dispatch_region(plan, i, &src, &dst); i++) {
        VkBufferCopy region = {slot->src.offset + (uint64_t)(src - dispatch->src_window.begin),
                               slot->dst.offset + (uint64_t)(dst - dispatch->dst_window.begin), (uint64_t)plan->item};
        context->vk.vkCmdCopyBuffer(submission->commands, slot->src.buffer->handle, slot->dst.buffer->handle, 1, &region);
    }
}

/* The lengths of submission->piece where the device finds them: in their allocation, or copied to the arena. A shader that looks at none is
 * bound to something all the same. */
static VkDescriptorBufferInfo bind_lengths(dml_context *context, dml_submission *submission)
{
    const dml_plan *plan = &submission->piece.plan;
    dml_span span = dml_plan_length_span(plan);
    uint64_t begin = (uint64_t)span.begin * sizeof(int64_t), bytes = (uint64_t)(span.end - span.begin) * sizeof(int64_t);
    if (bytes == 0)
        return (VkDescriptorBufferInfo){submission->arena.handle, 0, 16};
    if (submission->lengths) {
        uint64_t early = begin % context->traits.plan.alignment;
        submission->dispatch.table.length_offset += (uint32_t)(early / sizeof(int64_t));
        return (VkDescriptorBufferInfo){submission->lengths->buffer.handle, begin - early, bytes + early};
    }
    VkDescriptorBufferInfo room;
    memcpy(arena_take(context, submission, bytes, &room), plan->lengths + span.begin, bytes);
    return room;
}

dml_code dml_submission_record(dml_context *context, dml_submission *submission, dml_slot *slot, dml_status *status)
{
    const dml_dispatch *dispatch = &submission->dispatch;
    VkDescriptorBufferInfo buffers[DML_BINDINGS] = {{slot->src.buffer->handle, slot->src.offset, slot->src.size},
                                                    {slot->dst.buffer->handle, slot->dst.offset, slot->dst.size}};
    buffers[3] = bind_lengths(context, submission); /* it changes the table */
    memcpy(arena_take(context, submission, sizeof dispatch->table, &buffers[2]), &dispatch->table, dispatch->table_bytes);
    memset(arena_take(context, submission, counter_bytes(context), &buffers[4]), 0, counter_bytes(context));

    VkDescriptorSet set;
    if (dml_pipeline_acquire(context, dispatch, submission->may_wait, &slot->pipeline, status))
        return status->code;
    VkResult result = write_set(context, submission, buffers, &set);
    if (result)
        return dml_vk_fail(context, result, "vkAllocateDescriptorSets", status);
    context->vk.vkCmdBindPipeline(submission->commands, VK_PIPELINE_BIND_POINT_COMPUTE, slot->pipeline->handle);
    context->vk.vkCmdBindDescriptorSets(submission->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        dml_modules_for(context, dispatch)->layout, 0, 1, &set, 0, NULL);
    context->vk.vkCmdDispatch(submission->commands, dispatch->groups, 1, 1);
    return DML_OK;
}

dml_code dml_submission_add(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (!submission->piece.cut)
        dml_plan_simplify(&submission->piece.plan);
    uint64_t needs = arena_needs(context, submission);
    if (dml_submission_reserve(context, &submission->arena, needs > DML_ARENA_BYTES ? needs : DML_ARENA_BYTES, DML_MEMORY_HOST, status))
        return status->code;
    dml_slot *slot = &submission->slots[submission->pieces];
    memset(slot, 0, sizeof *slot);
    if (submission->pieces++ == 0 && dml_submission_begin(context, submission, status))
        return status->code;
    dml_dispatch *dispatch = &submission->dispatch;
    dml_dispatch_choose(&submission->piece, &context->traits.plan, base_of(submission, &submission->src), base_of(submission, &submission->dst),
                        context->traits.forced, dispatch);
    if (bind_window(context, submission, DML_SRC, &slot->src, status) || bind_window(context, submission, DML_DST, &slot->dst, status))
        return status->code;
    if (submission->refused)
        return DML_OK;
    submission->bytes += slot->dst.size;
    if (dispatch->kernel == DML_KERNEL_COPY)
        record_copy(context, submission, slot);
    else
        return dml_submission_record(context, submission, slot, status);
    return DML_OK;
}

/* All pieces of submission->plan, in as few submissions as they fit; the last one is left to be queued or flushed. Ends early where an import is
 * refused. */
static dml_code run_pieces(dml_context *context, dml_submission *submission, dml_status *status)
{
    dml_limits limits = dml_submission_limits(context);
    dml_split_begin(&submission->split, &submission->plan, &limits);
    while (!submission->refused && dml_split_next(&submission->split, &submission->piece)) {
        bool full =
            submission->pieces == DML_MAX_PIECES || (submission->pieces > 0 && submission->arena_used + arena_needs(context, submission) > submission->arena.size);
        if ((full && dml_submission_flush(context, submission, status)) || dml_submission_add(context, submission, status))
            return status->code;
    }
    return DML_OK;
}

/* With the host's memory imported; or staged after all. */
static dml_code import_pieces(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (run_pieces(context, submission, status))
        return status->code;
    if (!submission->refused)
        return submission->pieces == 0 ? DML_OK : dml_submission_flush(context, submission, status);
    dml_submission_reset(context, submission);
    return submission->broken ? dml_vk_fail(context, submission->broken, "resetting a command buffer", status)
                       : dml_submission_stage(context, submission, status);
}

/* What the host sees of a place; NULL if it does not. */
static char *seen_by_host(const dml_operand *place)
{
    char *first = place->allocation ? place->allocation->buffer.mapped : place->data;
    return first ? first + (place->allocation ? place->offset : 0) : NULL;
}

/* Whether the host moves the bytes itself, between memory of its own and a allocation that it sees. */
static bool host_moves(dml_submission *submission, const dml_context *context)
{
    const dml_plan *plan = &submission->plan;
    bool one = !submission->src.allocation != !submission->dst.allocation;
    return one && seen_by_host(&submission->src) && seen_by_host(&submission->dst) && context->traits.forced == DML_KERNEL_COUNT &&
           (plan->item >= HOST_RUN || dml_plan_count(plan) * plan->item <= HOST_BYTES);
}

/* Takes submission->plan to its end, except that a submission whose work is all between allocations may still have to be queued. */
static dml_code run_submission(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (host_moves(submission, context)) {
        const dml_allocation *allocation = submission->src.allocation ? submission->src.allocation : submission->dst.allocation;
        if (dml_submissions_wait(context, dml_allocation_last_use(context, allocation), status))
            return status->code;
        dml_host_run(&submission->plan, seen_by_host(&submission->src), seen_by_host(&submission->dst));
        return DML_OK;
    }
    if (submission->src.allocation && submission->dst.allocation)
        return run_pieces(context, submission, status);
    dml_trial trial;
    if (dml_trial_begin(context, submission, &trial, status))
        return status->code;
    dml_code code = trial.import ? import_pieces(context, submission, status) : dml_submission_stage(context, submission, status);
    if (!code)
        dml_trial_end(context, &trial);
    return code;
}

dml_code dml_vk_run(dml_context *context, const dml_plan *plan, dml_operand src, dml_operand dst, dml_allocation *lengths, bool wait,
                    dml_status *status)
{
    dml_submission *submission = NULL;
    if (dml_plan_count(plan) == 0)
        return DML_OK;
    if (dml_submission_acquire(context, wait, &submission, status))
        return status->code;
    dml_plan_copy(&submission->plan, plan);
    dml_plan_simplify(&submission->plan);
    submission->src = src;
    submission->dst = dst;
    submission->lengths = lengths;
    submission->after_others = src.allocation || dst.allocation;
    dml_code code = run_submission(context, submission, status);
    bool queued = !code && submission->pieces > 0;
    if (queued)
        code = dml_submission_queue(context, submission, status);
    if (!queued || code)
        dml_submission_finish(context, submission);
    return code;
}
