#include "vk/traits.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <cpuid.h>
#endif

#include "base/machine.h"
#include "base/processor.h"

enum { NVIDIA = 0x10de }; /* PCI's number of it */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Which extensions there are, in the traits that also depend on other things. */
static VkResult find_extensions(const dml_instance_functions *vk, VkPhysicalDevice physical, dml_device_traits *traits)
{
    uint32_t count = 0;
    VkResult result = vk->vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    if (result)
        return result;
    VkExtensionProperties *list = malloc((count + 1) * sizeof *list);
    result = list ? vk->vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list) : VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        const char *name = list[i].extensionName;
        traits->host_import |= strcmp(name, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0;
        traits->budget |= strcmp(name, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
        traits->portability |= strcmp(name, DML_PORTABILITY_SUBSET) == 0;
        traits->timeline_fd |= strcmp(name, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) == 0;
        traits->exportable |= strcmp(name, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) == 0;
    }
    free(list);
    return result < 0 ? result : VK_SUCCESS;
}

/* What buffers of DML_BUFFER_USAGE can do with memory by that kind of handle. */
static VkExternalMemoryFeatureFlags external_buffers(const dml_instance_functions *vk, VkPhysicalDevice physical,
                                                     VkExternalMemoryHandleTypeFlagBits handle)
{
    VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, .usage = DML_BUFFER_USAGE, .handleType = handle};
    VkExternalBufferProperties external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vk->vkGetPhysicalDeviceExternalBufferProperties(physical, &info, &external);
    return external.externalMemoryProperties.externalMemoryFeatures;
}

/* Whether memory that buffers are bound to may be exported as it is allocated here. */
static bool exports_buffers(const dml_instance_functions *vk, VkPhysicalDevice physical)
{
    const VkExternalMemoryFeatureFlags features = external_buffers(vk, physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    return (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) &&
           !(features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT);
}

/* Whether a timeline semaphore may be exported. */
static bool exports_timelines(const dml_instance_functions *vk, VkPhysicalDevice physical)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkPhysicalDeviceExternalSemaphoreInfo info = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                                        .pNext = &type,
                                                        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vk->vkGetPhysicalDeviceExternalSemaphoreProperties(physical, &info, &external);
    return external.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

/* Whether the device lacks what most kernels use; then shaders/words.glsl says what follows. */
static bool has_only_32_bits(const dml_features *f)
{
    return !f->core.features.shaderInt64 || !f->vulkan11.storageBuffer16BitAccess || !f->vulkan12.storageBuffer8BitAccess;
}

/* Whether a binding may be an array of DML_MAX_SEGMENTS storage buffers. */
static bool has_segments(const dml_features *f, const VkPhysicalDeviceLimits *limits)
{
    return f->vulkan12.shaderStorageBufferArrayNonUniformIndexing &&
           limits->maxPerStageDescriptorStorageBuffers >= DML_MAX_STORAGE_BUFFERS &&
           limits->maxDescriptorSetStorageBuffers >= DML_MAX_STORAGE_BUFFERS &&
           limits->maxPerStageResources > DML_MAX_STORAGE_BUFFERS; /* the table of the dispatch is one more */
}

/* What makes kernels slow where llvmpipe uses AVX-512. From Mesa 25.1 on (up to 25.0 it says it is version 1), accesses with a
 * uniform descriptor become gathers and scatters. On AMD's family 26, Zen 5, reads are not prefetched by hardware. */
static void find_avx512_tunables(VkDriverId driver, uint32_t version, dml_device_traits *traits)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    unsigned vendor = 0, model = 0, b, c, d;
    if (driver != VK_DRIVER_ID_MESA_LLVMPIPE || !dml_processor_has(DML_AVX512) || getenv("GALLIUM_OVERRIDE_CPU_CAPS"))
        return;
    traits->core.tunables.segments_always = traits->segmented && version >= VK_MAKE_API_VERSION(0, 25, 1, 0);
    bool known = __get_cpuid(0, &model, &vendor, &c, &d) && __get_cpuid(1, &model, &b, &c, &d);
    unsigned family = (model >> 8 & 15) + (model >> 20 & 255);
    if (known && vendor == signature_AMD_ebx && family == 26)
        traits->core.tunables.prefetch_ahead = 1;
#else
    (void)driver, (void)version, (void)traits;
#endif
}

/* The most bytes of a range. Kernels count bytes in 32 bits. The range may start early by up to the alignment, and an
 * imported one has up to a page more on either side. */
static int64_t widest_range(const dml_device_traits *traits)
{
    uint64_t binding = (uint64_t)traits->core.binding, segment = 1;
    while (2 * segment <= binding)
        segment *= 2;
    uint64_t most = traits->segmented ? DML_MAX_SEGMENTS * segment : binding;
    most = smaller(smaller(most, UINT32_MAX), traits->max_buffer - 2 * traits->import_alignment);
    return (int64_t)(most - traits->core.alignment) & ~INT64_C(63);
}

static void find_floats(const dml_instance_functions *vk, VkPhysicalDevice physical, dml_device_traits *traits)
{
    VkPhysicalDeviceFloatControlsProperties floats = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &floats};
    vk->vkGetPhysicalDeviceProperties2(physical, &all);
    traits->rounds = floats.shaderRoundingModeRTEFloat32;
    traits->keeps = floats.shaderSignedZeroInfNanPreserveFloat32;
}

static uint32_t group_size(const dml_tunables *tunables, const VkPhysicalDeviceLimits *limits,
                           const VkPhysicalDeviceSubgroupProperties *subgroup)
{
    const uint32_t wanted = tunables->group_size ? tunables->group_size : subgroup->subgroupSize;
    return (uint32_t)smaller(wanted, smaller(limits->maxComputeWorkGroupInvocations, limits->maxComputeWorkGroupSize[0]));
}

/* Whether a subgroup is of the size that kernels expect, and can do in them what they ask for. Only on a CPU's drivers is a
 * workgroup of that size known to be one. */
static bool has_shuffles(const VkPhysicalDeviceSubgroupProperties *subgroup, const dml_device_traits *traits)
{
    const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                          VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    return traits->cpu && traits->core.group_size == DML_SUBGROUP && subgroup->subgroupSize == DML_SUBGROUP &&
           (subgroup->supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) && (subgroup->supportedOperations & needed) == needed;
}

/* After the extensions. */
static void find_traits(const dml_instance_functions *vk, VkPhysicalDevice physical, dml_device_traits *traits)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                     .pNext = &subgroup};
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &memory};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    dml_features features;
    dml_features_init(&features);
    vk->vkGetPhysicalDeviceFeatures2(physical, &features.core);
    traits->only_32_bit = has_only_32_bits(&features);
    traits->host_import = traits->host_import && !traits->only_32_bit &&
                          (external_buffers(vk, physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) &
                           VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT);
    if (traits->host_import)
        subgroup.pNext = &import;
    vk->vkGetPhysicalDeviceProperties2(physical, &all);
    const VkPhysicalDeviceLimits *limits = &all.properties.limits;
    find_floats(vk, physical, traits);
    traits->cpu = all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const dml_tunables *tunables = traits->cpu ? &dml_tunables_cpu : &dml_tunables_gpu;
    traits->core.tunables = *tunables;
    traits->core.tunables.copy_bytes /= dml_usable_cores() > 2 ? 4 : 1; /* kernels use all cores, a copy one */
    traits->core.group_size = group_size(tunables, limits, &subgroup);
    traits->core.shuffles = has_shuffles(&subgroup, traits);
    traits->core.max_groups = (uint32_t)smaller(tunables->max_groups, limits->maxComputeWorkGroupCount[0]);
    traits->core.alignment = (uint32_t)dml_larger(
        16, dml_larger((int64_t)limits->minStorageBufferOffsetAlignment, (int64_t)limits->minUniformBufferOffsetAlignment));
    traits->max_buffer = memory.maxMemoryAllocationSize;
    traits->import_alignment = traits->host_import ? import.minImportedHostPointerAlignment : 0;
    traits->core.binding = limits->maxStorageBufferRange & ~UINT32_C(15);
    traits->segmented = has_segments(&features, limits) && !traits->only_32_bit;
    traits->core.range = widest_range(traits);
    find_avx512_tunables(driver.driverID, all.properties.driverVersion, traits);
    if (traits->core.range <= traits->core.binding) /* one binding holds all that a kernel can address */
        traits->segmented = traits->core.tunables.segments_always;
    traits->staging = (uint64_t)tunables->staging_bytes;
    traits->pipelines = 256;
    traits->core.kernels = UINT32_MAX;
    traits->host_moves = traits->flushes = true;
    traits->exportable = traits->exportable && exports_buffers(vk, physical);
    traits->timeline_fd = traits->timeline_fd && exports_timelines(vk, physical);
    traits->cuda = traits->exportable && all.properties.vendorID == NVIDIA;
    traits->queue_family = (uint32_t)dml_device_compute_family(vk, physical);
}

VkResult dml_traits_find(const dml_instance_functions *vk, VkPhysicalDevice physical, dml_device_traits *traits)
{
    const VkResult result = find_extensions(vk, physical, traits);
    if (result == VK_SUCCESS)
        find_traits(vk, physical, traits);
    return result;
}

/* What a test may take away, and how much it leaves: -1 for all. What is `chosen` below may also be more than there is. */
static struct {
    const char *name;
    int64_t value;
} overrides[] = {
    {"kernel", -1},          {"host_import", -1},    {"range", -1},      {"binding", -1},    {"staging", -1},
    {"group_size", -1},      {"chunks", -1},         {"max_groups", -1}, {"mapped", -1},     {"invocation_bytes", -1},
    {"pipelines", -1},       {"busy_bytes", -1},     {"cpu", -1},        {"flushes", -1},    {"max_item", -1},
    {"segments_always", -1}, {"prefetch_ahead", -1}, {"cuda", -1},       {"words_tile", -1}, {"words_dense", -1},
    {"rounds", -1},          {"shuffles", -1}};

static int64_t *find_override(const char *name)
{
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++)
        if (strcmp(overrides[i].name, name) == 0)
            return &overrides[i].value;
    return NULL;
}

static int64_t chosen(const char *name, int64_t offered)
{
    int64_t value = *find_override(name);
    return value >= 0 ? value : offered;
}

static int64_t lowered(const char *name, int64_t offered)
{
    int64_t value = chosen(name, offered);
    return value < offered ? value : offered;
}

/* What makes one kernel move whatever it can; rows move what the copy command cannot. */
static void allow_only(int64_t kernel, dml_device_traits *traits)
{
    traits->host_moves = false;
    traits->core.kernels = UINT32_C(1) << kernel;
    if (kernel == DML_KERNEL_COPY) {
        traits->core.kernels |= 1 << DML_KERNEL_ROWS;
        traits->core.tunables.copy_regions = 64;
        traits->core.tunables.copy_run = 0;
    }
}

void dml_traits_override(const dml_device_traits *offered, dml_device_traits *traits)
{
    *traits = *offered;
    traits->host_import = lowered("host_import", offered->host_import);
    traits->rounds = lowered("rounds", offered->rounds);
    traits->core.binding = lowered("binding", offered->core.binding);
    traits->core.range = lowered("range", widest_range(traits));
    traits->staging = (uint64_t)lowered("staging", (int64_t)offered->staging);
    traits->core.group_size = (uint32_t)lowered("group_size", offered->core.group_size);
    traits->core.max_groups = (uint32_t)lowered("max_groups", offered->core.max_groups);
    traits->pipelines = (int)lowered("pipelines", offered->pipelines);
    traits->mapped = lowered("mapped", offered->mapped);
    traits->cpu = lowered("cpu", offered->cpu);
    traits->core.shuffles =
        traits->cpu && traits->core.group_size == DML_SUBGROUP && lowered("shuffles", offered->core.shuffles);
    traits->flushes = lowered("flushes", offered->flushes);
    traits->cuda = offered->exportable && chosen("cuda", offered->cuda);
    traits->timeline_fd = traits->cuda && offered->timeline_fd;
    dml_tunables *tunables = &traits->core.tunables;
    if (!traits->cpu)
        *tunables = dml_tunables_gpu;
    if (traits->only_32_bit)
        tunables->wide_row = UINT32_MAX; /* words of 16 bytes only */
    tunables->segments_always = traits->segmented && chosen("segments_always", tunables->segments_always);
    tunables->prefetch_ahead = (int32_t)chosen("prefetch_ahead", tunables->prefetch_ahead);
    tunables->chunks = (uint32_t)lowered("chunks", tunables->chunks);
    tunables->invocation_bytes = (uint32_t)lowered("invocation_bytes", tunables->invocation_bytes);
    tunables->max_item = lowered("max_item", tunables->max_item);
    tunables->words_tile = (int32_t)chosen("words_tile", tunables->words_tile);
    tunables->words_dense = chosen("words_dense", tunables->words_dense);
    tunables->busy_bytes = lowered("busy_bytes", tunables->busy_bytes);
    int64_t kernel = chosen("kernel", -1);
    if (kernel >= 0)
        allow_only(kernel, traits);
}

bool dml_traits_set_override(const char *name, int64_t value)
{
    int64_t *found = find_override(name);
    if (found)
        *found = value;
    return found;
}
