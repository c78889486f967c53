/* A Vulkan layer for gpu_stages.py: timestamps at both ends of each command buffer, and the time that its submission took. It
 * knows one device, and one thread that uses it at a time. */
#define VK_NO_PROTOTYPES
#include "chain.h"

#include <string.h>
#include <time.h>

enum { MOST = 4096 };

/* Of a command buffer, in nanoseconds: its ends on the device, from any origin, and those of vkQueueSubmit. */
typedef struct stage {
    uint64_t begin, end, called, returned;
} stage;

#define DEVICE_FUNCTIONS                                                                                               \
    X(vkCreateQueryPool) X(vkDestroyQueryPool) X(vkGetQueryPoolResults) X(vkCmdResetQueryPool) X(vkCmdWriteTimestamp)  \
    X(vkDestroyDevice) X(vkBeginCommandBuffer) X(vkEndCommandBuffer) X(vkQueueSubmit)

static struct {
#define X(name) PFN_##name name;
    DEVICE_FUNCTIONS
#undef X
} next;
static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance instance;
static VkDevice device;
static VkQueryPool pool; /* null: the queue has no timestamps */
static uint64_t valid;   /* bits of one */
static double period;    /* nanoseconds of a tick */

static VkCommandBuffer recorded[MOST]; /* since stages_take; the queries are 2 n and 2 n + 1 */
static stage stages[MOST];
static int count;

static int find(VkCommandBuffer commands)
{
    int n = count - 1;
    while (n >= 0 && (recorded[n] != commands || stages[n].called))
        n--;
    return n;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* What may be pending more than once has no time of its own. */
static VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info)
{
    VkResult result = next.vkBeginCommandBuffer(commands, info);
    if (result || !pool || count == MOST || (info->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT))
        return result;
    const uint32_t query = 2 * (uint32_t)count;
    stages[count] = (stage){0};
    recorded[count++] = commands;
    next.vkCmdResetQueryPool(commands, pool, query, 2);
    next.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, query);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer commands)
{
    const int n = find(commands);
    if (n >= 0)
        next.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 2 * (uint32_t)n + 1);
    return next.vkEndCommandBuffer(commands);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t number, const VkSubmitInfo *infos, VkFence fence)
{
    const uint64_t called = now();
    VkResult result = next.vkQueueSubmit(queue, number, infos, fence);
    const uint64_t returned = now();
    for (uint32_t i = 0; i < number; i++)
        for (uint32_t k = 0; k < infos[i].commandBufferCount; k++) {
            const int n = find(infos[i].pCommandBuffers[k]);
            if (n >= 0)
                stages[n] = (stage){.called = called, .returned = returned};
        }
    return result;
}

/* All that was submitted since this was called last, while the device is idle: how many, or -1 without timestamps. */
EXPORT int stages_take(stage to[MOST])
{
    int taken = 0;
    for (int n = 0; n < count; n++) {
        uint64_t ticks[2];
        if (!stages[n].called || next.vkGetQueryPoolResults(device, pool, 2 * (uint32_t)n, 2, sizeof ticks, ticks, sizeof ticks[0],
                                                            VK_QUERY_RESULT_64_BIT))
            continue;
        to[taken] = stages[n];
        to[taken].begin = (uint64_t)((double)(ticks[0] & valid) * period);
        to[taken++].end = (uint64_t)((double)(ticks[1] & valid) * period);
    }
    count = 0;
    return pool ? taken : -1;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                                      VkInstance *made)
{
    next_gipa = chain_of_instance(info);
    VkResult result = ((PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance"))(info, allocator, made);
    instance = *made;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    next.vkDestroyQueryPool(handle, pool, NULL);
    pool = VK_NULL_HANDLE;
    next.vkDestroyDevice(handle, allocator);
}

#define OF_INSTANCE(name) ((PFN_##name)next_gipa(instance, #name))

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *made)
{
    PFN_vkGetInstanceProcAddr gipa;
    next_gdpa = chain_of_device(info, &gipa);
    VkResult result = ((PFN_vkCreateDevice)gipa(NULL, "vkCreateDevice"))(physical, info, allocator, made);
    device = *made;
#define X(name) next.name = result ? NULL : (PFN_##name)next_gdpa(device, #name);
    DEVICE_FUNCTIONS
#undef X
    VkPhysicalDeviceProperties properties;
    VkQueueFamilyProperties families[32];
    uint32_t number = 32;
    OF_INSTANCE(vkGetPhysicalDeviceProperties)(physical, &properties);
    OF_INSTANCE(vkGetPhysicalDeviceQueueFamilyProperties)(physical, &number, families);
    const uint32_t bits = families[info->pQueueCreateInfos->queueFamilyIndex].timestampValidBits;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2 * MOST};
    valid = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    period = properties.limits.timestampPeriod;
    if (result || bits == 0 || next.vkCreateQueryPool(device, &queries, NULL, &pool))
        pool = VK_NULL_HANDLE;
    return result;
}

/* The layer's own function of a name, or what comes next. */
#define FUNCTION(vulkan, own)                                                                                          \
    if (strcmp(name, #vulkan) == 0)                                                                                    \
    return (PFN_vkVoidFunction)own

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_device(VkDevice of, const char *name)
{
    FUNCTION(vkGetDeviceProcAddr, get_of_device);
    FUNCTION(vkDestroyDevice, destroy_device);
    FUNCTION(vkBeginCommandBuffer, begin);
    FUNCTION(vkEndCommandBuffer, end);
    FUNCTION(vkQueueSubmit, submit);
    return of ? next_gdpa(of, name) : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_of_instance(VkInstance of, const char *name)
{
    FUNCTION(vkGetInstanceProcAddr, get_of_instance);
    FUNCTION(vkCreateInstance, create_instance);
    FUNCTION(vkCreateDevice, create_device);
    PFN_vkVoidFunction function = get_of_device(NULL, name);
    return function || !of ? function : next_gipa(of, name);
}

CHAIN(get_of_instance, get_of_device)
