#include "vk/functions.h"

#include <stddef.h>

const char *dml_instance_functions_load(PFN_vkGetInstanceProcAddr get, VkInstance instance, dml_instance_functions *functions)
{
    const char *missing = NULL;
#define LOAD(name)                                                                                                             \
    functions->name = (PFN_##name)get(instance, #name);                                                                        \
    if (!functions->name && !missing)                                                                                          \
        missing = #name;
    DML_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    return missing;
}

void dml_device_functions_load(PFN_vkGetDeviceProcAddr get, VkDevice device, dml_device_functions *functions)
{
#define LOAD(name) functions->name = (PFN_##name)get(device, #name);
    DML_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
}
