/* Moves items one by one, whatever the strides are. */
#ifndef DML_CORE_HOST_ITEMS_H
#define DML_CORE_HOST_ITEMS_H

#include "core/host_kernel.h"

/* For a plan of any kind, but with an axis. */
void dml_items_choose(const dml_plan *plan, dml_host_job *job);

#endif
