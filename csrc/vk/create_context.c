#include "vk/context.h"

#include <stdlib.h>

#include "vk/allocation_pool.h"
#include "vk/barriers.h"
#include "vk/buffer.h"
#include "vk/cpu_needs.h"
#include "vk/cuda.h"
#include "vk/kernels.h"
#include "vk/queue.h"
#include "vk/quiesce.h"
#include "vk/results.h"
#include "vk/submission.h"

static VkResult create_device(dml_context *context)
{
    const char *names[5];
    uint32_t count = 0;
    if (context->offered.host_import)
        names[count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    if (context->offered.budget)
        names[count++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
    if (context->traits.cuda)
        names[count++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    if (context->traits.timeline_fd)
        names[count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    if (context->traits.portability)
        names[count++] = DML_PORTABILITY_SUBSET; /* uncovered: needs another system or driver */

    dml_features wanted;
    dml_features_init(&wanted);
    wanted.core.features.shaderInt64 = wanted.vulkan11.storageBuffer16BitAccess = wanted.vulkan12.storageBuffer8BitAccess =
        !context->offered.only_32_bit;
    wanted.vulkan12.shaderStorageBufferArrayNonUniformIndexing = context->offered.segmented;
    wanted.vulkan12.timelineSemaphore = VK_TRUE; /* Vulkan 1.2 requires it */
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
    return DML_MADE(context->instance_vk.vkCreateDevice(context->physical, &info, NULL, &context->device), &context->device);
}

static dml_code create_timeline(dml_context *context, dml_status *status)
{
    const VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                  .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = context->traits.timeline_fd ? &exported : NULL,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result = DML_CREATE(context, Semaphore, &info, &context->timeline);
    return result ? dml_vk_fail(context, result, "vkCreateSemaphore", status) : DML_OK;
}

static VkResult find_traits(dml_context *context)
{
    const VkResult result = dml_traits_find(&context->instance_vk, context->physical, &context->offered);
    if (result)
        return result;
    context->instance_vk.vkGetPhysicalDeviceMemoryProperties(context->physical, &context->memory);
    dml_buffer_find_heap(context);
    dml_traits_override(&context->offered, &context->traits);
    return VK_SUCCESS;
}

dml_code dml_context_create(const dml_device *device, dml_context **result, dml_status *status)
{
    dml_status unmet;
    if (device->cpu && dml_cpu_check_start(&unmet))
        return dml_fail(status, unmet.code, "%.100s cannot be used: %.300s (device=\"host\" runs without it)",
                        device->info.name, unmet.message);
    dml_context *context = calloc(1, sizeof *context);
    if (!context)
        return dml_fail(status, DML_NO_MEMORY, "no memory for a device's context");
    context->physical = device->physical;
    context->instance_vk = device->instance->vk;
    context->throttle_lock = context->cuda_lock = context->lock = (dml_lock)DML_LOCK_INIT;
    dml_quiesce_init(context);
    VkResult made = find_traits(context);
    if (!made)
        made = create_device(context);
    if (made) {
        dml_vk_fail(context, made, "vkCreateDevice", status);
        goto fail;
    }
#define LOAD(name) context->vk.name = (PFN_##name)context->instance_vk.vkGetDeviceProcAddr(context->device, #name);
    DML_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    context->vk.vkGetDeviceQueue(context->device, context->traits.queue_family, 0, &context->device_queue);
    dml_allocations_init(context);
    if (dml_kernels_init(context, status) || create_timeline(context, status) || dml_barriers_init(context, status))
        goto fail; /* uncovered: a fault that only soak injects */
    *result = context;
    return DML_OK;
fail:
    dml_context_close(context);
    free(context);
    return status->code;
}

void dml_context_close(dml_context *context)
{
    if (!context->device)
        return;
    dml_queue_destroy(context);
    dml_submissions_destroy(context);
    dml_allocations_destroy(context);
    dml_cuda_close(context);
    dml_kernels_deinit(context);
    dml_barriers_destroy(context);
    context->vk.vkDestroySemaphore(context->device, context->timeline, NULL);
    context->vk.vkDestroyDevice(context->device, NULL);
    context->device = VK_NULL_HANDLE;
}
