#include "vk/autotune.h"

#include "base/clock.h"
#include "vk/queue.h"

enum { TRIES = 3 }; /* of either way: the first includes the compilation of pipelines and the allocation of buffers */

static dml_timing *timing_of(dml_context *context, const dml_submission *submission, int64_t bytes)
{
    int size = 0;
    while (size < DML_AUTOTUNE_SIZES - 1 && bytes >> (size + 1) > 0)
        size++;
    return &context->autotune.timings[!submission->src.allocation + 2 * !submission->dst.allocation - 1][size];
}

dml_code dml_autotune_begin(dml_context *context, const dml_submission *submission, dml_autotune *choice, dml_status *status)
{
    *choice = (dml_autotune){.import = context->traits.host_import};
    if (!choice->import || context->traits.cpu)
        return DML_OK;
    if (submission->src.read_only) { /* some drivers import such pages, and fail later when they pin them for writing */
        choice->import = false;
        return DML_OK;
    }
    int64_t bytes = dml_plan_count(&submission->plan) * submission->plan.item;
    dml_timing *timing = timing_of(context, submission, bytes);
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
        return status->code;
    choice->timing = timing;
    choice->bytes = (double)bytes;
    choice->start = dml_nanoseconds();
    return DML_OK;
}

void dml_autotune_end(dml_context *context, const dml_autotune *choice)
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
