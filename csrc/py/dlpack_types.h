/* DLPack, the standard by which libraries pass arrays to each other, version 1.1: https://dmlc.github.io/dlpack/latest/
 * Its structures, as they lie in memory. dmlops.dlpack knows which dtypes its element types are. */
#ifndef DML_PY_DLPACK_TYPES_H
#define DML_PY_DLPACK_TYPES_H

#include <stdint.h>

#include "py/python.h"

enum { DL_CPU = 1, DL_VULKAN = 7 };
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

#endif
