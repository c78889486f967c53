#include "vk/results.h"

#include "vk/context.h"

const char *dml_vk_result_name(int result)
{
    switch ((VkResult)result) {
#define NAME(name)                                                                                                             \
    case name:                                                                                                                 \
        return #name
        NAME(VK_TIMEOUT);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_UNKNOWN);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
        NAME(VK_ERROR_FRAGMENTATION);
        NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
#undef NAME
    default:
        return result == 0 ? NULL : "VK_ERROR_UNKNOWN";
    }
}

dml_code dml_vk_fail(dml_context *context, int result, const char *doing, dml_status *status)
{
    dml_code code = DML_VULKAN_ERROR;
    if (result == VK_ERROR_DEVICE_LOST) {
        code = DML_DEVICE_LOST;
        context->lost = true;
    } else if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
        code = DML_OUT_OF_DEVICE_MEMORY;
    } else if (result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        code = DML_NO_MEMORY;
    }
    dml_fail(status, code, "%s failed: %s", doing, dml_vk_result_name(result));
    status->result = result;
    return code;
}
