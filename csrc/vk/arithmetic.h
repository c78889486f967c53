/* Arithmetic in place of tables, where it gives the same bits on a device. */
#ifndef DML_VK_ARITHMETIC_H
#define DML_VK_ARITHMETIC_H

#include "base/status.h"
#include "device/operands.h"

typedef struct dml_context dml_context;

/* Runs a transfer as dml_vk_run does, by the arithmetic of its plans where the device gets the tables' bits by that. What it
 * has not computed before it computes for every number and row first: that is a proof, since there are no others. Little is
 * looked up: it is not worth pipelines of its own. */
dml_code dml_vk_run_computed(dml_context *context, const dml_transfer *transfer, dml_status *status);

#endif
