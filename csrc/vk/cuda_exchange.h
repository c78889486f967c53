/* Device allocations for CUDA's libraries, and what these have for device allocations. */
#ifndef DML_VK_CUDA_EXCHANGE_H
#define DML_VK_CUDA_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct dml_context dml_context;
typedef struct dml_allocation dml_allocation;

/* Which of CUDA's devices an allocation, or a context, is on; else the status says why on none. May take long at first. */
dml_code dml_cuda_of_allocation(const dml_allocation *allocation, int *ordinal, dml_status *status);
dml_code dml_cuda_of_context(dml_context *context, int *ordinal, dml_status *status);

/* Not ordered: the consumer's own affair. */
#define DML_CUDA_ANY_STREAM UINT64_MAX

/* Lends an allocation to CUDA until dml_cuda_return: the address of its first byte there. All that is queued on it is submitted
 * then, and what CUDA's stream does from now on comes after it. The memory's next user waits for what CUDA has done with it. */
dml_code dml_cuda_lend(dml_allocation *allocation, uint64_t stream, unsigned long long *address, dml_status *status);
void dml_cuda_return(dml_allocation *allocation); /* without the GIL or with it, at any time, in the child of a fork, too */

/* Fills an allocation with `bytes` from CUDA's memory, after what is queued on CUDA's default stream. */
dml_code dml_cuda_fill(dml_allocation *allocation, unsigned long long from, size_t bytes, dml_status *status);

#endif
