/* Running programs on a device. */
#ifndef DML_VK_RUN_H
#define DML_VK_RUN_H

#include "base/status.h"
#include "device/operands.h"
#include "kernels/dispatch.h"

typedef struct dml_context dml_context;

/* Runs a program. Between allocations it is queued behind all earlier work; otherwise the call waits until it is done. Between
 * an allocation and host memory the program has one step. On failure the results may be partly written. */
dml_code dml_vk_run(dml_context *context, const dml_transfer *transfer, dml_status *status);

/* Waits until all work queued on a context is done. */
dml_code dml_vk_wait(dml_context *context, dml_status *status);

/* How many pieces each kernel has run on a context: copy, rows, words, elements. */
void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT]);

#endif
