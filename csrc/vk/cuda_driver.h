/* CUDA's driver, opened at run time: no toolkit is needed to build or to run. Its ABI is stable, and the little of it that is
 * used is declared here. */
#ifndef DML_VK_CUDA_DRIVER_H
#define DML_VK_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { DML_CUDA_UUID = 16, DML_CUDA_OPAQUE_FD = 1, DML_CUDA_TIMELINE_FD = 9 };

/* The stream that waits for, and is waited for by, all streams but those made not to: what DLPack calls 1. */
#define DML_CUDA_LEGACY_STREAM ((void *)(uintptr_t)1)

/* What another library calls its memory or semaphore by. */
typedef union dml_cuda_foreign {
    int fd; /* CUDA's own once it is imported */
    void *win32[2];
} dml_cuda_foreign;

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC: memory of another library. */
typedef struct dml_cuda_handle {
    int type;
    dml_cuda_foreign as;
    unsigned long long size;
    unsigned flags, reserved[16];
} dml_cuda_handle;

/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC: a buffer in such memory. */
typedef struct dml_cuda_buffer {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} dml_cuda_buffer;

/* CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC: a semaphore of another library. */
typedef struct dml_cuda_semaphore {
    int type;
    dml_cuda_foreign as;
    unsigned flags, reserved[16];
} dml_cuda_semaphore;

/* CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS: the value to wait for; the others are for other kinds of semaphores. */
typedef struct dml_cuda_wait {
    unsigned long long value, others[3];
    unsigned unused[10], flags, reserved[16];
} dml_cuda_wait;

_Static_assert(sizeof(void *) != 8 || sizeof(dml_cuda_semaphore) == 96, "as CUDA has it");
_Static_assert(sizeof(dml_cuda_wait) == 144, "as CUDA has it");
_Static_assert(sizeof(void *) != 8 || sizeof(dml_cuda_handle) == 104, "as CUDA has it");
_Static_assert(sizeof(dml_cuda_buffer) == 88, "as CUDA has it");

/* All return 0 if they succeed. */
#define DML_CUDA_FUNCTIONS(X)                                                                                                  \
    X(cuCtxPopCurrent_v2, void **context)                                                                                      \
    X(cuCtxPushCurrent_v2, void *context)                                                                                      \
    X(cuCtxSynchronize, void)                                                                                                  \
    X(cuDestroyExternalMemory, void *memory)                                                                                   \
    X(cuDestroyExternalSemaphore, void *semaphore)                                                                             \
    X(cuDeviceGet, int *device, int ordinal)                                                                                   \
    X(cuDeviceGetCount, int *count)                                                                                            \
    X(cuDeviceGetUuid_v2, uint8_t *uuid, int device)                                                                           \
    X(cuDevicePrimaryCtxRelease_v2, int device)                                                                                \
    X(cuDevicePrimaryCtxRetain, void **context, int device)                                                                    \
    X(cuExternalMemoryGetMappedBuffer, unsigned long long *address, void *memory, const dml_cuda_buffer *buffer)               \
    X(cuGetErrorName, int result, const char **name)                                                                           \
    X(cuImportExternalMemory, void **memory, const dml_cuda_handle *handle)                                                    \
    X(cuImportExternalSemaphore, void **semaphore, const dml_cuda_semaphore *handle)                                           \
    X(cuInit, unsigned flags)                                                                                                  \
    X(cuMemFree_v2, unsigned long long address)                                                                                \
    X(cuMemcpyDtoDAsync_v2, unsigned long long to, unsigned long long from, size_t bytes, void *stream)                        \
    X(cuStreamSynchronize, void *stream)                                                                                       \
    X(cuWaitExternalSemaphoresAsync, void *const *semaphores, const dml_cuda_wait *waits, unsigned count, void *stream)

#define DML_TYPE(name, ...) typedef int (*dml_##name)(__VA_ARGS__);
DML_CUDA_FUNCTIONS(DML_TYPE)
#undef DML_TYPE

#define DML_MEMBER(name, ...) dml_##name name;
typedef struct dml_cuda_functions {
    DML_CUDA_FUNCTIONS(DML_MEMBER)
} dml_cuda_functions;
#undef DML_MEMBER

/* The driver's functions, once it is initialised. The status says what is missing. */
dml_code dml_cuda_load(dml_cuda_functions *cuda, dml_status *status);

/* DML_CUDA_ERROR, and a message, where `function` has not returned 0. */
dml_code dml_cuda_check(const dml_cuda_functions *cuda, int result, const char *function, dml_status *status);

/* The device of this UUID: the number by which CUDA's libraries know it, and its handle. */
dml_code dml_cuda_find(const dml_cuda_functions *cuda, const uint8_t *uuid, int *ordinal, int *device, dml_status *status);

#endif
