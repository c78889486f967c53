/* The allocations of a context: the live ones, and those that are pooled for reuse.
 *
 * Work is done in the order in which it was queued, so that a pooled allocation may be reused at once, while the device still
 * works on it for its last owner. It is destroyed only when the device is done with it.
 */
#ifndef DML_VK_ALLOCATION_POOL_H
#define DML_VK_ALLOCATION_POOL_H

#include "vk/buffer.h"
#include "vk/context.h"
#include "vk/memory_types.h"

struct dml_allocation {
    dml_buffer buffer; /* host memory: only `mapped` */
    dml_vulkan_handles handles;
    dml_context *context; /* NULL for host memory */
    uint32_t generation;  /* dml_fork_generation of the process that made it */
    atomic_int references;
    atomic_ullong timeline_value; /* of the last submission that uses it */
    atomic_bool exposed;
    void (*release)(void *);     /* of host memory */
    dml_allocation *prev, *next; /* in the list of live ones, or of pooled ones, the newest first */
};

void dml_pool_init(dml_context *context); /* after the traits are known */

/* The size that an allocation of `size` bytes is rounded up to, so that later ones fit. */
uint64_t dml_pool_size_class(const dml_context *context, uint64_t size);

/* A pooled allocation of exactly this size; NULL if there is none. */
dml_allocation *dml_pool_find(dml_context *context, uint64_t size);

/* Takes in a new allocation, or one that was found, with one reference. */
void dml_pool_add_live(dml_context *context, dml_allocation *allocation);

/* The last reference to a live allocation is gone. One that is REFUSED is the caller's to free: its buffer was destroyed, or
 * its device lost. */
typedef enum dml_pool_result { DML_POOL_REFUSED, DML_POOL_ADDED, DML_POOL_OVER_LIMIT } dml_pool_result;
dml_pool_result dml_pool_add(dml_context *context, dml_allocation *allocation);

/* Destroys pooled allocations, the oldest first, until the pool is within its limit, or `all` are gone; or until one that is
 * used after `completed`. */
void dml_pool_trim(dml_context *context, bool all, uint64_t completed);

/* At exit: all pooled ones, and the buffers of live ones, whose owners still free the struct. */
void dml_pool_destroy(dml_context *context);

/* Whether another library has the address of a live one. */
bool dml_pool_exposed(dml_context *context);

void dml_pool_count(dml_context *context, dml_memory_bytes *bytes); /* all but `available` */

#endif
