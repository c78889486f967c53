/* Resizing on the host: both passes of a band of rows at once, so that what lies between them stays in the cache.
 *
 * A line is a row of an image whose items lie side by side: what a pass reads and writes. There are several kernels of the
 * passes, for what a processor has; they give the same bytes. */
#ifndef DML_CORE_HOST_RESIZE_H
#define DML_CORE_HOST_RESIZE_H

#include "base/interrupt.h"
#include "base/status.h"
#include "core/resize.h"

enum { DML_RESIZE_PARALLEL = 1 << 20 }; /* products that several cores add faster than one */

/* Which kernel runs from now on, where it is for a pass, and else those behind it: NULL for the first. False if this processor
 * has none of that name. */
bool dml_resize_choose(const char *name);

/* The names of the kernels that this processor has, the fastest first; NULL behind the last. */
const char *dml_resize_kernel_name(int index);

/* Runs a program that resizes, as dml_host_run runs a plan. Fails with DML_INTERRUPTED or DML_NO_MEMORY. */
dml_code dml_host_resize(const dml_program *program, const void *src, void *dst, dml_interrupt_poll *poll, dml_status *status);

#endif
