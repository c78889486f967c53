/* What is done with every context. */
#ifndef DML_VK_ALL_CONTEXTS_H
#define DML_VK_ALL_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Waits for everything on every device that was used; the status is that of the first failure, or DML_INTERRUPTED. */
dml_code dml_vk_wait_all(dml_status *status);

/* Waits as dml_vk_wait_all does, then returns all pooled memory to the devices. */
dml_code dml_vk_empty_pools(dml_status *status);

/* Returns pooled memory that nobody has used since `before`, of dml_nanoseconds; whether some is left. Waits for nothing. */
bool dml_vk_give_back(int64_t before);

#endif
