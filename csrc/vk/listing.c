#define VOLK_IMPLEMENTATION
#include "vk/listing.h"

#include <stdlib.h>
#include <string.h>

#include "vk/child_exit.h"
#include "vk/cpu_driver.h"
#include "vk/results.h"

static const char *const install =
    "on Debian and Ubuntu: apt install libvulkan1 mesa-vulkan-drivers (lavapipe runs on any CPU); elsewhere the "
    "graphics driver of the GPU and the Vulkan loader";

static bool has_extension(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

static VkResult create_instance(VkInstance *instance)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) == VK_SUCCESS && count)
        list = malloc(count * sizeof *list);
    if (list && vkEnumerateInstanceExtensionProperties(NULL, &count, list) < 0)
        count = 0; /* uncovered: needs another system or driver */
    /* The loader lists drivers that are not fully conformant, like MoltenVK, only on request. */
    const char *portability = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    bool portable = list && has_extension(list, count, portability);
    free(list);

    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "dmlops", .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .flags = portable ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = portable,
                                 .ppEnabledExtensionNames = &portability};
    return vkCreateInstance(&info, NULL, instance);
}

/* By which devices are sorted: usable ones first, then by type. */
static int order_of(const dml_device_info *info)
{
    static const char *const types[] = {"discrete", "integrated", "virtual", "cpu", "other"};
    int order = 0;
    while (order < 4 && strcmp(types[order], info->type) != 0)
        order++;
    return info->usable ? order : order + 5;
}

static bool better(const dml_device_info *a, const dml_device_info *b)
{
    int order_a = order_of(a), order_b = order_of(b);
    return order_a != order_b ? order_a < order_b : a->memory > b->memory;
}

/* Keeps the list sorted, and for a device that several drivers offer only the better entry. */
static void add_device(dml_device_list *list, VkPhysicalDevice physical)
{
    dml_device device;
    dml_device_inspect(physical, &device);
    for (int i = 0; i < list->count; i++) {
        const dml_device *other = &list->devices[i];
        if (memcmp(other->uuid, device.uuid, VK_UUID_SIZE) != 0 || strcmp(other->info.name, device.info.name) != 0)
            continue;
        if (!better(&device.info, &other->info))
            return;
        list->count--;
        memmove(&list->devices[i], &list->devices[i + 1], (size_t)(list->count - i) * sizeof device);
        break;
    }
    if (list->count == DML_MAX_DEVICES)
        return;
    int to = list->count++;
    for (; to > 0 && better(&device.info, &list->devices[to - 1].info); to--)
        list->devices[to] = list->devices[to - 1];
    list->devices[to] = device;
}

void dml_devices_list(dml_device_list *list, dml_status *status)
{
    if (volkInitialize() != VK_SUCCESS) {
        dml_fail(status, DML_NO_DEVICE, "the Vulkan loader is not installed; %s", install);
        return;
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) { /* uncovered: needs another system or driver */
        dml_fail(status, DML_NO_DEVICE, "the Vulkan loader is older than 1.2; %s", install);
        return; /* uncovered: needs another system or driver */
    }
    dml_cpu_driver_open();
    VkResult result = DML_MADE(create_instance(&list->instance), &list->instance);
    if (result == VK_SUCCESS) {
        volkLoadInstanceOnly(list->instance);
        VkPhysicalDevice physical[DML_MAX_DEVICES];
        uint32_t count = DML_MAX_DEVICES;
        result = vkEnumeratePhysicalDevices(list->instance, &count, physical);
        for (uint32_t i = 0; result >= 0 && i < count; i++)
            add_device(list, physical[i]);
    }
    if (list->count > 0) {
        dml_child_exit_watch();
        return;
    }
    if (list->instance)
        vkDestroyInstance(list->instance, NULL); /* uncovered: a fault that only soak injects */
    list->instance = NULL;
    /* For a manifest that it cannot read the loader returns any error, VK_ERROR_OUT_OF_HOST_MEMORY included. */
    if (result < 0 && result != VK_ERROR_INCOMPATIBLE_DRIVER && result != VK_ERROR_INITIALIZATION_FAILED)
        dml_fail(status, DML_NO_DEVICE, "no Vulkan driver could be loaded (%s; VK_LOADER_DEBUG=error tells more); %s",
                 dml_vk_result_name(result), install);
    else
        dml_fail(status, DML_NO_DEVICE, "no Vulkan driver was found; %s", install);
}
