#include "vk/run.h"

#include "base/blocking.h"
#include "base/machine.h"
#include "vk/allocation_pool.h"
#include "vk/queue.h"
#include "vk/quiesce.h"
#include "vk/record.h"
#include "vk/results.h"

/* A submission with more is queued before the next step: hardly any step has as many pieces as are left then. */
enum { MOST_PIECES = DML_MAX_PIECES - DML_MAX_DISPATCHES };

/* All operands of a side are in the same kind of memory. Without inputs, there are fills alone. */
static bool on_device(const dml_operand *side)
{
    return side && side->allocation;
}

/* --- the autotuner -------------------------------------------------------------------------------------------------- */

/* Whether host memory is imported or staged, where a device can do both.
 * Import saves the host two copies, but the driver has to map the pages, and a discrete GPU reads them over its bus. Which
 * costs more depends on the device and the size. So calls of each size are timed both ways at first, and later ones take the
 * way whose best time was shorter.
 */
enum { TRIES = 3 }; /* of either way: the first includes the compilation of pipelines and the allocation of buffers */

/* What was chosen for a call. */
typedef struct autotune {
    bool import;
    dml_timing *timing; /* NULL: the call is not timed */
    double bytes;
    int64_t start; /* by dml_nanoseconds */
} autotune;

static dml_timing *timing_of(dml_context *context, const dml_transfer *transfer, int64_t bytes)
{
    int size = 0;
    while (size < DML_AUTOTUNE_SIZES - 1 && bytes >> (size + 1) > 0)
        size++;
    return &context->run.timings[!on_device(transfer->inputs) + 2 * !on_device(transfer->results) - 1][size];
}

static bool any_read_only(const dml_transfer *transfer)
{
    for (int64_t i = 0; i < transfer->program->input_count; i++)
        if (transfer->inputs[i].read_only)
            return true;
    return false;
}

/* Before the submission's call is run. */
static dml_code autotune_begin(dml_context *context, const dml_submission *submission, autotune *choice, dml_status *status)
{
    const bool cpu =
        context->traits.cpu; /* other drivers may import read-only pages, and fail when they pin them for writing */
    *choice = (autotune){.import = context->traits.host_import && (cpu || !any_read_only(submission->transfer))};
    if (!choice->import || cpu)
        return DML_OK;
    int64_t bytes = dml_program_bytes(submission->transfer->program);
    dml_timing *timing = timing_of(context, submission->transfer, bytes);
    dml_lock_acquire(&context->lock);
    /* Import, then twice staging, twice import and so on: two kinds of call that alternate are then each timed both ways. */
    bool imported = timing->count[true] >= TRIES, staged = timing->count[false] >= TRIES, open = !imported || !staged;
    if (imported != staged)
        choice->import = staged;
    else
        choice->import =
            open ? (timing->count[true] + timing->count[false] + 1) / 2 % 2 == 0 : timing->best[true] <= timing->best[false];
    dml_lock_release(&context->lock);
    if (!open)
        return DML_OK;
    if (dml_queue_wait(context, UINT64_MAX, NULL, status)) /* earlier work must not be timed */
        return status->code;                               /* uncovered: a fault that only soak injects */
    choice->timing = timing;
    choice->bytes = (double)bytes;
    choice->start = dml_nanoseconds();
    return DML_OK;
}

/* After it has succeeded. */
static void autotune_end(dml_context *context, const autotune *choice)
{
    if (!choice->timing)
        return;
    double cost = (double)(dml_nanoseconds() - choice->start) / choice->bytes;
    dml_lock_acquire(&context->lock);
    double *best = &choice->timing->best[choice->import];
    if (choice->timing->count[choice->import]++ == 0 || cost < *best)
        *best = cost;
    dml_lock_release(&context->lock);
}

/* --- running ---------------------------------------------------------------------------------------------------------- */

/* Makes step `index` of the submission's call, simplified. False if it is empty. */
static bool make_step(dml_submission *submission, int64_t index)
{
    const dml_transfer *transfer = submission->transfer;
    dml_step *step = &submission->step;
    dml_program_step(transfer->program, index, step);
    if (dml_plan_count(&step->plan) == 0)
        return false;
    dml_plan_simplify(&step->plan);
    if (!transfer->computed)
        step->plan.arithmetic = NULL;
    const dml_operand fill = {.data = (void *)transfer->fill}, between = {.allocation = transfer->between};
    submission->src = step->src == DML_FILL ? fill : between;
    if (step->src >= 0)
        submission->src = transfer->inputs[step->src];
    submission->dst = step->dst == DML_BETWEEN ? between : transfer->results[step->dst];
    submission->follows = step->src == DML_BETWEEN || (step->dst == DML_BETWEEN && index > 0);
    return true;
}

/* Records all pieces of submission->step. Each time the submission is full it is submitted and awaited; the last part is left
 * to the caller. Ends early where an import is refused. */
static dml_code run_pieces(dml_context *context, dml_submission *submission, dml_status *status)
{
    dml_limits limits = dml_split_limits(&context->traits.core);
    dml_record_begin(context, submission, &limits);
    while (!submission->refused && dml_walk_next(&submission->walk, &submission->piece, &submission->dispatch)) {
        bool full = dml_record_is_full(context, submission);
        if ((full && dml_queue_submit_and_await(context, submission, status)) || dml_record_piece(context, submission, status))
            return status->code;
    }
    return DML_OK;
}

/* The first byte of an operand as the host sees it; NULL if it does not. */
static char *seen_by_host(const dml_operand *operand)
{
    char *first = operand->allocation ? operand->allocation->data : operand->data;
    return first ? first + (operand->allocation ? operand->offset : 0) : NULL;
}

/* Whether the host moves submission->step itself, if it sees both sides. */
static bool host_is_faster(const dml_context *context, const dml_submission *submission)
{
    const dml_plan *plan = &submission->step.plan;
    const dml_tunables *tunables = &context->traits.core.tunables;
    return context->traits.host_moves && seen_by_host(&submission->src) && seen_by_host(&submission->dst) &&
           (plan->item >= tunables->host_run || dml_plan_bytes(plan) <= tunables->host_bytes);
}

static void move_by_host(dml_context *context, const dml_submission *submission)
{
    dml_context_run_on_host(context, &submission->step.plan, seen_by_host(&submission->src), seen_by_host(&submission->dst));
}

/* Moves all steps through staging buffers, one after the other. The host itself fills, and gathers: the device would need all
 * of the source for it. */
static dml_code stage_steps(dml_context *context, dml_submission *submission, dml_status *status)
{
    const dml_program *program = submission->transfer->program;
    for (int64_t i = 0; i < program->count; i++) {
        if (!make_step(submission, i))
            continue;
        if (submission->step.plan.gathered > 0 || (submission->step.src == DML_FILL && context->traits.host_moves))
            move_by_host(context, submission);
        else if (dml_stage(context, submission, status))
            return status->code;
    }
    return DML_OK;
}

/* Imports host memory; where the device refuses, all is staged. */
static dml_code import_steps(dml_context *context, dml_submission *submission, dml_status *status)
{
    for (int64_t i = 0; i < submission->transfer->program->count && !submission->refused; i++)
        if (make_step(submission, i) && run_pieces(context, submission, status))
            return status->code;
    if (!submission->refused)
        return submission->pieces == 0 ? DML_OK : dml_queue_submit_and_await(context, submission, status);
    dml_submission_reset(context, submission);
    if (submission->broken)
        return dml_vk_fail(context, submission->broken, "resetting a command buffer", status);
    if (!submission->transfer->refused)
        return stage_steps(context, submission, status);
    *submission->transfer->refused = true;
    return DML_OK;
}

/* Whether a call ends when its work is queued; else it waits for it. */
static bool is_queued(const dml_transfer *transfer)
{
    return on_device(transfer->inputs) && on_device(transfer->results);
}

/* A submission for a call. */
static dml_code begin(dml_context *context, const dml_transfer *transfer, dml_submission **submission, dml_status *status)
{
    if (dml_throttle_acquire(context, !is_queued(transfer), submission, status))
        return status->code;
    (*submission)->transfer = transfer;
    (*submission)->after_others = on_device(transfer->inputs) || on_device(transfer->results) || transfer->between;
    return DML_OK;
}

/* Queues or ends a submission, which the call then has no more. */
static dml_code end(dml_context *context, dml_submission **submission, dml_code code, dml_status *status)
{
    bool queued = !code && (*submission)->pieces > 0;
    if (queued)
        code = dml_queue_enqueue(context, *submission, status);
    if (queued && !code)
        dml_flusher_watch(context);
    if (!queued || code)
        dml_submission_release(context, *submission);
    *submission = NULL;
    return code;
}

/* Records all steps between allocations. What fills a submission is queued, and another one goes on. */
static dml_code queue_steps(dml_context *context, dml_submission **submission, dml_status *status)
{
    const dml_transfer *transfer = (*submission)->transfer;
    for (int64_t i = 0; i < transfer->program->count; i++) {
        if ((*submission)->pieces > MOST_PIECES &&
            (end(context, submission, DML_OK, status) || begin(context, transfer, submission, status)))
            return status->code;
        if (make_step(*submission, i) && run_pieces(context, *submission, status))
            return status->code;
    }
    return DML_OK;
}

/* Waits for what CUDA does with operands. */
static dml_code settle_loans(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    dml_allocation *allocation;
    int64_t at = 0;
    bool writes;
    while ((allocation = dml_transfer_next(transfer, &at, &writes)))
        if (dml_loans_settle(context, &allocation->place->loans, status))
            return status->code;
    return DML_OK;
}

/* Completes the call; but work between allocations is recorded, and left to be queued. */
static dml_code run_submission(dml_context *context, dml_submission **taken, dml_status *status)
{
    dml_submission *submission = *taken;
    const dml_transfer *transfer = submission->transfer;
    bool from_device = on_device(transfer->inputs), to_device = on_device(transfer->results);
    if (is_queued(transfer))
        return queue_steps(context, taken, status);
    if (from_device != to_device && !transfer->program->resize && make_step(submission, 0) &&
        host_is_faster(context, submission)) { /* of one step */
        const dml_operand *side = from_device ? transfer->inputs : transfer->results;
        if (dml_queue_wait(context, side->allocation->place->timeline_value, NULL, status))
            return status->code;
        move_by_host(context, submission);
        return DML_OK;
    }
    autotune choice;
    if (autotune_begin(context, submission, &choice, status))
        return status->code; /* uncovered: a fault that only soak injects */
    dml_code code = choice.import ? import_steps(context, submission, status) : stage_steps(context, submission, status);
    if (!code)
        autotune_end(context, &choice);
    return code;
}

dml_code dml_vk_run(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    dml_submission *submission = NULL;
    if (!is_queued(transfer))
        dml_about_to_block();
    if (dml_context_enter(context, status))
        return status->code;
    dml_code code = begin(context, transfer, &submission, status);
    if (!code)
        code = settle_loans(context, transfer, status);
    if (!code)
        code = run_submission(context, &submission, status);
    if (submission)
        code = end(context, &submission, code, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_wait(dml_context *context, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code; /* uncovered: a fault that only soak injects */
    dml_code code = dml_queue_wait(context, UINT64_MAX, NULL, status);
    dml_context_leave(context);
    return code;
}
