/* The device memory of a context: blocks that allocations use, and blocks that are pooled for reuse.
 *
 * A block is one VkBuffer on memory of its own. A large allocation has a block to itself. Small ones of one size share slabs: a
 * device promises only 4,096 pieces of memory, and each that the host sees takes a mapping of the process. The first slab of a
 * size is small; each later one doubles what those of its size hold.
 *
 * Work is done in the order in which it was queued, so that freed memory may be reused at once, while the device still works on
 * it for its last owner. A block is destroyed only when all of it is free and the device is done with it.
 */
#ifndef DML_VK_ALLOCATION_POOL_H
#define DML_VK_ALLOCATION_POOL_H

#include "base/pool.h"
#include "vk/buffer.h"
#include "vk/context.h"
#include "vk/cuda.h"
#include "vk/vulkan_allocation.h"

typedef struct dml_block {
    dml_pooled entry; /* the first member; capacity: bytes of the buffer */
    dml_pool *list;   /* that it is in; or NULL */
    dml_context *context;
    uint32_t generation; /* dml_fork_generation of the process that made it */
    dml_buffer buffer;
    dml_vulkan_handles handles;
    dml_cuda_mapping mapping;
    uint64_t timeline_value; /* of the last submission that used what is free now */
    size_t each;             /* bytes of an allocation, */
    int room;                /* how many fit, */
    int live;                /* how many are in use, */
    int made;                /* and how many structs there are, with those in `unused` */
    int classes[2];          /* of a new block's bytes, and [true] of an allocation's */
    uint64_t divided;        /* timeline value of the last submission before it had allocations of this size */
    bool lent;               /* CUDA may be working on what is free now */
    dml_allocation *unused, *last_unused;
} dml_block;

/* Where an allocation lies. */
typedef struct dml_place {
    dml_allocation allocation; /* the first member */
    dml_block *block;
    uint64_t offset;              /* of the first byte in the block's buffer */
    atomic_ullong timeline_value; /* of the last submission that uses it, */
    uint64_t written;             /* and of the last that writes to it */
    dml_loans loans;
    atomic_bool exposed;
    dml_allocation *next; /* in `unused` of its block */
} dml_place;

/* After the traits are known; and again, for the limit may change. */
void dml_allocations_init(dml_context *context);

/* An allocation of at least `size` bytes, with one reference. NULL where that takes a new block: `*wanted`, which lacks its
 * buffer. */
dml_allocation *dml_allocations_find(dml_context *context, size_t size, dml_block *wanted);

/* Takes in a new block, and gives the first allocation of it. NULL without memory; then the block is pooled. */
dml_allocation *dml_allocations_add(dml_block *block);

/* After the last reference is gone. True: the pool is over its limit now. */
bool dml_allocations_put_back(dml_allocation *allocation);

/* Destroys pooled blocks, the oldest first, until the pool is within its limit and has none that was pooled before a time of
 * dml_nanoseconds; or until one that is used after `completed`. Without `wait`, which needs that the GIL is released, also
 * until one that CUDA has been shown. */
void dml_allocations_trim(dml_context *context, int64_t before, bool wait, uint64_t completed);

/* At exit: all pooled blocks, and the buffers of others, whose structs go with their last allocation. */
void dml_allocations_destroy(dml_context *context);

bool dml_allocations_exposed(dml_context *context); /* whether one is, by dml_allocation_expose */

void dml_allocations_count(dml_context *context, dml_memory_bytes *bytes); /* all but `available` */

/* --- the places of a block, with the lock held ----------------------------------------------------------------------- */

/* One that is not in use; or a new one, for which the block has room: NULL without memory. Memory that the host does not see is
 * handed out in turn: on a GPU, what follows on work with the same memory waits for it. Else what was used last is still in a
 * cache. */
dml_allocation *dml_place_take(dml_block *block);

/* Keeps one that is not in use any more; where they are handed out in turn, behind the others. */
void dml_place_put(dml_block *block, dml_allocation *allocation);

/* Frees those that are kept. */
void dml_places_free(dml_block *block);

#endif
