#include "vk/empty_dispatch.h"

#include <string.h>

#include "kernels/dispatch.h"
#include "vk/queue.h"
#include "vk/record.h"
#include "vk/throttle.h"

/* Submits submission->dispatch, between the arena and itself. */
static dml_code submit(dml_context *context, dml_submission *submission, dml_status *status)
{
    dml_slot *slot = &submission->slots[0];
    memset(slot, 0, sizeof *slot);
    slot->src.buffer = slot->dst.buffer = &submission->arena;
    slot->src.size = slot->dst.size = 16;
    submission->pieces = 1;
    submission->bytes = 16;
    if (dml_buffer_reserve(context, &submission->arena, DML_ARENA_BYTES, DML_MEMORY_HOST, status) ||
        dml_record_commands(context, submission, status) || dml_record_dispatch(context, submission, slot, status))
        return status->code; /* uncovered: a fault that only soak injects */
    return dml_queue_submit_and_await(context, submission, status);
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
    dml_code code = submit(context, submission, status);
    dml_throttle_release(context, submission);
    return code;
}
