/* The mock of tests/threads as a driver that is used without a loader, or as the loader. What it is like is chosen by macros:
 *
 *   NAME, TYPE         of its device
 *   DRIVER             the VkDriverId of the device's driver
 *   LUID               the number of the device's adapter, as on Windows
 *   VERSION            of Vulkan
 *   NEGOTIATION        what it answers to a loader's interface version
 *   CREATION           what vkCreateInstance returns
 *   DEVICES            how many there are, or the VkResult that listing them returns
 *   LACKS              the function that it has not
 *   NO_ENTRY           it exports nothing of a driver
 *   NO_LOADER          it exports nothing of a loader
 */
#define vkGetInstanceProcAddr mock_GetInstanceProcAddr
#include "threads/mock_vulkan.c"
#undef vkGetInstanceProcAddr

#ifndef NAME
#define NAME "mock"
#endif
#ifndef TYPE
#define TYPE VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU
#endif
#ifndef VERSION
#define VERSION VK_API_VERSION_1_2
#endif
#ifndef NEGOTIATION
#define NEGOTIATION VK_SUCCESS
#endif
#ifndef CREATION
#define CREATION VK_SUCCESS
#endif
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef LACKS
#define LACKS ""
#endif

CALL(VkResult, my_EnumerateInstanceVersion)(uint32_t *version)
{
    *version = VERSION;
    return VK_SUCCESS;
}

CALL(VkResult, my_CreateInstance)(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a, VkInstance *instance)
{
    VkResult result = CREATION;
    return result ? result : CreateInstance(info, a, instance);
}

CALL(VkResult, my_EnumeratePhysicalDevices)(VkInstance instance, uint32_t *count, VkPhysicalDevice *devices)
{
    int some = DEVICES;
    VkResult result = EnumeratePhysicalDevices(instance, count, devices);
    *count = some > 0 ? 1 : 0;
    return some < 0 ? (VkResult)some : result;
}

CALL(void, my_GetPhysicalDeviceProperties2)(VkPhysicalDevice p, VkPhysicalDeviceProperties2 *all)
{
    GetPhysicalDeviceProperties2(p, all);
    strcpy(all->properties.deviceName, NAME);
    all->properties.deviceType = TYPE;
    for (VkBaseOutStructure *s = all->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
#ifdef DRIVER
            ((VkPhysicalDeviceDriverProperties *)s)->driverID = DRIVER;
#endif
            strcpy(((VkPhysicalDeviceDriverProperties *)s)->driverName, "driver of " NAME);
        } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
            strcpy((char *)((VkPhysicalDeviceIDProperties *)s)->deviceUUID, NAME);
#ifdef LUID
            ((VkPhysicalDeviceIDProperties *)s)->deviceLUID[0] = LUID;
            ((VkPhysicalDeviceIDProperties *)s)->deviceLUIDValid = VK_TRUE;
#endif
        }
}

static PFN_vkVoidFunction find(VkInstance instance, const char *name)
{
    if (strcmp(name, LACKS) == 0)
        return NULL;
#define MINE(name_)                                                                                                    \
    if (strcmp(name, "vk" #name_) == 0)                                                                                \
        return (PFN_vkVoidFunction)my_##name_;
    MINE(EnumerateInstanceVersion)
    MINE(CreateInstance)
    MINE(EnumeratePhysicalDevices)
    MINE(GetPhysicalDeviceProperties2)
    return mock_GetInstanceProcAddr(instance, name);
}

#define EXPORT __attribute__((visibility("default")))

#ifndef NO_LOADER
EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return find(instance, name);
}
#endif

#ifndef NO_ENTRY
EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return find(instance, name);
}

EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    if (*version > 5)
        abort();
    return NEGOTIATION;
}
#endif

/* A child has not the device's thread. */
static void forget(void)
{
    pthread_mutex_init(&device.mutex, NULL);
    pthread_cond_init(&device.changed, NULL);
    device.running = 0;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}
