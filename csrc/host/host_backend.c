#include "host/host_backend.h"

#include <stdlib.h>

#include "base/blocking.h"
#include "base/cache.h"
#include "base/parallel.h"
#include "base/usable_memory.h"
#include "host/host.h"
#include "host/host_resize.h"

/* Bytes that are moved without waiting; what a step costs, as bytes; products of sums. */
enum { MOST_AT_ONCE = 32 * 1024, STEP_BYTES = 256, MOST_PRODUCTS = 16 * 1024 };

static void host_release(dml_allocation *allocation)
{
    dml_cache_release(allocation->data);
    free(allocation);
}

static dml_code host_allocate(int index, const dml_allocation *beside, uint64_t bytes, dml_allocation **allocation,
                              dml_status *status)
{
    (void)index, (void)beside;
    void *data = dml_cache_acquire((size_t)bytes);
    *allocation = data ? malloc(sizeof **allocation) : NULL;
    if (*allocation) {
        **allocation = (dml_allocation){.data = data, .release = host_release, .references = 1};
        return DML_OK;
    }
    dml_cache_release(data);
    return dml_fail(status, DML_NO_MEMORY, "the host has no %llu bytes left for an array", (unsigned long long)bytes);
}

static dml_operand host_map(dml_allocation *allocation, int64_t offset)
{
    return (dml_operand){.data = (char *)allocation->data + offset};
}

static dml_code host_resize(const dml_transfer *transfer, dml_interrupt_poll *poll, dml_status *status)
{
    if (dml_resize_products(transfer->program) > (double)MOST_PRODUCTS)
        dml_about_to_block();
    return dml_host_resize(transfer->program, transfer->inputs[0].data, transfer->results[0].data, poll, status);
}

static const void *source_of(const dml_transfer *transfer, const dml_step *step)
{
    return step->src == DML_FILL ? transfer->fill : transfer->inputs[step->src].data;
}

/* Whether steps run at once: all are short, and together they are not. */
static bool runs_at_once(const dml_program *program)
{
    int64_t bytes = 0, longest = 0;
    for (int64_t i = 0; i < program->count && program->count > 1; i++) {
        dml_step step;
        dml_program_step(program, i, &step);
        int64_t own = dml_plan_bytes(&step.plan);
        bytes += own;
        longest = dml_larger(longest, own);
    }
    return bytes >= DML_HOST_PARALLEL && longest < DML_HOST_PARALLEL;
}

static void run_step(const void *argument, int64_t index)
{
    const dml_transfer *transfer = argument;
    dml_step step;
    dml_program_step(transfer->program, index, &step);
    dml_host_run(&step.plan, source_of(transfer, &step), transfer->results[step.dst].data, NULL);
}

static dml_code interrupted(dml_status *status)
{
    return dml_fail(status, DML_INTERRUPTED, "interrupted by a signal");
}

/* What takes more than some 10 us counts as blocking. */
static dml_code host_run(int index, const dml_transfer *transfer, dml_status *status)
{
    (void)index;
    dml_interrupt_poll poll = dml_interrupt_poll_from_now();
    int64_t bytes = 0;
    bool is_long = false;
    if (transfer->program->resize)
        return host_resize(transfer, &poll, status);
    for (int64_t i = 0; i < transfer->program->count; i++) {
        dml_step step;
        dml_program_step(transfer->program, i, &step);
        bytes += STEP_BYTES + dml_plan_bytes(&step.plan);
        if (!is_long && bytes > MOST_AT_ONCE) {
            is_long = true;
            dml_about_to_block();
            if (runs_at_once(transfer->program))
                return dml_parallel(run_step, transfer, i, transfer->program->count, &poll) ? DML_OK : interrupted(status);
        }
        if (!dml_host_run(&step.plan, source_of(transfer, &step), transfer->results[step.dst].data, is_long ? &poll : NULL))
            return interrupted(status);
    }
    return DML_OK;
}

static dml_code host_wait(int index, dml_status *status)
{
    (void)index, (void)status;
    return DML_OK;
}

static dml_code host_memory(int index, dml_memory_bytes *bytes, dml_status *status)
{
    (void)index, (void)status;
    dml_cache_bytes cache = dml_cache_count();
    *bytes = (dml_memory_bytes){cache.used, cache.pooled, cache.limit, dml_usable_memory_now().left, 0};
    return DML_OK;
}

const dml_backend dml_host_backend = {
    .allocate = host_allocate,
    .map = host_map,
    .run = host_run,
    .wait = host_wait,
    .memory = host_memory,
};
