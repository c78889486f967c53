/* Memory that stays on a device. What arrays leave behind is kept for the next ones, up to a bound: work is done in the order in
 * which it was queued, so that memory may have a new owner while the device still reads it for the old one. */
#include "vk/context.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRANULE = 256,   /* bytes: the smallest size class, and what every size is a multiple of */
    MAX_KEPT = 1024, /* allocations, however small */
    LARGE = 16 << 20 /* bytes from which the driver is asked what it has left */
};

void dml_allocations_init(dml_context *context)
{
    bool mapped;
    int64_t type = dml_allocation_memory_type(context, UINT32_MAX, &mapped);
    uint64_t heap = type < 0 ? 0 : context->memory.memoryHeaps[context->memory.memoryTypes[type].heapIndex].size;
    context->offered.heap = heap;
    context->kept_bound = heap / 10 < UINT64_C(256) << 20 ? heap / 10 : UINT64_C(256) << 20;
    dml_context_override(context);
}

/* Sizes are rounded up by an eighth at most, so that they meet again. */
static uint64_t size_class(const dml_context *context, uint64_t size)
{
    uint64_t step = GRANULE;
    if (size <= context->kept_bound)
        while (step * 16 <= size)
            step *= 2;
    return size > UINT64_MAX - step ? size : (size + step - 1) / step * step + (size == 0 ? step : 0);
}

/* --- lists; the lock is held ------------------------------------------------------------------------------------- */

static void unlink_allocation(dml_allocation *allocation, dml_allocation **first, dml_allocation **last)
{
    *(allocation->prev ? &allocation->prev->next : first) = allocation->next;
    if (allocation->next)
        allocation->next->prev = allocation->prev;
    else if (last)
        *last = allocation->prev;
}

static void link_allocation(dml_allocation *allocation, dml_allocation **first, dml_allocation **last)
{
    allocation->prev = NULL;
    allocation->next = *first;
    if (*first)
        (*first)->prev = allocation;
    else if (last)
        *last = allocation;
    *first = allocation;
}

static void unkeep(dml_context *context, dml_allocation *allocation)
{
    unlink_allocation(allocation, &context->kept, &context->kept_last);
    context->kept_bytes -= allocation->buffer.size;
    context->kept_count--;
}

static dml_allocation *find_kept(dml_context *context, uint64_t size)
{
    dml_allocation *allocation = context->kept;
    bool mapped;
    dml_allocation_memory_type(context, UINT32_MAX, &mapped);
    while (allocation && (allocation->buffer.size != size || (allocation->buffer.mapped != NULL) != mapped))
        allocation = allocation->next;
    if (allocation)
        unkeep(context, allocation);
    return allocation;
}

static void begin_life(dml_context *context, dml_allocation *allocation)
{
    allocation->references = 1;
    link_allocation(allocation, &context->live, NULL);
    context->used_bytes += allocation->buffer.size;
}

bool dml_allocations_exposed(const dml_context *context)
{
    for (const dml_allocation *allocation = context->live; allocation; allocation = allocation->next)
        if (allocation->exposed)
            return true;
    return false;
}

/* --- making and freeing ------------------------------------------------------------------------------------------ */

static void destroy_allocation(dml_allocation *allocation)
{
    dml_buffer_destroy(allocation->context, &allocation->buffer);
    free(allocation);
}

/* Frees those kept for longest that the device is done with, until no more than `bound` bytes are kept. */
void dml_allocations_trim(dml_context *context, uint64_t bound)
{
    dml_allocation *dropped = NULL;
    dml_lock_acquire(&context->lock);
    while (!context->closed && context->kept_last && (context->kept_bytes > bound || context->kept_count > MAX_KEPT) &&
           context->kept_last->timeline_value <= context->completed) {
        dml_allocation *allocation = context->kept_last;
        unkeep(context, allocation);
        allocation->next = dropped;
        dropped = allocation;
    }
    context->in_flight += dropped != NULL;
    dml_lock_release(&context->lock);
    if (!dropped)
        return;
    while (dropped) {
        dml_allocation *next = dropped->next; /* NOLINT(clang-analyzer-unix.Malloc): no allocation is in a list twice */
        destroy_allocation(dropped);
        dropped = next;
    }
    dml_context_leave(context);
}

/* At exit: the live ones become empty shells, which their owners free. */
void dml_allocations_destroy(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    while (context->kept) {
        dml_allocation *allocation = context->kept;
        unkeep(context, allocation); /* NOLINT(clang-analyzer-unix.Malloc): likewise */
        destroy_allocation(allocation);
    }
    for (dml_allocation *allocation = context->live; allocation; allocation = allocation->next)
        dml_buffer_destroy(context, &allocation->buffer);
    dml_lock_release(&context->lock);
}

/* What the driver says is left, or what ought to be. */
static uint64_t available(dml_context *context)
{
    bool mapped;
    int64_t type = dml_allocation_memory_type(context, UINT32_MAX, &mapped);
    dml_lock_acquire(&context->lock);
    uint64_t ours = context->used_bytes + context->kept_bytes;
    dml_lock_release(&context->lock);
    uint64_t left = context->traits.heap > ours ? context->traits.heap - ours : 0;
    if (!context->traits.budget || type < 0)
        return left;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {.sType =
                                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    vkGetPhysicalDeviceMemoryProperties2(context->physical, &all);
    uint32_t heap = context->memory.memoryTypes[type].heapIndex;
    uint64_t offered = budget.heapBudget[heap], taken = budget.heapUsage[heap];
    uint64_t free_bytes = offered > taken ? offered - taken : 0;
    return free_bytes < left ? free_bytes : left;
}

/* Drivers that hand out more than there is would have the system end the process later. */
static dml_code allocate(dml_context *context, uint64_t size, dml_buffer *buffer, dml_status *status)
{
    bool limited = size >= LARGE || context->traits.heap < context->offered.heap;
    if (size > context->traits.max_buffer)
        return dml_fail(status, DML_OUT_OF_DEVICE_MEMORY,
                        "an array of %llu bytes is too large for the device, whose limit is %llu", (unsigned long long)size,
                        (unsigned long long)context->traits.max_buffer);
    if (limited && size > available(context))
        return dml_fail(status, DML_OUT_OF_DEVICE_MEMORY, "too little device memory is left");
    return dml_buffer_create(context, size, DML_MEMORY_DEVICE, buffer, status);
}

static dml_code create(dml_context *context, uint64_t size, dml_allocation **result, dml_status *status)
{
    dml_allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation)
        return dml_fail(status, DML_NO_MEMORY, "no memory for an array");
    dml_code code = allocate(context, size, &allocation->buffer, status);
    if (code && (code == DML_OUT_OF_DEVICE_MEMORY || status->result == VK_ERROR_TOO_MANY_OBJECTS) &&
        size <= context->traits.max_buffer) {
        /* What nobody uses may be just enough. */
        code = dml_submissions_wait(context, UINT64_MAX, status);
        if (!code) {
            dml_allocations_trim(context, 0);
            code = allocate(context, size, &allocation->buffer, status);
        }
        if (code == DML_OUT_OF_DEVICE_MEMORY) {
            int vk_result = status->result;
            dml_lock_acquire(&context->lock);
            uint64_t used = context->used_bytes;
            dml_lock_release(&context->lock);
            dml_fail(status, code, "the device has no %llu bytes left for an array: %llu are in use, %llu available",
                     (unsigned long long)size, (unsigned long long)used, (unsigned long long)available(context));
            status->result = vk_result;
        }
    }
    if (code) {
        free(allocation);
        return code;
    }
    allocation->context = context;
    allocation->generation = dml_generation;
    allocation->handles = (dml_vulkan_handles){(uint64_t)allocation->buffer.handle, (uint64_t)allocation->buffer.memory,
                                            (uint64_t)(uintptr_t)context->device, allocation->buffer.size};
    *result = allocation;
    return DML_OK;
}

dml_code dml_allocation_create(dml_context *context, uint64_t size, bool wait, dml_allocation **result, dml_status *status)
{
    size = size_class(context, size);
    if (dml_context_enter(context, status))
        return status->code;
    dml_lock_acquire(&context->lock);
    dml_allocation *allocation = find_kept(context, size);
    dml_lock_release(&context->lock);
    dml_code code = DML_OK;
    if (!allocation)
        code = wait ? create(context, size, &allocation, status) : dml_fail(status, DML_WOULD_WAIT, "would wait");
    dml_lock_acquire(&context->lock);
    if (!code)
        begin_life(context, allocation);
    context->in_flight--;
    dml_lock_release(&context->lock);
    *result = allocation;
    return code;
}

dml_allocation *dml_allocation_wrap(void *data, void (*release)(void *data))
{
    dml_allocation *allocation = calloc(1, sizeof *allocation);
    if (allocation) {
        allocation->references = 1;
        allocation->buffer.mapped = data;
        allocation->release = release;
    }
    return allocation;
}

void dml_allocation_retain(dml_allocation *allocation)
{
    dml_count_add(&allocation->references, 1);
}

void dml_allocation_release(dml_allocation *allocation)
{
    if (!allocation || dml_count_add(&allocation->references, -1) > 0)
        return;
    dml_context *context = allocation->context;
    if (!context) {
        allocation->release(allocation->buffer.mapped);
        free(allocation);
        return;
    }
    if (allocation->generation != dml_generation) {
        free(allocation); /* the parent's lists and lock stay as they are */
        return;
    }
    dml_lock_acquire(&context->lock);
    unlink_allocation(allocation, &context->live, NULL);
    context->used_bytes -= allocation->buffer.size;
    /* Also between the closing of a context and its end, which destroys what is kept. An empty shell goes at once. */
    bool keep = allocation->buffer.handle && !context->lost;
    allocation->exposed = false;
    if (keep) {
        link_allocation(allocation, &context->kept, &context->kept_last);
        context->kept_bytes += allocation->buffer.size;
        context->kept_count++;
    }
    bool hurry = keep && !context->closed && context->kept_bytes > context->kept_bound;
    context->in_flight += hurry;
    dml_lock_release(&context->lock);
    if (hurry) { /* what was held back may be all that still uses it */
        dml_submissions_flush_batch(context);
        dml_context_leave(context);
    }
    if (keep)
        dml_allocations_trim(context, context->kept_bound);
    else
        free(allocation);
}

/* --- looking at one ---------------------------------------------------------------------------------------------- */

dml_code dml_allocation_context(const dml_allocation *allocation, dml_context **context, dml_status *status)
{
    if (allocation->generation != dml_generation)
        return dml_fail(status, DML_DEVICE_LOST, "the array is of the process that forked this one, and cannot be used here");
    *context = allocation->context;
    if (allocation->context->lost)
        return dml_fail(status, DML_DEVICE_LOST, "the array is gone: its device was lost");
    return DML_OK;
}

void *dml_allocation_data(const dml_allocation *allocation)
{
    return allocation->buffer.mapped;
}

void dml_allocation_expose(dml_allocation *allocation)
{
    if (!allocation->context)
        return; /* the host's memory outlives every device */
    dml_lock_acquire(&allocation->context->lock);
    allocation->exposed = true;
    dml_lock_release(&allocation->context->lock);
}

const dml_vulkan_handles *dml_allocation_handles(const dml_allocation *allocation)
{
    return &allocation->handles;
}

uint64_t dml_allocation_last_use(dml_context *context, const dml_allocation *allocation)
{
    dml_lock_acquire(&context->lock);
    uint64_t timeline_value = allocation->timeline_value;
    dml_lock_release(&context->lock);
    return timeline_value;
}

dml_code dml_allocation_wait(const dml_allocation *allocation, dml_status *status)
{
    dml_context *context;
    if (!allocation->context)
        return DML_OK;
    if (dml_allocation_context(allocation, &context, status) || dml_context_enter(context, status))
        return status->code;
    dml_code code = dml_submissions_wait(context, dml_allocation_last_use(context, allocation), status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_wait(dml_context *context, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_code code = dml_submissions_wait(context, UINT64_MAX, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_memory(dml_context *context, dml_memory_bytes *bytes, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_submissions_flush_batch(context); /* what is kept beyond the bound goes when the device is done with it */
    bytes->available = available(context);
    dml_lock_acquire(&context->lock);
    bytes->used = context->used_bytes;
    bytes->pooled = context->kept_bytes;
    bytes->bound = context->kept_bound;
    dml_lock_release(&context->lock);
    dml_context_leave(context);
    return DML_OK;
}
