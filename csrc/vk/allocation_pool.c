#include "vk/allocation_pool.h"

#include <stdlib.h>

#include "base/idle.h"
#include "base/usable_memory.h"
#include "vk/quiesce.h"

enum {
    UNIT = 256,           /* bytes: every size is a multiple of it, and Vulkan allows no larger alignment of bindings */
    PROMISED = 4096,      /* pieces of memory that every device gives: maxMemoryAllocationCount */
    MAX_POOLED = 1024,    /* blocks, however small */
    MIN_SHARED = 1 << 20, /* bytes: allocations of up to this size share slabs on every device */
    MIN_SLAB = 64 * 1024, /* bytes; slabs of larger allocations begin with one of them */
    MAX_SHARE = 16        /* the largest slabs hold so many of the largest allocations that share them */
};

/* A block is in the list of its state. */
enum { POOLED, OPEN, FULL };

/* Pooled memory is lost to other programs. Where it is the host's, the limit is that of the host's pool. */
void dml_allocations_init(dml_context *context)
{
    const bool mapped = context->traits.mapped;
    const uint64_t most = mapped ? UINT64_C(256) << 20 : UINT64_MAX, usable = mapped ? dml_usable_memory_now().limit : 0;
    const uint64_t heap = context->offered.heap_bytes, memory = usable > 0 && usable < heap ? usable : heap;
    const uint64_t fraction = memory / (mapped ? 10 : 4), shared = heap / PROMISED;
    dml_lock_acquire(&context->lock);
    context->allocation_pool.limit = fraction < most ? fraction : most;
    context->allocation_pool.largest_shared = shared > MIN_SHARED ? shared : MIN_SHARED;
    dml_lock_release(&context->lock);
}

/* --- blocks; the lock is held ------------------------------------------------------------------------------------ */

/* The bytes of an allocation of `size`, and their class. */
static int round_size(const dml_context *context, size_t size, size_t *each)
{
    size = size > 0 ? size : 1;
    int size_class = dml_size_class(size, UNIT, each);
    if (*each > context->allocation_pool.limit || *each > context->traits.max_buffer)
        *each = dml_round_up(size, UNIT); /* only what will be used again is rounded further */
    return size_class;
}

/* Fills in what a new block has to be. */
static void plan_block(dml_context *context, size_t each, int size_class, dml_block *block)
{
    const uint64_t limit = context->allocation_pool.limit, shared = context->allocation_pool.largest_shared;
    *block = (dml_block){
        .context = context, .generation = dml_fork_generation(), .each = each, .room = 1, .classes = {size_class, size_class}};
    uint64_t slab = 2 * (uint64_t)each; /* of twice the room */
    while (each <= shared && slab <= shared * MAX_SHARE && slab <= limit / 8 && slab <= context->traits.max_buffer &&
           (slab <= MIN_SLAB || 2 * block->room <= context->allocation_pool.live[size_class])) {
        block->classes[false] += DML_CLASSES_PER_DOUBLING;
        block->room *= 2;
        slab *= 2;
    }
    block->entry.capacity = each * (size_t)block->room;
}

/* Moves a block to the list of its state. */
static void place(dml_block *block)
{
    const bool used = block->live > 0, full = block->live == block->room;
    dml_pool *list = &block->context->allocation_pool.lists[used + full];
    if (list == block->list)
        return;
    if (block->list)
        dml_pool_remove(block->list, &block->entry);
    block->list = list;
    block->entry.size_class = block->classes[used];
    dml_pool_add(list, &block->entry);
}

/* The newest block of a class that is open and has allocations of so many bytes, or is pooled and has as many itself. */
static dml_block *find_block(const dml_context *context, bool open, int size_class, size_t bytes, bool mapped)
{
    dml_pooled *entry = context->allocation_pool.lists[open ? OPEN : POOLED].top[size_class];
    for (; entry; entry = entry->below) {
        dml_block *block = (dml_block *)entry;
        if ((open ? block->each : entry->capacity) == bytes && (block->buffer.mapped != NULL) == mapped)
            return block;
    }
    return NULL;
}

/* Makes a pooled block one for allocations of another size. */
static void divide(dml_block *block, const dml_block *wanted)
{
    if (block->each == wanted->each)
        return;
    dml_places_free(block);
    block->divided = block->timeline_value;
    block->each = wanted->each;
    block->room = wanted->room;
    block->classes[true] = wanted->classes[true];
}

/* One more allocation of a block that has room for it; NULL without memory. */
static dml_allocation *take(dml_block *block)
{
    dml_context *context = block->context;
    dml_allocation *allocation = dml_place_take(block);
    if (allocation) {
        allocation->references = 1;
        block->live++;
        context->allocation_pool.live[block->classes[true]]++;
        context->allocation_pool.used_bytes += block->each;
    }
    place(block);
    return allocation;
}

/* --- life of an allocation --------------------------------------------------------------------------------------- */

dml_allocation *dml_allocations_find(dml_context *context, size_t size, dml_block *wanted)
{
    const bool mapped = context->traits.mapped;
    size_t each;
    dml_lock_acquire(&context->lock);
    int size_class = round_size(context, size, &each);
    dml_block *block = find_block(context, true, size_class, each, mapped);
    dml_allocation *allocation = block ? take(block) : NULL;
    if (!allocation) {
        plan_block(context, each, size_class, wanted);
        block = find_block(context, false, wanted->classes[false], wanted->entry.capacity, mapped);
        if (block)
            divide(block, wanted);
        allocation = block ? take(block) : NULL;
    }
    dml_lock_release(&context->lock);
    return allocation;
}

dml_allocation *dml_allocations_add(dml_block *block)
{
    dml_lock_acquire(&block->context->lock);
    dml_allocation *allocation = take(block);
    dml_lock_release(&block->context->lock);
    return allocation;
}

static bool over_limit(const dml_context *context)
{
    const dml_pool *pooled = &context->allocation_pool.lists[POOLED];
    return pooled->bytes > context->allocation_pool.limit || pooled->count > MAX_POOLED;
}

static void free_block(dml_block *block)
{
    dml_places_free(block);
    free(block);
}

bool dml_allocations_put_back(dml_allocation *allocation)
{
    dml_block *block = allocation->place->block;
    dml_context *context = block->context;
    dml_lock_acquire(&context->lock);
    context->allocation_pool.used_bytes -= block->each;
    context->allocation_pool.live[block->classes[true]]--;
    context->allocation_pool.exposed -= allocation->place->exposed;
    allocation->place->exposed = false;
    if (allocation->place->timeline_value > block->timeline_value)
        block->timeline_value = allocation->place->timeline_value;
    block->lent |= !dml_loans_settled(&allocation->place->loans);
    dml_place_put(block, allocation);
    block->live--;
    const bool reusable = block->buffer.handle && !context->lost, gone = block->live == 0 && !reusable;
    if (gone)
        dml_pool_remove(block->list, &block->entry);
    else
        place(block);
    const bool over = reusable && over_limit(context);
    dml_lock_release(&context->lock);
    if (gone)
        free_block(block);
    dml_idle_wake();
    return over;
}

/* --- the end of a block ------------------------------------------------------------------------------------------ */

static void destroy_buffer(dml_block *block)
{
    dml_cuda_unmap(block->context, &block->mapping);
    dml_buffer_destroy(block->context, &block->buffer);
}

static void destroy_block(dml_block *block)
{
    destroy_buffer(block);
    free_block(block);
}

/* The oldest block, where it is to be destroyed and the device is done with it; else NULL. To destroy what CUDA has been shown
 * waits for all of CUDA's streams. */
static dml_pooled *next_to_trim(const dml_context *context, int64_t before, bool wait, uint64_t completed)
{
    dml_pooled *oldest = context->allocation_pool.lists[POOLED].oldest;
    if (!oldest || (oldest->added >= before && !over_limit(context)))
        return NULL;
    const dml_block *block = (dml_block *)oldest;
    return block->timeline_value <= completed && (wait || !block->mapping.address) ? oldest : NULL;
}

void dml_allocations_trim(dml_context *context, int64_t before, bool wait, uint64_t completed)
{
    dml_lock_acquire(&context->lock);
    bool needed = next_to_trim(context, before, wait, completed);
    dml_lock_release(&context->lock);
    if (!needed || !dml_context_enter_to_free(context))
        return;
    dml_pooled *dropped = NULL, *entry;
    bool shown = false;
    dml_lock_acquire(&context->lock);
    while ((entry = next_to_trim(context, before, wait, completed))) {
        dml_pool_remove(&context->allocation_pool.lists[POOLED], entry);
        entry->older = dropped;
        dropped = entry;
        shown |= ((dml_block *)entry)->mapping.address != 0;
    }
    dml_lock_release(&context->lock);
    if (shown)
        dml_cuda_finish(context);
    while ((entry = dropped)) {
        dropped = entry->older;
        destroy_block((dml_block *)entry);
    }
    dml_context_leave(context);
}

void dml_allocations_destroy(dml_context *context)
{
    dml_pool *lists = context->allocation_pool.lists;
    dml_cuda_finish(context);
    dml_lock_acquire(&context->lock);
    while (lists[POOLED].newest) {
        dml_pooled *entry = lists[POOLED].newest;
        dml_pool_remove(&lists[POOLED], entry);
        destroy_block((dml_block *)entry);
    }
    for (int i = OPEN; i <= FULL; i++)
        for (dml_pooled *entry = lists[i].newest; entry; entry = entry->older)
            destroy_buffer((dml_block *)entry);
    dml_lock_release(&context->lock);
}

/* --- looking at them --------------------------------------------------------------------------------------------- */

void dml_allocation_expose(dml_allocation *allocation)
{
    if (allocation->place && !atomic_exchange(&allocation->place->exposed, true))
        allocation->place->block->context->allocation_pool.exposed++;
}

bool dml_allocations_exposed(dml_context *context)
{
    return context->allocation_pool.exposed > 0;
}

void dml_allocations_count(dml_context *context, dml_memory_bytes *bytes)
{
    const dml_pool *lists = context->allocation_pool.lists;
    dml_lock_acquire(&context->lock);
    bytes->used = context->allocation_pool.used_bytes;
    bytes->pooled = lists[POOLED].bytes;
    bytes->limit = context->allocation_pool.limit;
    bytes->unused = lists[OPEN].bytes + lists[FULL].bytes - bytes->used;
    dml_lock_release(&context->lock);
}
