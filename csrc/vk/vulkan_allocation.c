#include "vk/vulkan_allocation.h"

#include <stdlib.h>

#include "base/blocking.h"
#include "base/counters.h"
#include "base/usable_memory.h"
#include "vk/allocation_pool.h"
#include "vk/cpu_needs.h"
#include "vk/queue.h"
#include "vk/quiesce.h"

enum { LARGE = 16 << 20 }; /* bytes from which the driver is asked what it has left */

/* What the driver says is left; or without VK_EXT_memory_budget, what should be. */
static uint64_t available(dml_context *context)
{
    const uint64_t all_bytes = context->traits.heap_bytes;
    dml_memory_bytes ours;
    dml_allocations_count(context, &ours);
    uint64_t taken = ours.used + ours.pooled + ours.unused, left = all_bytes > taken ? all_bytes - taken : 0;
    const unsigned long long usable = context->traits.mapped ? dml_usable_memory_now().left : 0;
    if (usable > 0 && usable < left)
        left = usable;
    if (!context->traits.budget)
        return left;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {.sType =
                                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    context->instance_vk.vkGetPhysicalDeviceMemoryProperties2(context->physical, &all);
    uint64_t offered = budget.heapBudget[context->traits.heap], usage = budget.heapUsage[context->traits.heap];
    uint64_t free_bytes = offered > usage ? offered - usage : 0;
    return free_bytes < left ? free_bytes : left;
}

/* A driver may allocate more than there is, and the system end the process later; so large sizes are checked first. */
static dml_code allocate(dml_block *block, dml_status *status)
{
    dml_context *context = block->context;
    uint64_t size = block->entry.capacity;
    if (size >= LARGE && size > available(context))
        return dml_fail(status, DML_OUT_OF_DEVICE_MEMORY, "too little device memory is left");
    return dml_buffer_create(context, size, DML_MEMORY_DEVICE, &block->buffer, status);
}

/* After a failure: once more without the pool, which may hold just enough, and for one allocation alone. */
static dml_code allocate_again(dml_block *block, dml_status *status)
{
    dml_context *context = block->context;
    dml_code code = dml_queue_wait(context, UINT64_MAX, NULL, status);
    if (!code) {
        dml_queue_trim_pool(context, INT64_MAX, true);
        block->entry.capacity = block->each;
        block->classes[false] = block->classes[true];
        block->room = 1;
        code = allocate(block, status);
    }
    if (code == DML_OUT_OF_DEVICE_MEMORY) {
        int vk_result = status->result;
        dml_memory_bytes bytes;
        dml_allocations_count(context, &bytes);
        dml_status unmet = {.message = ""};
        (void)dml_cpu_check_room(context, block->each, &unmet);
        dml_fail(status, code, "the device has no %llu bytes left for an array: %llu are in use, %llu available%s%s",
                 (unsigned long long)block->each, (unsigned long long)bytes.used, (unsigned long long)available(context),
                 *unmet.message ? "; " : "", unmet.message);
        status->result = vk_result;
    }
    return code;
}

static void put_back(dml_allocation *allocation)
{
    if (allocation->place->block->generation != dml_fork_generation()) {
        free(allocation); /* the inherited context and its lists are never touched */
        return;
    }
    /* Over the limit, older blocks are destroyed; the batched work that still uses them is submitted first. */
    dml_context *context = allocation->place->block->context;
    dml_count_device_bytes(-(int64_t)allocation->place->block->each);
    if (dml_allocations_put_back(allocation) && dml_context_enter_to_free(context)) {
        dml_queue_flush_batch(context);
        dml_queue_trim_pool(context, INT64_MIN, false);
        dml_context_leave(context);
    }
}

/* An allocation for the caller, from the pool or new. */
static void hand_out(dml_allocation *allocation, dml_counter counter)
{
    allocation->release = put_back;
    dml_count(counter, 1);
    dml_count_device_bytes((int64_t)allocation->place->block->each);
}

static dml_code create(const dml_block *wanted, dml_allocation **result, dml_status *status)
{
    dml_block *block = malloc(sizeof *block);
    if (!block)
        return dml_fail(status, DML_NO_MEMORY, "no memory for an array");
    *block = *wanted;
    dml_code code = allocate(block, status);
    if (code == DML_OUT_OF_DEVICE_MEMORY || (code && status->result == VK_ERROR_TOO_MANY_OBJECTS))
        code = allocate_again(block, status);
    if (code) {
        free(block);
        return code;
    }
    block->handles = (dml_vulkan_handles){(uint64_t)block->buffer.handle, (uint64_t)block->buffer.memory,
                                          (uint64_t)(uintptr_t)block->context->device, block->buffer.size};
    *result = dml_allocations_add(block);
    if (!*result)
        return dml_fail(status, DML_NO_MEMORY, "no memory for an array");
    hand_out(*result, DML_POOL_MISSES);
    return DML_OK;
}

dml_code dml_allocation_create(dml_context *context, uint64_t size, dml_allocation **result, dml_status *status)
{
    if (size > context->traits.max_buffer)
        return dml_fail(status, DML_OUT_OF_DEVICE_MEMORY,
                        "an array of %llu bytes is too large for the device, whose limit is %llu", (unsigned long long)size,
                        (unsigned long long)context->traits.max_buffer);
    dml_block wanted;
    *result = dml_allocations_find(context, (size_t)size, &wanted); /* without the driver */
    if (*result) {
        hand_out(*result, DML_POOL_HITS);
        return DML_OK;
    }
    dml_about_to_block();
    if (dml_context_enter(context, status))
        return status->code;
    dml_queue_trim_pool(context, INT64_MIN, true); /* what the last release could not wait for */
    dml_code code = create(&wanted, result, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_allocation_context(const dml_allocation *allocation, dml_context **context, dml_status *status)
{
    const dml_block *block = allocation->place->block;
    if (block->generation != dml_fork_generation())
        return dml_fail(status, DML_DEVICE_LOST, /* uncovered: only in a forked child, which writes no counts */
                        "the array is inherited from the process that forked this one, and cannot be used here");
    *context = block->context;
    if (block->context->lost)
        return dml_fail(status, DML_DEVICE_LOST, "the array is gone: its device was lost");
    return DML_OK;
}

const dml_vulkan_handles *dml_allocation_handles(const dml_allocation *allocation)
{
    return &allocation->place->block->handles;
}

uint64_t dml_allocation_offset(const dml_allocation *allocation)
{
    return allocation->place->offset;
}

dml_code dml_allocation_settle(dml_context *context, dml_allocation *allocation, dml_status *status)
{
    dml_code code = dml_queue_wait(context, allocation->place->timeline_value, NULL, status);
    return code ? code : dml_loans_settle(context, &allocation->place->loans, status);
}

dml_code dml_allocation_wait(dml_allocation *allocation, dml_status *status)
{
    dml_context *context;
    if (!allocation->place)
        return DML_OK;
    if (dml_allocation_context(allocation, &context, status) || dml_context_enter(context, status))
        return status->code;
    dml_code code = dml_allocation_settle(context, allocation, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_memory(dml_context *context, dml_memory_bytes *bytes, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;        /* uncovered: a fault that only soak injects */
    dml_queue_flush_batch(context); /* batched work may be all that keeps the pool over its limit */
    bytes->available = available(context);
    dml_allocations_count(context, bytes);
    dml_context_leave(context);
    return DML_OK;
}
