/* What a physical device is, and whether it can be used. */
#ifndef DML_VK_DEVICE_H
#define DML_VK_DEVICE_H

#include <string.h>

#include "kernels/dispatch.h"
#include "vk/device_info.h"
#include "vk/open_instance.h"

/* What every buffer may be used for. */
#define DML_BUFFER_USAGE                                                                                                       \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |              \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* Storage buffers of a shader: source, destination, entries and chunk counters, where source and destination may be arrays of
 * DML_MAX_SEGMENTS. Every device supports four per stage; with fewer than the second number nothing is bound as segments. */
enum { DML_MIN_STORAGE_BUFFERS = 4, DML_MAX_STORAGE_BUFFERS = 2 * DML_MAX_SEGMENTS + 2 };

typedef struct dml_device {
    const dml_instance *instance;
    VkPhysicalDevice physical;
    dml_device_info info;
    uint8_t uuid[VK_UUID_SIZE];
    uint8_t luid[VK_LUID_SIZE]; /* Windows' number of the adapter, the same for each of its drivers; elsewhere zeros */
    VkDriverId driver;
    int order; /* of its type: the first is best */
    bool cpu;
} dml_device;

/* A device's features, chained. */
typedef struct dml_features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
} dml_features;

void dml_device_inspect(const dml_instance *instance, VkPhysicalDevice physical, dml_device *device);
void dml_device_forked(const dml_device *device); /* in a forked child: `device` had a context before */
void dml_features_init(dml_features *features);   /* all off */

/* A family of its queues that compute, and do nothing else if there is one; -1 if there is none. */
int64_t dml_device_compute_family(const dml_instance_functions *vk, VkPhysicalDevice physical);

/* Around a call that makes a handle: a failed one may leave anything in it. */
#define DML_MADE(result, handle) dml_made((result), (handle), sizeof *(handle))
static inline VkResult dml_made(VkResult result, void *handle, size_t size)
{
    if (result)
        memset(handle, 0, size);
    return result;
}

#endif
