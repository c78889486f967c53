/* Resizing on the host: both passes of a band of rows at once, so that what lies between them stays in the cache.
 *
 * A line is a row of an image whose items lie side by side: what a pass reads and writes. There are several kernels of the
 * passes, for what a processor has; they give the same bytes. */
#ifndef DML_HOST_HOST_RESIZE_H
#define DML_HOST_HOST_RESIZE_H

#include "base/interrupt.h"
#include "base/status.h"
#include "resampling/resize.h"

enum { DML_RESIZE_PARALLEL = 1 << 20 }; /* products that several cores add faster than one */

/* Runs a program that resizes, as dml_host_run runs a plan. Fails with DML_INTERRUPTED or DML_NO_MEMORY. */
dml_code dml_host_resize(const dml_program *program, const void *src, void *dst, dml_interrupt_poll *poll, dml_status *status);

/* Channels times alpha, or divided by it, as Pillow does it around a resize of images with alpha: of an array of bytes with two
 * axes or more, whose last axis has channels. Alpha is the last one, and stays. `dst` is C-contiguous, of the same shape. May
 * run on several threads. */
void dml_alpha_run(const dml_tensor *tensor, const void *src, void *dst, bool multiplies);

#endif
