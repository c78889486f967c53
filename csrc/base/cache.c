#include "base/cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/lock.h"
#include "base/machine.h"
#include "base/pages.h"
#include "base/pool.h"

enum {
    MIN_USES = 3, /* of a large block, for it to be pooled whole */
    WHOLE_SECONDS = 10
};

/* Stands at the start of the page in front of a block's data, where resizing finds it too: NumPy tells the size when it
 * frees, but not when it resizes. */
typedef struct block {
    dml_pooled entry;  /* capacity: bytes for data, all, but for a large block that is used again for less */
    size_t mapped;     /* bytes, this page included */
    size_t uses;       /* requests in a row that it was handed out for */
    int64_t pooled_at; /* nanoseconds; of a large block */
} block;

enum { LARGE = -1 }; /* the class of a block larger than the limit, which is never in `cache.pool` */

static struct {
    dml_lock lock; /* of all below but `limit`, `largest_whole` and `page`, which are set once */
    size_t limit;
    size_t largest_whole;
    size_t page;
    size_t used;
    dml_pool pool;
    block *large; /* capacity: the bytes pooled of it, as many as there was room for, or all */
} cache = {.lock = DML_LOCK_INIT};

/* --- blocks ----------------------------------------------------------------------------------------------------- */

/* What a block for `bytes` has to be; false if that is too much to ask for. */
static bool measure(size_t bytes, dml_pooled *wanted)
{
    if (bytes > SIZE_MAX / 2)
        return false;
    if (bytes == 0)
        bytes = 1;
    wanted->size_class = dml_size_class(bytes, cache.page, &wanted->capacity);
    if (wanted->capacity > cache.limit) {
        wanted->capacity = dml_round_up(bytes, cache.page); /* only what will be used again is rounded further */
        wanted->size_class = LARGE;
    }
    return true;
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

static bool is_large(const dml_pooled *entry)
{
    return entry->size_class == LARGE;
}

static block *take_large(void)
{
    block *b = cache.large;
    cache.large = NULL;
    return b;
}

/* Is a large block pooled whole, and its time not over? */
static bool is_pooled_whole(void)
{
    const block *b = cache.large;
    return b && b->entry.capacity > cache.limit && dml_nanoseconds() - b->pooled_at < WHOLE_SECONDS * INT64_C(1000000000);
}

/* On the bytes pooled: a large block that is pooled whole counts besides `cache.limit`. */
static size_t limit_now(void)
{
    return cache.limit + (is_pooled_whole() ? cache.large->entry.capacity : 0);
}

/* Takes out the large block, unless it stays whole, then the blocks unused for longest, until at most `most` bytes are pooled;
 * returns them, linked by `older`, for unmap_all, which takes its time and needs no lock. */
static dml_pooled *drop_to(size_t most)
{
    dml_pooled *dropped = NULL;
    bool whole_stays = is_pooled_whole() && cache.large->entry.capacity <= most;
    while (pooled_bytes() > most) {
        dml_pooled *entry = whole_stays ? NULL : (dml_pooled *)take_large();
        if (!entry) {
            entry = cache.pool.oldest;
            dml_pool_remove(&cache.pool, entry);
        }
        entry->older = dropped;
        dropped = entry;
    }
    return dropped;
}

static void unmap_all(dml_pooled *entry)
{
    while (entry) {
        dml_pooled *next = entry->older;
        dml_pages_unmap(entry, ((block *)entry)->mapped);
        entry = next;
    }
}

/* A pooled block that will do; one that is in the way of others is `dropped`. */
static block *find_pooled(const dml_pooled *wanted, dml_pooled **dropped)
{
    block *b = is_large(wanted) ? take_large() : (block *)cache.pool.top[wanted->size_class];
    if (b && !is_large(wanted)) {
        dml_pool_remove(&cache.pool, &b->entry);
    } else if (b && b->mapped - cache.page < wanted->capacity) {
        b->entry.older = NULL;
        *dropped = &b->entry;
        b = NULL;
    }
    return b;
}

/* --- what is larger than the pool ------------------------------------------------------------------------------- */

static void pool_large(block *b)
{
    dml_lock_acquire(&cache.lock);
    bool vacant = !cache.large, whole = vacant && b->uses >= MIN_USES && b->entry.capacity <= cache.largest_whole;
    size_t most =
        vacant ? (cache.limit - cache.pool.bytes) / 8 * 7 : 0; /* the rest is for smaller ones, which need not drop it */
    size_t room = most / DML_HUGE_PAGE * DML_HUGE_PAGE;
    dml_lock_release(&cache.lock);
    whole = whole && dml_pages_release(b, b->mapped, cache.page, true);
    bool pooled = whole || (room > 0 && dml_pages_release(b, b->mapped, cache.page + room, false));
    if (pooled) {
        b->entry.capacity = whole ? b->entry.capacity : room;
        b->pooled_at = dml_nanoseconds();
        dml_lock_acquire(&cache.lock);
        pooled = !cache.large && (whole || room <= cache.limit - cache.pool.bytes);
        if (pooled)
            cache.large = b;
        dml_lock_release(&cache.lock);
    }
    if (!pooled)
        dml_pages_unmap(b, b->mapped);
}

/* --- the interface ---------------------------------------------------------------------------------------------- */

#ifndef _WIN32
/* A child must not inherit the lock from a thread that it did not inherit. */
static void before_fork(void)
{
    dml_lock_acquire(&cache.lock);
}

static void after_fork(void)
{
    dml_lock_release(&cache.lock);
}
#endif

void dml_cache_open(size_t limit, size_t largest_whole)
{
    cache.limit = limit;
    cache.largest_whole = largest_whole;
    cache.page = dml_page_size();
#ifndef _WIN32
    pthread_atfork(before_fork, after_fork, after_fork); /* fails for lack of memory only; then a fork is a risk */
#endif
}

void *dml_cache_acquire(size_t bytes)
{
    dml_pooled wanted, *dropped = NULL;
    if (!measure(bytes, &wanted))
        return NULL;
    dml_lock_acquire(&cache.lock);
    block *b = find_pooled(&wanted, &dropped);
    cache.used += wanted.capacity;
    dml_lock_release(&cache.lock);
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
        return data_of(b);
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
    bool large = is_large(&b->entry);
    dml_lock_acquire(&cache.lock);
    cache.used -= b->entry.capacity;
    if (!large) {
        dropped = drop_to(limit_now() - b->entry.capacity);
        dml_pool_add(&cache.pool, &b->entry);
    }
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
    if (large)
        pool_large(b);
}

void *dml_cache_resize(void *data, size_t bytes)
{
    if (!data)
        return dml_cache_acquire(bytes); /* uncovered: NumPy resizes only what it has allocated */
    dml_pooled wanted;
    size_t capacity = block_of(data)->entry.capacity;
    if (measure(bytes, &wanted) && wanted.capacity == capacity)
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
    dml_lock_acquire(&cache.lock);
    dml_pooled *dropped = drop_to(0);
    dml_lock_release(&cache.lock);
    unmap_all(dropped);
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
