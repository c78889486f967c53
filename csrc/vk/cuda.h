/* A Vulkan device as CUDA sees it: memory that both use, and waiting for what CUDA does with it.
 *
 * CUDA is opened when it is first asked for, and its context of the device, the one that PyTorch and others use, is made when
 * memory is first shared. Callers are inside the context (quiesce.h), so that nobody forks meanwhile. They need no GIL, and
 * functions that wait should be called without it.
 */
#ifndef DML_VK_CUDA_H
#define DML_VK_CUDA_H

#include "vk/buffer.h"

/* Where CUDA sees a buffer; zeros: nowhere yet. */
typedef struct dml_cuda_mapping {
    void *memory;
    unsigned long long address;
} dml_cuda_mapping;

/* Memory that was lent. Until CUDA was waited for after the last return, its streams may still be working on it. */
typedef struct dml_loans {
    atomic_int open;      /* not returned yet */
    atomic_uint count;    /* of all that there have been, */
    atomic_uint finished; /* and of those whose work is done */
} dml_loans;

void dml_cuda_close(dml_context *context);

/* Which of CUDA's devices it is; else the status says why none. */
dml_code dml_cuda_device(dml_context *context, int *ordinal, dml_status *status);

/* Shows an exportable buffer to CUDA, unless it has been. */
dml_code dml_cuda_map(dml_context *context, const dml_buffer *buffer, dml_cuda_mapping *mapping, dml_status *status);

/* Waits for all that CUDA does, where memory has been shown to it: whoever had that may have left work behind. */
void dml_cuda_finish(dml_context *context);
void dml_cuda_unmap(dml_context *context, dml_cuda_mapping *mapping); /* after that; zeros are fine */

/* Copies `bytes` that CUDA sees, after what is queued on its default stream, and waits for that. */
dml_code dml_cuda_copy(dml_context *context, unsigned long long to, unsigned long long from, size_t bytes, dml_status *status);

/* What a stream of CUDA's does from now on comes after the timeline value, which is submitted. The device's timeline_fd is
 * set. */
dml_code dml_cuda_stream_wait(dml_context *context, void *stream, uint64_t timeline_value, dml_status *status);

/* Waits for the work that CUDA may still be doing on what was lent. */
dml_code dml_loans_settle(dml_context *context, dml_loans *loans, dml_status *status);
bool dml_loans_settled(const dml_loans *loans);

#endif
