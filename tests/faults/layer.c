/* The layer: its place in the chain, and the calls that can fail. */
#include "layer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chain.h"

/* --- the calls that can fail ------------------------------------------------------------------------------------- */

instance_table next_instance;
static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;

/* All functions of a device that this layer has a part in. */
#define DEVICE_FUNCTIONS                                                                                               \
    X(vkDestroyDevice) X(vkCreateBuffer) X(vkDestroyBuffer) X(vkAllocateMemory) X(vkFreeMemory)                        \
    X(vkBindBufferMemory) X(vkMapMemory) X(vkFlushMappedMemoryRanges) X(vkInvalidateMappedMemoryRanges)                \
    X(vkGetBufferMemoryRequirements) X(vkGetMemoryHostPointerPropertiesEXT) X(vkCreateShaderModule)                    \
    X(vkDestroyShaderModule) X(vkCreateDescriptorSetLayout) X(vkDestroyDescriptorSetLayout)                            \
    X(vkCreatePipelineLayout) X(vkDestroyPipelineLayout) X(vkCreatePipelineCache) X(vkDestroyPipelineCache)            \
    X(vkCreateComputePipelines) X(vkDestroyPipeline)                                                                   \
    X(vkCreateCommandPool) X(vkDestroyCommandPool) X(vkResetCommandPool) X(vkAllocateCommandBuffers)                   \
    X(vkBeginCommandBuffer) X(vkEndCommandBuffer) X(vkCreateFence) X(vkDestroyFence) X(vkResetFences)                  \
    X(vkGetFenceStatus) X(vkWaitForFences) X(vkCreateSemaphore) X(vkDestroySemaphore) X(vkWaitSemaphores)              \
    X(vkGetSemaphoreCounterValue) X(vkCreateDescriptorPool) X(vkDestroyDescriptorPool)                                 \
    X(vkAllocateDescriptorSets) X(vkUpdateDescriptorSets) X(vkCmdDispatch) X(vkQueueSubmit) X(vkQueueWaitIdle)         \
    X(vkCmdBindPipeline) X(vkCmdBindDescriptorSets) X(vkCmdCopyBuffer) X(vkCmdPipelineBarrier) X(vkGetDeviceQueue)     \
    X(vkDeviceWaitIdle) X(vkGetMemoryFdKHR)

/* Of the device made last: a context that was lost is never used again but for waiting. */
static struct {
#define X(name) PFN_##name name;
    DEVICE_FUNCTIONS
#undef X
} next;

static VkDevice newest;
static long submitted; /* how often, by anybody */

/* A child would inherit, taken for ever, whatever locks a call holds that another thread is in just then. The layer's own
 * handler is registered before dmlops' where it is loaded first, and so looks last. "dwell" makes such calls take so many
 * microseconds. */
static atomic_int inside;

static int come_in(void)
{
    inside++;
    if (odd("dwell", 0))
        nanosleep(&(struct timespec){.tv_nsec = (long)odd("dwell", 0) * 1000}, NULL);
    return 0;
}

static void go_out(int *visit)
{
    (void)visit;
    inside--;
}

#define VISIT __attribute__((cleanup(go_out), unused)) int visit = come_in()

static void before_fork(void)
{
    if (inside > 0)
        violation("forked while %d calls were in the driver", inside);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, NULL);
}

#define LAYER(name) static VKAPI_ATTR VkResult VKAPI_CALL layer_##name
#define LAYER_VOID(name) static VKAPI_ATTR void VKAPI_CALL layer_##name

/* A call that does something: the failure may come instead of it, or after it was done. */
#define DOES(name, parameters, arguments)                                                                              \
    LAYER(name) parameters                                                                                             \
    {                                                                                                                  \
        VISIT;                                                                                                         \
        fault_mode mode = fault_fires("vulkan", #name, true);                                                          \
        VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.name arguments;                                \
        return mode == FAULT_AFTER ? fault_result() : result;                                                          \
    }

/* A call that makes something: only instead of it. A failed one may leave anything in the handle. The driver gets `given`. */
#define MAKES_OF(name, Info, Handle, given)                                                                                      \
    LAYER(name)(VkDevice device, const Info *info, const VkAllocationCallbacks *allocator, Handle *handle)             \
    {                                                                                                                  \
        VISIT;                                                                                                         \
        if (fault_fires("vulkan", #name, false)) {                                                                     \
            memset(handle, 0xee, sizeof *handle);                                                                      \
            return fault_result();                                                                                     \
        }                                                                                                              \
        const Info real = given;                                                                                       \
        VkResult result = next.name(device, &real, allocator, handle);                                                 \
        if (result == VK_SUCCESS)                                                                                      \
            live_add(#name, 1);                                                                                        \
        return result;                                                                                                 \
    }

#define MAKES(name, Info, Handle) MAKES_OF(name, Info, Handle, *info)

#define DESTROYS(name, maker, Handle)                                                                                  \
    LAYER_VOID(name)(VkDevice device, Handle handle, const VkAllocationCallbacks *allocator)                           \
    {                                                                                                                  \
        VISIT;                                                                                                         \
        if (handle)                                                                                                    \
            live_add(#maker, -1);                                                                                      \
        next.name(device, handle, allocator);                                                                          \
    }

/* The same, of a device that once lost says so every time. Waiting for it still ends what it has not really lost. */
#define WAITS(name, parameters, arguments)                                                                             \
    LAYER(name) parameters                                                                                             \
    {                                                                                                                  \
        if (fault_device_lost()) {                                                                                     \
            next.name arguments;                                                                                       \
            return VK_ERROR_DEVICE_LOST;                                                                               \
        }                                                                                                              \
        fault_mode mode = fault_fires("vulkan", #name, true);                                                          \
        VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.name arguments;                                \
        return mode == FAULT_AFTER ? fault_result() : result;                                                          \
    }

MAKES(vkCreateBuffer, VkBufferCreateInfo, VkBuffer)
DESTROYS(vkDestroyBuffer, vkCreateBuffer, VkBuffer)
MAKES(vkCreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
DESTROYS(vkDestroyShaderModule, vkCreateShaderModule, VkShaderModule)
MAKES(vkCreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
DESTROYS(vkDestroyDescriptorSetLayout, vkCreateDescriptorSetLayout, VkDescriptorSetLayout)
MAKES(vkCreatePipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache)
DESTROYS(vkDestroyPipelineCache, vkCreatePipelineCache, VkPipelineCache)
MAKES(vkCreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
DESTROYS(vkDestroyPipelineLayout, vkCreatePipelineLayout, VkPipelineLayout)
DESTROYS(vkDestroyCommandPool, vkCreateCommandPool, VkCommandPool)
MAKES(vkCreateFence, VkFenceCreateInfo, VkFence)
DESTROYS(vkDestroyFence, vkCreateFence, VkFence)
MAKES_OF(vkCreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore, semaphores_plain(info))
DESTROYS(vkDestroySemaphore, vkCreateSemaphore, VkSemaphore)
MAKES(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
DESTROYS(vkDestroyDescriptorPool, vkCreateDescriptorPool, VkDescriptorPool)
DESTROYS(vkDestroyPipeline, vkCreateComputePipelines, VkPipeline)

DOES(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o))
DOES(vkResetCommandPool, (VkDevice d, VkCommandPool p, VkCommandPoolResetFlags f), (d, p, f))
DOES(vkEndCommandBuffer, (VkCommandBuffer c), (c))
DOES(vkResetFences, (VkDevice d, uint32_t n, const VkFence *f), (d, n, f))
WAITS(vkGetFenceStatus, (VkDevice d, VkFence f), (d, f))
WAITS(vkQueueWaitIdle, (VkQueue q), (q))
WAITS(vkDeviceWaitIdle, (VkDevice d), (d))

static struct timespec submitted_at;

static long milliseconds_since_submission(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - submitted_at.tv_sec) * 1000 + (now.tv_nsec - submitted_at.tv_nsec) / 1000000;
}

static atomic_long slow = -1; /* what a test has said last; -1: nothing */

EXPORT void faults_slow(long milliseconds)
{
    slow = milliseconds;
}

/* A slow device, "slow" being milliseconds that a submission takes at least: waits as long as it is told to. */
static bool finished(uint64_t timeout)
{
    long least = slow < 0 ? (long)odd("slow", 0) : slow;
    long left = least - milliseconds_since_submission();
    long wait = (uint64_t)left < timeout / 1000000 ? left : (long)(timeout / 1000000);
    if (left > 0)
        nanosleep(&(struct timespec){wait / 1000, wait % 1000 * 1000000}, NULL);
    return left <= wait;
}

/* How many barriers each command buffer has that was begun. */
static struct {
    VkCommandBuffer commands;
    int barriers;
} recorded[1024];
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;

/* Of a command buffer: one more, or none. Returns how many it has. */
static int count_barriers(VkCommandBuffer commands, bool none, int more)
{
    pthread_mutex_lock(&recording);
    int i = 0;
    while (i < 1023 && recorded[i].commands && recorded[i].commands != commands)
        i++;
    recorded[i].commands = commands;
    int barriers = recorded[i].barriers = none ? 0 : recorded[i].barriers + more;
    pthread_mutex_unlock(&recording);
    return barriers;
}

/* The values of the timeline that the last submission signals, and the one before. */
static uint64_t signalled, signalled_before;

LAYER(vkQueueSubmit)(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    if (fault_device_lost())
        return VK_ERROR_DEVICE_LOST;
    /* Out of memory means that nothing was submitted, says the specification. */
    fault_mode mode = fault_fires("vulkan", "vkQueueSubmit", fault_result() == VK_ERROR_DEVICE_LOST);
    /* Lavapipe would forgive it. */
    if (fence && live_count("vkCreateDevice") == 1 && next.vkGetFenceStatus(newest, fence) == VK_SUCCESS)
        violation("a fence submitted that was not reset");
    submitted++;
    clock_gettime(CLOCK_MONOTONIC, &submitted_at);
    for (uint32_t i = 0; i < infos->commandBufferCount; i++)
        for (int k = count_barriers(infos->pCommandBuffers[i], false, 0); k > 0; k--)
            call_add("a barrier submitted");
    const VkTimelineSemaphoreSubmitInfo *timeline = infos->pNext;
    if (timeline->signalSemaphoreValueCount > 0) {
        signalled_before = timeline->pSignalSemaphoreValues[0] > signalled ? signalled : 0;
        signalled = timeline->pSignalSemaphoreValues[0];
    }
    VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.vkQueueSubmit(queue, count, infos, fence);
    return mode == FAULT_AFTER ? fault_result() : result;
}

LAYER(vkWaitSemaphores)(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    if (fault_device_lost())
        return VK_ERROR_DEVICE_LOST;
    if (!finished(timeout))
        return VK_TIMEOUT;
    fault_mode mode = fault_fires("vulkan", "vkWaitSemaphores", true);
    VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.vkWaitSemaphores(device, info, timeout);
    return mode == FAULT_AFTER ? fault_result() : result;
}

PFN_vkWaitSemaphores semaphores_wait(void)
{
    return layer_vkWaitSemaphores;
}

LAYER(vkGetSemaphoreCounterValue)(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    if (fault_device_lost())
        return VK_ERROR_DEVICE_LOST;
    fault_mode mode = fault_fires("vulkan", "vkGetSemaphoreCounterValue", true);
    VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.vkGetSemaphoreCounterValue(device, semaphore, value);
    if (result == VK_SUCCESS && *value == signalled && !finished(0))
        *value = signalled_before; /* as if it still were at its last submission */
    return mode == FAULT_AFTER ? fault_result() : result;
}

/* Asking again and again without waiting counts once for each submission. */
LAYER(vkWaitForFences)(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
    static VkFence asked;
    static long submissions;
    if (fault_device_lost())
        return VK_ERROR_DEVICE_LOST;
    if (!finished(timeout))
        return VK_TIMEOUT;
    bool counts = timeout > 0 || asked != fences[0] || submissions != submitted;
    asked = fences[0];
    submissions = submitted;
    fault_mode mode = counts ? fault_fires("vulkan", "vkWaitForFences", true) : FAULT_NONE;
    VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.vkWaitForFences(device, count, fences, all, timeout);
    return mode == FAULT_AFTER ? fault_result() : result;
}

static atomic_bool to_hold, held;

/* A slow compiler: the next compilation goes on until it is told to end. */
EXPORT void faults_hold_compilation(bool hold)
{
    to_hold = held = hold;
}

static void compile_slowly(void)
{
    bool first = true;
    if (!atomic_compare_exchange_strong(&to_hold, &first, false))
        return;
    while (held)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

LAYER(vkCreateComputePipelines)(VkDevice device, VkPipelineCache cache, uint32_t count,
                                const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *allocator,
                                VkPipeline *pipelines)
{
    if (fault_fires("vulkan", "vkCreateComputePipelines", false)) {
        memset(pipelines, 0, count * sizeof *pipelines); /* as the specification has it */
        return fault_result();
    }
    compile_slowly();
    VkResult result = next.vkCreateComputePipelines(device, cache, count, infos, allocator, pipelines);
    for (uint32_t i = 0; i < count; i++)
        live_add("vkCreateComputePipelines", pipelines[i] != VK_NULL_HANDLE);
    return result;
}

/* What comes from a pool goes with it. */
LAYER(vkAllocateCommandBuffers)(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *commands)
{
    bool fails = fault_fires("vulkan", "vkAllocateCommandBuffers", false);
    return fails ? fault_result() : next.vkAllocateCommandBuffers(device, info, commands);
}

LAYER(vkAllocateDescriptorSets)(VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets)
{
    bool fails = fault_fires("vulkan", "vkAllocateDescriptorSets", false);
    return fails ? fault_result() : next.vkAllocateDescriptorSets(device, info, sets);
}

LAYER_VOID(vkUpdateDescriptorSets)(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                                   uint32_t copy_count, const VkCopyDescriptorSet *copies)
{
    call_add("vkUpdateDescriptorSets");
    if (writes[count - 1].pBufferInfo->range > 16) /* the counter that workgroups take chunks from */
        call_add("a counter bound");
    odd_check_sets(count, writes);
    next.vkUpdateDescriptorSets(device, count, writes, copy_count, copies);
}

LAYER_VOID(vkCmdDispatch)(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z)
{
    call_add("vkCmdDispatch");
    odd_check_dispatch(x);
    next.vkCmdDispatch(commands, x, y, z);
}

/* A call that only counts. */
#define COUNTS(name, parameters, arguments)                                                                            \
    LAYER_VOID(name) parameters                                                                                        \
    {                                                                                                                  \
        call_add(#name);                                                                                               \
        next.name arguments;                                                                                           \
    }

COUNTS(vkCmdBindPipeline, (VkCommandBuffer c, VkPipelineBindPoint b, VkPipeline p), (c, b, p))
COUNTS(vkCmdBindDescriptorSets,
       (VkCommandBuffer c, VkPipelineBindPoint b, VkPipelineLayout l, uint32_t f, uint32_t n, const VkDescriptorSet *s,
        uint32_t m, const uint32_t *o),
       (c, b, l, f, n, s, m, o))
COUNTS(vkCmdCopyBuffer, (VkCommandBuffer c, VkBuffer from, VkBuffer to, uint32_t n, const VkBufferCopy *r),
       (c, from, to, n, r))

LAYER_VOID(vkCmdPipelineBarrier)(VkCommandBuffer commands, VkPipelineStageFlags s, VkPipelineStageFlags t,
                                 VkDependencyFlags f, uint32_t n, const VkMemoryBarrier *x, uint32_t m,
                                 const VkBufferMemoryBarrier *y, uint32_t k, const VkImageMemoryBarrier *z)
{
    call_add("vkCmdPipelineBarrier");
    count_barriers(commands, false, 1);
    next.vkCmdPipelineBarrier(commands, s, t, f, n, x, m, y, k, z);
}

/* Recording goes anew. */
LAYER(vkBeginCommandBuffer)(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info)
{
    VISIT;
    count_barriers(commands, true, 0);
    fault_mode mode = fault_fires("vulkan", "vkBeginCommandBuffer", true);
    VkResult result = mode == FAULT_INSTEAD ? fault_result() : next.vkBeginCommandBuffer(commands, info);
    return mode == FAULT_AFTER ? fault_result() : result;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

LAYER_VOID(vkGetBufferMemoryRequirements)(VkDevice device, VkBuffer buffer, VkMemoryRequirements *requirements)
{
    next.vkGetBufferMemoryRequirements(device, buffer, requirements);
    requirements->memoryTypeBits = odd_memory_bits(requirements->memoryTypeBits, false);
}

LAYER(vkGetMemoryHostPointerPropertiesEXT)(VkDevice device, VkExternalMemoryHandleTypeFlagBits type, const void *pointer,
                                           VkMemoryHostPointerPropertiesEXT *properties)
{
    if (fault_fires("vulkan", "vkGetMemoryHostPointerPropertiesEXT", false))
        return fault_result();
    VkResult result = next.vkGetMemoryHostPointerPropertiesEXT(device, type, pointer, properties);
    properties->memoryTypeBits = odd_memory_bits(properties->memoryTypeBits, true);
    return result;
}

LAYER(vkGetMemoryFdKHR)(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *fd)
{
    bool fails = fault_fires("vulkan", "vkGetMemoryFdKHR", false);
    return fails ? fault_result() : next.vkGetMemoryFdKHR(device, info, fd);
}

LAYER(vkAllocateMemory)(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator,
                        VkDeviceMemory *memory)
{
    VkMemoryAllocateInfo real = *info;
    VkResult result = fault_fires("vulkan", "vkAllocateMemory", false) ? fault_result() : odd_allocate(info);
    if (result) {
        memset(memory, 0xee, sizeof *memory);
        return result;
    }
    if (odd("memory", 0))
        real.memoryTypeIndex = 0;
    result = next.vkAllocateMemory(device, &real, allocator, memory);
    if (result == VK_SUCCESS) {
        live_add("vkAllocateMemory", 1);
        odd_allocated(*memory, info);
    }
    return result;
}

LAYER_VOID(vkFreeMemory)(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
    if (memory) {
        live_add("vkAllocateMemory", -1);
        odd_freed(memory);
    }
    next.vkFreeMemory(device, memory, allocator);
}

LAYER(vkMapMemory)(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                   VkMemoryMapFlags flags, void **data)
{
    if (fault_fires("vulkan", "vkMapMemory", false)) {
        memset(data, 0xee, sizeof *data);
        return fault_result();
    }
    VkResult result = next.vkMapMemory(device, memory, offset, size, flags, data);
    if (result == VK_SUCCESS)
        *data = odd_mapped(memory, *data);
    return result;
}

LAYER(vkFlushMappedMemoryRanges)(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    bool fails = fault_fires("vulkan", "vkFlushMappedMemoryRanges", false);
    odd_synchronise(count, ranges, true);
    return fails ? fault_result() : next.vkFlushMappedMemoryRanges(device, count, ranges);
}

LAYER(vkInvalidateMappedMemoryRanges)(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    bool fails = fault_fires("vulkan", "vkInvalidateMappedMemoryRanges", false);
    odd_synchronise(count, ranges, false);
    return fails ? fault_result() : next.vkInvalidateMappedMemoryRanges(device, count, ranges);
}

/* --- the chain --------------------------------------------------------------------------------------------------- */

LAYER(vkEnumeratePhysicalDevices)(VkInstance instance, uint32_t *count, VkPhysicalDevice *devices)
{
    bool fails = fault_fires("vulkan", "vkEnumeratePhysicalDevices", false);
    return fails ? fault_result() : next_instance.vkEnumeratePhysicalDevices(instance, count, devices);
}

LAYER_VOID(vkDestroyInstance)(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    if (instance)
        live_add("vkCreateInstance", -1);
    next_instance.vkDestroyInstance(instance, allocator);
}

LAYER(vkCreateInstance)(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *instance)
{
    next_gipa = chain_of_instance(info);
    if (fault_fires("vulkan", "vkCreateInstance", false))
        return fault_result();
    VkResult result = ((PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance"))(info, allocator, instance);
    if (result)
        return result;
    live_add("vkCreateInstance", 1);
#define NEXT(name) next_instance.name = (PFN_##name)next_gipa(*instance, #name);
    NEXT(vkGetPhysicalDeviceProperties2)
    NEXT(vkGetPhysicalDeviceFeatures2)
    NEXT(vkGetPhysicalDeviceMemoryProperties)
    NEXT(vkGetPhysicalDeviceQueueFamilyProperties)
    NEXT(vkEnumerateDeviceExtensionProperties)
    NEXT(vkEnumeratePhysicalDevices)
    NEXT(vkDestroyInstance)
#undef NEXT
    return VK_SUCCESS;
}

LAYER_VOID(vkDestroyDevice)(VkDevice device, const VkAllocationCallbacks *allocator)
{
    if (device)
        live_add("vkCreateDevice", -1);
    next.vkDestroyDevice(device, allocator);
}

static void load_device(VkDevice device)
{
#define X(name) next.name = (PFN_##name)next_gdpa(device, #name);
    DEVICE_FUNCTIONS
#undef X
}

/* The driver has one family of queues, whatever the device says of itself. */
LAYER_VOID(vkGetDeviceQueue)(VkDevice device, uint32_t family, uint32_t index, VkQueue *queue)
{
    next.vkGetDeviceQueue(device, odd_family(family), index, queue);
}

static VkCommandPoolCreateInfo real_pool(const VkCommandPoolCreateInfo *info)
{
    VkCommandPoolCreateInfo real = *info;
    real.queueFamilyIndex = odd_family(info->queueFamilyIndex);
    return real;
}
MAKES_OF(vkCreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool, real_pool(info))

LAYER(vkCreateDevice)(VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator,
                      VkDevice *device)
{
    PFN_vkGetInstanceProcAddr gipa;
    next_gdpa = chain_of_device(info, &gipa);
    if (fault_fires("vulkan", "vkCreateDevice", false))
        return fault_result();
    odd_check_device(info);
    VkDeviceQueueCreateInfo queue = *info->pQueueCreateInfos;
    queue.queueFamilyIndex = odd_family(queue.queueFamilyIndex);
    VkDeviceCreateInfo real = *info;
    real.pQueueCreateInfos = &queue;
    const char *names[16];
    real.enabledExtensionCount = semaphores_extensions(info, names);
    real.ppEnabledExtensionNames = names;
    VkResult result = ((PFN_vkCreateDevice)gipa(NULL, "vkCreateDevice"))(physical, &real, allocator, device);
    if (result == VK_SUCCESS) {
        live_add("vkCreateDevice", 1);
        load_device(*device);
        newest = *device;
        fault_device_made();
    }
    return result;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faults_gipa(VkInstance instance, const char *name);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faults_gdpa(VkDevice device, const char *name);

typedef struct named_function {
    const char *name;
    PFN_vkVoidFunction function;
} named_function;

#define X(name) {#name, (PFN_vkVoidFunction)layer_##name},
static const named_function of_instance[] = {X(vkCreateInstance) X(vkDestroyInstance) X(vkEnumeratePhysicalDevices)
                                                 X(vkCreateDevice)};
static const named_function of_device[] = {DEVICE_FUNCTIONS};
#undef X

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faults_gdpa(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)faults_gdpa;
    if (odd("semaphores", 0) && semaphores_function(name))
        return semaphores_function(name);
    PFN_vkVoidFunction driver = device && next_gdpa ? next_gdpa(device, name) : NULL;
    for (size_t i = 0; i < COUNT(of_device); i++)
        if (strcmp(name, of_device[i].name) == 0 && (driver || !device))
            return of_device[i].function;
    return driver;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL faults_gipa(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)faults_gipa;
    for (size_t i = 0; i < COUNT(of_instance); i++)
        if (strcmp(name, of_instance[i].name) == 0)
            return of_instance[i].function;
    PFN_vkVoidFunction function = odd_function(name);
    if (!function)
        function = faults_gdpa(NULL, name);
    return function ? function : instance && next_gipa ? next_gipa(instance, name) : NULL;
}

CHAIN(faults_gipa, faults_gdpa)
