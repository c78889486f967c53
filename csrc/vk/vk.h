/* What the Python edge sees of Vulkan: devices, contexts, and running a plan on one.
 *
 * Every function may be called from any thread, without the GIL. Nothing touches Vulkan before the first call.
 * Handles made before a fork are never used after it: the child starts anew. A fork waits until no thread is inside.
 */
#ifndef DML_VK_VK_H
#define DML_VK_VK_H

#include "core/dispatch.h"
#include "core/status.h"

typedef struct dml_device_info {
    char name[256];
    char driver[256]; /* name and version of the driver, "llvmpipe Mesa 25.0.7 (LLVM 19)" */
    char reason[256]; /* why it is not usable; else empty */
    const char *type; /* "discrete", "integrated", "virtual", "cpu" or "other" */
    uint32_t api_major, api_minor, api_patch;
    uint64_t memory; /* bytes of the largest device-local heap */
    bool usable;
} dml_device_info;

/* One device's context: kept for the process, made on first use, never handed out half-made. */
typedef struct dml_context dml_context;

/* How many Vulkan devices there are, best first, unusable ones last, each once. Creates the instance. Where there is no
 * loader or no driver the count is 0 and `status` (may be NULL) says what to install; that is no error. */
int dml_vk_device_count(dml_status *status);
const dml_device_info *dml_vk_device(int index);

/* The context of device `index`, created if need be. */
dml_code dml_vk_context(int index, dml_context **context, dml_status *status);

/* Memory that arrays share until the last of them is gone: a device's, or the host's. References are counted, and may be given
 * back on any thread, after dml_vk_shutdown, and in the child of a fork too, where a device's memory is then just forgotten.
 * What is queued on a device's memory goes on undisturbed after the last reference: it is used again, or freed, once that is
 * done. */
typedef struct dml_allocation dml_allocation;

/* `size` bytes of a device's memory, undefined. It may be what another allocation has left behind, to bound the cost of making; where
 * there is nothing of the kind, and it is not to `wait` for the driver to make one, it fails with DML_WOULD_WAIT. */
dml_code dml_allocation_create(dml_context *context, uint64_t size, bool wait, dml_allocation **allocation, dml_status *status);

/* Host memory, which `release` frees in the end. NULL without memory; then `data` is the caller's still. */
dml_allocation *dml_allocation_wrap(void *data, void (*release)(void *data));

void dml_allocation_retain(dml_allocation *allocation);
void dml_allocation_release(dml_allocation *allocation); /* NULL is fine */

/* The context of a device's allocation. Fails for one that can be used no more: its device was lost, or the process that made it
 * has forked this one, or is about to exit. */
dml_code dml_allocation_context(const dml_allocation *allocation, dml_context **context, dml_status *status);

/* Where the host sees the first byte; NULL if it does not. Look, and touch, only after dml_allocation_wait. */
void *dml_allocation_data(const dml_allocation *allocation);

/* Somebody else has the address from now on: dml_vk_shutdown leaves the memory alone while there are references. */
void dml_allocation_expose(dml_allocation *allocation);

/* What DLPack's `data` points to where the device is Vulkan's: handles of a buffer and what goes with it, as integers. */
typedef struct dml_vulkan_handles {
    uint64_t buffer; /* VkBuffer */
    uint64_t memory; /* VkDeviceMemory, all of which is the buffer's */
    uint64_t device; /* VkDevice */
    uint64_t size;   /* bytes of the buffer */
} dml_vulkan_handles;
const dml_vulkan_handles *dml_allocation_handles(const dml_allocation *allocation);

/* Waits until all is done that is queued on a allocation, or on a context. */
dml_code dml_allocation_wait(const dml_allocation *allocation, dml_status *status);
dml_code dml_vk_wait(dml_context *context, dml_status *status);

/* Waits for everything on every device that was used; the status is that of the last to fail. */
dml_code dml_vk_wait_all(dml_status *status);

/* Gives back to the devices all that is kept for the next allocations, which waits for what is queued; fails as dml_vk_wait_all does. */
dml_code dml_vk_empty_pools(dml_status *status);

typedef struct dml_memory_bytes {
    uint64_t used;      /* in allocations */
    uint64_t pooled;    /* kept for the next ones */
    uint64_t bound;     /* on `pooled` */
    uint64_t available; /* that may be had beyond these */
} dml_memory_bytes;
dml_code dml_vk_memory(dml_context *context, dml_memory_bytes *bytes, dml_status *status);

/* One side of a plan: what its offsets count from. */
typedef struct dml_operand {
    dml_allocation *allocation; /* of a device; borrowed. NULL: host memory */
    void *data;           /* host memory, */
    bool read_only;       /* maybe of pages that nobody may write to */
    uint64_t offset;      /* bytes in the allocation */
} dml_operand;

/* Runs a plan, simplified or not. Between two allocations it is queued, behind all that was queued before; else it is waited for.
 * `lengths` is a allocation with what plan->lengths is otherwise, or NULL. The places must not overlap. On failure the destination
 * may be partly written; but where not even the queueing may `wait`, for the device, a compiler or memory, and would have to, it
 * fails with DML_WOULD_WAIT before anything is done. */
dml_code dml_vk_run(dml_context *context, const dml_plan *plan, dml_operand src, dml_operand dst, dml_allocation *lengths, bool wait,
                    dml_status *status);

/* Queues the making of lengths from integers: of each of the `count` entries, 8 bytes apart, the first `item` bytes become an
 * int64 in [0, extent]; what is negative becomes 0. */
dml_code dml_vk_clamp_lengths(dml_context *context, dml_allocation *lengths, int64_t count, int item, bool is_signed,
                              int64_t extent, dml_status *status);

/* Before all others, and before there are threads that fork: touches no Vulkan. `interrupted` is asked every now and then
 * during a call, on its thread, whether to stop; the call then ends with DML_INTERRUPTED, but not before the device is idle. */
void dml_vk_open(bool (*interrupted)(void));

/* What was given up because a device may still be using it: submissions with all that they hold, and contexts of lost devices. */
uint64_t dml_vk_abandoned(void);

/* For tests: makes every device, from now on, look as if it offered less. Values above what a device has, or -1, leave it as it is.
 * `name` is one of the traits listed in device.c, or "kernel", which picks a kernel wherever it can do the work.
 * False for a name that is none. */
bool dml_vk_override(const char *name, int64_t value);

/* What kernel choice knows of the device. */
const dml_traits *dml_vk_traits(const dml_context *context);

/* How many pieces each kernel has run on a context: copy, rows, words, elements. */
void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT]);

/* Submits one work group with nothing to do, and waits: what any call costs at least. For the benchmark. */
dml_code dml_vk_run_nothing(dml_context *context, dml_status *status);

/* Waits for calls in flight, but not for ever, and destroys all contexts and the instance. Called once, at exit; what is
 * asked for after that fails with DML_EXITING. */
void dml_vk_shutdown(void);

void dml_vk_sleep(int milliseconds);

/* Name of a VkResult, "VK_ERROR_DEVICE_LOST"; NULL for 0. */
const char *dml_vk_result_name(int result);

#endif
