/* Vulkan's functions, as one loader or driver gives them. There are no global ones: a process may use several drivers, each by
 * a loader or without one. */
#ifndef DML_VK_FUNCTIONS_H
#define DML_VK_FUNCTIONS_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

/* Those of an instance and its physical devices. */
#define DML_INSTANCE_FUNCTIONS(X)                                                                                              \
    X(vkCreateDevice)                                                                                                          \
    X(vkDestroyInstance)                                                                                                       \
    X(vkEnumerateDeviceExtensionProperties)                                                                                    \
    X(vkEnumeratePhysicalDevices)                                                                                              \
    X(vkGetDeviceProcAddr)                                                                                                     \
    X(vkGetPhysicalDeviceExternalBufferProperties)                                                                             \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties)                                                                          \
    X(vkGetPhysicalDeviceFeatures2)                                                                                            \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                                     \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                                                    \
    X(vkGetPhysicalDeviceProperties2)                                                                                          \
    X(vkGetPhysicalDeviceQueueFamilyProperties)

/* Those of a device. Those of extensions that it was made without are NULL. */
#define DML_DEVICE_FUNCTIONS(X)                                                                                                \
    X(vkAllocateCommandBuffers)                                                                                                \
    X(vkAllocateDescriptorSets)                                                                                                \
    X(vkAllocateMemory)                                                                                                        \
    X(vkBeginCommandBuffer)                                                                                                    \
    X(vkBindBufferMemory)                                                                                                      \
    X(vkCmdBindDescriptorSets)                                                                                                 \
    X(vkCmdBindPipeline)                                                                                                       \
    X(vkCmdCopyBuffer)                                                                                                         \
    X(vkCmdDispatch)                                                                                                           \
    X(vkCmdPipelineBarrier)                                                                                                    \
    X(vkCreateBuffer)                                                                                                          \
    X(vkCreateCommandPool)                                                                                                     \
    X(vkCreateComputePipelines)                                                                                                \
    X(vkCreateDescriptorPool)                                                                                                  \
    X(vkCreateDescriptorSetLayout)                                                                                             \
    X(vkCreateFence)                                                                                                           \
    X(vkCreatePipelineCache)                                                                                                   \
    X(vkCreatePipelineLayout)                                                                                                  \
    X(vkCreateSemaphore)                                                                                                       \
    X(vkCreateShaderModule)                                                                                                    \
    X(vkDestroyBuffer)                                                                                                         \
    X(vkDestroyCommandPool)                                                                                                    \
    X(vkDestroyDescriptorPool)                                                                                                 \
    X(vkDestroyDescriptorSetLayout)                                                                                            \
    X(vkDestroyDevice)                                                                                                         \
    X(vkDestroyFence)                                                                                                          \
    X(vkDestroyPipeline)                                                                                                       \
    X(vkDestroyPipelineCache)                                                                                                  \
    X(vkDestroyPipelineLayout)                                                                                                 \
    X(vkDestroySemaphore)                                                                                                      \
    X(vkDestroyShaderModule)                                                                                                   \
    X(vkEndCommandBuffer)                                                                                                      \
    X(vkFlushMappedMemoryRanges)                                                                                               \
    X(vkFreeMemory)                                                                                                            \
    X(vkGetBufferMemoryRequirements)                                                                                           \
    X(vkGetDeviceQueue)                                                                                                        \
    X(vkGetMemoryFdKHR)                                                                                                        \
    X(vkGetMemoryHostPointerPropertiesEXT)                                                                                     \
    X(vkGetSemaphoreCounterValue)                                                                                              \
    X(vkGetSemaphoreFdKHR)                                                                                                     \
    X(vkInvalidateMappedMemoryRanges)                                                                                          \
    X(vkMapMemory)                                                                                                             \
    X(vkQueueSubmit)                                                                                                           \
    X(vkQueueWaitIdle)                                                                                                         \
    X(vkResetCommandPool)                                                                                                      \
    X(vkResetDescriptorPool)                                                                                                   \
    X(vkResetFences)                                                                                                           \
    X(vkUpdateDescriptorSets)                                                                                                  \
    X(vkWaitForFences)                                                                                                         \
    X(vkWaitSemaphores)

#define DML_MEMBER(name) PFN_##name name;

typedef struct dml_instance_functions {
    DML_INSTANCE_FUNCTIONS(DML_MEMBER)
} dml_instance_functions;

typedef struct dml_device_functions {
    DML_DEVICE_FUNCTIONS(DML_MEMBER)
} dml_device_functions;

#undef DML_MEMBER

#endif
