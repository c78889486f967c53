/* Dispatches that no plan asks for: sequence lengths that are on the device, and nothing at all. */
#include "vk/submission.h"

#include "core/choose.h"

#include <string.h>

/* Both sides are a part of `buffer`. */
static dml_code record_other(dml_context *context, dml_submission *submission, dml_buffer *buffer, uint64_t offset, uint64_t size,
                             dml_status *status)
{
    dml_slot *slot = &submission->slots[0];
    memset(slot, 0, sizeof *slot);
    slot->src.buffer = slot->dst.buffer = buffer;
    slot->src.offset = slot->dst.offset = offset;
    slot->src.size = slot->dst.size = size;
    dml_plan_begin(&submission->piece.plan, 1); /* without lengths */
    submission->pieces = 1;
    submission->bytes = size;
    if (dml_submission_reserve(context, &submission->arena, DML_ARENA_BYTES, DML_MEMORY_HOST, status) || dml_submission_begin(context, submission, status))
        return status->code;
    return dml_submission_record(context, submission, slot, status);
}

dml_code dml_vk_run_nothing(dml_context *context, dml_status *status)
{
    dml_submission *submission = NULL;
    if (dml_submission_acquire(context, true, &submission, status))
        return status->code;
    submission->after_others = false;
    dml_plan_begin(&submission->piece.plan, 1);
    submission->piece.cut = false;
    dml_dispatch_choose(&submission->piece, &context->traits.plan, 0, 0, DML_KERNEL_ELEMENTS, &submission->dispatch);
    submission->dispatch.groups = 1;
    submission->dispatch.table.elements_extent = 0;
    dml_code code = record_other(context, submission, &submission->arena, 0, 16, status);
    if (!code)
        code = dml_submission_flush(context, submission, status);
    dml_submission_finish(context, submission);
    return code;
}

/* The dispatch of shaders/lengths.comp. */
static void choose_lengths(const dml_traits *traits, uint32_t count, int item, bool is_signed, int64_t extent,
                           dml_dispatch *dispatch)
{
    memset(dispatch, 0, sizeof *dispatch);
    dispatch->kernel = (dml_kernel)DML_SHADER_LENGTHS;
    dispatch->constants[DML_GROUP_SIZE] = (int32_t)traits->group_size;
    dispatch->constants[DML_LENGTHS_SIGNED] = is_signed;
    dispatch->constants[DML_LENGTHS_BYTES] = item;
    uint32_t chunks = traits->tunables.chunks, most = chunks < traits->max_groups ? chunks : traits->max_groups;
    uint32_t groups = count / traits->group_size + 1;
    dispatch->groups = groups < most ? groups : most;
    dispatch->lengths =
        (dml_lengths_table){.count = count, .invocations = dispatch->groups * traits->group_size, .extent = extent};
    dispatch->table_bytes = sizeof dispatch->lengths;
}

static dml_code clamp_part(dml_context *context, dml_allocation *lengths, int64_t begin, int64_t count, int item, bool is_signed,
                           int64_t extent, dml_status *status)
{
    dml_submission *submission = NULL;
    if (dml_submission_acquire(context, true, &submission, status))
        return status->code;
    submission->after_others = true;
    submission->src = submission->dst = (dml_operand){.allocation = lengths};
    submission->lengths = NULL;
    choose_lengths(&context->traits.plan, (uint32_t)count, item, is_signed, extent, &submission->dispatch);
    dml_code code = record_other(context, submission, &lengths->buffer, (uint64_t)begin * 8, (uint64_t)count * 8, status);
    if (!code)
        code = dml_submission_queue(context, submission, status);
    if (code)
        dml_submission_finish(context, submission);
    return code;
}

dml_code dml_vk_clamp_lengths(dml_context *context, dml_allocation *lengths, int64_t count, int item, bool is_signed,
                              int64_t extent, dml_status *status)
{
    /* Parts begin where a window may, in entries. */
    int64_t unit = context->traits.plan.alignment / 8, most = context->traits.plan.binding / 8 / unit * unit;
    most = most > 0 ? most : unit;
    dml_code code = DML_OK;
    for (int64_t begin = 0; begin < count && !code; begin += most)
        code =
            clamp_part(context, lengths, begin, count - begin < most ? count - begin : most, item, is_signed, extent, status);
    return code;
}
