/* An instance: by the system's Vulkan loader, which finds drivers and layers, or straight from one driver. */
#ifndef DML_VK_OPEN_INSTANCE_H
#define DML_VK_OPEN_INSTANCE_H

#include "base/status.h"
#include "vk/device_info.h"
#include "vk/functions.h"

typedef struct dml_instance {
    VkInstance handle; /* VK_NULL_HANDLE: not open */
    dml_instance_functions vk;
    dml_way way;
    char lavapipe[200]; /* why the loader cannot open Mesa's CPU driver; else empty */
    dml_code starved;   /* drivers have too little memory, as the status says; else DML_OK */
} dml_instance;

/* Both fill in all of `instance`, also when they fail. The status says why; what to install is the caller's to say. For
 * `lavapipe` see dml_search. */
dml_code dml_instance_open_loader(dml_instance *instance, const char *lavapipe, dml_status *status);
dml_code dml_instance_open_driver(dml_instance *instance, const char *library, dml_status *status);

/* Says why there is no device: what `doing` has given, "vkCreateInstance" or "vkEnumeratePhysicalDevices". */
dml_code dml_instance_no_device(const dml_instance *instance, const char *doing, int result, dml_status *status);

/* Nothing of it is in use. */
void dml_instance_close(dml_instance *instance);

#endif
