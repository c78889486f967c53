/* Memory that stays on a device. What arrays leave behind is kept for the next ones, up to a bound: work is done in the order in
 * which it was queued, so that memory may have a new owner while the device still reads it for the old one. */
#include "vk/context.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRANULE = 256,   /* bytes: the smallest size class, and what every size is a multiple of */
    MAX_KEPT = 1024, /* storages, however small */
    LARGE = 16 << 20 /* bytes from which the driver is asked what it has left */
};

void dml_storages_init(dml_context *context)
{
    bool mapped;
    int64_t type = dml_storage_type(context, UINT32_MAX, &mapped);
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

static void unlink_storage(dml_storage *storage, dml_storage **first, dml_storage **last)
{
    *(storage->prev ? &storage->prev->next : first) = storage->next;
    if (storage->next)
        storage->next->prev = storage->prev;
    else if (last)
        *last = storage->prev;
}

static void link_storage(dml_storage *storage, dml_storage **first, dml_storage **last)
{
    storage->prev = NULL;
    storage->next = *first;
    if (*first)
        (*first)->prev = storage;
    else if (last)
        *last = storage;
    *first = storage;
}

static void unkeep(dml_context *context, dml_storage *storage)
{
    unlink_storage(storage, &context->kept, &context->kept_last);
    context->kept_bytes -= storage->buffer.size;
    context->kept_count--;
}

static dml_storage *find_kept(dml_context *context, uint64_t size)
{
    dml_storage *storage = context->kept;
    bool mapped;
    dml_storage_type(context, UINT32_MAX, &mapped);
    while (storage && (storage->buffer.size != size || (storage->buffer.mapped != NULL) != mapped))
        storage = storage->next;
    if (storage)
        unkeep(context, storage);
    return storage;
}

static void begin_life(dml_context *context, dml_storage *storage)
{
    storage->references = 1;
    link_storage(storage, &context->live, NULL);
    context->used_bytes += storage->buffer.size;
}

bool dml_storages_exposed(const dml_context *context)
{
    for (const dml_storage *storage = context->live; storage; storage = storage->next)
        if (storage->exposed)
            return true;
    return false;
}

/* --- making and freeing ------------------------------------------------------------------------------------------ */

static void destroy_storage(dml_storage *storage)
{
    dml_buffer_destroy(storage->context, &storage->buffer);
    free(storage);
}

/* Frees those kept for longest that the device is done with, until no more than `bound` bytes are kept. */
void dml_storages_trim(dml_context *context, uint64_t bound)
{
    dml_storage *dropped = NULL;
    dml_lock_take(&context->lock);
    while (!context->closed && context->kept_last && (context->kept_bytes > bound || context->kept_count > MAX_KEPT) &&
           context->kept_last->serial <= context->completed) {
        dml_storage *storage = context->kept_last;
        unkeep(context, storage);
        storage->next = dropped;
        dropped = storage;
    }
    context->in_flight += dropped != NULL;
    dml_lock_give(&context->lock);
    if (!dropped)
        return;
    while (dropped) {
        dml_storage *next = dropped->next; /* NOLINT(clang-analyzer-unix.Malloc): no storage is in a list twice */
        destroy_storage(dropped);
        dropped = next;
    }
    dml_context_leave(context);
}

/* At exit: the live ones become empty shells, which their owners free. */
void dml_storages_destroy(dml_context *context)
{
    dml_lock_take(&context->lock);
    while (context->kept) {
        dml_storage *storage = context->kept;
        unkeep(context, storage); /* NOLINT(clang-analyzer-unix.Malloc): likewise */
        destroy_storage(storage);
    }
    for (dml_storage *storage = context->live; storage; storage = storage->next)
        dml_buffer_destroy(context, &storage->buffer);
    dml_lock_give(&context->lock);
}

/* What the driver says is left, or what ought to be. */
static uint64_t available(dml_context *context)
{
    bool mapped;
    int64_t type = dml_storage_type(context, UINT32_MAX, &mapped);
    dml_lock_take(&context->lock);
    uint64_t ours = context->used_bytes + context->kept_bytes;
    dml_lock_give(&context->lock);
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

static dml_code create(dml_context *context, uint64_t size, dml_storage **result, dml_status *status)
{
    dml_storage *storage = calloc(1, sizeof *storage);
    if (!storage)
        return dml_fail(status, DML_NO_MEMORY, "no memory for an array");
    dml_code code = allocate(context, size, &storage->buffer, status);
    if (code && (code == DML_OUT_OF_DEVICE_MEMORY || status->result == VK_ERROR_TOO_MANY_OBJECTS) &&
        size <= context->traits.max_buffer) {
        /* What nobody uses may be just enough. */
        code = dml_jobs_wait(context, UINT64_MAX, status);
        if (!code) {
            dml_storages_trim(context, 0);
            code = allocate(context, size, &storage->buffer, status);
        }
        if (code == DML_OUT_OF_DEVICE_MEMORY) {
            int vk_result = status->result;
            dml_lock_take(&context->lock);
            uint64_t used = context->used_bytes;
            dml_lock_give(&context->lock);
            dml_fail(status, code, "the device has no %llu bytes left for an array: %llu are in use, %llu available",
                     (unsigned long long)size, (unsigned long long)used, (unsigned long long)available(context));
            status->result = vk_result;
        }
    }
    if (code) {
        free(storage);
        return code;
    }
    storage->context = context;
    storage->generation = dml_generation;
    storage->handles = (dml_vulkan_handles){(uint64_t)storage->buffer.handle, (uint64_t)storage->buffer.memory,
                                            (uint64_t)(uintptr_t)context->device, storage->buffer.size};
    *result = storage;
    return DML_OK;
}

dml_code dml_storage_create(dml_context *context, uint64_t size, bool wait, dml_storage **result, dml_status *status)
{
    size = size_class(context, size);
    if (dml_context_enter(context, status))
        return status->code;
    dml_lock_take(&context->lock);
    dml_storage *storage = find_kept(context, size);
    dml_lock_give(&context->lock);
    dml_code code = DML_OK;
    if (!storage)
        code = wait ? create(context, size, &storage, status) : dml_fail(status, DML_WOULD_WAIT, "would wait");
    dml_lock_take(&context->lock);
    if (!code)
        begin_life(context, storage);
    context->in_flight--;
    dml_lock_give(&context->lock);
    *result = storage;
    return code;
}

dml_storage *dml_storage_wrap(void *data, void (*release)(void *data))
{
    dml_storage *storage = calloc(1, sizeof *storage);
    if (storage) {
        storage->references = 1;
        storage->buffer.mapped = data;
        storage->release = release;
    }
    return storage;
}

void dml_storage_retain(dml_storage *storage)
{
    dml_count_add(&storage->references, 1);
}

void dml_storage_release(dml_storage *storage)
{
    if (!storage || dml_count_add(&storage->references, -1) > 0)
        return;
    dml_context *context = storage->context;
    if (!context) {
        storage->release(storage->buffer.mapped);
        free(storage);
        return;
    }
    if (storage->generation != dml_generation) {
        free(storage); /* the parent's lists and lock stay as they are */
        return;
    }
    dml_lock_take(&context->lock);
    unlink_storage(storage, &context->live, NULL);
    context->used_bytes -= storage->buffer.size;
    /* Also between the closing of a context and its end, which destroys what is kept. An empty shell goes at once. */
    bool keep = storage->buffer.handle && !context->lost;
    storage->exposed = false;
    if (keep) {
        link_storage(storage, &context->kept, &context->kept_last);
        context->kept_bytes += storage->buffer.size;
        context->kept_count++;
    }
    bool hurry = keep && !context->closed && context->kept_bytes > context->kept_bound;
    context->in_flight += hurry;
    dml_lock_give(&context->lock);
    if (hurry) { /* what was held back may be all that still uses it */
        dml_jobs_hurry(context);
        dml_context_leave(context);
    }
    if (keep)
        dml_storages_trim(context, context->kept_bound);
    else
        free(storage);
}

/* --- looking at one ---------------------------------------------------------------------------------------------- */

dml_code dml_storage_context(const dml_storage *storage, dml_context **context, dml_status *status)
{
    if (storage->generation != dml_generation)
        return dml_fail(status, DML_DEVICE_LOST, "the array is of the process that forked this one, and cannot be used here");
    *context = storage->context;
    if (storage->context->lost)
        return dml_fail(status, DML_DEVICE_LOST, "the array is gone: its device was lost");
    return DML_OK;
}

void *dml_storage_data(const dml_storage *storage)
{
    return storage->buffer.mapped;
}

void dml_storage_expose(dml_storage *storage)
{
    if (!storage->context)
        return; /* the host's memory outlives every device */
    dml_lock_take(&storage->context->lock);
    storage->exposed = true;
    dml_lock_give(&storage->context->lock);
}

const dml_vulkan_handles *dml_storage_handles(const dml_storage *storage)
{
    return &storage->handles;
}

uint64_t dml_storage_last_use(dml_context *context, const dml_storage *storage)
{
    dml_lock_take(&context->lock);
    uint64_t serial = storage->serial;
    dml_lock_give(&context->lock);
    return serial;
}

dml_code dml_storage_wait(const dml_storage *storage, dml_status *status)
{
    dml_context *context;
    if (!storage->context)
        return DML_OK;
    if (dml_storage_context(storage, &context, status) || dml_context_enter(context, status))
        return status->code;
    dml_code code = dml_jobs_wait(context, dml_storage_last_use(context, storage), status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_wait(dml_context *context, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_code code = dml_jobs_wait(context, UINT64_MAX, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_vk_memory(dml_context *context, dml_memory_bytes *bytes, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code;
    dml_jobs_hurry(context); /* what is kept beyond the bound goes when the device is done with it */
    bytes->available = available(context);
    dml_lock_take(&context->lock);
    bytes->used = context->used_bytes;
    bytes->pooled = context->kept_bytes;
    bytes->bound = context->kept_bound;
    dml_lock_give(&context->lock);
    dml_context_leave(context);
    return DML_OK;
}
