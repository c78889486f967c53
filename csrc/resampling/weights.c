#include "resampling/weights.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "resampling/weight_rules.h"

enum { CACHED_AXES = 256, CACHED_BYTES = 4 << 20 };

struct dml_weights_private {
    dml_weights_key key;
    int64_t bytes;
    int64_t references; /* the cache's is one */
    void *packed[DML_WEIGHTS_SLOTS];
};

static struct {
    dml_lock lock; /* of all below, and of what is private in weights */
    dml_weights *axes[CACHED_AXES];
    uint64_t hashes[CACHED_AXES], used[CACHED_AXES]; /* of each axis: of its key, and when it was asked for */
    int count;
    int64_t bytes;
    uint64_t clock;
} cache = {.lock = DML_LOCK_INIT};

void dml_weights_open(void)
{
    dml_fork_hold(&cache.lock);
}

static void destroy(dml_weights *weights)
{
    for (int slot = 0; weights->cached && slot < DML_WEIGHTS_SLOTS; slot++)
        free(weights->cached->packed[slot]);
    free(weights->cached);
    free(weights->rows);
    free(weights);
}

/* --- making ------------------------------------------------------------------------------------------------------------- */

static dml_weights *make(const dml_weights_key *key)
{
    dml_weights *made = dml_weights_make(key);
    if (!made)
        return NULL;
    made->cached = calloc(1, sizeof *made->cached);
    if (!made->cached) {
        destroy(made); /* uncovered: no memory for some bytes */
        return NULL;   /* uncovered: likewise */
    }
    *made->cached = (dml_weights_private){.key = *key, .bytes = key->outputs * dml_weights_item(made), .references = 1};
    return made;
}

/* --- the cache ---------------------------------------------------------------------------------------------------------- */

static bool is_same(const dml_weights_key *a, const dml_weights_key *b)
{
    return a->rule == b->rule && a->filter == b->filter && a->inputs == b->inputs && a->outputs == b->outputs &&
           a->from == b->from && a->to == b->to;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t hash_of(const dml_weights_key *key)
{
    uint64_t from, to;
    memcpy(&from, &key->from, sizeof from);
    memcpy(&to, &key->to, sizeof to);
    const uint64_t kind = (uint64_t)key->rule << 32 | (uint32_t)key->filter;
    return mixed(mixed(mixed(mixed(mixed(0, kind), (uint64_t)key->inputs), (uint64_t)key->outputs), from), to);
}

/* The lock is held. */
static dml_weights *find(const dml_weights_key *key, uint64_t hash)
{
    for (int k = 0; k < cache.count; k++)
        if (cache.hashes[k] == hash && is_same(&cache.axes[k]->cached->key, key)) {
            cache.used[k] = ++cache.clock;
            cache.axes[k]->cached->references++;
            return cache.axes[k];
        }
    return NULL;
}

/* The same: takes out the axis that was not asked for for longest. */
static dml_weights *evict(void)
{
    int oldest = 0;
    for (int k = 1; k < cache.count; k++)
        if (cache.used[k] < cache.used[oldest])
            oldest = k;
    dml_weights *weights = cache.axes[oldest];
    cache.count--;
    cache.axes[oldest] = cache.axes[cache.count];
    cache.hashes[oldest] = cache.hashes[cache.count];
    cache.used[oldest] = cache.used[cache.count];
    cache.bytes -= weights->cached->bytes;
    return weights;
}

/* Puts new weights in, which another thread may have made too; `dropped` has room for all that leave. */
static int insert(dml_weights *weights, uint64_t hash, dml_weights **dropped)
{
    const int64_t bytes = weights->cached->bytes;
    int count = 0;
    dml_lock_acquire(&cache.lock);
    if (bytes <= CACHED_BYTES) {
        while (cache.count == CACHED_AXES || cache.bytes + bytes > CACHED_BYTES)
            dropped[count++] = evict();
        cache.hashes[cache.count] = hash;
        cache.used[cache.count] = ++cache.clock;
        cache.axes[cache.count++] = weights;
        cache.bytes += bytes;
        weights->cached->references++;
    }
    dml_lock_release(&cache.lock);
    return count;
}

dml_code dml_weights_of(const dml_weights_key *key, dml_weights **weights, dml_status *status)
{
    dml_weights *dropped[CACHED_AXES];
    const uint64_t hash = hash_of(key);
    dml_lock_acquire(&cache.lock);
    *weights = find(key, hash);
    dml_lock_release(&cache.lock);
    if (*weights)
        return DML_OK;
    *weights = make(key);
    if (!*weights)
        return dml_fail(status, DML_NO_MEMORY, "no memory for the weights of %lld outputs of %lld inputs",
                        (long long)key->outputs, (long long)key->inputs);
    for (int count = insert(*weights, hash, dropped); count > 0; count--)
        dml_weights_release(dropped[count - 1]);
    return DML_OK;
}

void dml_weights_release(dml_weights *weights)
{
    if (!weights)
        return;
    dml_lock_acquire(&cache.lock);
    const bool last = --weights->cached->references == 0;
    dml_lock_release(&cache.lock);
    if (last)
        destroy(weights);
}

const void *dml_weights_packed(dml_weights *weights, int slot, int64_t items, dml_weights_pack *pack)
{
    dml_weights_private *cached = weights->cached;
    dml_lock_acquire(&cache.lock);
    void *packed = cached->packed[slot];
    dml_lock_release(&cache.lock);
    if (packed)
        return packed;
    void *made = pack(weights, items);
    dml_lock_acquire(&cache.lock);
    packed = cached->packed[slot] ? cached->packed[slot] : made;
    cached->packed[slot] = packed;
    dml_lock_release(&cache.lock);
    if (packed != made)
        free(made);
    return packed;
}
