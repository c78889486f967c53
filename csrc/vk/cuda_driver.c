#include "vk/cuda_driver.h"

#include <string.h>

#include "base/library.h"

#define LIBRARY "libcuda.so.1" /* of Linux: Windows' drivers export no memory as files */

dml_code dml_cuda_check(const dml_cuda_functions *cuda, int result, const char *function, dml_status *status)
{
    const char *name = NULL;
    if (result == 0)
        return DML_OK;
    if (cuda->cuGetErrorName(result, &name) || !name)
        name = "an error without a name";
    return dml_fail(status, DML_CUDA_ERROR, "CUDA's %s failed: %s", function, name);
}

dml_code dml_cuda_load(dml_cuda_functions *cuda, dml_status *status)
{
    char reason[256];
    void *library = dml_library_open(LIBRARY, false, reason, sizeof reason);
    if (!library)
        return dml_fail(status, DML_CUDA_ERROR, "there is no CUDA: %s", reason);
#define LOAD(name, ...)                                                                                                        \
    cuda->name = (dml_##name)dml_library_function(library, #name);                                                             \
    if (!cuda->name)                                                                                                           \
        return dml_fail(status, DML_CUDA_ERROR, "CUDA's driver is too old: %s has no %s", LIBRARY, #name);
    DML_CUDA_FUNCTIONS(LOAD)
#undef LOAD
    return dml_cuda_check(cuda, cuda->cuInit(0), "cuInit", status);
}

dml_code dml_cuda_find(const dml_cuda_functions *cuda, const uint8_t *uuid, int *ordinal, int *device, dml_status *status)
{
    int count = 0;
    if (dml_cuda_check(cuda, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount", status))
        return status->code;
    for (*ordinal = 0; *ordinal < count; (*ordinal)++) {
        uint8_t found[DML_CUDA_UUID];
        if (dml_cuda_check(cuda, cuda->cuDeviceGet(device, *ordinal), "cuDeviceGet", status) ||
            dml_cuda_check(cuda, cuda->cuDeviceGetUuid_v2(found, *device), "cuDeviceGetUuid", status))
            return status->code;
        if (memcmp(found, uuid, sizeof found) == 0)
            return DML_OK;
    }
    return dml_fail(status, DML_CUDA_ERROR, "none of CUDA's devices, of which there are %d, has the device's UUID", count);
}
