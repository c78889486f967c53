/* What a device says of itself, changed by DMLOPS_TEST_ODD, and whether the library heeds it.
 *
 *   lacks_NAME=1            a feature (shaderInt64, ...), "compute" (queues), "vulkan12"
 *   imports=0               no VK_EXT_external_memory_host
 *   exports=0               no VK_KHR_external_memory_fd
 *   imports=K               an import of every K-th pointer is refused
 *   memory=1                three memory types: the device's own, which no host sees; coherent; cached, not coherent
 *   memory=2                the same, and host pointers may only be imported as the last
 *   memory=3                as 1, and the device's own that the host sees as through a window, of window=N bytes
 *   discrete=1              not a CPU
 *   nvidia=1                a device of NVIDIA's, by its vendor and its name
 *   compute_family=1        a second family of queues, which do nothing but compute, and are to be used
 *   second_type=N           the second device has this VkPhysicalDeviceType, if there are several
 *   second_name=1           the second device has "Second " before its name, if there are several
 *   driver_version=N        what the driver says of its version
 *   driver_id=N             which driver it says it is, a VkDriverId
 *   semaphores=1            timeline semaphores can be exported: semaphores.c
 *   distinct=1              every physical device has a UUID of its own
 *   heap=N                  bytes of memory in all,
 *   said=N                  and what the device says of that
 *   allocations=N           pieces of memory in all, imports included
 *   slow=N                  milliseconds that a submission takes at least
 *   group_count, allocation, binding, alignment, subgroup, invocations, import_alignment, atom
 *                           limits, downwards (alignments upwards)
 */
#include "layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long long odd(const char *name, long long otherwise)
{
    const char *at = getenv("DMLOPS_TEST_ODD");
    size_t length = strlen(name);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtoll(at + length + 1, NULL, 10);
    return otherwise;
}

static uint64_t lower(const char *name, uint64_t real)
{
    uint64_t wanted = (uint64_t)odd(name, INT64_MAX);
    return wanted < real ? wanted : real;
}

static uint64_t higher(const char *name, uint64_t real)
{
    uint64_t wanted = (uint64_t)odd(name, 0);
    return wanted > real ? wanted : real;
}

/* Which of the machine's devices it is, in the order of being asked. */
static uint8_t place_of(VkPhysicalDevice device)
{
    static VkPhysicalDevice known[8];
    uint8_t place = 0;
    while (place < 7 && known[place] && known[place] != device)
        place++;
    known[place] = device;
    return place;
}

static void *find(VkBaseOutStructure *chain, VkStructureType type)
{
    while (chain && chain->sType != type)
        chain = chain->pNext;
    return chain;
}

static VKAPI_ATTR void VKAPI_CALL odd_vkGetPhysicalDeviceProperties2(VkPhysicalDevice device,
                                                                     VkPhysicalDeviceProperties2 *all)
{
    next_instance.vkGetPhysicalDeviceProperties2(device, all);
    VkPhysicalDeviceLimits *limits = &all->properties.limits;
    if (odd("lacks_vulkan12", 0))
        all->properties.apiVersion = VK_API_VERSION_1_1;
    all->properties.driverVersion = (uint32_t)odd("driver_version", all->properties.driverVersion);
    if (odd("discrete", 0))
        all->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    if (odd("nvidia", 0)) {
        all->properties.vendorID = 0x10de;
        strcpy(all->properties.deviceName, "NVIDIA");
    }
    if (place_of(device) == 1)
        all->properties.deviceType = (VkPhysicalDeviceType)odd("second_type", all->properties.deviceType);
    if (place_of(device) == 1 && odd("second_name", 0)) {
        char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
        snprintf(name, sizeof name, "Second %.200s", all->properties.deviceName);
        memcpy(all->properties.deviceName, name, sizeof name);
    }
    limits->maxComputeWorkGroupCount[0] = (uint32_t)lower("group_count", limits->maxComputeWorkGroupCount[0]);
    limits->maxComputeWorkGroupInvocations = (uint32_t)lower("invocations", limits->maxComputeWorkGroupInvocations);
    limits->maxComputeWorkGroupSize[0] = (uint32_t)lower("invocations", limits->maxComputeWorkGroupSize[0]);
    limits->maxStorageBufferRange = (uint32_t)lower("binding", limits->maxStorageBufferRange);
    limits->maxPerStageDescriptorStorageBuffers =
        (uint32_t)lower("storage_buffers", limits->maxPerStageDescriptorStorageBuffers);
    limits->maxDescriptorSetStorageBuffers = (uint32_t)lower("storage_buffers", limits->maxDescriptorSetStorageBuffers);
    limits->maxPerStageResources = (uint32_t)lower("resources", limits->maxPerStageResources);
    limits->maxPushConstantsSize = (uint32_t)lower("push", limits->maxPushConstantsSize);
    limits->minStorageBufferOffsetAlignment = higher("alignment", limits->minStorageBufferOffsetAlignment);
    limits->minUniformBufferOffsetAlignment = higher("alignment", limits->minUniformBufferOffsetAlignment);
    limits->nonCoherentAtomSize = higher("atom", limits->nonCoherentAtomSize);
    VkBaseOutStructure *chain = all->pNext;
    VkPhysicalDeviceSubgroupProperties *subgroup = find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    if (subgroup)
        subgroup->subgroupSize = (uint32_t)odd("subgroup", subgroup->subgroupSize);
    VkPhysicalDeviceMaintenance3Properties *memory =
        find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
    if (memory)
        memory->maxMemoryAllocationSize = lower("allocation", memory->maxMemoryAllocationSize);
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT *import =
        find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
    if (import)
        import->minImportedHostPointerAlignment =
            higher("import_alignment", import->minImportedHostPointerAlignment);
    VkPhysicalDeviceDriverProperties *driver = find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    if (driver)
        driver->driverID = (VkDriverId)odd("driver_id", driver->driverID);
    VkPhysicalDeviceIDProperties *id = find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
    if (id && odd("distinct", 0))
        id->deviceUUID[0] = place_of(device);
}

static VKAPI_ATTR void VKAPI_CALL odd_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                                                   VkPhysicalDeviceFeatures2 *all)
{
    next_instance.vkGetPhysicalDeviceFeatures2(device, all);
    VkPhysicalDeviceVulkan12Features *f = find(all->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    if (odd("lacks_shaderInt64", 0))
        all->features.shaderInt64 = VK_FALSE;
    if (odd("lacks_shaderInt16", 0))
        all->features.shaderInt16 = VK_FALSE;
    VkPhysicalDeviceVulkan11Features *f11 = find(all->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
    if (f11 && odd("lacks_storageBuffer16BitAccess", 0))
        f11->storageBuffer16BitAccess = VK_FALSE;
    if (f && odd("lacks_storageBuffer8BitAccess", 0))
        f->storageBuffer8BitAccess = VK_FALSE;
    if (f && odd("lacks_shaderStorageBufferArrayNonUniformIndexing", 0))
        f->shaderStorageBufferArrayNonUniformIndexing = VK_FALSE;
    if (f && odd("lacks_shaderInt8", 0))
        f->shaderInt8 = VK_FALSE;
}

static VKAPI_ATTR void VKAPI_CALL odd_vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice device, uint32_t *count,
                                                                               VkQueueFamilyProperties *families)
{
    uint32_t room = *count;
    next_instance.vkGetPhysicalDeviceQueueFamilyProperties(device, count, families);
    if (odd("compute_family", 0) && families && room > *count) {
        families[*count] = families[0];
        families[(*count)++].queueFlags &= ~(VkQueueFlags)VK_QUEUE_GRAPHICS_BIT;
    }
    for (uint32_t i = 0; families && i < *count; i++) {
        if (odd("lacks_compute", 0))
            families[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
        if (odd("lacks_transfer", 0)) /* which a family with compute need not say that it can */
            families[i].queueFlags &= ~(VkQueueFlags)(VK_QUEUE_TRANSFER_BIT | VK_QUEUE_GRAPHICS_BIT);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL odd_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice device,
                                                                               const char *layer, uint32_t *count,
                                                                               VkExtensionProperties *list)
{
    if (layer && strcmp(layer, "VK_LAYER_DMLOPS_faults") == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    if (fault_fires("vulkan", "vkEnumerateDeviceExtensionProperties", false))
        return fault_result();
    VkResult result = next_instance.vkEnumerateDeviceExtensionProperties(device, layer, count, list);
    for (uint32_t i = 0; list && i < *count; i++)
        if (odd("imports", 1) == 0 && strcmp(list[i].extensionName, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0)
            strcpy(list[i].extensionName, "VK_EXT_nothing");
        else if (odd("exports", 1) == 0 && strcmp(list[i].extensionName, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) == 0)
            strcpy(list[i].extensionName, "VK_KHR_nothing");
        else if (odd("semaphores", 0) && strcmp(list[i].extensionName, VK_KHR_MAINTENANCE_1_EXTENSION_NAME) == 0)
            strcpy(list[i].extensionName, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    return result;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

enum { OWN, COHERENT, CACHED, WINDOW };

static VKAPI_ATTR void VKAPI_CALL odd_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice device,
                                                                          VkPhysicalDeviceMemoryProperties *memory)
{
    next_instance.vkGetPhysicalDeviceMemoryProperties(device, memory);
    memory->memoryHeaps[0].size = lower("said", memory->memoryHeaps[0].size);
    if (!odd("memory", 0))
        return;
    memory->memoryTypeCount = odd("memory", 0) == 3 ? 4 : 3;
    memory->memoryTypes[OWN] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    memory->memoryTypes[COHERENT] =
        (VkMemoryType){VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 1};
    memory->memoryTypes[CACHED] =
        (VkMemoryType){VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
    memory->memoryTypes[WINDOW] = (VkMemoryType){VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                     VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                                 0};
    memory->memoryHeapCount = 2;
    memory->memoryHeaps[1] = (VkMemoryHeap){memory->memoryHeaps[0].size, 0};
}

uint32_t odd_memory_bits(uint32_t bits, bool host_pointer)
{
    if (!odd("memory", 0))
        return bits;
    if (!host_pointer)
        return odd("memory", 0) == 3 ? 15 : 7;
    return odd("memory", 0) == 2 ? 1u << CACHED : 1u << COHERENT | 1u << CACHED;
}

/* Of memory that is not coherent the host sees a copy, until it flushes or invalidates. */
typedef struct allocation {
    VkDeviceMemory memory;
    uint64_t size;
    uint32_t type;
    bool imported;
    char *real, *shadow;
} allocation;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static allocation allocations[8192];
static uint64_t in_heap, in_window;
static long imports, pieces;

static allocation *find_allocation(VkDeviceMemory memory)
{
    for (int i = 0; i < 8192; i++)
        if (allocations[i].memory == memory)
            return &allocations[i];
    violation("a memory that there is not");
    return &allocations[0];
}

static bool is_import(const VkMemoryAllocateInfo *info)
{
    return find((VkBaseOutStructure *)info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) != NULL;
}

VkResult odd_allocate(const VkMemoryAllocateInfo *info)
{
    uint64_t most = (uint64_t)odd("allocation", INT64_MAX);
    if (info->allocationSize > most)
        violation("%llu bytes allocated at once", (unsigned long long)info->allocationSize);
    long long every = odd("imports", 0);
    pthread_mutex_lock(&mutex);
    bool refused = is_import(info) && every > 1 && ++imports % every == 0;
    bool too_many = pieces >= odd("allocations", INT64_MAX), full = !is_import(info) && in_heap + info->allocationSize > (uint64_t)odd("heap", INT64_MAX);
    full |= odd("memory", 0) == 3 && info->memoryTypeIndex == WINDOW &&
            in_window + info->allocationSize > (uint64_t)odd("window", 0);
    pthread_mutex_unlock(&mutex);
    if (is_import(info) && odd("memory", 0) && info->memoryTypeIndex == OWN)
        violation("a host pointer imported as memory that the host cannot see");
    if (too_many)
        return VK_ERROR_TOO_MANY_OBJECTS;
    return refused ? VK_ERROR_INVALID_EXTERNAL_HANDLE : full ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}

void odd_allocated(VkDeviceMemory memory, const VkMemoryAllocateInfo *info)
{
    pthread_mutex_lock(&mutex);
    allocation *a = find_allocation(VK_NULL_HANDLE);
    pieces++;
    *a = (allocation){memory, info->allocationSize, info->memoryTypeIndex, is_import(info), NULL, NULL};
    if (!a->imported && a->type == WINDOW)
        in_window += a->size;
    if (!a->imported)
        in_heap += a->size;
    else if (odd("memory", 0) && a->type == CACHED)
        violation("host memory imported that is not coherent");
    pthread_mutex_unlock(&mutex);
}

void odd_freed(VkDeviceMemory memory)
{
    pthread_mutex_lock(&mutex);
    allocation *a = find_allocation(memory);
    if (!a->imported && a->type == WINDOW)
        in_window -= a->size;
    if (!a->imported)
        in_heap -= a->size;
    pieces--;
    free(a->shadow);
    memset(a, 0, sizeof *a);
    pthread_mutex_unlock(&mutex);
}

void *odd_mapped(VkDeviceMemory memory, void *data)
{
    if (!odd("memory", 0))
        return data;
    pthread_mutex_lock(&mutex);
    allocation *a = find_allocation(memory);
    if (a->type == OWN)
        violation("memory mapped that the host cannot see");
    if (a->type == CACHED) {
        a->real = data;
        a->shadow = malloc(a->size);
        memset(a->shadow, 0x77, a->size);
        data = a->shadow;
    }
    pthread_mutex_unlock(&mutex);
    return data;
}

void odd_synchronise(uint32_t count, const VkMappedMemoryRange *ranges, bool to_device)
{
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < count; i++) {
        allocation *a = find_allocation(ranges[i].memory);
        uint64_t offset = ranges[i].offset, atom = (uint64_t)odd("atom", 1);
        uint64_t size = ranges[i].size == VK_WHOLE_SIZE ? a->size - offset : ranges[i].size;
        if (offset % atom || (size % atom && offset + size != a->size))
            violation("a range that is not of whole atoms");
        if (a->shadow)
            memcpy(to_device ? a->real + offset : a->shadow + offset, to_device ? a->shadow + offset : a->real + offset,
                   size);
    }
    pthread_mutex_unlock(&mutex);
}

/* --- what a driver need not put up with --------------------------------------------------------------------------- */

void odd_check_device(const VkDeviceCreateInfo *info)
{
    VkPhysicalDeviceFeatures2 *all =
        find((VkBaseOutStructure *)info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    if (!all || (odd("lacks_shaderInt16", 0) && all->features.shaderInt16))
        violation("a feature asked for that there is not");
    if (all && odd("lacks_shaderInt64", 0) && all->features.shaderInt64)
        violation("64-bit integers asked for that there are not");
    VkPhysicalDeviceVulkan11Features *f11 =
        find((VkBaseOutStructure *)info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
    if (f11 && odd("lacks_storageBuffer16BitAccess", 0) && f11->storageBuffer16BitAccess)
        violation("storage of 16 bits asked for that there is not");
    VkPhysicalDeviceVulkan12Features *f =
        find((VkBaseOutStructure *)info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    if (f && odd("lacks_storageBuffer8BitAccess", 0) && f->storageBuffer8BitAccess)
        violation("storage of 8 bits asked for that there is not");
    if (f && f->shaderStorageBufferArrayNonUniformIndexing && odd("lacks_shaderStorageBufferArrayNonUniformIndexing", 0))
        violation("arrays of bindings asked for that there are not");
    for (uint32_t i = 0; odd("imports", 1) == 0 && i < info->enabledExtensionCount; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0)
            violation("an extension asked for that there is not");
}

void odd_check_sets(uint32_t count, const VkWriteDescriptorSet *writes)
{
    uint64_t most = (uint64_t)odd("binding", INT64_MAX), alignment = (uint64_t)odd("alignment", 1), buffers = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < writes[i].descriptorCount && writes[i].pBufferInfo; k++) {
            const VkDescriptorBufferInfo *buffer = &writes[i].pBufferInfo[k];
            buffers += writes[i].descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            if (writes[i].descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER && buffer->range > most)
                violation("%llu bytes bound", (unsigned long long)buffer->range);
            if (buffer->offset % alignment)
                violation("bound at %llu", (unsigned long long)buffer->offset);
        }
    if (buffers > (uint64_t)odd("storage_buffers", INT64_MAX) || buffers >= (uint64_t)odd("resources", INT64_MAX))
        violation("%llu storage buffers", (unsigned long long)buffers);
}

uint32_t odd_family(uint32_t family)
{
    if (odd("compute_family", 0) && !odd("lacks_transfer", 0) && family == 0)
        violation("queues that also draw, where there are others");
    return odd("compute_family", 0) ? 0 : family;
}

void odd_check_dispatch(uint32_t groups)
{
    if (groups > odd("group_count", UINT32_MAX))
        violation("%u work groups", groups);
}

PFN_vkVoidFunction odd_function(const char *name)
{
#define FUNCTION(function)                                                                                             \
    if (strcmp(name, #function) == 0)                                                                                  \
    return (PFN_vkVoidFunction)odd_##function
    FUNCTION(vkGetPhysicalDeviceProperties2);
    FUNCTION(vkGetPhysicalDeviceFeatures2);
    FUNCTION(vkGetPhysicalDeviceMemoryProperties);
    FUNCTION(vkGetPhysicalDeviceQueueFamilyProperties);
    FUNCTION(vkEnumerateDeviceExtensionProperties);
    return odd("semaphores", 0) ? semaphores_function(name) : NULL;
#undef FUNCTION
}
