#include "vk/clamp_lengths.h"

#include <string.h>

#include "core/choose.h"
#include "vk/allocation_pool.h"
#include "vk/queue.h"
#include "vk/record.h"
#include "vk/throttle.h"

/* Records submission->dispatch, with [offset, offset + size) of `buffer` as its source and destination. */
static dml_code record_other(dml_context *context, dml_submission *submission, dml_buffer *buffer, uint64_t offset,
                             uint64_t size, dml_status *status)
{
    dml_slot *slot = &submission->slots[0];
    memset(slot, 0, sizeof *slot);
    slot->src.buffer = slot->dst.buffer = buffer;
    slot->src.offset = slot->dst.offset = offset;
    slot->src.size = slot->dst.size = size;
    dml_plan_begin(&submission->piece.plan, 1); /* without lengths */
    submission->pieces = 1;
    submission->bytes = size;
    if (dml_buffer_reserve(context, &submission->arena, DML_ARENA_BYTES, DML_MEMORY_HOST, status) ||
        dml_queue_begin(context, submission, status))
        return status->code; /* uncovered: a fault that only soak injects */
    return dml_record_dispatch(context, submission, slot, status);
}

dml_code dml_vk_run_nothing(dml_context *context, dml_status *status)
{
    dml_traits elements = context->traits.core;
    elements.kernels = 1 << DML_KERNEL_ELEMENTS;
    dml_submission *submission = NULL;
    if (dml_throttle_acquire(context, true, &submission, status))
        return status->code; /* uncovered: a fault that only soak injects */
    submission->after_others = false;
    dml_plan_begin(&submission->piece.plan, 1);
    submission->piece.cut = false;
    dml_dispatch_choose(&submission->piece, &elements, 0, 0, &submission->dispatch);
    submission->dispatch.groups = 1;
    submission->dispatch.table.elements_extent = 0;
    dml_code code = record_other(context, submission, &submission->arena, 0, 16, status);
    if (!code)
        code = dml_queue_submit_and_await(context, submission, status);
    dml_throttle_release(context, submission);
    return code;
}

/* The dispatch of shaders/lengths.comp, which has constants and a table of its own. */
static void choose_lengths(const dml_traits *traits, const dml_clamp *clamp, uint32_t count, dml_dispatch *dispatch)
{
    memset(dispatch, 0, sizeof *dispatch);
    dispatch->kernel = (dml_kernel)DML_SHADER_LENGTHS;
    dispatch->constants[DML_GROUP_SIZE] = (int32_t)traits->group_size;
    dispatch->constants[DML_LENGTHS_SIGNED] = clamp->is_signed;
    dispatch->constants[DML_LENGTHS_BYTES] = clamp->item;
    uint32_t chunks = traits->tunables.chunks, most = chunks < traits->max_groups ? chunks : traits->max_groups;
    uint32_t groups = count / traits->group_size + 1;
    dispatch->groups = groups < most ? groups : most;
    dml_lengths_table table = {.count = count, .invocations = dispatch->groups * traits->group_size, .extent = clamp->extent};
    memcpy(&dispatch->table, &table, sizeof table);
    dispatch->table_bytes = sizeof table;
}

static dml_code clamp_part(dml_context *context, const dml_clamp *clamp, int64_t begin, int64_t count, dml_status *status)
{
    const dml_program none = {.result_count = 1};
    const dml_operand lengths = {.allocation = clamp->lengths};
    const dml_transfer transfer = {.program = &none, .results = &lengths};
    dml_submission *submission = NULL;
    if (dml_throttle_acquire(context, true, &submission, status))
        return status->code;
    submission->after_others = true;
    submission->transfer = &transfer;
    choose_lengths(&context->traits.core, clamp, (uint32_t)count, &submission->dispatch);
    dml_code code = record_other(context, submission, &clamp->lengths->block->buffer,
                                 clamp->lengths->offset + (uint64_t)begin * 8, (uint64_t)count * 8, status);
    if (!code)
        code = dml_queue_enqueue(context, submission, status);
    if (code)
        dml_throttle_release(context, submission); /* uncovered: a fault that only soak injects */
    return code;
}

dml_code dml_vk_clamp_lengths(dml_context *context, const dml_clamp *clamp, dml_status *status)
{
    /* In entries: parts begin at multiples of the alignment, and none is larger than a binding. */
    int64_t unit = context->traits.core.alignment / 8, most = context->traits.core.binding / 8 / unit * unit;
    most = most > 0 ? most : unit;
    dml_code code = DML_OK;
    for (int64_t begin = 0; begin < clamp->count && !code; begin += most) {
        int64_t left = clamp->count - begin;
        code = clamp_part(context, clamp, begin, left < most ? left : most, status);
    }
    return code;
}
