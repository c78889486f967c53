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

static dml_trials *trials_of(dml_context *context, int64_t bytes, bool from_host, bool to_host)
{
    int size = 0;
    while (size < DML_TRIAL_SIZES - 1 && bytes >> (size + 1) > 0)
        size++;
    return &context->trials[from_host + 2 * to_host - 1][size];
}

dml_trial dml_trial_begin(dml_context *context, int64_t bytes, bool from_host, bool to_host)
{
    dml_trial trial = {NULL, context->traits.host_import, (double)bytes, 0};
    if (!trial.import || context->traits.plan.cpu)
        return trial;
    trial.of = trials_of(context, bytes, from_host, to_host);
    dml_lock_take(&context->lock);
    const int *tried = trial.of->count;
    if (tried[true] < TRIES || tried[false] < TRIES)
        trial.import = tried[true] <= tried[false];
    else
        trial.import = trial.of->best[true] <= trial.of->best[false];
    dml_lock_give(&context->lock);
    trial.start = nanoseconds();
    return trial;
}

void dml_trial_end(dml_context *context, const dml_trial *trial)
{
    if (!trial->of)
        return;
    double cost = (double)(nanoseconds() - trial->start) / trial->bytes;
    dml_lock_take(&context->lock);
    double *best = &trial->of->best[trial->import];
    if (trial->of->count[trial->import]++ == 0 || cost < *best)
        *best = cost;
    dml_lock_give(&context->lock);
}
