/* A Vulkan layer's place in the chain from the loader to the driver. */
#ifndef DML_TESTS_CHAIN_H
#define DML_TESTS_CHAIN_H

#include <vulkan/vk_layer.h>

#define EXPORT __attribute__((visibility("default")))

/* Of an instance that is being made: what is next in the chain, which then leads on behind it. */
static inline PFN_vkGetInstanceProcAddr chain_of_instance(const VkInstanceCreateInfo *info)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return next;
}

/* The same of a device. */
static inline PFN_vkGetDeviceProcAddr chain_of_device(const VkDeviceCreateInfo *info, PFN_vkGetInstanceProcAddr *of_instance)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    *of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return next;
}

/* What the loader calls first. */
#define CHAIN(gipa, gdpa)                                                                                              \
    EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) \
    {                                                                                                                  \
        interface->loaderLayerInterfaceVersion = 2;                                                                    \
        interface->pfnGetInstanceProcAddr = gipa;                                                                      \
        interface->pfnGetDeviceProcAddr = gdpa;                                                                        \
        interface->pfnGetPhysicalDeviceProcAddr = NULL;                                                                \
        return VK_SUCCESS;                                                                                             \
    }

#endif
