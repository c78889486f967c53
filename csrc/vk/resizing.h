/* Programs that resize, on a device. */
#ifndef DML_VK_RESIZING_H
#define DML_VK_RESIZING_H

#include "base/status.h"
#include "device/operands.h"

typedef struct dml_context dml_context;

/* Whether the device promises the bits of a program, and binds what it reads; DML_VALUE_ERROR where it does not, and the host
 * does. */
dml_code dml_vk_check(const dml_context *context, const dml_program *program, dml_status *status);

/* Runs such a program, as dml_vk_run runs others. What lies between its passes is an allocation of the call's own. Fails where
 * the device does not promise the bits of the sums. */
dml_code dml_vk_resize(dml_context *context, const dml_transfer *transfer, dml_status *status);

#endif
