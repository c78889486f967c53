/* What the files of vk/ share. Nothing outside vk/ includes this.
 *
 * Who owns what: the instance owns the list of devices and their contexts (instance.c); a context owns its VkDevice, its
 * pipelines (kernels.c) and its idle submissions (submission.c); a submission owns a command buffer, a fence and the small host-visible
 * buffer that tables, lengths and counters go into, and the buffers of the pieces it is running.
 *
 * Locks: instance.c has one, over everything there and the making of contexts. A context has `lock`, over the lists of submissions and
 * allocations, the pipelines and the queue; it is held for microseconds, but before a fork, and where there is no memory
 * for a better way to wait, until the queue is idle. Whoever comes in has taken `gate`
 * before it, for an instant; a fork keeps both. Before it are taken, and kept for long, `making` by whoever makes a pipeline, and
 * `turn` by whoever waits for room in the queue.
 *
 * What is queued and not waited for has the timeline_value of its submission, and is done when the context's timeline semaphore has reached
 * it. Small submissions are held back until a large one comes or somebody waits, and are submitted together: to submit is to wake a thread
 * of the driver's.
 * A context is never freed: it is closed at exit, and arrays may outlive that.
 */
#ifndef DML_VK_CONTEXT_H
#define DML_VK_CONTEXT_H

#include <stdatomic.h>
#include <string.h>

#include "core/dispatch.h"
#include "core/status.h"
#include "vk/lock.h"
#include "vk/vk.h"

#define VK_NO_PROTOTYPES
#include <volk.h>

/* What a device offers, as plain data, so that a test can take things away. */
typedef struct dml_device_traits {
    dml_traits plan;
    bool cpu; /* its memory is the host's, and threads run the workgroups */
    bool host_import;
    uint64_t import_alignment;
    uint64_t max_buffer; /* bytes of a VkBuffer or an allocation */
    uint64_t heap;       /* bytes of the heap that allocations come from */
    bool budget;         /* VK_EXT_memory_budget */
    bool segmented;         /* a window may be bound as several segments */
    bool mapped;         /* allocations may be mapped where their memory allows it */
    uint64_t staging;    /* most bytes of either side of a staged chunk */
    dml_kernel forced;   /* by a test; else DML_KERNEL_COUNT */
    uint32_t queue_family;
} dml_device_traits;

typedef struct dml_pipeline {
    VkPipeline handle;
    dml_kernel kernel;
    int32_t constants[DML_CONSTANTS];
    uint64_t used; /* by the context's count of uses: the oldest goes first */
    int users;     /* submissions in flight */
} dml_pipeline;

enum { DML_MAX_PIPELINES = 256 };

typedef struct dml_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint64_t size;
    void *mapped; /* NULL where the host cannot see it */
    void *pages;  /* what was imported, if it is the buffer's own */
} dml_buffer;

/* Memory of a device, or the host's: then without a context. */
struct dml_allocation {
    dml_buffer buffer;
    dml_vulkan_handles handles;
    dml_context *context;
    uint32_t generation; /* that of the process which made it */
    int references;
    uint64_t timeline_value; /* of the last submission that uses it */
    bool exposed;
    void (*release)(void *);  /* of the host's */
    dml_allocation *prev, *next; /* in the context's list of live ones, or of those kept, the one kept last first */
};

typedef struct dml_submission dml_submission;

/* Buffers of a chunk's source and destination, which the host fills for the device, and the other way round. */
typedef struct dml_staging {
    dml_buffer side[2];
    struct dml_staging *next;
} dml_staging;

/* Calls of about one size, and the same ends: how many, and nanoseconds a byte of the fastest; [true] those that imported, [false] those that
 * staged. */
typedef struct dml_trials {
    int count[2];
    double best[2];
} dml_trials;

enum { DML_TRIAL_SIZES = 48 }; /* powers of two */

/* Beyond DML_KERNEL_COUNT: a shader that no plan asks for. */
enum { DML_SHADER_LENGTHS = DML_KERNEL_COUNT, DML_SHADER_COUNT };

enum {
    DML_MAX_QUEUED = 64, /* submissions; whoever wants another one waits until three quarters are done */
    DML_MAX_BATCHED = 16    /* of them not submitted yet */
};

typedef struct dml_modules {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkShaderModule shaders[DML_SHADER_COUNT];
} dml_modules;

struct dml_context {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    struct VolkDeviceTable vk;
    VkPhysicalDeviceMemoryProperties memory;
    dml_device_traits offered;
    dml_device_traits traits; /* what is offered, less what a test took away */
    dml_modules modules[2];   /* [true]: of windows that are bound as segments */
    VkSemaphore timeline;

    dml_lock gate, making, turn, lock;
    dml_submission *idle;
    dml_staging *staging; /* idle ones */
    dml_submission *queued_first, *queued_last;
    int queued, held;   /* those held back are at the list's end */
    uint64_t submitted; /* serials: of the last that was submitted; those held back have the next one; */
    uint64_t completed; /* of the last known to be done */
    int in_flight;      /* calls inside; */
    int outside;        /* of them those that leave the driver alone just now */
    bool closed;        /* no more calls: the process is ending */
    uint64_t abandoned; /* submissions that the device may use for ever */
    atomic_bool lost;
    dml_allocation *live, *kept, *kept_last;
    int kept_count;
    uint64_t used_bytes, kept_bytes, kept_bound;
    dml_trials trials[3][DML_TRIAL_SIZES]; /* from the host, to it, both */
    uint64_t uses;
    uint64_t counts[DML_SHADER_COUNT]; /* pieces run */
    int pipeline_count;
    dml_pipeline *pipelines[DML_MAX_PIPELINES];
};

/* What dml_vk_open was given. */
extern bool (*dml_interrupted)(void);

/* Around a call that makes something: a failed one may leave anything in its handle. */
#define DML_MADE(result, handle) dml_made((result), (handle), sizeof *(handle))
static inline VkResult dml_made(VkResult result, void *handle, size_t size)
{
    if (result)
        memset(handle, 0, size);
    return result;
}

/* results.c: VkResult -> status. `doing` is what failed, "vkQueueSubmit". Marks a lost device. */
dml_code dml_vk_fail(dml_context *context, VkResult result, const char *doing, dml_status *status);

enum { DML_MAX_DEVICES = 64 };

typedef struct dml_device {
    VkPhysicalDevice physical;
    dml_device_info info;
    uint8_t uuid[VK_UUID_SIZE];
} dml_device;

typedef struct dml_device_list {
    VkInstance instance;
    int count;
    dml_device devices[DML_MAX_DEVICES];
} dml_device_list;

/* listing.c: fills in an empty list, the better devices first; `status` says why it stays empty, without an instance. */
void dml_devices_list(dml_device_list *list, dml_status *status);

/* device.c: what a physical device is, and why it will not do (an empty reason if it will); and the context of one that does. */
void dml_device_inspect(VkPhysicalDevice physical, dml_device *device);
void dml_context_override(dml_context *context);
bool dml_device_override(const char *name, int64_t value);
dml_code dml_context_create(VkPhysicalDevice physical, dml_context **context, dml_status *status);
void dml_context_destroy(dml_context *context); /* idle; NULL is fine */
/* The same, but that threads and arrays may still look at it, and are refused. */
void dml_context_close(dml_context *context);

/* How many forks this process is away from the one that loaded dmlops. */
extern uint32_t dml_generation;

/* child_exit.c. Keeps a forked child from the exit handlers that drivers have registered so far. */
void dml_child_exit_watch(void);

/* gate.c. Around all that uses a context's handles: it is not closed in between, and the process does not fork. Fails once it is
 * closed, or the device is lost. */
dml_code dml_context_enter(dml_context *context, dml_status *status);
void dml_context_leave(dml_context *context);

/* In between: does something that may take long, or fork. False in the child of such a fork, where the context is no more. */
bool dml_context_outside(dml_context *context, bool (*work)(void), bool *result);

/* Likewise: takes a lock that another thread inside may keep while it forks. */
void dml_context_acquire_lock(dml_context *context, dml_lock *lock);

/* Around a fork: nobody is inside, and nothing is under way. */
void dml_context_quiesce(dml_context *context);
void dml_context_resume(dml_context *context);

/* Lets nobody in from now on. Whether all came out, for which it waits, though not for ever. */
bool dml_context_drain(dml_context *context);

/* memory.c. What every buffer may be used for. */
#define DML_BUFFER_USAGE                                                                                                       \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |              \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

typedef enum dml_memory_kind { DML_MEMORY_HOST, DML_MEMORY_HOST_CACHED, DML_MEMORY_DEVICE } dml_memory_kind;

dml_code dml_buffer_create(dml_context *context, uint64_t size, dml_memory_kind kind, dml_buffer *buffer, dml_status *status);
/* The pages of [data, data + size) without a copy; false, and nothing to destroy, where the device will not. The bytes start at
 * `*offset` of the buffer. */
bool dml_buffer_import(dml_context *context, const void *data, uint64_t size, dml_buffer *buffer, uint64_t *offset);
void dml_buffer_destroy(dml_context *context, dml_buffer *buffer);

/* What a shader is bound to: source, destination, table, lengths and counters of shares. Four are allocation buffers: every device has as
 * many for a stage, but some no more; those with more have DML_MAX_SEGMENTS of the first two, for windows bound as segments. */
enum { DML_BINDINGS = 5, DML_MAX_STORAGE_BUFFERS = 2 * DML_MAX_SEGMENTS + 2 };
static inline uint32_t dml_storage_buffers(const dml_context *context)
{
    return context->offered.segmented ? DML_MAX_STORAGE_BUFFERS : 4;
}
static inline const dml_modules *dml_modules_for(const dml_context *context, const dml_dispatch *dispatch)
{
    return &context->modules[dispatch->constants[DML_SEGMENT_BITS] > 0];
}
extern const VkDescriptorType dml_binding_types[DML_BINDINGS];

/* kernels.c: the pipeline of a dispatch, made if need be, for which not all have the time; give it back when the submission is done. */
dml_code dml_pipeline_acquire(dml_context *context, const dml_dispatch *dispatch, bool wait, dml_pipeline **pipeline,
                           dml_status *status);
void dml_pipeline_release(dml_context *context, dml_pipeline *pipeline);
dml_code dml_kernels_init(dml_context *context, dml_status *status);
void dml_kernels_deinit(dml_context *context);

/* The type of memory that allocations are of, among `types`; -1 if there is none. */
int64_t dml_allocation_memory_type(const dml_context *context, uint32_t types, bool *mapped);

/* submission.c: at exit, all there are. */
void dml_submissions_destroy(dml_context *context);

/* staging.c: all that are idle. */
void dml_stagings_destroy(dml_context *context);

/* queue.c: those that are done become idle; the same, and what is held back is submitted; waits until the submission of that timeline_value is done, or
 * all. */
void dml_submissions_retire(dml_context *context);
void dml_submissions_flush_batch(dml_context *context);
dml_code dml_submissions_wait(dml_context *context, uint64_t timeline_value, dml_status *status);
/* Likewise with `turn`, if `in_turn` says so, which is given back while a signal's handler runs; it says afterwards whether it was taken
 * again. NULL is fine. */
dml_code dml_submissions_wait_throttled(dml_context *context, uint64_t timeline_value, bool *in_turn, dml_status *status);

/* allocation.c: what is kept, and at exit, all; whether somebody has the address of a live one. */
void dml_allocations_init(dml_context *context);
void dml_allocations_trim(dml_context *context, uint64_t bound);
void dml_allocations_destroy(dml_context *context);
bool dml_allocations_exposed(const dml_context *context);
uint64_t dml_allocation_last_use(dml_context *context, const dml_allocation *allocation); /* the timeline_value */

#endif
