/* Whether host memory is imported or staged, where both can be done. A device that reads it where it lies saves the host two copies, but
 * has to make its page tables for that, and goes over the bus for each cache line; which costs more differs between devices, and with
 * the size. So both are tried, and timed, and what was faster at its best is done from then on. */
#include "vk/submission.h"

enum { TRIES = 3 }; /* of either way: the first has compilers and allocations to wait for */

static dml_trials *trials_of(dml_context *context, const dml_submission *submission, int64_t bytes)
{
    int size = 0;
    while (size < DML_TRIAL_SIZES - 1 && bytes >> (size + 1) > 0)
        size++;
    return &context->trials[!submission->src.allocation + 2 * !submission->dst.allocation - 1][size];
}

dml_code dml_trial_begin(dml_context *context, const dml_submission *submission, dml_trial *trial, dml_status *status)
{
    *trial = (dml_trial){.import = context->traits.host_import};
    if (!trial->import || context->traits.cpu)
        return DML_OK;
    if (submission->src.read_only) { /* a driver may take such memory, and fail when it pins it as if to write */
        trial->import = false;
        return DML_OK;
    }
    int64_t bytes = dml_plan_count(&submission->plan) * submission->plan.item;
    dml_trials *of = trials_of(context, submission, bytes);
    dml_lock_acquire(&context->lock);
    /* One way, twice the other, twice the first and so on: calls that take turns are then tried both ways, each of them. */
    bool imported = of->count[true] >= TRIES, staged = of->count[false] >= TRIES, open = !imported || !staged;
    if (imported != staged)
        trial->import = staged;
    else
        trial->import = open ? (of->count[true] + of->count[false] + 1) / 2 % 2 == 0 : of->best[true] <= of->best[false];
    dml_lock_release(&context->lock);
    if (!open)
        return DML_OK;
    if (dml_submissions_wait(context, UINT64_MAX, status)) /* what is queued is not to be timed */
        return status->code;
    trial->of = of;
    trial->bytes = (double)bytes;
    trial->start = dml_nanoseconds();
    return DML_OK;
}

void dml_trial_end(dml_context *context, const dml_trial *trial)
{
    if (!trial->of)
        return;
    double cost = (double)(dml_nanoseconds() - trial->start) / trial->bytes;
    if (cost <= 0) /* somebody set the clock back */
        return;
    dml_lock_acquire(&context->lock);
    double *best = &trial->of->best[trial->import];
    if (trial->of->count[trial->import]++ == 0 || cost < *best)
        *best = cost;
    dml_lock_release(&context->lock);
}
