/* Running programs on a device. Which function runs which: vulkan_backend.c. */
#ifndef DML_VK_RUN_H
#define DML_VK_RUN_H

#include "base/status.h"
#include "device/operands.h"
#include "kernels/dispatch.h"

typedef struct dml_context dml_context;

/* Runs a program. Between allocations it is queued behind all earlier work; otherwise the call waits until it is done. Between
 * an allocation and host memory the program has one step. On failure the results may be partly written. */
dml_code dml_vk_run(dml_context *context, const dml_transfer *transfer, dml_status *status);

/* The same of a program that may have tables. Steps whose tables gain by it are two, with an allocation of the call's own
 * between them (kernels/table_stages.h). Where there is no memory for that, or host memory is not imported, they are one. */
dml_code dml_vk_run_tables(dml_context *context, const dml_transfer *transfer, dml_status *status);

/* The same by the arithmetic of its plans, where the device gets the tables' bits by that. What it has not computed before it
 * computes for every number and row first: that is a proof, since there are no others. Little is looked up: it is not worth
 * pipelines of its own. */
dml_code dml_vk_run_computed(dml_context *context, const dml_transfer *transfer, dml_status *status);

/* The same of a program that resizes. What lies between its passes is an allocation of the call's own. Fails as dml_vk_check
 * does. */
dml_code dml_vk_resize(dml_context *context, const dml_transfer *transfer, dml_status *status);

/* Whether the device promises the bits of a program, and binds what it reads; DML_VALUE_ERROR where it does not, and the host
 * does. */
dml_code dml_vk_check(const dml_context *context, const dml_program *program, dml_status *status);

/* Waits until all work queued on a context is done. */
dml_code dml_vk_wait(dml_context *context, dml_status *status);

/* How many pieces each kernel has run on a context. */
void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT]);

#endif
