/* A context: one VkDevice, and the state of all files that work on it.
 *
 * Locks. `lock` guards all state below it that has no other lock. It is held for microseconds, except across a fork, and where
 * the driver has no memory for a better wait, during vkQueueWaitIdle. `kernels.pipeline_lock` guards the list of pipelines that
 * are being compiled, and is not held meanwhile; `throttle_lock` is held by the one thread that waits for room in the queue.
 * Both are acquired before `lock`, and after dml_about_to_block. No other lock is acquired under `cuda_lock`.
 *
 * Each struct below belongs to the file of its name, and only that file names it.
 */
#ifndef DML_VK_CONTEXT_H
#define DML_VK_CONTEXT_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/pool.h"
#include "base/status.h"
#include "vk/cuda_driver.h"
#include "vk/traits.h"

enum { DML_AUTOTUNE_SIZES = 48 };                 /* powers of two */
enum { DML_VERDICT_SETS = 64, DML_VERDICTS = 8 }; /* of a set, which a key says */

typedef struct dml_modules {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkShaderModule shaders[DML_KERNEL_COUNT];
} dml_modules;

/* Calls of about one size between the same kinds of memory; [true] by import, [false] by staging. */
typedef struct dml_timing {
    int count[2];
    double best[2]; /* nanoseconds per byte of the fastest */
} dml_timing;

/* Whether the device makes the right bits of what has this key. */
typedef struct dml_verdict {
    uint64_t key;
    bool same;
} dml_verdict;

typedef struct dml_context {
    /* Fixed when the context is made. */
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue device_queue;
    VkSemaphore timeline;
    dml_device_functions vk;
    dml_instance_functions instance_vk; /* of its physical device's instance */
    VkPhysicalDeviceMemoryProperties memory;
    dml_device_traits offered;
    dml_device_traits traits; /* `offered`, less what a test took away */

    atomic_bool lost;    /* it accepts no more calls, and its memory is never freed */
    atomic_bool limited; /* by cpu_needs.c: the process' memory is */
    dml_lock throttle_lock;
    dml_lock cuda_lock; /* of `cuda`, and held while CUDA is shown memory */
    dml_lock lock;

    struct {
        dml_cond changed; /* one of the counts fell, or `forking` ended */
        int in_flight;    /* calls that have entered */
        int outside;      /* of these, those that are not in the driver now */
        bool forking;     /* nobody may enter */
        bool closed;      /* nobody may enter any more: the process is exiting */
    } quiesce;

    struct {
        dml_modules modules[2]; /* [true]: for ranges that are bound as segments */
        VkPipelineCache cache;
        dml_lock pipeline_lock; /* of these two */
        dml_cond compiled;
        struct dml_compiling *compiling;
        struct dml_pipeline *newest; /* by their last use */
        int count;
    } kernels;

    struct {
        struct dml_submission *idle;
        struct dml_staging *idle_staging;
    } submission;

    struct {
        struct dml_submission *first, *last; /* queued and not retired; the batched ones come last */
        int count;
        uint64_t queued;                   /* timeline value of the last of these; each has the next one, */
        uint64_t submitted;                /* and that of the last one submitted: the batched ones come after it */
        uint64_t in_flight;                /* bytes that those submitted and not retired write, */
        uint64_t batched_bytes;            /* and those batched */
        atomic_ullong completed;           /* the largest timeline value seen as done */
        atomic_ullong abandoned;           /* submissions that the device may use for ever */
        uint64_t counts[DML_KERNEL_COUNT]; /* pieces run */
    } queue;

    struct {
        bool started;
        dml_cond woken;
        atomic_bool awake; /* it looks at the queue each millisecond, or is no more */
    } flusher;

    struct {
        VkCommandPool pool;
        VkCommandBuffer commands; /* a barrier */
        uint64_t unordered;       /* what is queued next comes after all work below this timeline value */
    } barriers;

    struct {
        dml_pool lists[3];          /* of blocks: pooled, in use with room for more, and full */
        int live[DML_SIZE_CLASSES]; /* allocations of each class */
        uint64_t used_bytes;        /* of these */
        uint64_t limit;             /* on the bytes of pooled blocks */
        uint64_t largest_shared;    /* bytes of an allocation that shares a slab */
        atomic_int exposed;         /* allocations */
    } allocation_pool;

    struct {
        dml_verdict kept[DML_VERDICT_SETS][DML_VERDICTS]; /* in a set, the newest in place of the oldest */
        uint64_t counts[DML_VERDICT_SETS];                /* of all that there have been */
    } verdicts;

    struct {
        bool asked;         /* whether there is such a device, */
        dml_status why_not; /* and why there is none; else its code is DML_OK */
        int ordinal, device;
        void *primary;  /* CUDA's context of the device; NULL until memory is shared */
        void *timeline; /* the timeline semaphore as CUDA has it; NULL until a stream waits for it */
        dml_cuda_functions functions;
    } cuda;

    struct {
        dml_timing timings[3][DML_AUTOTUNE_SIZES]; /* from the host, to the host, both */
    } run;
} dml_context;

/* Calls vkCreate<kind> of a context's device. */
#define DML_CREATE(context, kind, info, handle)                                                                                \
    DML_MADE((context)->vk.vkCreate##kind((context)->device, info, NULL, handle), handle)

dml_code dml_context_create(const dml_device *device, dml_context **context, dml_status *status);

/* Destroys all handles of a context whose device is idle. The struct stays: other threads, and arrays, may still look at it,
 * and find it closed. */
void dml_context_close(dml_context *context);

#endif
