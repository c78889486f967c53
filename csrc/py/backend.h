/* What a kind of device can do: one table of functions for Vulkan's devices, one for the host. Knows no Python.
 *
 * `index` counts the devices of one backend. Functions need no GIL; those that may wait must be called without it. */
#ifndef DML_PY_BACKEND_H
#define DML_PY_BACKEND_H

#include "vk/vk.h"

typedef struct dml_backend {
    int dlpack_type; /* DLPack's code for the kind of device */

    /* Undefined memory. With `beside`, an allocation of the same device, nothing is waited for: where that cannot be, it fails
     * with DML_WOULD_WAIT. */
    dml_code (*allocate)(int index, const dml_allocation *beside, uint64_t bytes, dml_allocation **allocation,
                         dml_status *status);

    /* The operand `offset` bytes into an allocation. */
    dml_operand (*map)(dml_allocation *allocation, int64_t offset);

    /* Runs a program whose operands are on the device or in host memory; as dml_vk_run does. */
    dml_code (*run)(int index, const dml_transfer *transfer, bool wait, dml_status *status);

    /* Waits for all that is queued on the device. */
    dml_code (*wait)(int index, dml_status *status);

    /* Counts the memory in use, pooled and available. */
    dml_code (*memory)(int index, dml_memory_bytes *bytes, dml_status *status);
} dml_backend;

extern const dml_backend dml_vulkan_backend, dml_host_backend;

#endif
