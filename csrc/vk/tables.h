/* Programs that have tables. */
#ifndef DML_VK_TABLES_H
#define DML_VK_TABLES_H

#include "base/status.h"
#include "device/operands.h"

typedef struct dml_context dml_context;

/* Runs a transfer as dml_vk_run does; steps whose tables gain by it are two, with an allocation of the call's own between them
 * (kernels/table_stages.h). Where there is no memory for that, or host memory is not imported, they are one. */
dml_code dml_vk_run_tables(dml_context *context, const dml_transfer *transfer, dml_status *status);

#endif
