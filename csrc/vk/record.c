#include "vk/record.h"

#include <string.h>

#include "base/blocking.h"
#include "base/pool.h"
#include "kernels/dispatch.h"
#include "kernels/sum_tiles.h"
#include "vk/allocation_pool.h"
#include "vk/barriers.h"
#include "vk/queue.h"
#include "vk/results.h"

enum {
    MIN_STAGING = 64 * 1024, /* bytes of a staging buffer */
    MOST_COPIED = 64 * 1024  /* of indices that are copied where they can be imported */
};

/* Whether the source is a repeated item, which is copied to the arena. Staging copies it to a buffer as any other source. */
static bool is_filled(const dml_submission *submission)
{
    return submission->step.src == DML_FILL && !submission->staging;
}

/* The counter that workgroups take chunks of work from: a 32-bit integer for each invocation of a workgroup. */
static uint64_t counter_bytes(const dml_context *context)
{
    return dml_round_up(context->traits.core.group_size * sizeof(uint32_t), 16);
}

/* Reserves part of the arena, at an offset that a descriptor may have: `room` is to be bound, and the host writes to what is
 * returned. */
static char *arena_reserve(dml_context *context, dml_submission *submission, uint64_t size, VkDescriptorBufferInfo *room)
{
    *room = (VkDescriptorBufferInfo){submission->arena.handle, submission->arena_used, size};
    submission->arena_used = dml_round_up(room->offset + size, context->traits.core.alignment);
    return (char *)submission->arena.mapped + room->offset;
}

/* The address, or the offset in a buffer, that the offsets of one side of a plan count from; kernels depend on its
 * alignment. */
static uint64_t base_of(const dml_submission *submission, const dml_operand *operand)
{
    if (operand->allocation)
        return operand->offset;
    return operand == &submission->src && is_filled(submission) ? 0 : (uint64_t)(uintptr_t)operand->data;
}

/* Without dynamic scheduling nobody takes from the counter. It still needs a valid binding, and one of its own: a shader counts
 * as a writer of what it could write. */
static void bind_counter(dml_context *context, dml_submission *submission, VkDescriptorBufferInfo *room)
{
    const bool dynamic = submission->dispatch.constants[DML_DYNAMIC];
    char *counter = arena_reserve(context, submission, dynamic ? counter_bytes(context) : 16, room);
    if (dynamic)
        memset(counter, 0, counter_bytes(context));
}

/* Binds the range of one side of submission->piece. */
static dml_code bind_range(dml_context *context, dml_submission *submission, dml_side side, dml_binding *binding,
                           dml_status *status)
{
    const dml_operand *operand = side == DML_SRC ? &submission->src : &submission->dst;
    dml_span range = side == DML_SRC ? submission->dispatch.src_range : submission->dispatch.dst_range;
    binding->size = dml_round_up((uint64_t)(range.end - range.begin), 16);
    if (operand->allocation) {
        binding->buffer = &operand->allocation->place->block->buffer;
        binding->offset = operand->allocation->place->offset + operand->offset + (uint64_t)range.begin;
        return DML_OK;
    }
    if (side == DML_SRC && is_filled(submission)) {
        VkDescriptorBufferInfo room;
        memcpy(arena_reserve(context, submission, binding->size, &room), (const char *)operand->data + range.begin,
               (size_t)(range.end - range.begin));
        binding->buffer = &submission->arena;
        binding->offset = room.offset;
        return DML_OK;
    }
    if (!submission->staging) {
        binding->buffer = &binding->imported;
        submission->refused = submission->refused ||
                              !dml_buffer_import(context, (const char *)operand->data + range.begin,
                                                 (uint64_t)(range.end - range.begin), &binding->imported, &binding->offset);
        return DML_OK;
    }
    binding->buffer = &submission->staging->side[side];
    binding->offset = (uint64_t)range.begin; /* 0, but for what a dispatch leaves of its piece */
    uint64_t size = MIN_STAGING;
    while (size < binding->offset + binding->size)
        size *= 2;
    return dml_buffer_reserve(context, binding->buffer, size, side == DML_SRC ? DML_MEMORY_HOST : DML_MEMORY_HOST_CACHED,
                              status);
}

/* Whether the indices of submission->piece are imported, as all memory of the call is. A kernel clamps them where it reads
 * them. */
static bool imports_entries(const dml_context *context, const dml_submission *submission)
{
    const dml_plan *plan = &submission->piece.plan;
    dml_span entries = dml_plan_entry_span(plan);
    return context->traits.cpu && plan->gathered > 0 && !submission->after_others && !submission->staging &&
           entries.end - entries.begin > MOST_COPIED;
}

/* Bytes of the arena that submission->piece needs at most. */
static uint64_t arena_needs(const dml_context *context, const dml_submission *submission)
{
    dml_span entries = dml_plan_entry_span(&submission->piece.plan), item = dml_piece_src_span(&submission->piece);
    bool copies = !submission->transfer->entries && !imports_entries(context, submission);
    int64_t bytes = dml_larger(entries.end - entries.begin, submission->dispatch.weight_bytes);
    uint64_t each = sizeof submission->dispatch.table + counter_bytes(context) + 4 * (uint64_t)context->traits.core.alignment;
    return DML_MAX_DISPATCHES * each + (copies ? (uint64_t)bytes : 0) +
           (is_filled(submission) ? (uint64_t)(item.end - item.begin) + 2 * (uint64_t)context->traits.core.alignment : 0);
}

/* The copy command, with as many regions at a time as fit on the stack. */
static void record_copy(dml_context *context, dml_submission *submission, const dml_slot *slot)
{
    enum { REGIONS = 128 };
    const dml_plan *plan = &submission->piece.plan;
    const dml_dispatch *dispatch = &submission->dispatch;
    const uint64_t from = slot->src.offset - (uint64_t)dispatch->src_range.begin;
    const uint64_t to = slot->dst.offset - (uint64_t)dispatch->dst_range.begin;
    VkBufferCopy regions[REGIONS];
    uint32_t count = 0;
    int64_t src, dst;
    bool more = true;
    for (int64_t i = 0; more; i++) {
        more = dml_plan_element(plan, i, &src, &dst);
        if (more)
            regions[count++] = (VkBufferCopy){from + (uint64_t)src, to + (uint64_t)dst, (uint64_t)plan->item};
        if (count == REGIONS || (!more && count > 0)) {
            context->vk.vkCmdCopyBuffer(submission->commands, slot->src.buffer->handle, slot->dst.buffer->handle, count,
                                        regions);
            count = 0;
        }
    }
}

/* The entries that submission->piece reads, where they are or copied to the arena; multiples of 4 bytes. A shader that reads
 * none still needs a valid binding. */
static VkDescriptorBufferInfo bind_entries(dml_context *context, dml_submission *submission, dml_slot *slot)
{
    const dml_plan *plan = &submission->piece.plan;
    dml_span span = dml_plan_entry_span(plan);
    uint64_t begin = (uint64_t)span.begin, bytes = (uint64_t)(span.end - span.begin);
    if (bytes == 0)
        return (VkDescriptorBufferInfo){submission->arena.handle, 0, 16};
    const dml_allocation *entries = submission->transfer->entries;
    uint64_t address = (uintptr_t)plan->entries.data + begin;
    uint64_t early = !dml_plan_moves(plan) ? 0 : address % context->traits.core.alignment;
    submission->dispatch.table.entry_offset += (uint32_t)early;
    if (entries)
        return (VkDescriptorBufferInfo){entries->place->block->buffer.handle, entries->place->offset + begin - early,
                                        dml_round_up(bytes + early, 4)};
    const char *data = (const char *)plan->entries.data + begin;
    VkDescriptorBufferInfo room;
    if (submission->dispatch.weight_bytes > 0) {
        char *weights = arena_reserve(context, submission, (uint64_t)submission->dispatch.weight_bytes, &room);
        dml_sum_weights_pack(&submission->dispatch.weights, plan, weights);
        return room;
    }
    if (imports_entries(context, submission)) {
        uint64_t offset = 0;
        bool imported = dml_buffer_import(context, data - early, bytes + early, &slot->entries, &offset);
        submission->refused = submission->refused || !imported;
        return (VkDescriptorBufferInfo){slot->entries.handle, offset, dml_round_up(bytes + early, 4)};
    }
    if (plan->arithmetic) {
        const dml_arithmetic *arithmetic = plan->arithmetic;
        int64_t row = (span.begin - arithmetic->table) / plan->entries.item,
                rows = (span.end - span.begin) / plan->entries.item;
        bytes = (uint64_t)rows * sizeof arithmetic->constants[0];
        memcpy(arena_reserve(context, submission, bytes, &room), arithmetic->constants[row], bytes);
        return room;
    }
    memcpy(arena_reserve(context, submission, dml_round_up(bytes + early, 4), &room) + early, data, bytes);
    return room;
}

/* Where submissions hold as many pipelines as there should be, waits for the queued ones, the oldest first. The others' calls
 * are recording, and may wait here themselves; so where nothing is queued, one more is made. */
static dml_code acquire_pipeline(dml_context *context, const dml_submission *submission, dml_slot *slot, dml_status *status)
{
    slot->pipeline = dml_pipeline_find(context, &submission->dispatch);
    if (slot->pipeline)
        return DML_OK;
    dml_about_to_block();
    uint64_t first;
    while (dml_pipelines_busy(context) && (first = dml_queue_nth_value(context, 1, 1)) > 0)
        if (dml_queue_wait(context, first, NULL, status))
            return status->code;
    return dml_pipeline_compile(context, &submission->dispatch, &slot->pipeline, status);
}

dml_code dml_record_dispatch(dml_context *context, dml_submission *submission, dml_slot *slot, dml_status *status)
{
    const dml_dispatch *dispatch = &submission->dispatch;
    VkDescriptorBufferInfo buffers[DML_BINDINGS] = {{slot->src.buffer->handle, slot->src.offset, slot->src.size},
                                                    {slot->dst.buffer->handle, slot->dst.offset, slot->dst.size}};
    buffers[3] = bind_entries(context, submission, slot); /* before the table is copied: it changes an entry */
    if (submission->refused)
        return DML_OK;
    memcpy(arena_reserve(context, submission, sizeof dispatch->table, &buffers[2]), &dispatch->table, dispatch->table_bytes);
    bind_counter(context, submission, &buffers[4]);

    VkDescriptorSet set;
    if (acquire_pipeline(context, submission, slot, status) ||
        dml_descriptors_write(context, submission, (int)(slot - submission->slots), buffers, &set, status))
        return status->code;
    context->vk.vkCmdBindPipeline(submission->commands, VK_PIPELINE_BIND_POINT_COMPUTE, slot->pipeline->handle);
    context->vk.vkCmdBindDescriptorSets(submission->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        dml_kernels_modules(context, dispatch)->layout, 0, 1, &set, 0, NULL);
    context->vk.vkCmdDispatch(submission->commands, dispatch->groups, 1, 1);
    return DML_OK;
}

void dml_record_begin(dml_context *context, dml_submission *submission, const dml_limits *limits)
{
    dml_walk_begin(&submission->walk, &submission->step.plan, &context->traits.core, limits,
                   base_of(submission, &submission->src), base_of(submission, &submission->dst));
}

bool dml_record_is_full(const dml_context *context, const dml_submission *submission)
{
    if (submission->piece.depth > 0) /* there was room for what is left of a piece */
        return false;
    bool arena_full =
        submission->pieces > 0 && submission->arena_used + arena_needs(context, submission) > submission->arena.size;
    return submission->pieces > DML_MAX_PIECES - DML_MAX_DISPATCHES || arena_full;
}

dml_code dml_record_commands(dml_context *context, dml_submission *submission, dml_status *status)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    submission->recording = true;
    VkResult result = context->vk.vkBeginCommandBuffer(submission->commands, &info);
    if (result == VK_SUCCESS)
        dml_barriers_begin(context, submission);
    return result ? dml_vk_fail(context, result, "vkBeginCommandBuffer", status) : DML_OK;
}

dml_code dml_record_piece(dml_context *context, dml_submission *submission, dml_status *status)
{
    uint64_t needs = arena_needs(context, submission);
    if (dml_buffer_reserve(context, &submission->arena, needs > DML_ARENA_BYTES ? needs : DML_ARENA_BYTES, DML_MEMORY_HOST,
                           status))
        return status->code;
    dml_slot *slot = &submission->slots[submission->pieces];
    memset(slot, 0, sizeof *slot);
    if (submission->pieces++ == 0 && dml_record_commands(context, submission, status))
        return status->code;
    if (bind_range(context, submission, DML_SRC, &slot->src, status) ||
        bind_range(context, submission, DML_DST, &slot->dst, status))
        return status->code;
    if (submission->refused)
        return DML_OK;
    submission->bytes += (uint64_t)dml_plan_bytes(&submission->piece.plan);
    bool copies = submission->dispatch.kernel == DML_KERNEL_COPY;
    /* A dispatch may write some of what it leaves, too. Steps write disjoint bytes, but a kernel counts as a writer of its
     * whole range: what the copy command writes there waits for it, and it for that. */
    if (submission->piece.depth > 0 || submission->follows || (submission->pieces > 1 && copies == (slot[-1].pipeline != NULL)))
        dml_barrier_record(context, submission->commands, false);
    if (!copies)
        return dml_record_dispatch(context, submission, slot, status);
    record_copy(context, submission, slot);
    return DML_OK;
}
