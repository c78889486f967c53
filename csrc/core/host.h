/* Runs a plan in plain C: for device="host", for staging, and as what tests compare the kernels with. */
#ifndef DML_CORE_HOST_H
#define DML_CORE_HOST_H

#include "core/plan.h"

/* The plan's offsets count from `src` and `dst`. What is read and written must not overlap. Simple rather than fast. */
void dml_host_run(const dml_plan *plan, const void *src, void *dst);

#endif
