/* Whether host memory is imported or staged, where both can be done. A device that reads it where it lies saves the host two copies, but
 * has to make its page tables for that, and goes over the bus for each cache line; which costs more differs between devices, and with
 * the size. So both are tried, and timed, and what was faster at its best is done from then on. */
#include "vk/job.h"

#include <time.h>

enum { TRIES = 3 }; /* of either way: the first has compilers and allocations to wait for */

static int64_t nanoseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static dml_trials *trials_of(dml_context *context, const dml_job *job, int64_t bytes)
{
    int size = 0;
    while (size < DML_TRIAL_SIZES - 1 && bytes >> (size + 1) > 0)
        size++;
    return &context->trials[!job->src.storage + 2 * !job->dst.storage - 1][size];
}

dml_trial dml_trial_begin(dml_context *context, const dml_job *job)
{
    int64_t bytes = dml_plan_count(&job->plan) * job->plan.item;
    dml_trial trial = {.import = context->traits.host_import, .bytes = (double)bytes};
    if (!trial.import || context->traits.plan.cpu)
        return trial;
    if (job->src.read_only) { /* a driver may take such memory, and fail when it pins it as if to write */
        trial.import = false;
        return trial;
    }
    trial.of = trials_of(context, job, bytes);
    dml_lock_take(&context->lock);
    /* One way, twice the other, twice the first and so on: calls that take turns are then tried both ways, each of them. */
    const int *tried = trial.of->count;
    bool imported = tried[true] >= TRIES, staged = tried[false] >= TRIES;
    trial.open = !imported || !staged;
    if (imported != staged)
        trial.import = staged;
    else
        trial.import =
            trial.open ? (tried[true] + tried[false] + 1) / 2 % 2 == 0 : trial.of->best[true] <= trial.of->best[false];
    dml_lock_give(&context->lock);
    return trial;
}

void dml_trial_start(dml_trial *trial)
{
    trial->start = nanoseconds();
}

void dml_trial_end(dml_context *context, const dml_trial *trial)
{
    double cost = (double)(nanoseconds() - trial->start) / trial->bytes;
    if (!trial->open || cost <= 0) /* somebody set the clock back */
        return;
    dml_lock_take(&context->lock);
    double *best = &trial->of->best[trial->import];
    if (trial->of->count[trial->import]++ == 0 || cost < *best)
        *best = cost;
    dml_lock_give(&context->lock);
}
