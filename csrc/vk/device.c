/* What a device must have, what it offers, and its context. */
#include "vk/context.h"

#define PORTABILITY_SUBSET "VK_KHR_portability_subset" /* not in every header: it is provisional */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device's features, chained as Vulkan wants them. */
typedef struct features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
} features;

static void features_link(features *f)
{
    memset(f, 0, sizeof *f);
    f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->core.pNext = &f->vulkan12;
    f->vulkan12.pNext = &f->vulkan11;
    f->vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
}

static int64_t compute_family(VkPhysicalDevice physical)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            return i;
    return -1;
}

static const char *type_name(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "cpu";
    default:
        return "other";
    }
}

/* All that the kernels need; everything else has a way round it. */
static const char *missing_feature(VkPhysicalDevice physical)
{
    features f;
    features_link(&f);
    vkGetPhysicalDeviceFeatures2(physical, &f.core);
    if (!f.core.features.shaderInt64)
        return "it lacks the feature shaderInt64";
    if (!f.vulkan11.storageBuffer16BitAccess)
        return "it lacks the feature storageBuffer16BitAccess";
    if (!f.vulkan12.storageBuffer8BitAccess)
        return "it lacks the feature storageBuffer8BitAccess";
    if (compute_family(physical) < 0)
        return "it has no compute queue";
    return NULL;
}

void dml_device_inspect(VkPhysicalDevice physical, dml_device *device)
{
    memset(device, 0, sizeof *device);
    dml_device_info *info = &device->info;
    device->physical = physical;
    /* What a driver older than 1.2 does not know, it leaves empty. */
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &driver};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    const VkPhysicalDeviceProperties *properties = &all.properties;
    vkGetPhysicalDeviceProperties2(physical, &all);
    memcpy(device->uuid, id.deviceUUID, VK_UUID_SIZE);
    snprintf(info->name, sizeof info->name, "%s", properties->deviceName);
    snprintf(info->driver, sizeof info->driver, "%.120s%s%.120s", driver.driverName, driver.driverInfo[0] ? " " : "",
             driver.driverInfo);
    info->type = type_name(properties->deviceType);
    info->api_major = VK_API_VERSION_MAJOR(properties->apiVersion);
    info->api_minor = VK_API_VERSION_MINOR(properties->apiVersion);
    info->api_patch = VK_API_VERSION_PATCH(properties->apiVersion);

    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && memory.memoryHeaps[i].size > info->memory)
            info->memory = memory.memoryHeaps[i].size;

    bool old = properties->apiVersion < VK_API_VERSION_1_2;
    const char *missing = old ? "it offers only Vulkan older than 1.2" : missing_feature(physical);
    info->usable = !missing;
    if (missing)
        snprintf(info->reason, sizeof info->reason, "%s", missing);
}

/* --- traits ---------------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether a buffer such as ours may be bound to imported host memory at all. */
static bool imports_buffers(VkPhysicalDevice physical)
{
    VkPhysicalDeviceExternalBufferInfo info = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                                               .usage = DML_BUFFER_USAGE,
                                               .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkExternalBufferProperties external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(physical, &info, &external);
    return (external.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

typedef struct extensions {
    bool import;
    bool budget;
    bool portability;
} extensions;

static VkResult find_extensions(VkPhysicalDevice physical, extensions *found)
{
    uint32_t count = 0;
    VkResult result = vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    if (result)
        return result;
    VkExtensionProperties *list = malloc((count + 1) * sizeof *list);
    result = list ? vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list) : VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        found->import |= strcmp(list[i].extensionName, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0;
        found->budget |= strcmp(list[i].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
        found->portability |= strcmp(list[i].extensionName, PORTABILITY_SUBSET) == 0;
    }
    free(list);
    return result < 0 ? result : VK_SUCCESS;
}

/* What segments need: features and allocation buffers enough. */
static bool has_segments(VkPhysicalDevice physical, const VkPhysicalDeviceLimits *limits)
{
    features f;
    features_link(&f);
    vkGetPhysicalDeviceFeatures2(physical, &f.core);
    return f.vulkan12.shaderStorageBufferArrayNonUniformIndexing &&
           limits->maxPerStageDescriptorStorageBuffers >= DML_MAX_STORAGE_BUFFERS &&
           limits->maxDescriptorSetStorageBuffers >= DML_MAX_STORAGE_BUFFERS &&
           limits->maxPerStageResources > DML_MAX_STORAGE_BUFFERS; /* the table is one more */
}

/* Below 2**32, since kernels count bytes in 32 bits; less the alignment, which a window may start early by, and on either side the page that is
 * imported with it. */
static int64_t widest_window(const dml_device_traits *traits)
{
    uint64_t binding = (uint64_t)traits->plan.binding, segment = 1;
    while (2 * segment <= binding)
        segment *= 2;
    uint64_t most = traits->segmented ? DML_MAX_SEGMENTS * segment : binding;
    most = least(least(most, UINT32_MAX), traits->max_buffer - 2 * traits->import_alignment);
    return (int64_t)(most - traits->plan.alignment) & ~INT64_C(63);
}

static void find_traits(VkPhysicalDevice physical, const extensions *found, dml_device_traits *traits)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                     .pNext = &subgroup};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &memory};
    traits->host_import = found->import && imports_buffers(physical);
    if (traits->host_import)
        subgroup.pNext = &import;
    vkGetPhysicalDeviceProperties2(physical, &all);
    const VkPhysicalDeviceLimits *limits = &all.properties.limits;
    traits->cpu = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const dml_tunables *tunables = traits->cpu ? &dml_tunables_cpu : &dml_tunables_gpu;
    traits->plan.tunables = *tunables;
    uint32_t group = tunables->group_size ? tunables->group_size : subgroup.subgroupSize;
    traits->plan.group_size =
        (uint32_t)least(group, least(limits->maxComputeWorkGroupInvocations, limits->maxComputeWorkGroupSize[0]));
    traits->plan.max_groups = (uint32_t)least(tunables->max_groups, limits->maxComputeWorkGroupCount[0]);
    traits->plan.alignment = (uint32_t)limits->minStorageBufferOffsetAlignment;
    if (traits->plan.alignment < limits->minUniformBufferOffsetAlignment)
        traits->plan.alignment = (uint32_t)limits->minUniformBufferOffsetAlignment;
    if (traits->plan.alignment < 16)
        traits->plan.alignment = 16;
    traits->max_buffer = memory.maxMemoryAllocationSize;
    traits->import_alignment = traits->host_import ? import.minImportedHostPointerAlignment : 0;
    traits->plan.binding = limits->maxStorageBufferRange & ~UINT32_C(15);
    traits->segmented = has_segments(physical, limits);
    traits->plan.window = widest_window(traits);
    traits->segmented =
        traits->plan.window > traits->plan.binding; /* no use where one binding has all that a kernel can address */
    traits->staging = UINT64_C(4) << 20;
    traits->mapped = true;
    traits->budget = found->budget;
    traits->forced = DML_KERNEL_COUNT;
    traits->queue_family = (uint32_t)compute_family(physical);
}

/* What a test may take away, and how much it left: -1 for everything. */
static struct {
    const char *name;
    int64_t value;
} overrides[] = {{"kernel", -1},  {"host_import", -1}, {"window", -1},           {"binding", -1},
                 {"staging", -1}, {"group_size", -1},  {"chunks", -1},           {"max_groups", -1},
                 {"mapped", -1},  {"heap", -1},        {"invocation_bytes", -1}, {"cpu", -1}};

static int64_t *find_override(const char *name)
{
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++)
        if (strcmp(overrides[i].name, name) == 0)
            return &overrides[i].value;
    return NULL;
}

static int64_t override(const char *name, int64_t offered)
{
    int64_t left = *find_override(name);
    return left >= 0 && left < offered ? left : offered;
}

void dml_context_override(dml_context *context)
{
    const dml_device_traits *offered = &context->offered;
    dml_device_traits *traits = &context->traits;
    *traits = *offered;
    traits->forced = (dml_kernel) override("kernel", offered->forced);
    traits->host_import = override("host_import", offered->host_import);
    traits->plan.binding = override("binding", offered->plan.binding);
    traits->plan.window = override("window", widest_window(traits));
    traits->staging = (uint64_t) override("staging", (int64_t)offered->staging);
    traits->plan.group_size = (uint32_t) override("group_size", offered->plan.group_size);
    traits->plan.max_groups = (uint32_t) override("max_groups", offered->plan.max_groups);
    traits->mapped = override("mapped", offered->mapped);
    traits->heap = (uint64_t) override("heap", (int64_t)offered->heap);
    traits->cpu = override("cpu", offered->cpu);
    dml_tunables *tunables = &traits->plan.tunables;
    if (!traits->cpu)
        *tunables = dml_tunables_gpu;
    tunables->chunks = (uint32_t) override("chunks", offered->plan.tunables.chunks);
    tunables->invocation_bytes = (uint32_t) override("invocation_bytes", offered->plan.tunables.invocation_bytes);
}

const dml_traits *dml_vk_traits(const dml_context *context)
{
    return &context->traits.plan;
}

bool dml_device_override(const char *name, int64_t value)
{
    int64_t *left = find_override(name);
    if (left)
        *left = value;
    return left;
}

/* --- context --------------------------------------------------------------------------------------------------- */

static VkResult create_device(dml_context *context, bool portability)
{
    const char *names[3];
    uint32_t count = 0;
    if (context->offered.host_import)
        names[count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    if (context->offered.budget)
        names[count++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
    if (portability)
        names[count++] = PORTABILITY_SUBSET;

    features wanted;
    features_link(&wanted);
    wanted.core.features.shaderInt64 = VK_TRUE;
    wanted.vulkan11.storageBuffer16BitAccess = VK_TRUE;
    wanted.vulkan12.storageBuffer8BitAccess = VK_TRUE;
    wanted.vulkan12.shaderStorageBufferArrayNonUniformIndexing = context->offered.segmented;
    wanted.vulkan12.timelineSemaphore = VK_TRUE; /* Vulkan 1.2 has it everywhere */
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = context->traits.queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = (const float[]){1.0f}};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &wanted.core,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = count,
                               .ppEnabledExtensionNames = names};
    return DML_MADE(vkCreateDevice(context->physical, &info, NULL, &context->device), &context->device);
}

static dml_code create_timeline(dml_context *context, dml_status *status)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result =
        DML_MADE(context->vk.vkCreateSemaphore(context->device, &info, NULL, &context->timeline), &context->timeline);
    return result ? dml_vk_fail(context, result, "vkCreateSemaphore", status) : DML_OK;
}

dml_code dml_context_create(VkPhysicalDevice physical, dml_context **result, dml_status *status)
{
    dml_context *context = calloc(1, sizeof *context);
    if (!context)
        return dml_fail(status, DML_NO_MEMORY, "no memory for a device's context");
    context->physical = physical;
    context->gate = context->making = context->turn = context->lock = (dml_lock)DML_LOCK_INIT;
    vkGetPhysicalDeviceMemoryProperties(physical, &context->memory);
    extensions found = {false, false, false};
    VkResult made = find_extensions(physical, &found);
    if (!made) {
        find_traits(physical, &found, &context->offered);
        dml_allocations_init(context);
        made = create_device(context, found.portability);
    }
    if (made) {
        dml_vk_fail(context, made, "vkCreateDevice", status);
        goto fail;
    }
    volkLoadDeviceTable(&context->vk, context->device);
    context->vk.vkGetDeviceQueue(context->device, context->traits.queue_family, 0, &context->queue);
    if (dml_kernels_init(context, status) || create_timeline(context, status))
        goto fail;
    *result = context;
    return DML_OK;
fail:
    dml_context_destroy(context);
    return status->code;
}

void dml_context_close(dml_context *context)
{
    if (context->device) {
        dml_submissions_destroy(context);
        dml_stagings_destroy(context);
        dml_allocations_destroy(context);
        dml_kernels_deinit(context);
        context->vk.vkDestroySemaphore(context->device, context->timeline, NULL);
        context->vk.vkDestroyDevice(context->device, NULL);
    }
    context->device = VK_NULL_HANDLE;
}

void dml_context_destroy(dml_context *context)
{
    if (context)
        dml_context_close(context);
    free(context);
}
