/* Channels times alpha, and divided by it, as Pillow does it around a resize of images with alpha. */
#ifndef DML_HOST_ALPHA_H
#define DML_HOST_ALPHA_H

#include "plan/tensor.h"

/* Of an array of bytes with two axes or more, whose last axis has channels: alpha is the last one, and stays. `dst` is
 * C-contiguous, of the same shape. May run on several threads. */
void dml_alpha_run(const dml_tensor *tensor, const void *src, void *dst, bool multiplies);

#endif
