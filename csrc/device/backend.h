/* What a kind of device can do: one table of functions for Vulkan's devices, one for the host. Knows no Python.
 *
 * `index` counts the devices of one backend. Functions need no GIL. They call dml_about_to_block before they wait. */
#ifndef DML_DEVICE_BACKEND_H
#define DML_DEVICE_BACKEND_H

#include "base/status.h"
#include "device/operands.h"

/* Bytes of a device's memory. */
typedef struct dml_memory_bytes {
    uint64_t used;      /* in allocations */
    uint64_t pooled;    /* in freed ones that are pooled for reuse */
    uint64_t limit;     /* on `pooled` */
    uint64_t available; /* that the device could still give */
    uint64_t unused;    /* of slabs that allocations share, beside these */
} dml_memory_bytes;

typedef struct dml_backend {
    /* Undefined memory; of the context of `beside`, an allocation of the same device, or NULL. */
    dml_code (*allocate)(int index, const dml_allocation *beside, uint64_t bytes, dml_allocation **allocation,
                         dml_status *status);

    /* The operand `offset` bytes into an allocation. */
    dml_operand (*map)(dml_allocation *allocation, int64_t offset);

    /* Runs a program whose operands are on the device or in host memory. Between allocations it may be queued behind
     * all earlier work. */
    dml_code (*run)(int index, const dml_transfer *transfer, dml_status *status);

    /* Waits for all that is queued on the device. */
    dml_code (*wait)(int index, dml_status *status);

    /* Counts the memory in use, pooled and available. */
    dml_code (*memory)(int index, dml_memory_bytes *bytes, dml_status *status);
} dml_backend;

#endif
