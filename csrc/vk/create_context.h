/* Making and closing a context. */
#ifndef DML_VK_CREATE_CONTEXT_H
#define DML_VK_CREATE_CONTEXT_H

#include "base/status.h"
#include "vk/context.h"

dml_code dml_context_create(const dml_device *device, dml_context **context, dml_status *status);

/* Destroys all handles of a context whose device is idle. The struct stays: other threads, and arrays, may still look at it,
 * and find it closed. */
void dml_context_close(dml_context *context);

#endif
