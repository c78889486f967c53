/* Allocations of Vulkan devices.
 *
 * The last reference may be released also after dml_vk_shutdown, and in the child of a fork, where an inherited allocation is
 * only forgotten. Work that is queued on an allocation goes on undisturbed after the last release.
 */
#ifndef DML_VK_VULKAN_ALLOCATION_H
#define DML_VK_VULKAN_ALLOCATION_H

#include "base/status.h"
#include "device/backend.h"

typedef struct dml_context dml_context;

/* What DLPack's `data` points to where the device is Vulkan's: handles as integers. */
typedef struct dml_vulkan_handles {
    uint64_t buffer; /* VkBuffer */
    uint64_t memory; /* VkDeviceMemory, all of which is the buffer's */
    uint64_t device; /* VkDevice */
    uint64_t size;   /* bytes of the buffer */
} dml_vulkan_handles;

/* `size` bytes of device memory with undefined contents, from the pool or new. A new one needs the driver, and may wait. */
dml_code dml_allocation_create(dml_context *context, uint64_t size, dml_allocation **allocation, dml_status *status);

/* The context of a device allocation. Fails where the device was lost, or the allocation is inherited from a parent process. */
dml_code dml_allocation_context(const dml_allocation *allocation, dml_context **context, dml_status *status);

/* Another library has the address from now on: dml_vk_shutdown leaves the memory alone while there are references. */
void dml_allocation_expose(dml_allocation *allocation);

/* The buffer that an allocation is part of, and the offset in it. */
const dml_vulkan_handles *dml_allocation_handles(const dml_allocation *allocation);
uint64_t dml_allocation_offset(const dml_allocation *allocation);

/* Waits until all work queued on an allocation is done, CUDA's included. The second is for callers inside its context. */
dml_code dml_allocation_wait(dml_allocation *allocation, dml_status *status);
dml_code dml_allocation_settle(dml_context *context, dml_allocation *allocation, dml_status *status);

dml_code dml_vk_memory(dml_context *context, dml_memory_bytes *bytes, dml_status *status);

#endif
