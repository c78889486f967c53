/* The least that any call costs. For the benchmark. */
#ifndef DML_VK_EMPTY_DISPATCH_H
#define DML_VK_EMPTY_DISPATCH_H

#include "base/status.h"

typedef struct dml_context dml_context;

/* Submits one workgroup with nothing to do, and waits. */
dml_code dml_vk_run_nothing(dml_context *context, dml_status *status);

#endif
