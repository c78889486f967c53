#include "vk/allocation_pool.h"

#include <stdlib.h>

#include "vk/quiesce.h"

enum {
    GRANULE = 256,    /* bytes: the smallest size class, and what every size is a multiple of */
    MAX_POOLED = 1024 /* allocations, however small */
};

void dml_pool_init(dml_context *context)
{
    uint64_t tenth = context->offered.heap / 10, most = UINT64_C(256) << 20;
    context->allocation_pool.limit = tenth < most ? tenth : most;
}

uint64_t dml_pool_size_class(const dml_context *context, uint64_t size)
{
    /* Eight classes from each power of two to the next: at most an eighth is wasted. */
    uint64_t step = GRANULE;
    if (size <= context->allocation_pool.limit)
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

static void remove_pooled(dml_context *context, dml_allocation *allocation)
{
    unlink_allocation(allocation, &context->allocation_pool.newest, &context->allocation_pool.oldest);
    context->allocation_pool.pooled_bytes -= allocation->buffer.size;
    context->allocation_pool.count--;
}

static bool over_limit(const dml_context *context)
{
    return context->allocation_pool.pooled_bytes > context->allocation_pool.limit ||
           context->allocation_pool.count > MAX_POOLED;
}

/* The oldest one, where it is to be destroyed and the device is done with it; else NULL. */
static dml_allocation *next_to_trim(const dml_context *context, bool all, uint64_t completed)
{
    dml_allocation *oldest = context->allocation_pool.oldest;
    return oldest && (all || over_limit(context)) && oldest->timeline_value <= completed ? oldest : NULL;
}

/* --- life of an allocation --------------------------------------------------------------------------------------- */

dml_allocation *dml_pool_find(dml_context *context, uint64_t size)
{
    bool mapped;
    dml_buffer_device_type(context, UINT32_MAX, &mapped);
    dml_lock_acquire(&context->lock);
    dml_allocation *allocation = context->allocation_pool.newest;
    while (allocation && (allocation->buffer.size != size || (allocation->buffer.mapped != NULL) != mapped))
        allocation = allocation->next;
    if (allocation)
        remove_pooled(context, allocation);
    dml_lock_release(&context->lock);
    return allocation;
}

void dml_pool_add_live(dml_context *context, dml_allocation *allocation)
{
    dml_lock_acquire(&context->lock);
    allocation->references = 1;
    link_allocation(allocation, &context->allocation_pool.live, NULL);
    context->allocation_pool.used_bytes += allocation->buffer.size;
    dml_lock_release(&context->lock);
}

dml_pool_result dml_pool_add(dml_context *context, dml_allocation *allocation)
{
    dml_pool_result result = DML_POOL_REFUSED;
    dml_lock_acquire(&context->lock);
    unlink_allocation(allocation, &context->allocation_pool.live, NULL);
    context->allocation_pool.used_bytes -= allocation->buffer.size;
    allocation->exposed = false;
    if (allocation->buffer.handle && !context->lost) {
        link_allocation(allocation, &context->allocation_pool.newest, &context->allocation_pool.oldest);
        context->allocation_pool.pooled_bytes += allocation->buffer.size;
        context->allocation_pool.count++;
        result = over_limit(context) ? DML_POOL_OVER_LIMIT : DML_POOL_ADDED;
    }
    dml_lock_release(&context->lock);
    return result;
}

static void destroy_allocation(dml_allocation *allocation)
{
    dml_buffer_destroy(allocation->context, &allocation->buffer);
    free(allocation);
}

void dml_pool_trim(dml_context *context, bool all, uint64_t completed)
{
    dml_lock_acquire(&context->lock);
    bool needed = next_to_trim(context, all, completed);
    dml_lock_release(&context->lock);
    if (!needed || !dml_context_enter_to_free(context))
        return;
    dml_allocation *dropped = NULL, *allocation;
    dml_lock_acquire(&context->lock);
    while ((allocation = next_to_trim(context, all, completed))) {
        remove_pooled(context, allocation);
        allocation->next = dropped;
        dropped = allocation;
    }
    dml_lock_release(&context->lock);
    while (dropped) {
        allocation = dropped;
        dropped = allocation->next; /* NOLINT(clang-analyzer-unix.Malloc): no allocation is in a list twice */
        destroy_allocation(allocation);
    }
    dml_context_leave(context);
}

void dml_pool_destroy(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    while (context->allocation_pool.newest) {
        dml_allocation *allocation = context->allocation_pool.newest;
        remove_pooled(context, allocation); /* NOLINT(clang-analyzer-unix.Malloc): likewise */
        destroy_allocation(allocation);
    }
    for (dml_allocation *allocation = context->allocation_pool.live; allocation; allocation = allocation->next)
        dml_buffer_destroy(context, &allocation->buffer);
    dml_lock_release(&context->lock);
}

/* --- looking at them --------------------------------------------------------------------------------------------- */

bool dml_pool_exposed(dml_context *context)
{
    bool exposed = false;
    dml_lock_acquire(&context->lock);
    for (const dml_allocation *allocation = context->allocation_pool.live; allocation; allocation = allocation->next)
        exposed = exposed || allocation->exposed;
    dml_lock_release(&context->lock);
    return exposed;
}

void dml_pool_count(dml_context *context, dml_memory_bytes *bytes)
{
    dml_lock_acquire(&context->lock);
    bytes->used = context->allocation_pool.used_bytes;
    bytes->pooled = context->allocation_pool.pooled_bytes;
    bytes->limit = context->allocation_pool.limit;
    dml_lock_release(&context->lock);
}
