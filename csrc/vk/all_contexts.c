#include "vk/instance.h"

#include "vk/allocation_pool.h"
#include "vk/queue.h"
#include "vk/quiesce.h"
#include "vk/run.h"

dml_code dml_vk_wait_all(dml_status *status)
{
    return dml_vk_visit(dml_vk_wait, status);
}

static dml_code empty_pool(dml_context *context, dml_status *status)
{
    if (dml_vk_wait(context, status))
        return status->code;
    dml_queue_trim_pool(context, INT64_MAX, true);
    if (dml_context_enter(context, status))
        return status->code; /* uncovered: a fault that only soak injects */
    dml_stagings_destroy(context);
    dml_context_leave(context);
    return DML_OK;
}

dml_code dml_vk_empty_pools(dml_status *status)
{
    return dml_vk_visit(empty_pool, status);
}

/* --- what is idle -------------------------------------------------------------------------------------------------- */

static _Thread_local int64_t idle_before;
static _Thread_local bool idle_left;

static dml_code give_back(dml_context *context, dml_status *status)
{
    dml_memory_bytes bytes;
    dml_allocations_count(context, &bytes);
    if (bytes.pooled == 0)
        return DML_OK;
    if (dml_context_enter(context, status))
        return status->code; /* closed, or lost: it has no pool */
    dml_allocations_init(context);
    dml_queue_retire(context);
    dml_queue_trim_pool(context, idle_before, false);
    dml_context_leave(context);
    dml_allocations_count(context, &bytes);
    idle_left = idle_left || bytes.pooled > 0;
    return DML_OK;
}

bool dml_vk_give_back(int64_t before)
{
    dml_status status;
    idle_before = before;
    idle_left = false;
    (void)dml_vk_visit(give_back, &status);
    return idle_left;
}
