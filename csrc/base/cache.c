#include "base/cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/counters.h"
#include "base/fence.h"
#include "base/fork.h"
#include "base/idle.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/pages.h"
#include "base/pool.h"

enum {
    MIN_USES = 3, /* of a large block, for it to be pooled whole; one more where smaller ones took the room */
    WHOLE_SECONDS = 10,
    LARGE = -1 /* the class of a block larger than the limit, which is never in `cache.pool` */
};

/* Stands at the start of the page in front of a block's data, where resizing finds it too: NumPy tells the size when it
 * frees, but not when it resizes. */
typedef struct block {
    dml_pooled entry; /* capacity: bytes for data, all, but for a large block that is used again for less */
    size_t mapped;    /* bytes, this page included */
    size_t uses;      /* requests in a row that it was handed out for */
} block;

#define MOST (SIZE_MAX / 2) /* bytes that a block may have */

static struct {
    dml_lock lock; /* of all below but `page`, which is set once */
    size_t limit, largest_whole;
    size_t page, used;
    dml_pool pool;
    block *large; /* capacity: the bytes pooled of it, as many as there was room for (0: addresses only), or all */
} cache = {.lock = DML_LOCK_INIT};

/* --- blocks ----------------------------------------------------------------------------------------------------- */

/* What a block for `bytes`, at most MOST, has to be, with the lock held. */
static void measure(size_t bytes, dml_pooled *wanted)
{
    bytes = bytes > 0 ? bytes : 1;
    wanted->size_class = dml_size_class(bytes, cache.page, &wanted->capacity);
    if (wanted->capacity > cache.limit) {
        wanted->capacity = dml_round_up(bytes, cache.page); /* only what will be used again is rounded further */
        wanted->size_class = LARGE;
    }
}

static char *data_of(block *b)
{
    return (char *)b + cache.page;
}

static block *block_of(void *data)
{
    return (block *)(void *)((char *)data - cache.page);
}

/* --- the pool; the lock is held --------------------------------------------------------------------------------- */

static size_t pooled_bytes(void)
{
    return cache.pool.bytes + (cache.large ? cache.large->entry.capacity : 0);
}

static block *take_large(void)
{
    block *b = cache.large;
    cache.large = NULL;
    return b;
}

static dml_pooled *take_oldest(void)
{
    dml_pooled *entry = cache.pool.oldest;
    dml_pool_remove(&cache.pool, entry);
    return entry;
}

static dml_pooled *linked(dml_pooled *entry, dml_pooled *dropped)
{
    entry->older = dropped;
    return entry;
}

/* Is a large block pooled whole, and its time not over? */
static bool is_pooled_whole(void)
{
    const block *b = cache.large;
    return b && b->entry.capacity > cache.limit && b->entry.capacity <= cache.largest_whole &&
           dml_nanoseconds() - b->entry.added < WHOLE_SECONDS * INT64_C(1000000000);
}

/* On the bytes pooled: a large block that is pooled whole counts besides `cache.limit`. */
static size_t limit_now(void)
{
    return cache.limit + (is_pooled_whole() ? cache.large->entry.capacity : 0);
}

/* Takes out the large block, unless it stays whole or is addresses only, then the blocks unused for longest, until at most
 * `most` bytes are pooled; returns them, linked by `older`, for unmap_all, which takes its time and needs no lock. */
static dml_pooled *drop_to(size_t most)
{
    dml_pooled *dropped = NULL;
    const size_t large = cache.large ? cache.large->entry.capacity : 0;
    const bool large_stays = large == 0 || (is_pooled_whole() && large <= most);
    while (pooled_bytes() > most) {
        dml_pooled *entry = large_stays ? NULL : (dml_pooled *)take_large();
        dropped = linked(entry ? entry : take_oldest(), dropped);
    }
    return dropped;
}

static void unmap_all(dml_pooled *entry)
{
    for (dml_pooled *next; entry; entry = next) {
        next = entry->older;
        dml_pages_unmap(entry, ((block *)entry)->mapped);
    }
}

/* A pooled block that will do; one that is in the way of others is `dropped`. */
static block *find_pooled(const dml_pooled *wanted, dml_pooled **dropped)
{
    block *b = wanted->size_class == LARGE ? take_large() : (block *)cache.pool.top[wanted->size_class];
    if (b && wanted->size_class != LARGE) {
        dml_pool_remove(&cache.pool, &b->entry);
    } else if (b && b->mapped - cache.page < wanted->capacity) {
        *dropped = linked(&b->entry, NULL);
        b = NULL;
    }
    return b;
}

/* --- what is larger than the pool ------------------------------------------------------------------------------- */

static void pool_large(block *b)
{
    dml_lock_acquire(&cache.lock);
    bool vacant = !cache.large, whole = vacant && b->entry.capacity <= cache.largest_whole;
    size_t most = vacant ? (cache.limit - cache.pool.bytes) / 8 * 7 : 0; /* the rest is for smaller ones */
    size_t room = most / DML_HUGE_PAGE * DML_HUGE_PAGE;
    dml_lock_release(&cache.lock);
    whole = whole && b->uses >= MIN_USES + (room == 0) && dml_pages_release(b, b->mapped, cache.page, true);
    bool pooled = whole || (vacant && dml_pages_release(b, b->mapped, cache.page + room, false));
    if (pooled) {
        b->entry.capacity = whole ? b->entry.capacity : room;
        b->entry.added = dml_nanoseconds();
        dml_lock_acquire(&cache.lock);
        pooled = !cache.large && (whole || room <= cache.limit - cache.pool.bytes);
        if (pooled)
            cache.large = b;
        dml_lock_release(&cache.lock);
    }
    if (!pooled)
        dml_pages_unmap(b, b->mapped);
}

static bool give_back(int64_t before)
{
    dml_pooled *dropped = NULL;
    dml_lock_acquire(&cache.lock);
    if (cache.large && cache.large->entry.added < before)
        dropped = linked(&take_large()->entry, NULL);
    while (cache.pool.oldest && cache.pool.oldest->added < before)
        dropped = linked(take_oldest(), dropped);
    const bool left = cache.large || cache.pool.oldest;
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
    return left;
}

/* --- the interface ---------------------------------------------------------------------------------------------- */

void dml_cache_open(size_t limit, size_t largest_whole)
{
    cache.page = dml_page_size();
    dml_cache_limit(limit, largest_whole);
    dml_fork_hold(&cache.lock);
    dml_idle_watch(give_back);
}

void dml_cache_limit(size_t limit, size_t largest_whole)
{
    dml_lock_acquire(&cache.lock);
    cache.limit = limit;
    cache.largest_whole = largest_whole;
    dml_pooled *dropped = drop_to(limit_now());
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
}

void *dml_cache_acquire(size_t bytes)
{
    dml_pooled wanted, *dropped = NULL;
    if (bytes > MOST)
        return NULL;
    dml_lock_acquire(&cache.lock);
    measure(bytes, &wanted);
    block *b = find_pooled(&wanted, &dropped);
    cache.used += wanted.capacity;
    dml_count_peak(DML_HOST_PEAK_BYTES, cache.used);
    dml_lock_release(&cache.lock);
    dml_count(b ? DML_POOL_HITS : DML_POOL_MISSES, 1);
    unmap_all(dropped);
    size_t mapped = b ? b->mapped : cache.page + wanted.capacity, uses = b ? b->uses + 1 : 1;
    if (b && b->entry.capacity > wanted.capacity)
        dml_pages_release(b, mapped, cache.page + wanted.capacity, false);
    if (!b)
        b = dml_pages_map(cache.page, wanted.capacity);
    if (!b) {
        dml_cache_clear();
        b = dml_pages_map(cache.page, wanted.capacity);
    }
    if (b) {
        *b = (block){.entry = wanted, .mapped = mapped, .uses = uses};
        return dml_fence(data_of(b), bytes, wanted.capacity);
    }
    dml_lock_acquire(&cache.lock);
    cache.used -= wanted.capacity;
    dml_lock_release(&cache.lock);
    return NULL;
}

void dml_cache_release(void *data)
{
    if (!data)
        return;
    block *b = block_of(data);
    dml_pooled *dropped = NULL;
    const bool large = b->entry.size_class == LARGE;
    dml_fence(data, b->entry.capacity, b->entry.capacity);
    dml_lock_acquire(&cache.lock);
    cache.used -= b->entry.capacity;
    if (!large && b->entry.capacity <= cache.limit) {
        dropped = drop_to(limit_now() - b->entry.capacity);
        dml_pool_add(&cache.pool, &b->entry);
    } else if (!large) { /* of the time when the limit was higher */
        dropped = linked(&b->entry, NULL);
    }
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
    if (large)
        pool_large(b);
    dml_idle_wake();
}

void *dml_cache_resize(void *data, size_t bytes)
{
    if (!data)
        return dml_cache_acquire(bytes); /* uncovered: NumPy resizes only what it has allocated */
    dml_pooled wanted;
    size_t capacity = block_of(data)->entry.capacity;
    dml_lock_acquire(&cache.lock);
    measure(bytes < MOST ? bytes : MOST, &wanted);
    dml_lock_release(&cache.lock);
    dml_fence(data, wanted.capacity == capacity ? bytes : capacity, capacity);
    if (wanted.capacity == capacity)
        return data;
    void *moved = dml_cache_acquire(bytes);
    if (moved) {
        memcpy(moved, data, bytes < capacity ? bytes : capacity);
        dml_cache_release(data);
    }
    return moved;
}

void dml_cache_clear(void)
{
    give_back(INT64_MAX);
}

dml_cache_bytes dml_cache_count(void)
{
    dml_lock_acquire(&cache.lock);
    size_t limit = limit_now();
    dml_pooled *dropped = drop_to(limit);
    dml_cache_bytes bytes = {.used = cache.used, .pooled = pooled_bytes(), .limit = limit};
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
    return bytes;
}
