#include "vk/cuda.h"

#ifdef _WIN32
#include <io.h>
#define close _close
#else
#include <unistd.h>
#endif

#include "base/blocking.h"
#include "vk/cuda_driver.h"
#include "vk/results.h"

/* Calls a function of CUDA's driver; whether it failed. */
#define FAILS(function, ...)                                                                                                   \
    dml_cuda_check(&context->cuda.functions, context->cuda.functions.function(__VA_ARGS__), #function, status)

/* --- the device -------------------------------------------------------------------------------------------------- */

static void pop(dml_context *context)
{
    void *primary;
    context->cuda.functions.cuCtxPopCurrent_v2(&primary);
}

void dml_cuda_close(dml_context *context)
{
    if (context->cuda.timeline && context->cuda.functions.cuCtxPushCurrent_v2(context->cuda.primary) == 0) {
        context->cuda.functions.cuDestroyExternalSemaphore(context->cuda.timeline);
        pop(context);
    }
    if (context->cuda.primary)
        context->cuda.functions.cuDevicePrimaryCtxRelease_v2(context->cuda.device);
    context->cuda.primary = NULL;
}

static dml_code find_device(dml_context *context, dml_status *status)
{
    if (!context->traits.exportable)
        return dml_fail(status, DML_CUDA_ERROR, "the driver exports no memory by VK_KHR_external_memory_fd");
    if (!context->traits.cuda || !context->vk.vkGetMemoryFdKHR)
        return dml_fail(status, DML_CUDA_ERROR, "only NVIDIA's devices share memory with CUDA");
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    context->instance_vk.vkGetPhysicalDeviceProperties2(context->physical, &all);
    if (dml_cuda_load(&context->cuda.functions, status))
        return status->code;
    return dml_cuda_find(&context->cuda.functions, id.deviceUUID, &context->cuda.ordinal, &context->cuda.device, status);
}

dml_code dml_cuda_device(dml_context *context, int *ordinal, dml_status *status)
{
    const dml_status *why_not = &context->cuda.why_not;
    dml_lock_acquire(&context->cuda_lock);
    if (!context->cuda.asked)
        find_device(context, &context->cuda.why_not);
    context->cuda.asked = true;
    dml_lock_release(&context->cuda_lock);
    *ordinal = context->cuda.ordinal;
    if (why_not->code)
        *status = *why_not;
    return why_not->code;
}

/* Makes CUDA's context of the device this thread's current one, until pop. */
static dml_code push(dml_context *context, dml_status *status)
{
    int ordinal;
    if (dml_cuda_device(context, &ordinal, status))
        return status->code;
    dml_lock_acquire(&context->cuda_lock);
    dml_code code =
        context->cuda.primary ? DML_OK : FAILS(cuDevicePrimaryCtxRetain, &context->cuda.primary, context->cuda.device);
    context->cuda.primary = code ? NULL : context->cuda.primary;
    dml_lock_release(&context->cuda_lock);
    return code ? code : FAILS(cuCtxPushCurrent_v2, context->cuda.primary);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static void unmap(dml_context *context, dml_cuda_mapping *mapping)
{
    if (mapping->address)
        context->cuda.functions.cuMemFree_v2(mapping->address);
    if (mapping->memory)
        context->cuda.functions.cuDestroyExternalMemory(mapping->memory);
    *mapping = (dml_cuda_mapping){0};
}

static dml_code map(dml_context *context, const dml_buffer *buffer, dml_cuda_mapping *mapping, dml_status *status)
{
    VkMemoryRequirements needs; /* as many bytes as were allocated */
    context->vk.vkGetBufferMemoryRequirements(context->device, buffer->handle, &needs);
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = buffer->memory,
                                       .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    dml_cuda_handle handle = {.type = DML_CUDA_OPAQUE_FD, .size = needs.size};
    VkResult result = context->vk.vkGetMemoryFdKHR(context->device, &info, &handle.as.fd);
    if (result)
        return dml_vk_fail(context, result, "vkGetMemoryFdKHR", status);
    dml_cuda_mapping made = {0};
    if (FAILS(cuImportExternalMemory, &made.memory, &handle)) {
        close(handle.as.fd);
        return status->code;
    }
    const dml_cuda_buffer all = {.size = buffer->size};
    if (FAILS(cuExternalMemoryGetMappedBuffer, &made.address, made.memory, &all)) {
        made.address = 0;
        unmap(context, &made);
        return status->code;
    }
    *mapping = made;
    return DML_OK;
}

dml_code dml_cuda_map(dml_context *context, const dml_buffer *buffer, dml_cuda_mapping *mapping, dml_status *status)
{
    if (!buffer->exportable)
        return dml_fail(status, DML_CUDA_ERROR, "the array's memory is not shared");
    if (push(context, status))
        return status->code;
    dml_lock_acquire(&context->cuda_lock);
    dml_code code = mapping->address ? DML_OK : map(context, buffer, mapping, status);
    dml_lock_release(&context->cuda_lock);
    pop(context);
    return code;
}

void dml_cuda_finish(dml_context *context)
{
    dml_status status;
    if (!context->cuda.primary || push(context, &status))
        return;
    context->cuda.functions.cuCtxSynchronize();
    pop(context);
}

void dml_cuda_unmap(dml_context *context, dml_cuda_mapping *mapping)
{
    dml_status status;
    if (!mapping->address || push(context, &status))
        return;
    unmap(context, mapping);
    pop(context);
}

dml_code dml_cuda_copy(dml_context *context, unsigned long long to, unsigned long long from, size_t bytes, dml_status *status)
{
    if (push(context, status))
        return status->code;
    dml_code code = FAILS(cuMemcpyDtoDAsync_v2, to, from, bytes, DML_CUDA_LEGACY_STREAM);
    if (!code)
        code = FAILS(cuStreamSynchronize, DML_CUDA_LEGACY_STREAM);
    pop(context);
    return code;
}

/* --- the timeline ------------------------------------------------------------------------------------------------ */

static dml_code import_timeline(dml_context *context, dml_status *status)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = context->timeline,
                                          .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    dml_cuda_semaphore handle = {.type = DML_CUDA_TIMELINE_FD};
    VkResult result = context->vk.vkGetSemaphoreFdKHR(context->device, &info, &handle.as.fd);
    if (result)
        return dml_vk_fail(context, result, "vkGetSemaphoreFdKHR", status);
    void *made = NULL;
    if (FAILS(cuImportExternalSemaphore, &made, &handle)) {
        close(handle.as.fd);
        return status->code;
    }
    context->cuda.timeline = made;
    return DML_OK;
}

dml_code dml_cuda_stream_wait(dml_context *context, void *stream, uint64_t timeline_value, dml_status *status)
{
    if (push(context, status))
        return status->code;
    dml_lock_acquire(&context->cuda_lock);
    dml_code code = context->cuda.timeline ? DML_OK : import_timeline(context, status);
    dml_lock_release(&context->cuda_lock);
    const dml_cuda_wait wait = {.value = timeline_value};
    if (!code)
        code = FAILS(cuWaitExternalSemaphoresAsync, &context->cuda.timeline, &wait, 1, stream);
    pop(context);
    return code;
}

/* --- loans ------------------------------------------------------------------------------------------------------- */

bool dml_loans_settled(const dml_loans *loans)
{
    return loans->count == loans->finished;
}

/* Waits for all of CUDA's streams: nobody says which of them use the memory, and a stream's handle may be gone by now. After a
 * failure none of them works any more. */
dml_code dml_loans_settle(dml_context *context, dml_loans *loans, dml_status *status)
{
    const unsigned count = loans->count; /* before `open` is read: what is lent from now on is counted */
    if (count == loans->finished)
        return DML_OK;
    dml_about_to_block();
    const bool open = loans->open > 0;
    if (push(context, status))
        return status->code;
    dml_code code = FAILS(cuCtxSynchronize);
    pop(context);
    if (!open)
        loans->finished = count;
    return code;
}
