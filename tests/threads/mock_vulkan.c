/* A Vulkan that does nothing but copy, for the thread sanitizer: in the place of the loader, whose locks and whose driver's
 * would be invisible to it. What the specification wants to be synchronised by the application ("externally") is counted
 * here without a lock, so that a lock missing in csrc/vk is a race.
 *
 * One device with a thread of its own, which does what is submitted. Every LOSE-th submission loses the device. With
 * AT_ONCE, for benchmarks/host_time.py, all that is submitted is done at once, and nothing is lost.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define CALL(type, name) static VKAPI_ATTR type VKAPI_CALL name
enum { LOSE = 400, COPIES = 256, COMMANDS = 64 };

typedef struct buffer {
    char *data;
} buffer;

typedef struct memory {
    char *data;
    int owned;
} memory;

typedef struct commands {
    long uses; /* as of every object below: whoever has it to himself */
    int copies;
    struct {
        buffer *from, *to;
        VkBufferCopy region;
    } copy[COPIES];
} commands;

/* What one vkQueueSubmit submits. */
typedef struct job {
    commands *list[COMMANDS];
    uint32_t count;
    struct fence *fence; /* either may be NULL */
    struct semaphore *semaphore;
    uint64_t value; /* to signal it with */
    struct job *next;
} job;

typedef struct fence {
    long uses;
    int done; /* 1 done, -1 lost; under the mutex */
} fence;

typedef struct semaphore {
    long uses;
    uint64_t value; /* under the mutex */
} semaphore;

typedef struct pool {
    long uses;
    commands all[2];
} pool;

typedef struct queue {
    long uses;
    int lost; /* under the mutex */
} queue;

static struct {
    long submissions;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    job *first, **last;
    pthread_t thread;
    int running;
} device = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &device.first};

static void *run(void *none)
{
    pthread_mutex_lock(&device.mutex);
    for (;;) {
        while (!device.first)
            pthread_cond_wait(&device.changed, &device.mutex);
        job *now = device.first;
        device.first = now->next;
        if (!device.first)
            device.last = &device.first;
        pthread_mutex_unlock(&device.mutex);
        for (uint32_t k = 0; k < now->count; k++)
            for (int i = 0; i < now->list[k]->copies; i++)
                memcpy(now->list[k]->copy[i].to->data + now->list[k]->copy[i].region.dstOffset,
                       now->list[k]->copy[i].from->data + now->list[k]->copy[i].region.srcOffset,
                       now->list[k]->copy[i].region.size);
        pthread_mutex_lock(&device.mutex);
        if (now->fence)
            now->fence->done = 1;
        if (now->semaphore)
            now->semaphore->value = now->value;
        free(now);
        pthread_cond_broadcast(&device.changed);
    }
    return none;
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

CALL(VkResult, EnumerateInstanceVersion)(uint32_t *version)
{
    *version = VK_API_VERSION_1_2;
    return VK_SUCCESS;
}

CALL(VkResult, EnumerateInstanceExtensionProperties)(const char *layer, uint32_t *count, VkExtensionProperties *list)
{
    (void)layer, (void)list;
    *count = 0;
    return VK_SUCCESS;
}

CALL(VkResult, CreateInstance)(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a, VkInstance *instance)
{
    (void)info, (void)a;
    *instance = malloc(sizeof(long));
    return VK_SUCCESS;
}

CALL(void, DestroyInstance)(VkInstance instance, const VkAllocationCallbacks *a)
{
    (void)a;
    free(instance);
}

CALL(VkResult, EnumeratePhysicalDevices)(VkInstance instance, uint32_t *count, VkPhysicalDevice *devices)
{
    (void)instance;
    *count = 1;
    if (devices)
        *devices = (VkPhysicalDevice)&device;
    return VK_SUCCESS;
}

CALL(void, GetPhysicalDeviceProperties2)(VkPhysicalDevice p, VkPhysicalDeviceProperties2 *all)
{
    (void)p;
    VkPhysicalDeviceProperties *properties = &all->properties;
    memset(properties, 0, sizeof *properties);
    properties->apiVersion = VK_API_VERSION_1_2;
    properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    strcpy(properties->deviceName, "mock");
    properties->limits.maxComputeWorkGroupInvocations = properties->limits.maxComputeWorkGroupSize[0] = 128;
    properties->limits.maxComputeWorkGroupCount[0] = 65535;
    properties->limits.maxStorageBufferRange = 1 << 27;
    properties->limits.minStorageBufferOffsetAlignment = properties->limits.minUniformBufferOffsetAlignment = 64;
    for (VkBaseOutStructure *s = all->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
            ((VkPhysicalDeviceMaintenance3Properties *)s)->maxMemoryAllocationSize = 1 << 30;
        else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)
            ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)s)->minImportedHostPointerAlignment = 4096;
}

CALL(void, GetPhysicalDeviceFeatures2)(VkPhysicalDevice p, VkPhysicalDeviceFeatures2 *all)
{
    (void)p;
    VkPhysicalDeviceVulkan12Features *vulkan12 = all->pNext;
    VkPhysicalDeviceVulkan11Features *vulkan11 = vulkan12->pNext;
    vulkan11->storageBuffer16BitAccess = VK_TRUE;
    all->features.shaderInt64 = vulkan12->storageBuffer8BitAccess = VK_TRUE;
    vulkan12->timelineSemaphore = VK_TRUE;
}

CALL(void, GetPhysicalDeviceMemoryProperties)(VkPhysicalDevice p, VkPhysicalDeviceMemoryProperties *all)
{
    (void)p;
    memset(all, 0, sizeof *all);
    all->memoryTypeCount = all->memoryHeapCount = 1;
    all->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    all->memoryHeaps[0] = (VkMemoryHeap){1 << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
}

CALL(void, GetPhysicalDeviceMemoryProperties2)(VkPhysicalDevice p, VkPhysicalDeviceMemoryProperties2 *all)
{
    GetPhysicalDeviceMemoryProperties(p, &all->memoryProperties);
}

CALL(void, GetPhysicalDeviceQueueFamilyProperties)(VkPhysicalDevice p, uint32_t *count, VkQueueFamilyProperties *all)
{
    (void)p;
    *count = 1;
    if (all)
        *all = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1};
}

CALL(void, GetPhysicalDeviceExternalBufferProperties)(VkPhysicalDevice p, const VkPhysicalDeviceExternalBufferInfo *info,
                                                      VkExternalBufferProperties *all)
{
    (void)p, (void)info;
    all->externalMemoryProperties.externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

CALL(void, GetPhysicalDeviceExternalSemaphoreProperties)(VkPhysicalDevice p,
                                                         const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                         VkExternalSemaphoreProperties *all)
{
    (void)p, (void)info, (void)all;
}

CALL(VkResult, EnumerateDeviceExtensionProperties)(VkPhysicalDevice p, const char *layer, uint32_t *count,
                                                   VkExtensionProperties *list)
{
    (void)p, (void)layer;
    *count = 1;
    if (list)
        strcpy(list->extensionName, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    return VK_SUCCESS;
}

CALL(VkResult, CreateDevice)(VkPhysicalDevice p, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *a,
                             VkDevice *out)
{
    (void)p, (void)info, (void)a;
    *out = (VkDevice)calloc(1, sizeof(queue));
    pthread_mutex_lock(&device.mutex);
    if (!device.running)
        pthread_create(&device.thread, NULL, run, NULL);
    device.running = 1;
    pthread_mutex_unlock(&device.mutex);
    return VK_SUCCESS;
}

CALL(void, GetDeviceQueue)(VkDevice d, uint32_t family, uint32_t index, VkQueue *out)
{
    (void)family, (void)index;
    *out = (VkQueue)d;
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

#define OBJECT(Name, Handle, Info, Type)                                                                               \
    CALL(VkResult, Create##Name)(VkDevice d, const Info *info, const VkAllocationCallbacks *a, Handle *out)            \
    {                                                                                                                  \
        (void)d, (void)info, (void)a;                                                                                  \
        *out = (Handle)(uintptr_t)calloc(1, sizeof(Type));                                                             \
        return VK_SUCCESS;                                                                                             \
    }                                                                                                                  \
    CALL(void, Destroy##Name)(VkDevice d, Handle handle, const VkAllocationCallbacks *a)                               \
    {                                                                                                                  \
        (void)d, (void)a;                                                                                              \
        if (handle)                                                                                                    \
            ++*(long *)(uintptr_t)handle;                                                                              \
        free((void *)(uintptr_t)handle);                                                                               \
    }

OBJECT(ShaderModule, VkShaderModule, VkShaderModuleCreateInfo, long)
OBJECT(DescriptorSetLayout, VkDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, long)
OBJECT(PipelineCache, VkPipelineCache, VkPipelineCacheCreateInfo, long)
OBJECT(PipelineLayout, VkPipelineLayout, VkPipelineLayoutCreateInfo, long)
OBJECT(DescriptorPool, VkDescriptorPool, VkDescriptorPoolCreateInfo, long)
OBJECT(CommandPool, VkCommandPool, VkCommandPoolCreateInfo, pool)
OBJECT(Fence, VkFence, VkFenceCreateInfo, fence)
OBJECT(Semaphore, VkSemaphore, VkSemaphoreCreateInfo, semaphore)
OBJECT(Buffer, VkBuffer, VkBufferCreateInfo, buffer)

CALL(VkResult, CreateComputePipelines)(VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *i,
                                       const VkAllocationCallbacks *a, VkPipeline *out)
{
    (void)d, (void)c, (void)n, (void)i, (void)a;
    *out = (VkPipeline)(uintptr_t)calloc(1, sizeof(long));
    return VK_SUCCESS;
}

CALL(void, DestroyPipeline)(VkDevice d, VkPipeline pipeline, const VkAllocationCallbacks *a)
{
    (void)d, (void)a;
    free((void *)(uintptr_t)pipeline);
}

CALL(void, DestroyDevice)(VkDevice d, const VkAllocationCallbacks *a)
{
    (void)a;
    ((queue *)d)->uses++;
    free(d);
}

CALL(void, GetBufferMemoryRequirements)(VkDevice d, VkBuffer b, VkMemoryRequirements *needs)
{
    (void)d, (void)b;
    *needs = (VkMemoryRequirements){4096, 4096, 1};
}

CALL(VkResult, GetMemoryHostPointerPropertiesEXT)(VkDevice d, VkExternalMemoryHandleTypeFlagBits t, const void *p,
                                                  VkMemoryHostPointerPropertiesEXT *out)
{
    (void)d, (void)t, (void)p;
    out->memoryTypeBits = 1;
    return VK_SUCCESS;
}

CALL(VkResult, AllocateMemory)(VkDevice d, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *a,
                               VkDeviceMemory *out)
{
    (void)d, (void)a;
    const VkImportMemoryHostPointerInfoEXT *import = info->pNext;
    memory *made = calloc(1, sizeof *made);
    made->owned = !import;
    made->data = import ? import->pHostPointer : calloc(1, 1 << 20);
    *out = (VkDeviceMemory)(uintptr_t)made;
    return VK_SUCCESS;
}

CALL(void, FreeMemory)(VkDevice d, VkDeviceMemory handle, const VkAllocationCallbacks *a)
{
    (void)d, (void)a;
    memory *m = (memory *)(uintptr_t)handle;
    if (m && m->owned)
        free(m->data);
    free(m);
}

CALL(VkResult, BindBufferMemory)(VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize offset)
{
    (void)d, (void)offset;
    ((buffer *)(uintptr_t)b)->data = ((memory *)(uintptr_t)m)->data;
    return VK_SUCCESS;
}

CALL(VkResult, MapMemory)(VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void **out)
{
    (void)d, (void)o, (void)s, (void)f;
    *out = ((memory *)(uintptr_t)m)->data;
    return VK_SUCCESS;
}

CALL(VkResult, AllocateDescriptorSets)(VkDevice d, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out)
{
    (void)d;
    ++*(long *)(uintptr_t)info->descriptorPool;
    *out = (VkDescriptorSet)(uintptr_t)info->descriptorPool;
    return VK_SUCCESS;
}

CALL(void, UpdateDescriptorSets)(VkDevice d, uint32_t n, const VkWriteDescriptorSet *w, uint32_t m,
                                 const VkCopyDescriptorSet *c)
{
    (void)d, (void)n, (void)m, (void)c;
    ++*(long *)(uintptr_t)w->dstSet;
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

CALL(VkResult, AllocateCommandBuffers)(VkDevice d, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
    (void)d;
    pool *from = (pool *)(uintptr_t)info->commandPool;
    from->uses++;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        out[i] = (VkCommandBuffer)&from->all[i];
    return VK_SUCCESS;
}

CALL(VkResult, ResetCommandPool)(VkDevice d, VkCommandPool p, VkCommandPoolResetFlags f)
{
    (void)d, (void)f;
    pool *from = (pool *)(uintptr_t)p;
    from->uses++;
    from->all[0].copies = from->all[1].copies = 0;
    return VK_SUCCESS;
}

CALL(VkResult, BeginCommandBuffer)(VkCommandBuffer c, const VkCommandBufferBeginInfo *info)
{
    (void)info;
    ((commands *)c)->uses++;
    ((commands *)c)->copies = 0;
    return VK_SUCCESS;
}

CALL(VkResult, EndCommandBuffer)(VkCommandBuffer c)
{
    ((commands *)c)->uses++;
    return VK_SUCCESS;
}

CALL(void, CmdCopyBuffer)(VkCommandBuffer c, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions)
{
    commands *all = (commands *)c;
    for (uint32_t i = 0; i < count; i++) {
        if (all->copies == COPIES)
            abort();
        all->copy[all->copies].from = (buffer *)(uintptr_t)from;
        all->copy[all->copies].to = (buffer *)(uintptr_t)to;
        all->copy[all->copies++].region = regions[i];
    }
}

CALL(void, CmdPipelineBarrier)(VkCommandBuffer c, VkPipelineStageFlags s, VkPipelineStageFlags t, VkDependencyFlags f,
                               uint32_t n, const VkMemoryBarrier *x, uint32_t m, const VkBufferMemoryBarrier *y,
                               uint32_t k, const VkImageMemoryBarrier *z)
{
    (void)s, (void)t, (void)f, (void)n, (void)x, (void)m, (void)y, (void)k, (void)z;
    ((commands *)c)->uses++;
}

CALL(void, CmdBindPipeline)(VkCommandBuffer c, VkPipelineBindPoint b, VkPipeline p)
{
    (void)b, (void)p;
    ((commands *)c)->uses++;
}

CALL(void, CmdBindDescriptorSets)(VkCommandBuffer c, VkPipelineBindPoint b, VkPipelineLayout l, uint32_t f, uint32_t n,
                                  const VkDescriptorSet *s, uint32_t m, const uint32_t *o)
{
    (void)b, (void)l, (void)f, (void)n, (void)s, (void)m, (void)o;
    ((commands *)c)->uses++;
}

CALL(void, CmdDispatch)(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z)
{
    (void)x, (void)y, (void)z;
    ((commands *)c)->uses++;
}

CALL(VkResult, QueueSubmit)(VkQueue q, uint32_t n, const VkSubmitInfo *info, VkFence f)
{
    (void)n;
    queue *to = (queue *)q;
    fence *signal = (fence *)(uintptr_t)f;
    const VkTimelineSemaphoreSubmitInfo *timeline = info->pNext;
    to->uses++;
    if (signal)
        signal->uses++;
    job *made = calloc(1, sizeof *made);
    if (info->commandBufferCount > COMMANDS)
        abort();
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        made->list[made->count++] = (commands *)info->pCommandBuffers[i];
        made->list[i]->uses++;
    }
    made->fence = signal;
    made->semaphore = info->signalSemaphoreCount > 0 ? (semaphore *)(uintptr_t)info->pSignalSemaphores[0] : NULL;
    made->value = made->semaphore ? timeline->pSignalSemaphoreValues[0] : 0;
#ifdef AT_ONCE
    if (signal)
        signal->done = 1;
    if (made->semaphore)
        made->semaphore->value = made->value;
    free(made);
    return VK_SUCCESS;
#endif
    pthread_mutex_lock(&device.mutex);
    to->lost |= ++device.submissions % LOSE == 0;
    int lost = to->lost;
    if (!lost) {
        *device.last = made;
        device.last = &made->next;
        pthread_cond_broadcast(&device.changed);
    }
    pthread_mutex_unlock(&device.mutex);
    if (lost)
        free(made);
    return lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static struct timespec now_and(uint64_t timeout)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(timeout % 1000000000);
    until.tv_sec += (time_t)(timeout / 1000000000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

CALL(VkResult, WaitSemaphores)(VkDevice d, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    (void)d;
    semaphore *s = (semaphore *)(uintptr_t)info->pSemaphores[0];
    struct timespec until = now_and(timeout);
    pthread_mutex_lock(&device.mutex);
    int late = 0;
    while (s->value < info->pValues[0] && !late)
        late = pthread_cond_timedwait(&device.changed, &device.mutex, &until);
    int done = s->value >= info->pValues[0];
    pthread_mutex_unlock(&device.mutex);
    return done ? VK_SUCCESS : VK_TIMEOUT;
}

CALL(VkResult, GetSemaphoreCounterValue)(VkDevice d, VkSemaphore s, uint64_t *value)
{
    (void)d;
    pthread_mutex_lock(&device.mutex);
    *value = ((semaphore *)(uintptr_t)s)->value;
    pthread_mutex_unlock(&device.mutex);
    return VK_SUCCESS;
}

CALL(VkResult, WaitForFences)(VkDevice d, uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
    (void)d, (void)n, (void)all;
    fence *f = (fence *)(uintptr_t)fences[0];
    struct timespec until = now_and(timeout);
    pthread_mutex_lock(&device.mutex);
    int late = 0;
    while (!f->done && !late)
        late = pthread_cond_timedwait(&device.changed, &device.mutex, &until);
    int done = f->done;
    pthread_mutex_unlock(&device.mutex);
    return done ? VK_SUCCESS : VK_TIMEOUT;
}

CALL(VkResult, ResetFences)(VkDevice d, uint32_t n, const VkFence *fences)
{
    (void)d, (void)n;
    fence *f = (fence *)(uintptr_t)fences[0];
    f->uses++;
    pthread_mutex_lock(&device.mutex);
    f->done = 0;
    pthread_mutex_unlock(&device.mutex);
    return VK_SUCCESS;
}

CALL(VkResult, QueueWaitIdle)(VkQueue q)
{
    ((queue *)q)->uses++;
    pthread_mutex_lock(&device.mutex);
    while (device.first)
        pthread_cond_wait(&device.changed, &device.mutex);
    pthread_mutex_unlock(&device.mutex);
    return VK_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static PFN_vkVoidFunction GetDeviceProcAddr(VkDevice d, const char *name);

__attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } all[] = {
#define X(name) {"vk" #name, (PFN_vkVoidFunction)name},
        X(EnumerateInstanceVersion) X(EnumerateInstanceExtensionProperties) X(CreateInstance) X(DestroyInstance)
        X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2)
        X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceMemoryProperties2) X(GetPhysicalDeviceQueueFamilyProperties)
        X(GetPhysicalDeviceExternalBufferProperties) X(GetPhysicalDeviceExternalSemaphoreProperties)
        X(EnumerateDeviceExtensionProperties) X(CreateDevice)
        X(DestroyDevice) X(GetDeviceQueue) X(CreateShaderModule) X(DestroyShaderModule) X(CreateDescriptorSetLayout)
        X(DestroyDescriptorSetLayout) X(CreatePipelineLayout) X(DestroyPipelineLayout) X(CreateDescriptorPool)
        X(CreatePipelineCache) X(DestroyPipelineCache)
        X(DestroyDescriptorPool) X(CreateCommandPool) X(DestroyCommandPool) X(CreateFence) X(DestroyFence)
        X(CreateSemaphore) X(DestroySemaphore) X(WaitSemaphores) X(GetSemaphoreCounterValue)
        X(CreateBuffer) X(DestroyBuffer) X(CreateComputePipelines) X(DestroyPipeline) X(GetBufferMemoryRequirements)
        X(GetMemoryHostPointerPropertiesEXT) X(AllocateMemory) X(FreeMemory) X(BindBufferMemory) X(MapMemory)
        X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(AllocateCommandBuffers)
        X(ResetCommandPool) X(BeginCommandBuffer) X(EndCommandBuffer) X(CmdCopyBuffer) X(CmdPipelineBarrier)
        X(CmdBindPipeline) X(CmdBindDescriptorSets) X(CmdDispatch) X(QueueSubmit) X(WaitForFences) X(ResetFences)
        X(QueueWaitIdle) X(GetDeviceProcAddr)
#undef X
    };
    (void)instance;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].function;
    return NULL;
}

static PFN_vkVoidFunction GetDeviceProcAddr(VkDevice d, const char *name)
{
    (void)d;
    return vkGetInstanceProcAddr(NULL, name);
}
