/* Buffers with memory of their own, or on imported host memory. */
#ifndef DML_VK_BUFFER_H
#define DML_VK_BUFFER_H

#include "base/status.h"
#include "vk/context.h"

typedef struct dml_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint64_t size;
    void *mapped; /* NULL where the host cannot see it */
    void *pages;  /* imported pages that the buffer owns; or NULL */
    bool coherent;
    bool exportable; /* CUDA can be shown it */
} dml_buffer;

typedef enum dml_memory_kind { DML_MEMORY_HOST, DML_MEMORY_HOST_CACHED, DML_MEMORY_DEVICE } dml_memory_kind;

dml_code dml_buffer_create(dml_context *context, uint64_t size, dml_memory_kind kind, dml_buffer *buffer, dml_status *status);

/* Imports the pages of [data, data + size), whose first byte is then at `*offset` of the buffer. False, with nothing to
 * destroy, where the device refuses. */
bool dml_buffer_import(dml_context *context, const void *data, uint64_t size, dml_buffer *buffer, uint64_t *offset);

/* Replaces a buffer that is smaller than `size`; its contents are lost. */
dml_code dml_buffer_reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind, dml_status *status);

/* Shows the device what the host has written, and the host what the device has: of DML_MEMORY_HOST_CACHED. */
dml_code dml_buffer_flush(dml_context *context, const dml_buffer *buffer, dml_status *status);
dml_code dml_buffer_invalidate(dml_context *context, const dml_buffer *buffer, dml_status *status);

void dml_buffer_destroy(dml_context *context, dml_buffer *buffer); /* a zeroed one is fine */

/* Fills in what the device offers of the memory that allocations come from. */
void dml_buffer_find_heap(dml_context *context);

#endif
