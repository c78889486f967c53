/* DLPack, the standard by which libraries pass arrays to each other, version 1.1: https://dmlc.github.io/dlpack/latest/
 * Its structures, as they lie in memory, and the capsules by which DeviceArray.__dlpack__ lends arrays to other libraries.
 * dlpack_import.c has those of other libraries. dmlops.dlpack knows which dtypes its element types are. */
#ifndef DML_PY_DLPACK_H
#define DML_PY_DLPACK_H

#include <stdint.h>

#include "py/python.h"
#include "py/state.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_VULKAN = 7 };
enum { DL_READ_ONLY = 1, DL_COPIED = 2 };

typedef struct dl_device {
    int32_t type;
    int32_t index;
} dl_device;

typedef struct dl_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type type;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C-contiguous */
    uint64_t byte_offset;
} dl_tensor;

/* What a capsule named DL_NAME points to: DLPack before version 1. */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

/* What a capsule named DL_VERSIONED_NAME points to. */
typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* The consumer renames a capsule and calls the deleter itself from then on. */
#define DL_NAME "dltensor"
#define DL_USED_NAME "used_dltensor"
#define DL_VERSIONED_NAME "dltensor_versioned"
#define DL_USED_VERSIONED_NAME "used_dltensor_versioned"

/* Function of dmlops._core: (device array) -> the type and index of its device, the number of CUDA's device that sees its
 * memory, or a str that says why none does, and whether the host sees it. */
PyObject *dml_dlpack_places(PyObject *module, PyObject *array);

/* Function of dmlops._core: (device array, type code and bits of its elements, type and index of the device that it is offered
 * on, whether for DLPack 1, whether it is a copy, CUDA's stream, which comes after all that is queued on the array; or -1: none
 * does). A new capsule; on other devices, once that is done. */
PyObject *dml_dlpack_export(PyObject *module, PyObject *args);

/* Function of dmlops._core: (device, as in calls) -> the number of the device as CUDA counts it, or a str that says why it is
 * none of CUDA's. */
PyObject *dml_dlpack_cuda(PyObject *module, PyObject *device);

/* Function of dmlops._core: (capsule, device), None where the caller names no device. A new array with the elements of the
 * tensor in the capsule, which is consumed unless it fails. */
PyObject *dml_dlpack_import(PyObject *module, PyObject *args);

#endif
