#include "vk/device.h"

#include <stdio.h>
#include <string.h>

#include "vk/cpu_needs.h"

void dml_features_init(dml_features *f)
{
    memset(f, 0, sizeof *f);
    f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->core.pNext = &f->vulkan12;
    f->vulkan12.pNext = &f->vulkan11;
    f->vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
}

int64_t dml_device_compute_family(const dml_instance_functions *vk, VkPhysicalDevice physical)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    int64_t any = -1, without_graphics = -1;
    for (uint32_t i = count; i-- > 0;) {
        const VkQueueFlags flags = families[i].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT);
        const bool computes = families[i].queueCount > 0 && (flags & VK_QUEUE_COMPUTE_BIT);
        any = computes ? i : any;
        without_graphics = computes && flags == VK_QUEUE_COMPUTE_BIT ? i : without_graphics;
    }
    return without_graphics >= 0 ? without_graphics : any;
}

/* Drivers that work no more in a child that was forked after their first use, and whether it was. SwiftShader has none of its
 * threads there, nor do new devices get others: their work would never begin. NVIDIA's creates no device. */
static struct {
    VkDriverId driver;
    const char *name;
    bool forked;
} unforkable[] = {{VK_DRIVER_ID_GOOGLE_SWIFTSHADER, "SwiftShader", false},
                  {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "NVIDIA's driver", false}};
enum { UNFORKABLE = sizeof unforkable / sizeof unforkable[0] };

void dml_device_forked(const dml_device *device) /* uncovered: only in a forked child, which writes no counts */
{
    for (int i = 0; i < UNFORKABLE; i++) /* uncovered: only in a forked child, which writes no counts */
        unforkable[i].forked |= device->driver == unforkable[i].driver; /* uncovered: as above */
}

/* The name of the driver, if the child cannot use it; else NULL. */
static const char *lost_in_fork(const dml_device *device)
{
    for (int i = 0; i < UNFORKABLE; i++)
        if (unforkable[i].forked && device->driver == unforkable[i].driver)
            return unforkable[i].name; /* uncovered: only in a forked child, which writes no counts */
    return NULL;
}

/* By VkPhysicalDeviceType: what users call it, and which comes first. */
static const struct {
    const char *name;
    int order;
} types[] = {{"other", 4}, {"integrated", 1}, {"discrete", 0}, {"virtual", 2}, {"cpu", 3}};

void dml_device_inspect(const dml_instance *instance, VkPhysicalDevice physical, dml_device *device)
{
    const dml_instance_functions *vk = &instance->vk;
    memset(device, 0, sizeof *device);
    device->instance = instance;
    dml_device_info *info = &device->info;
    device->physical = physical;
    /* A driver older than 1.2 leaves structs that it does not know as they are. */
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &driver};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    const VkPhysicalDeviceProperties *properties = &all.properties;
    vk->vkGetPhysicalDeviceProperties2(physical, &all);
    memcpy(device->uuid, id.deviceUUID, VK_UUID_SIZE);
    if (id.deviceLUIDValid)
        memcpy(device->luid, id.deviceLUID, VK_LUID_SIZE);
    device->driver = driver.driverID;
    snprintf(info->name, sizeof info->name, "%s", properties->deviceName);
    snprintf(info->driver, sizeof info->driver, "%.120s%s%.120s", driver.driverName, driver.driverInfo[0] ? " " : "",
             driver.driverInfo);
    const VkPhysicalDeviceType type = properties->deviceType <= VK_PHYSICAL_DEVICE_TYPE_CPU ? properties->deviceType : 0;
    info->type = types[type].name;
    device->order = types[type].order;
    device->cpu = type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    info->api_major = VK_API_VERSION_MAJOR(properties->apiVersion);
    info->api_minor = VK_API_VERSION_MINOR(properties->apiVersion);
    info->api_patch = VK_API_VERSION_PATCH(properties->apiVersion);

    VkPhysicalDeviceMemoryProperties memory;
    vk->vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && memory.memoryHeaps[i].size > info->memory)
            info->memory = memory.memoryHeaps[i].size;

    dml_status unmet = {.code = DML_OK};
    if (properties->apiVersion < VK_API_VERSION_1_2)
        snprintf(info->reason, sizeof info->reason, "it offers only Vulkan older than 1.2");
    else if (dml_device_compute_family(vk, physical) < 0)
        snprintf(info->reason, sizeof info->reason, "it has no compute queue");
    else if (lost_in_fork(device))
        snprintf(info->reason, sizeof info->reason, /* uncovered: only in a forked child, which writes no counts */
                 "%s cannot be used in a child that was forked after its first use", lost_in_fork(device));
    else if (device->cpu && dml_cpu_check_start(&unmet))
        snprintf(info->reason, sizeof info->reason, "%.255s", unmet.message);
    info->usable = !info->reason[0];
    info->no_memory = unmet.code == DML_NO_MEMORY;
}
