/* Timeline semaphores that can be exported, on a driver that has none: the file is one in memory which says how to wait for the
 * semaphore, to whoever has it in this process (cuda_stub/stub.c).
 */
#define _GNU_SOURCE
#include "layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a file has. */
typedef struct semaphore_file {
    bool (*wait)(const struct semaphore_file *file, uint64_t value); /* ten seconds at most */
    VkDevice device;
    VkSemaphore semaphore;
    PFN_vkWaitSemaphores next;
} semaphore_file;

static bool wait_for(const semaphore_file *file, uint64_t value)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &file->semaphore,
                                .pValues = &value};
    return file->next(file->device, &info, 10000000000) == VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    if (fault_fires("vulkan", "vkGetSemaphoreFdKHR", false))
        return fault_result();
    const semaphore_file file = {wait_for, device, info->semaphore, semaphores_wait()};
    *fd = memfd_create("semaphore", MFD_CLOEXEC);
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
        violation("a semaphore asked for as a file of another kind");
    return write(*fd, &file, sizeof file) == sizeof file ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                 VkExternalSemaphoreProperties *properties)
{
    (void)device;
    const VkSemaphoreTypeCreateInfo *type = info->pNext;
    if (type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE)
        properties->externalSemaphoreFeatures = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

PFN_vkVoidFunction semaphores_function(const char *name)
{
    if (strcmp(name, "vkGetSemaphoreFdKHR") == 0)
        return (PFN_vkVoidFunction)get_fd;
    return strcmp(name, "vkGetPhysicalDeviceExternalSemaphoreProperties") == 0 ? (PFN_vkVoidFunction)get_properties : NULL;
}

/* The type is the first in the chain, and an export behind it. */
VkSemaphoreCreateInfo semaphores_plain(const VkSemaphoreCreateInfo *info)
{
    static _Thread_local VkSemaphoreTypeCreateInfo type;
    VkSemaphoreCreateInfo plain = *info;
    if (!odd("semaphores", 0) || !info->pNext)
        return plain;
    type = *(const VkSemaphoreTypeCreateInfo *)info->pNext;
    type.pNext = NULL;
    plain.pNext = &type;
    return plain;
}

uint32_t semaphores_extensions(const VkDeviceCreateInfo *info, const char **names)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->enabledExtensionCount && count < 16; i++)
        if (!odd("semaphores", 0) || strcmp(info->ppEnabledExtensionNames[i], VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) != 0)
            names[count++] = info->ppEnabledExtensionNames[i];
    return count;
}
